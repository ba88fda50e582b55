//! Measures the cost of storing runs.
//!
//! `cargo run --release -p yamba-benches --bin store -- size` stores and reads a run of a million
//! batches. `-- put` stores an entry repeatedly, as a run does after each launch. The default store
//! is a new file in a temporary folder, which is deleted at the end; `--store` names another file,
//! or a database of a PostgreSQL server.

use std::error::Error;
use std::ffi::OsString;
use std::time::Instant;
use std::{fs, process};

use clap::{Parser, Subcommand};
use yamba_record::{Batch, Benchmark, Machine, Run, Status};
use yamba_stats::{median, sorted};
use yamba_store::{Detail, Location, Store, StoreError};

#[derive(Parser)]
#[command(about = "Times the store")]
struct Options {
    #[command(subcommand)]
    what: What,
    /// The store [default: a file in a temporary folder]
    #[arg(long, global = true)]
    store: Option<OsString>,
}

#[derive(Subcommand)]
enum What {
    /// Store one large run and read it
    Size {
        #[arg(long, default_value_t = 500)]
        entries: usize,
        /// Batches per entry
        #[arg(long, default_value_t = 2000)]
        batches: usize,
    },
    /// Store an entry again after each of its launches
    Put {
        #[arg(long, default_value_t = 100)]
        launches: u64,
        /// Batches per launch
        #[arg(long, default_value_t = 11)]
        batches: usize,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    let usual = || folder.path().join("results.sqlite").into();
    let location = Location::parse(&options.store.unwrap_or_else(usual))?;
    let mut store = Store::open(&location)?;
    match options.what {
        What::Size { entries, batches } => size(&mut store, &location, entries, batches),
        What::Put { launches, batches } => put(&mut store, launches, batches),
    }
}

fn size(
    store: &mut Store,
    location: &Location,
    entries: usize,
    batches: usize,
) -> Result<(), Box<dyn Error>> {
    let mut run = Run::new(Machine::default());
    run.id = format!("{:016x}", process::id());
    run.benchmarks = (0..entries)
        .map(|i| entry(&format!("lat_{i}"), (batches / 11).max(1) as u64, 11))
        .collect();
    let all = entries * (batches / 11).max(1) * 11;
    let before = file_size(location);
    timed(&format!("{all} batches of {entries} entries stored"), || store.add(&run))?;
    // `\dt+ yamba.*` of psql shows the size of a database's tables.
    if let Some((before, after)) = before.zip(file_size(location)) {
        let bytes = (after - before) as f64;
        let each = bytes / all as f64;
        println!("{:.1} MB, {each:.1} bytes a batch", bytes / 1e6);
    }
    let json = serde_json::to_vec(&run)?;
    println!("as JSON {:.1} MB", json.len() as f64 / 1e6);
    for (what, detail) in [
        ("figures", Detail::Figures),
        ("samples, as for a report", Detail::Samples),
        ("everything", Detail::Batches),
    ] {
        let read = timed(&format!("read: {what}"), || store.run(&run.id, detail))?;
        if detail == Detail::Batches && read != run {
            return Err("what was read is not what was written".into());
        }
    }
    timed("listed", || store.runs())?;
    Ok(store.remove(&run.id)?)
}

/// The length of a store's file. `None` for a server.
fn file_size(location: &Location) -> Option<u64> {
    match location {
        Location::File(file) => Some(fs::metadata(file).ok()?.len()),
        Location::Server(_) => None,
    }
}

fn timed<T>(what: &str, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let begun = Instant::now();
    let done = work()?;
    println!("{what}: {:.3} s", begun.elapsed().as_secs_f64());
    Ok(done)
}

/// Times storing an entry that grows by the batches of one launch each time.
fn put(store: &mut Store, launches: u64, batches: usize) -> Result<(), Box<dyn Error>> {
    let mut run = Run::new(Machine::default());
    run.id = format!("{:016x}", process::id());
    store.begin(&run)?;
    let mut times = Vec::new();
    for launch in 1..=launches {
        let entry = entry("lat_put", launch, batches);
        let begun = Instant::now();
        store.put(&run.id, 0, &entry)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let last = times.last().copied().unwrap_or_default();
    let times = sorted(&times);
    println!(
        "an entry of 1 to {launches} launches of {batches} batches: least {:.2} ms, median {:.2} ms, most {:.2} ms; of all launches {last:.2} ms",
        times[0],
        median(&times).unwrap_or_default(),
        times[times.len() - 1]
    );
    Ok(store.remove(&run.id)?)
}

/// An entry with numbers that have as many digits as measured ones.
fn entry(name: &str, launches: u64, batches: usize) -> Benchmark {
    let mut entry = Benchmark {
        valid: true,
        unit: Some("ns".to_owned()),
        median: Some(12.5),
        ..Benchmark::ended(name, Status::Ok, Vec::new())
    };
    let mut records = Vec::new();
    for launch in 0..launches {
        for i in 0..batches as u64 {
            let noise = ((launch * 7919 + i * 104_729) % 1000) as f64 / 3e3;
            records.push(Batch {
                passes: 100_000,
                operations: 100_000,
                ns: 1_234_567.0 + noise * 1e4,
                dummy_ns: 34_567.0 + noise * 1e2,
                launch,
                cycle_ns: Some(0.4 + noise / 1e3),
                sample: Some(12.0 + noise),
                ..Batch::default()
            });
            entry.details.samples.push(12.0 + noise);
        }
    }
    entry.records = records.into_iter().collect();
    entry
}
