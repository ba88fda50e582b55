//! Whole comparisons through the command: two folders of benchmarks measured one after the other, and what the gate says of them.
//!
//! The same files in both folders are an A/A comparison of different programs: their paths are part of what is compiled, so nothing tells the gate that they do the same.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

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
        let _ = fs::remove_file(&store);
        for folder in [&self.a, &self.b] {
            let words = self.arguments.iter().map(String::as_str);
            self.yamba(&store, ["run"].into_iter().chain(words), &files(folder)?)?;
        }
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
        Ok(Round {
            at: at.map_or(0, |d| d.as_secs()),
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

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let all = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let all = all.flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = all
        .filter(|p| p.extension().is_some_and(|e| e == "yamba"))
        .collect();
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
    Round {
        at: 0,
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

/// How often the gate failed, and for what.
pub fn gates(path: &Path) -> Result<String, String> {
    let rounds = read(path)?;
    let mut out = String::new();
    for round in rounds.iter().filter(|r| r.exit != 0) {
        let each = round.failed.iter().zip(&round.by);
        let told: Vec<String> = each
            .map(|(name, by)| format!("{name} by {:.1} %", by * 100.0))
            .collect();
        let _ = writeln!(out, "failed for {}", told.join(", "));
    }
    let suspected = rounds.iter().filter(|r| !r.suspected.is_empty()).count();
    let failed = rounds.iter().filter(|r| r.exit != 0).count();
    let compared: u64 = rounds.iter().map(|r| r.compared).sum();
    let anew: u64 = rounds.iter().map(|r| r.anew).sum();
    let _ = writeln!(
        out,
        "{failed} of {} whole comparisons failed the gate; {suspected} had a suspect before anything was measured anew\n\
         {compared} benchmarks compared in all of them, {anew} measured anew",
        rounds.len()
    );
    Ok(out)
}
