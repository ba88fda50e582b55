//! Whole comparisons through the command: two folders of benchmarks measured one after the other, and what the gate says of them.
//!
//! The same files in both folders are an A/A comparison of different programs: their paths are part of what is compiled, so nothing tells the gate that they do the same. Where the second
//! folder has a benchmark with more work, `--slowed NAME` counts how often that one is found.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lines;

#[derive(Args)]
pub struct Gates {
    /// Where the comparisons are kept; what is there counts
    file: PathBuf,
    /// Comparisons that the file shall hold
    #[arg(long)]
    rounds: usize,
    /// The folder of side A's benchmarks
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
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// More arguments of each `yamba run`
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// One comparison.
#[derive(Serialize, Deserialize)]
struct Round {
    /// When it began, in seconds since 1970.
    at: u64,
    compared: u64,
    /// Suspected by the two runs alone.
    suspected: Vec<String>,
    /// Measured anew before the gate was judged.
    anew: u64,
    /// Meant to be slower, as the command line says.
    #[serde(default)]
    slowed: Vec<String>,
    /// What the gate could not decide.
    #[serde(default)]
    unconfirmed: Vec<String>,
    /// Seconds that the two runs took, and the comparison with all that it measured.
    #[serde(default)]
    seconds: [f64; 2],
    /// What the gate failed for.
    failed: Vec<String>,
    /// By how much, of each.
    by: Vec<f64>,
    exit: i32,
}

impl Gates {
    pub fn run(&self) -> Result<String, String> {
        let mut have = match self.file.exists() {
            true => read(&self.file)?.len(),
            false => 0,
        };
        while have < self.rounds {
            lines::keep(&self.file, &self.once()?)?;
            have += 1;
            eprintln!("{have} of {}", self.rounds);
        }
        gates(&self.file)
    }

    /// In a store of its own, so that no comparison knows of the one before.
    fn once(&self) -> Result<Round, String> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let store = self.file.with_extension("sqlite");
        let begun = Instant::now();
        let _ = fs::remove_file(&store);
        for folder in [&self.a, &self.b] {
            let words = self.arguments.iter().map(String::as_str);
            self.yamba(&store, ["run"].into_iter().chain(words), &files(folder)?)?;
        }
        let runs = begun.elapsed().as_secs_f64();
        let words = [
            "compare",
            "latest~1",
            "latest",
            "--json",
            "--fail-above",
            &self.limit,
        ];
        let (exit, out) = self.yamba(&store, words.into_iter(), &[])?;
        let document: Value =
            serde_json::from_slice(&out).map_err(|e| format!("no comparison: {e}"))?;
        if document["again"]["interrupted"] == true {
            return Err("stopped; the comparisons before are kept".to_owned());
        }
        Ok(Round {
            at: at.map_or(0, |d| d.as_secs()),
            slowed: self.slowed.clone(),
            seconds: [runs, begun.elapsed().as_secs_f64() - runs],
            exit,
            ..round(&document)
        })
    }

    fn yamba<'a>(
        &self,
        store: &Path,
        words: impl Iterator<Item = &'a str>,
        files: &[PathBuf],
    ) -> Result<(i32, Vec<u8>), String> {
        let done = Command::new(&self.yamba)
            .args(words)
            .args(files)
            .env("YAMBA_STORE", store)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        match done.status.code() {
            Some(code @ (0 | 1)) => Ok((code, done.stdout)),
            _ => Err(format!(
                "{} ended with {}",
                self.yamba.display(),
                done.status
            )),
        }
    }
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

fn round(document: &Value) -> Round {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |b: &Value| {
        format!(
            "{} {}",
            b["name"].as_str().unwrap_or_default(),
            b["parameters"]
        )
    };
    let benchmarks = list(&document["benchmarks"]);
    // What was measured anew tells what the runs said before.
    let was_suspect = |b: &&Value| match b["stored"].is_null() {
        true => b["suspect"] == true,
        false => b["stored"]["suspect"] == true,
    };
    let slower = list(&document["gate"]["slower"]);
    let unconfirmed = list(&document["gate"]["unconfirmed"]);
    Round {
        at: 0,
        slowed: Vec::new(),
        unconfirmed: unconfirmed.iter().map(name).collect(),
        seconds: [0.0; 2],
        compared: benchmarks.iter().filter(|b| !b["ratio"].is_null()).count() as u64,
        suspected: benchmarks.iter().filter(was_suspect).map(name).collect(),
        anew: document["again"]["benchmarks"].as_u64().unwrap_or(0),
        failed: slower.iter().map(name).collect(),
        by: slower.iter().filter_map(|s| s["by"].as_f64()).collect(),
        exit: 0,
    }
}

fn read(path: &Path) -> Result<Vec<Round>, String> {
    lines::read(path)
}

impl Round {
    /// The name of a benchmark with its parameters is longer.
    fn is_slowed(&self, failed: &str) -> bool {
        let name = failed.split(' ').next().unwrap_or_default();
        self.slowed.iter().any(|slowed| slowed == name)
    }

    /// What it failed for without a reason.
    fn alarms(&self) -> usize {
        self.failed.iter().filter(|f| !self.is_slowed(f)).count()
    }
}

/// How often the gate failed, and for what.
pub fn gates(path: &Path) -> Result<String, String> {
    let rounds = read(path)?;
    let mut out = String::new();
    for round in rounds.iter().filter(|r| !r.failed.is_empty()) {
        let each = round.failed.iter().zip(&round.by);
        let told: Vec<String> = each
            .map(|(name, by)| format!("{name} by {:.1} %", by * 100.0))
            .collect();
        let _ = writeln!(out, "failed for {}", told.join(", "));
    }
    let count = |holds: &dyn Fn(&Round) -> bool| rounds.iter().filter(|r| holds(r)).count();
    let alarms = count(&|r| r.alarms() > 0);
    let suspected = count(&|r| !r.suspected.is_empty());
    let sum = |of: &dyn Fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>();
    let _ = writeln!(
        out,
        "{alarms} of {} whole comparisons failed the gate for what is not slower; {suspected} had a suspect before anything was measured anew\n\
         {} benchmarks compared in all of them, {} measured anew, {} of these not decided\n\
         {:.0} s for the runs, {:.0} s for the comparisons",
        rounds.len(),
        sum(&|r| r.compared as f64),
        sum(&|r| r.anew as f64),
        sum(&|r| r.unconfirmed.len() as f64),
        sum(&|r| r.seconds[0]),
        sum(&|r| r.seconds[1]),
    );
    let slowed: BTreeSet<&String> = rounds.iter().flat_map(|r| &r.slowed).collect();
    for name in slowed {
        let is_named = |found: &String| found.split(' ').next() == Some(name);
        let found = count(&|r| r.failed.iter().any(is_named));
        let of = count(&|r| r.slowed.contains(name));
        let _ = writeln!(out, "{name}, which is slower, was found in {found} of {of}");
    }
    Ok(out)
}
