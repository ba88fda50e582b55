//! Checks over hundreds of runs whether figures of this machine can be trusted: coverage of intervals, false alarms and precision.
//!
//! `cargo run --release -p yamba-benches --bin trust -- collect target/coverage.jsonl --runs 200 -- run lat_integer_add lat_l1_load --time 600ms`
//! measures until the file has 200 runs. `coverage`, `alarms`, `slowdown` and `precision` evaluate such files; `take` adds documents of runs to one.

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
    /// Run yamba repeatedly, and save the figures of each run
    Collect(collect::Collect),
    /// Add runs from documents
    Take(collect::Take),
    /// Compare latencies and throughputs of instructions with published ones
    Accuracy(accuracy::Accuracy),
    /// How many confidence intervals contain the median over all runs?
    Coverage { file: PathBuf },
    /// How often does a run differ from the next, and a random set of launches from another?
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
