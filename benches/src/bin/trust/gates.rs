//! Whole comparisons through the command: two folders of benchmarks measured one after the other, and what the gate says of them.
//!
//! The same files in both folders are an A/A comparison of different programs where anything in them differs that a program is made of, if only the line on which it stands, or their paths if
//! they lie outside a checkout: then nothing tells the gate that they do the same. Where the second folder has a benchmark with more work, `--slowed NAME` counts how often that one is found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::Value;

use crate::gated::gated;
use crate::lines;
use crate::round::{self, Round};
use crate::shared;

/// Where the program is usually.
const YAMBA: &str = "target/release/yamba";

#[derive(Args)]
pub struct Gates {
    /// Where the comparisons are kept; what is there counts
    file: PathBuf,
    /// Comparisons that the file shall hold
    #[arg(long)]
    rounds: usize,
    /// The folder of side A's benchmarks, or a checkout: then what `yamba run` measures of it
    #[arg(long)]
    a: PathBuf,
    /// The folder of side B's, of the same names
    #[arg(long)]
    b: PathBuf,
    /// A benchmark that is slower in the folder of side B: found or not?
    #[arg(long, value_name = "NAME")]
    slowed: Vec<String>,
    /// What `--fail-above` is told
    #[arg(long, default_value = "5%")]
    limit: String,
    /// What `--at-most` is told: what each comparison may measure anew
    #[arg(long, value_name = "TIME", default_value = "10min")]
    at_most: String,
    /// Compare each run with all of the other side that began within an hour, which takes fewer runs: 9 for 20 comparisons
    #[arg(long)]
    shared: bool,
    /// The program to measure with
    #[arg(long, default_value = YAMBA)]
    yamba: PathBuf,
    /// More arguments of each `yamba run`
    #[arg(last = true)]
    arguments: Vec<String>,
}

impl Gates {
    pub fn run(&self) -> Result<String, String> {
        let mut rounds = match self.file.exists() {
            true => round::read(&self.file)?,
            false => Vec::new(),
        };
        let settings = self.settings();
        if let Some(other) = rounds.iter().find(|r| r.settings != settings) {
            return Err(format!(
                "{} holds comparisons that were asked for otherwise: {}; now it is {settings}: take another file",
                self.file.display(),
                other.settings
            ));
        }
        while rounds.len() < self.rounds {
            let round = self.once(&rounds)?;
            lines::keep(&self.file, &round)?;
            rounds.push(round);
            eprintln!("{} of {}", rounds.len(), self.rounds);
        }
        gated(&self.file)
    }

    /// All that decides what a round can find.
    fn settings(&self) -> String {
        let folders = format!("--a {} --b {}", self.a.display(), self.b.display());
        let shared = if self.shared { " --shared" } else { "" };
        let gate = format!("--limit {} --at-most {}{shared}", self.limit, self.at_most);
        // The usual one is not told: older files say nothing of it.
        let yamba = match self.yamba.as_os_str() == YAMBA {
            true => String::new(),
            false => format!(" --yamba {}", self.yamba.display()),
        };
        let slowed: Vec<String> = self
            .slowed
            .iter()
            .map(|n| format!(" --slowed {n}"))
            .collect();
        let arguments = self.arguments.join(" ");
        format!("{folders} {gate}{yamba}{} -- {arguments}", slowed.concat())
    }

    fn once(&self, before: &[Round]) -> Result<Round, String> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun = Instant::now();
        let [a, b] = match self.shared {
            true => self.shared_runs(before)?,
            false => self.own_runs()?,
        };
        let runs = begun.elapsed().as_secs_f64();
        let words = ["compare", &a, &b, "--json", "--fail-above", &self.limit];
        let words = words.into_iter().chain(["--at-most", &self.at_most]);
        let (exit, out) = self.yamba(&self.a, words, &[])?;
        let document: Value =
            serde_json::from_slice(&out).map_err(|e| format!("no comparison: {e}"))?;
        if document["again"]["interrupted"] == true {
            return Err("stopped; the comparisons before are kept".to_owned());
        }
        Ok(Round {
            at: at.map_or(0, |d| d.as_secs()),
            settings: self.settings(),
            slowed: self.slowed.clone(),
            seconds: [runs, begun.elapsed().as_secs_f64() - runs],
            exit,
            ..Round::of(&document)
        })
    }

    /// In a store of their own, so that no comparison knows of the one before.
    fn own_runs(&self) -> Result<[String; 2], String> {
        let _ = fs::remove_file(self.store());
        self.measure(&self.a)?;
        self.measure(&self.b)?;
        Ok(["latest~1", "latest"].map(str::to_owned))
    }

    /// Two that were not compared yet; if there are none, a run is added to the side that has fewer.
    fn shared_runs(&self, before: &[Round]) -> Result<[String; 2], String> {
        for made in 0.. {
            let runs = shared::runs(&self.store())?;
            if let Some(pair) = shared::new_pair(&runs, before) {
                return Ok(pair);
            }
            if made == 2 {
                break;
            }
            let side = usize::from(runs[1].len() < runs[0].len());
            self.measure([&self.a, &self.b][side])?;
            shared::add(&self.store(), side)?;
        }
        Err("a run takes more than an hour: leave out --shared".to_owned())
    }

    fn measure(&self, folder: &Path) -> Result<(), String> {
        let files = match is_checkout(folder) {
            true => Vec::new(),
            false => files(folder)?,
        };
        let words = self.arguments.iter().map(String::as_str);
        self.yamba(folder, ["run"].into_iter().chain(words), &files)?;
        Ok(())
    }

    fn store(&self) -> PathBuf {
        self.file.with_extension("sqlite")
    }

    /// Where the folder is a checkout, with its library.
    fn yamba<'a>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = &'a str>,
        files: &[PathBuf],
    ) -> Result<(i32, Vec<u8>), String> {
        let mut command = Command::new(&self.yamba);
        if is_checkout(folder) {
            command.env("YAMBA_HOME", folder);
        }
        let done = command
            .args(words)
            .args(files)
            .env("YAMBA_STORE", self.store())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        match done.status.code() {
            Some(code @ (0 | 1)) => Ok((code, done.stdout)),
            // A gate that could decide nothing says so, in its document.
            Some(code @ 2) if !done.stdout.is_empty() => Ok((code, done.stdout)),
            _ => Err(format!(
                "{} ended with {}",
                self.yamba.display(),
                done.status
            )),
        }
    }
}

fn is_checkout(folder: &Path) -> bool {
    let parts = ["library", "runtime", "suite"];
    parts.iter().all(|part| folder.join(part).is_dir())
}

/// Also those in folders within it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|e| e == "yamba") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
