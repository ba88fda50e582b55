//! Times the commands that users wait for: `check` of the whole library and suite, a cold build, the start of a cached program.
//!
//! `cargo run --release -p yamba-benches --bin speed`. Prints minimum, median and maximum of the wall time of each command, in milliseconds.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use std::{env, fs, process};

use clap::Parser;
use yamba_stats::{median, sorted};

#[derive(Parser)]
#[command(about = "Times the commands that users wait for")]
struct Options {
    /// The program to time
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// How often to time each command
    #[arg(long, default_value_t = 7)]
    times: usize,
    /// The benchmarks to build
    #[arg(default_values = ["lat_syscall_getppid", "lat_integer_multiply", "pagefault"])]
    benchmarks: Vec<String>,
}

/// Runs commands with a separate cache, so that the user's cache stays untouched.
struct Timed<'a> {
    yamba: &'a Path,
    cache: PathBuf,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let cache = env::temp_dir().join(format!("yamba-speed-{}", process::id()));
    let timed = Timed {
        yamba: &options.yamba,
        cache: cache.clone(),
    };
    let result = measure(&options, &timed);
    let _ = fs::remove_dir_all(cache); // a leftover cache does no harm
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("speed: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options, timed: &Timed) -> Result<(), String> {
    timed.once(&["check"])?; // unpacks the library
    report("check library and suite", options.times, || {
        timed.once(&["check"])
    })?;
    for name in &options.benchmarks {
        report(&format!("cold build of {name}"), options.times, || {
            let programs = timed.cache.join("programs");
            let _ = fs::remove_dir_all(programs); // absent the first time
            timed.once(&["build", name])
        })?;
        report(&format!("cached build of {name}"), options.times, || {
            timed.once(&["build", name])
        })?;
        report(&format!("explain {name}"), options.times, || {
            timed.once(&["explain", name])
        })?;
    }
    Ok(())
}

impl Timed<'_> {
    /// Runs the command once; returns the wall time in milliseconds.
    fn once(&self, arguments: &[&str]) -> Result<f64, String> {
        let mut command = Command::new(self.yamba);
        command
            .args(arguments)
            .env("YAMBA_CACHE", &self.cache)
            .stdout(Stdio::null());
        let start = Instant::now();
        let status = command
            .status()
            .map_err(|e| format!("{}: {e}", self.yamba.display()))?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        status
            .success()
            .then_some(took)
            .ok_or_else(|| format!("`yamba {}` failed", arguments.join(" ")))
    }
}

fn report(
    what: &str,
    times: usize,
    mut run: impl FnMut() -> Result<f64, String>,
) -> Result<(), String> {
    let each: Vec<f64> = (0..times.max(1)).map(|_| run()).collect::<Result<_, _>>()?;
    let sorted = sorted(&each);
    let (Some(least), Some(most), Some(middle)) = (sorted.first(), sorted.last(), median(&each))
    else {
        return Ok(());
    };
    println!("{what:42} {least:8.1} {middle:8.1} {most:8.1} ms");
    Ok(())
}
