//! Measures the cost of storing runs, and checks that killed runs lose nothing.
//!
//! `cargo run --release -p yamba-benches --bin store -- size` stores and reads a run of a million intervals. `-- put` stores an entry repeatedly, as a run does
//! after each launch. `-- killed` kills runs at random moments and reads the stored parts. Each takes a few minutes at most. The default store is a new file in
//! a temporary folder, which is deleted at the end; `--store` names another file, or a database of a PostgreSQL server.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use clap::{Parser, Subcommand};
use fastrand::Rng;
use postgres::{Client, NoTls};
use yamba_record::{Benchmark, Interval, Machine, Run, Status};
use yamba_stats::{median, sorted};
use yamba_store::{Detail, Location, Store};

#[derive(Parser)]
#[command(about = "Times the store, and kills runs that write it")]
struct Options {
    #[command(subcommand)]
    what: What,
    /// The store [default: a file in a temporary folder]
    #[arg(long, global = true)]
    store: Option<OsString>,
    /// Seed of the random choices
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum What {
    /// Store one large run and read it
    Size {
        #[arg(long, default_value_t = 500)]
        entries: usize,
        /// Intervals per entry
        #[arg(long, default_value_t = 2000)]
        intervals: usize,
    },
    /// Store an entry again after each of its launches
    Put {
        #[arg(long, default_value_t = 100)]
        launches: u64,
        /// Intervals per launch
        #[arg(long, default_value_t = 11)]
        intervals: usize,
    },
    /// Kill runs with SIGKILL
    Killed {
        #[arg(long, default_value_t = 50)]
        rounds: usize,
        /// The longest time before a kill
        #[arg(long, default_value_t = 8000)]
        milliseconds: usize,
        /// The program to run
        #[arg(long, default_value = "target/release/yamba")]
        yamba: PathBuf,
        /// Benchmarks to run
        #[arg(default_values = ["lat_syscall_getppid", "lat_pipe", "lat_mem_rd", "lat_integer_multiply"])]
        names: Vec<String>,
    },
}

fn main() -> ExitCode {
    let options = Options::parse();
    let folder = env::temp_dir().join(format!("yamba-store-{}", process::id()));
    let done = fs::create_dir_all(&folder)
        .map_err(|e| e.to_string())
        .and_then(|()| work(&options, &folder));
    let _ = fs::remove_dir_all(&folder); // leftover files do no harm
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("store: {fault}");
            ExitCode::from(2)
        }
    }
}

fn work(options: &Options, folder: &Path) -> Result<bool, String> {
    let usual = || folder.join("results.sqlite").into();
    let place = options.store.clone().unwrap_or_else(usual);
    let location = Location::parse(&place).map_err(|e| e.to_string())?;
    let mut store = Store::open(&location).map_err(|e| e.to_string())?;
    match &options.what {
        What::Size { entries, intervals } => {
            let room = || room(&location, &place);
            size(&mut store, room, *entries, *intervals)
        }
        What::Put {
            launches,
            intervals,
        } => put(&mut store, *launches, *intervals),
        What::Killed {
            rounds,
            milliseconds,
            yamba,
            names,
        } => {
            built(yamba, names)?;
            let mut random = Rng::with_seed(options.seed);
            let mut good = true;
            for round in 0..*rounds {
                let mut moments: Vec<usize> = (0..*milliseconds).collect();
                random.shuffle(&mut moments);
                let moment = Duration::from_millis(moments[0] as u64);
                good &= killed(&mut store, &place, yamba, names, round, moment)?;
            }
            Ok(good)
        }
    }
}

/// The size of a store in bytes: the length of a file, or the total size of a database's tables with their indexes and TOAST data.
fn room(location: &Location, place: &OsStr) -> Result<u64, String> {
    if let Location::File(file) = location {
        return Ok(fs::metadata(file).map_or(0, |about| about.len()));
    }
    let url = place.to_str().unwrap_or_default(); // it was parsed as a URL before, so it is UTF-8
    let sql = "SELECT COALESCE(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'yamba' AND relkind = 'r'";
    let mut client = Client::connect(url, NoTls).map_err(|e| e.to_string())?;
    let row = client.query_one(sql, &[]).map_err(|e| e.to_string())?;
    let bytes: i64 = row.get(0);
    Ok(bytes as u64)
}

fn size(
    store: &mut Store,
    room: impl Fn() -> Result<u64, String>,
    entries: usize,
    intervals: usize,
) -> Result<bool, String> {
    let mut run = Run::new(Machine::default());
    run.id = format!("{:016x}", process::id());
    run.benchmarks = (0..entries)
        .map(|i| entry(&format!("lat_{i}"), (intervals / 11).max(1) as u64, 11))
        .collect();
    let all: usize = run.benchmarks.iter().map(|b| b.intervals.len()).sum();
    let before = room()?;
    timed(
        &format!("{all} intervals of {entries} entries stored"),
        || store.add(&run),
    )?;
    let bytes = (room()? - before) as f64;
    let each = bytes / all as f64;
    println!("{:.1} MB, {each:.1} bytes an interval", bytes / 1e6);
    let json = serde_json::to_vec(&run).map_err(|e| e.to_string())?;
    println!("as JSON {:.1} MB", json.len() as f64 / 1e6);
    for (what, detail) in [
        ("figures", Detail::Figures),
        ("samples, as for a report", Detail::Samples),
        ("everything", Detail::Intervals),
    ] {
        let read = timed(&format!("read: {what}"), || store.run(&run.id, detail))?;
        if detail == Detail::Intervals && read != run {
            return Err("what was read is not what was written".to_owned());
        }
    }
    timed("listed", || store.runs())?;
    store.remove(&run.id).map_err(|e| e.to_string())?;
    Ok(true)
}

