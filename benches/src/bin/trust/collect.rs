//! Runs yamba many times and keeps one line for each run.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use yamba_record::Run;

use crate::series::{self, Line};

#[derive(Args)]
pub struct Collect {
    /// Where the runs are kept; what is there counts
    file: PathBuf,
    /// Runs that the file shall hold
    #[arg(long)]
    runs: usize,
    /// Seconds from the beginning of a run to that of the next, at least
    #[arg(long, default_value_t = 0)]
    every: u64,
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Its arguments; `--json` is added
    #[arg(last = true, required = true)]
    arguments: Vec<String>,
}

impl Collect {
    pub fn run(&self) -> Result<String, String> {
        let mut have = if self.file.exists() {
            series::read(&self.file)?.lines.len()
        } else {
            0
        };
        while have < self.runs {
            let started = Instant::now();
            let line = self.once()?;
            self.keep(&line)?;
            have += 1;
            eprintln!("{have} of {}", self.runs);
            if have < self.runs {
                sleep(Duration::from_secs(self.every).saturating_sub(started.elapsed()));
            }
        }
        Ok(String::new())
    }

    fn once(&self) -> Result<Line, String> {
        let at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        let done = Command::new(&self.yamba)
            .args(&self.arguments)
            .arg("--json")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        let run: Run = serde_json::from_slice(&done.stdout).map_err(|e| format!("no run: {e}"))?;
        if run.interrupted {
            return Err("stopped; the runs before are kept".to_owned());
        }
        Ok(Line::of(at, &run))
    }

    /// Whole lines only, at once. What a kill has cut off before is dropped first: the next line would be lost with it.
    fn keep(&self, line: &Line) -> Result<(), String> {
        let text = serde_json::to_string(line).map_err(|e| e.to_string())? + "\n";
        let write = || {
            let mut options = OpenOptions::new();
            let mut file = options
                .create(true)
                .append(true)
                .read(true)
                .open(&self.file)?;
            let mut have = String::new();
            file.read_to_string(&mut have)?;
            let whole = have.rfind('\n').map_or(0, |end| end + 1);
            file.set_len(whole as u64)?;
            file.write_all(text.as_bytes())
        };
        write().map_err(|e| format!("{}: {e}", self.file.display()))
    }
}
