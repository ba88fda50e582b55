//! Can the figures be trusted here? Hundreds of runs, and what they say of the intervals, the alarms and the precision.
//!
//! `cargo run --release -p yamba-benches --bin trust -- collect target/coverage.jsonl --runs 200 -- run lat_integer_add lat_l1_load --time 600ms` measures; what the file
//! holds already is not measured again. `coverage`, `alarms`, `slowdown` and `precision` read such files; `take` adds documents of runs to one.

mod accuracy;
mod collect;
mod judge;
mod lines;
mod series;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "What many runs say of intervals, alarms and precision")]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Run yamba again and again, and keep each run's figures
    Collect(collect::Collect),
    /// Add runs that were measured otherwise
    Take(collect::Take),
    /// Are latencies and throughputs of instructions the published ones?
    Accuracy(accuracy::Accuracy),
    /// Do the stated intervals hold the median over all runs?
    Coverage { file: PathBuf },
    /// How often does a run differ from the next, and launches from launches of other runs?
    Alarms { file: PathBuf },
    /// How often is the same benchmark's `percent=3` found slower than its `percent=0`?
    Slowdown { file: PathBuf },
    /// The coefficient of variation over all runs
    Precision { file: PathBuf },
}

fn main() -> ExitCode {
    let done = match Options::parse().what {
        What::Collect(collect) => collect.run(),
        What::Take(take) => take.run(),
        What::Accuracy(accuracy) => accuracy.run(),
        What::Coverage { file } => series::read(&file).map(|s| judge::coverage(&s)),
        What::Alarms { file } => series::read(&file).map(|s| judge::alarms(&s)),
        What::Slowdown { file } => series::read(&file).map(|s| judge::slowdown(&s)),
        What::Precision { file } => series::read(&file).map(|s| judge::precision(&s)),
    };
    match done {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}