fn timed<T, E: ToString>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let begun = Instant::now();
    let done = work().map_err(|e| e.to_string())?;
    println!("{what}: {:.3} s", begun.elapsed().as_secs_f64());
    Ok(done)
}

/// Times storing an entry that grows by the intervals of one launch each time.
fn put(store: &mut Store, launches: u64, intervals: usize) -> Result<bool, String> {
    let mut run: Run<()> = Run::new(Machine::default());
    run.id = format!("{:016x}", process::id());
    store.begin(&run).map_err(|e| e.to_string())?;
    let mut times = Vec::new();
    for launch in 1..=launches {
        let entry = entry("lat_put", launch, intervals);
        let begun = Instant::now();
        store.put(&run.id, 0, &entry).map_err(|e| e.to_string())?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let last = times.last().copied().unwrap_or_default();
    let times = sorted(&times);
    println!(
        "an entry of 1 to {launches} launches of {intervals} intervals: least {:.2} ms, median {:.2} ms, most {:.2} ms; of all launches {last:.2} ms",
        times[0],
        median(&times).unwrap_or_default(),
        times[times.len() - 1]
    );
    store.remove(&run.id).map_err(|e| e.to_string())?;
    Ok(true)
}

/// An entry with numbers that have as many digits as measured ones.
fn entry(name: &str, launches: u64, intervals: usize) -> Benchmark {
    let mut entry = yamba_harness::no_figure(name);
    entry.status = Status::Ok;
    entry.valid = true;
    entry.unit = Some("ns".to_owned());
    entry.median = Some(12.5);
    for launch in 0..launches {
        for i in 0..intervals as u64 {
            let noise = ((launch * 7919 + i * 104_729) % 1000) as f64 / 3e3;
            entry.intervals.push(Interval {
                passes: 100_000,
                operations: 100_000,
                ns: 1_234_567.0 + noise * 1e4,
                dummy_ns: 34_567.0 + noise * 1e2,
                launch,
                cycle_ns: Some(0.4 + noise / 1e3),
                sample: Some(12.0 + noise),
                ..Interval::default()
            });
            entry.samples.push(12.0 + noise);
        }
    }
    entry
}

/// The number of stored launches of each entry of the latest run.
fn launches(store: &mut Store) -> Result<BTreeMap<usize, usize>, String> {
    let Some(latest) = store.runs().map_err(|e| e.to_string())?.into_iter().next() else {
        return Ok(BTreeMap::new());
    };
    let run = store
        .run(&latest.id, Detail::Intervals)
        .map_err(|e| e.to_string())?;
    let each = run.benchmarks.iter().enumerate();
    let count = |b: &Benchmark| {
        let launches: BTreeSet<u64> = b.intervals.iter().map(|i| i.launch).collect();
        launches.len()
    };
    Ok(each.map(|(place, b)| (place, count(b))).collect())
}

/// Builds the programs first, since a run that is killed while it compiles has nothing to lose.
fn built(yamba: &Path, names: &[String]) -> Result<(), String> {
    let status = Command::new(yamba)
        .args(["run", "--dry-run"])
        .args(names)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("{}: {e}", yamba.display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} run --dry-run: {status}", yamba.display())),
    }
}

/// Kills one run. Returns whether the store still has everything that it had before the kill.
fn killed(
    store: &mut Store,
    place: &OsString,
    yamba: &Path,
    names: &[String],
    round: usize,
    moment: Duration,
) -> Result<bool, String> {
    let mut child = Command::new(yamba)
        .arg("run")
        .args(names)
        .env("YAMBA_STORE", place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("{}: {e}", yamba.display()))?;
    let known = store.runs().map_err(|e| e.to_string())?.len();
    let begun = Instant::now();
    let mut seen = BTreeMap::new();
    while begun.elapsed() < moment {
        thread::sleep(Duration::from_millis(20));
        if store.runs().map_err(|e| e.to_string())?.len() > known {
            seen = launches(store)?;
        }
    }
    let _ = child.kill(); // it may have ended by itself
    child.wait().map_err(|e| e.to_string())?;
    let all = store.runs().map_err(|e| e.to_string())?;
    let is_there = all.len() > known;
    let left = if is_there {
        launches(store)?
    } else {
        BTreeMap::new()
    };
    let sum = |all: &BTreeMap<usize, usize>| all.values().sum::<usize>();
    let lost = seen
        .values()
        .zip(left.values())
        .any(|(before, after)| before > after);
    let good = !lost && left.len() >= seen.len() && (is_there || seen.is_empty());
    let state = match all.first().filter(|_| is_there) {
        None => "before its first entry",
        Some(run) if run.complete => "after its end",
        Some(run) if run.is_running == Some(false) => "in between",
        Some(_) => "in between, and is said to run still",
    };
    println!(
        "{round}: killed after {} ms, {state}: {} entries, {} launches, seen before {}{}",
        moment.as_millis(),
        left.len(),
        sum(&left),
        sum(&seen),
        if good { "" } else { ": LOST" }
    );
    Ok(good)
}
