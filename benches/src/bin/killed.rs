//! Runs of the suite that are killed, or some process of theirs, at random moments; then what is left behind: processes, files, mounts,
//! kernel objects, network devices, settings of the system. And whether one benchmark's end stopped others.
//!
//! `cargo run --release -p yamba-benches --bin killed -- killed.jsonl --rounds 100`. Keeps one line for each round and goes on where it was cut
//! off. Random choices come from the seed and the round's number. Other users of the machine may make kernel objects at the same time: a
//! line names what it found, for a person to judge. Needs Linux.

#[path = "../../../crates/yamba/tests/killed/leftovers.rs"]
mod leftovers;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Parser;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use yamba::random::Random;
use yamba_record::{Run, Status};

#[derive(Parser)]
#[command(about = "Kills runs of the suite at random moments and looks for what they leave behind")]
struct Options {
    /// Where the rounds are kept; what is there counts
    file: PathBuf,
    /// Rounds that the file shall hold
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Benchmarks of a round, drawn from those named or from all
    #[arg(long, default_value_t = 6)]
    benchmarks: usize,
    /// Seconds in which what is left may still end
    #[arg(long, default_value_t = 20)]
    patience: u64,
    /// The program to run
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Where scratch folders are made
    #[arg(long, default_value = "/var/tmp")]
    folder: PathBuf,
    /// Benchmarks to draw from; none: all that run here
    names: Vec<String>,
}

/// What is killed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Manner {
    RunKilled,
    RunInterrupted,
    RunTerminated,
    /// Every now and then one of its processes.
    ProcessesKilled,
}

#[derive(Serialize, Deserialize)]
struct Round {
    seed: u64,
    round: u64,
    manner: Manner,
    names: Vec<String>,
    /// Into the run, of each signal.
    milliseconds: Vec<u64>,
    victims: Vec<String>,
    status: Option<i32>,
    /// Until nothing was left.
    settled_ms: u64,
    left: Vec<String>,
    /// Benchmarks that have no figure though they should.
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match work(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("killed: {fault}");
            ExitCode::from(2)
        }
    }
}

/// How many rounds of the file found something.
fn work(options: &Options) -> Result<usize, String> {
    leftovers::adopt_orphans();
    let names = if options.names.is_empty() {
        all_names(&options.yamba)?
    } else {
        options.names.clone()
    };
    let text = fs::read_to_string(&options.file).unwrap_or_default();
    let mut rounds = Vec::new();
    for line in text.lines() {
        rounds.push(
            serde_json::from_str::<Round>(line)
                .map_err(|e| format!("{}: {e}", options.file.display()))?,
        );
    }
    while (rounds.len() as u64) < options.rounds {
        let round = one(options, &names, rounds.len() as u64)?;
        keep(&options.file, &round)?;
        tell(&round);
        rounds.push(round);
    }
    let found = rounds
        .iter()
        .filter(|r| !r.left.is_empty() || !r.wrong.is_empty())
        .count();
    println!("{} rounds, {found} of them found something", rounds.len());
    Ok(found)
}

fn tell(round: &Round) {
    let names = round.names.join(" ");
    eprintln!(
        "{} {:?} after {:?} ms of {names}: settled in {} ms",
        round.round, round.manner, round.milliseconds, round.settled_ms
    );
    for line in round.left.iter().chain(&round.wrong) {
        eprintln!("    {line}");
    }
}

fn keep(file: &Path, round: &Round) -> Result<(), String> {
    let line = serde_json::to_string(round).map_err(|e| e.to_string())?;
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened
        .and_then(|mut f| writeln!(f, "{line}"))
        .map_err(|e| format!("{}: {e}", file.display()))
}

fn all_names(yamba: &Path) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct Listed {
        name: String,
        runs_here: bool,
        tags: Vec<String>,
    }
    let done = Command::new(yamba)
        .args(["list", "--json"])
        .output()
        .map_err(|e| format!("{}: {e}", yamba.display()))?;
    let all: Vec<Listed> =
        serde_json::from_slice(&done.stdout).map_err(|e| format!("yamba list --json: {e}"))?;
    let wanted = all
        .into_iter()
        .filter(|b| b.runs_here && !b.tags.iter().any(|t| t == "demonstration"));
    Ok(wanted.map(|b| b.name).collect())
}

/// Numbers below a bound, from the order that a shuffle brings.
struct Draw(Random);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        let mut all: Vec<usize> = (0..bound.max(1)).collect();
        self.0.shuffle(&mut all);
        all[0]
    }
}

