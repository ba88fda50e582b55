//! Runs yamba many times and saves one line per run.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use yamba_record::Run;

use crate::lines;
use crate::series::{self, Line};

#[derive(Args)]
pub struct Collect {
    /// File of the runs; existing runs count
    file: PathBuf,
    /// Total number of runs in the file
    #[arg(long)]
    runs: usize,
    /// Minimum number of seconds from the start of one run to that of the next
    #[arg(long, default_value_t = 0)]
    every: u64,
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Its arguments; `--json` is added
    #[arg(last = true, required = true)]
    arguments: Vec<String>,
}

/// Adds runs from documents.
#[derive(Args)]
pub struct Take {
    /// File of the runs
    file: PathBuf,
    /// Documents of `yamba run --json`
    #[arg(required = true)]
    documents: Vec<PathBuf>,
}

impl Take {
    pub fn run(&self) -> Result<String, String> {
        for path in &self.documents {
            let fault = |e: String| format!("{}: {e}", path.display());
            let file = File::open(path).map_err(|e| fault(e.to_string()))?;
            let run: Run =
                serde_json::from_reader(BufReader::new(file)).map_err(|e| fault(e.to_string()))?;
            let at = run.started_unix_s.unwrap_or(0.0) as u64;
            lines::keep(&self.file, &Line::of(at, &run))?;
        }
        Ok(String::new())
    }
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
            lines::keep(&self.file, &line)?;
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
            .env("YAMBA_STORE", self.file.with_extension("sqlite"))
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        let run: Run = serde_json::from_slice(&done.stdout).map_err(|e| format!("no run: {e}"))?;
        if run.interrupted {
            return Err("stopped; the runs before are kept".to_owned());
        }
        Ok(Line::of(at, &run))
    }
}