fn one(options: &Options, names: &[String], number: u64) -> Result<Round, String> {
    let mut draw = Draw(Random::new(
        options.seed.wrapping_mul(1_000_003).wrapping_add(number),
    ));
    let mut names = names.to_vec();
    draw.0.shuffle(&mut names);
    names.truncate(options.benchmarks);
    let manner = [
        Manner::RunKilled,
        Manner::RunInterrupted,
        Manner::RunTerminated,
        Manner::ProcessesKilled,
        Manner::ProcessesKilled,
    ][draw.below(5)];

    let folder = options
        .folder
        .join(format!("yamba-killed-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    build(options, &names)?;
    let before = kernel();
    let mut run = start(options, &names, &folder, number)?;
    let mut round = Round {
        seed: options.seed,
        round: number,
        manner,
        names,
        milliseconds: Vec::new(),
        victims: Vec::new(),
        status: None,
        settled_ms: 0,
        left: Vec::new(),
        wrong: Vec::new(),
    };
    let begun = Instant::now();
    while run.try_wait().map_err(|e| e.to_string())?.is_none() {
        strike(&mut run, &mut draw, begun, &mut round);
    }
    round.status = run.wait().map_err(|e| e.to_string())?.code();
    let ended = Instant::now();
    round.left = leftovers::settle(&folder, Duration::from_secs(options.patience));
    round.settled_ms = ended.elapsed().as_millis() as u64;
    for stray in leftovers::descendants(std::process::id() as i32) {
        leftovers::signal(stray.pid, Signal::KILL);
    }
    if manner == Manner::ProcessesKilled {
        round.wrong = wrong(&document(options, number), &round);
    }
    let _ = fs::remove_dir_all(&folder);
    let _ = fs::remove_file(document(options, number));
    round.left.extend(kernel().difference(&before).cloned());
    Ok(round)
}

/// Programs are built before: compilers are no part of it.
fn build(options: &Options, names: &[String]) -> Result<(), String> {
    let done = Command::new(&options.yamba)
        .arg("build")
        .args(names)
        .output()
        .map_err(|e| e.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

fn document(options: &Options, number: u64) -> PathBuf {
    options
        .folder
        .join(format!("yamba-killed-{}-{number}.json", std::process::id()))
}

/// One for all rounds: it must outlast each.
fn store(options: &Options) -> PathBuf {
    options.file.with_extension("sqlite")
}

fn start(options: &Options, names: &[String], folder: &Path, number: u64) -> Result<Child, String> {
    let out = File::create(document(options, number)).map_err(|e| e.to_string())?;
    let mut command = Command::new(&options.yamba);
    command
        .args(["run", "--quick", "--json"])
        .args(names)
        .env("TMPDIR", folder)
        .env("YAMBA_STORE", store(options));
    command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null());
    command
        .spawn()
        .map_err(|e| format!("{}: {e}", options.yamba.display()))
}

/// Waits a random time, then sends a signal.
fn strike(run: &mut Child, draw: &mut Draw, begun: Instant, round: &mut Round) {
    let is_run = round.manner != Manner::ProcessesKilled;
    // A point takes about half a second or, of a slow one, several.
    let most = if is_run {
        800 * round.names.len()
    } else {
        3000
    };
    let wait = Duration::from_millis(draw.below(most) as u64);
    let since = Instant::now();
    while since.elapsed() < wait {
        if !matches!(run.try_wait(), Ok(None)) {
            return;
        }
        sleep(Duration::from_millis(2));
    }
    let own = leftovers::Process {
        pid: run.id() as i32,
        words: "yamba run".to_owned(),
    };
    let all = leftovers::descendants(own.pid);
    let (victim, signal) = match round.manner {
        Manner::RunKilled => (own, Signal::KILL),
        Manner::RunInterrupted => (own, Signal::INT),
        Manner::RunTerminated => (own, Signal::TERM),
        Manner::ProcessesKilled if all.is_empty() => return,
        Manner::ProcessesKilled => (all[draw.below(all.len())].clone(), Signal::KILL),
    };
    leftovers::signal(victim.pid, signal);
    round.milliseconds.push(begun.elapsed().as_millis() as u64);
    round.victims.push(victim.words);
    if is_run {
        // It may have something to write yet; one signal is enough.
        let _ = run.wait();
    }
}

/// More benchmarks without a figure than processes were killed; some that are not there at all.
fn wrong(document: &Path, round: &Round) -> Vec<String> {
    let text = fs::read_to_string(document).unwrap_or_default();
    let Ok(run) = serde_json::from_str::<Run>(&text) else {
        return vec![format!("no document; status {:?}", round.status)];
    };
    let mut wrong = Vec::new();
    for name in &round.names {
        if !run.benchmarks.iter().any(|b| b.name == *name) {
            wrong.push(format!("{name} is missing"));
        }
    }
    let crashed: Vec<_> = run
        .benchmarks
        .iter()
        .filter(|b| b.status == Status::Crashed)
        .collect();
    if crashed.len() > round.victims.len() {
        wrong.extend(
            crashed
                .iter()
                .map(|b| format!("{} crashed: {}", b.name, b.notes.join("; "))),
        );
    }
    wrong
}

/// What is no process's own: kernel objects, devices, settings.
fn kernel() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for kind in ["sem", "shm", "msg"] {
        let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let ids = text
            .lines()
            .skip(1)
            .filter_map(|l| l.split_whitespace().nth(1));
        all.extend(ids.map(|id| format!("System V {kind} {id}")));
    }
    for folder in ["/dev/shm", "/dev/mqueue", "/run/sshd", "/sys/class/net"] {
        all.extend(leftovers::files(Path::new(folder)));
    }
    settings(Path::new("/proc/sys"), &mut all);
    for disk in fs::read_dir("/sys/class/bdi")
        .into_iter()
        .flatten()
        .flatten()
    {
        let read_ahead = fs::read_to_string(disk.path().join("read_ahead_kb")).unwrap_or_default();
        all.insert(format!(
            "{} read_ahead_kb {}",
            disk.path().display(),
            read_ahead.trim()
        ));
    }
    all
}

/// Those that the system itself changes all the time are none.
const COUNTS: [&str; 8] = [
    "/random/",
    "/fs/dentry-state",
    "/fs/inode-",
    "/fs/file-nr",
    "/kernel/pty/nr",
    "/kernel/ns_last_pid",
    "/sched_domain/",
    "/nf_conntrack_count",
];

fn settings(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.display().to_string();
        if COUNTS.iter().any(|c| name.contains(c)) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => settings(&path, all),
            _ => {
                let value = fs::read_to_string(&path).unwrap_or_default();
                all.insert(format!("setting {name} {}", value.trim()));
            }
        }
    }
}
