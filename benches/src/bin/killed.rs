//! Kills runs of the suite, or single processes of theirs, at random moments. Then looks for leftovers: processes, files, mounts,
//! kernel objects, network devices, namespaces and changed system settings. Also checks that the end of one benchmark did not stop others.
//!
//! `cargo run --release -p yamba-benches --bin killed -- killed.jsonl --rounds 100`. Writes one line per round, and resumes after an
//! interruption. Random choices, such as the hosts of a round, depend only on the seed and the number of the round. Other programs on the machine
//! may create kernel objects at the same time, so you have to judge the findings of a line. Needs Linux, and an ssh server for `ssh`.

#[path = "killed/kernel.rs"]
mod kernel;
#[path = "../../../crates/yamba/tests/killed/leftovers.rs"]
mod leftovers;
#[path = "../../../crates/yamba/tests/far/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use fastrand::Rng;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use server::Server;
use yamba_record::{Run, Status};

#[derive(Parser)]
#[command(about = "Kills runs of the suite at random moments and looks for what they leave behind")]
struct Options {
    /// File of the rounds; existing rounds count
    file: PathBuf,
    /// Total number of rounds in the file
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of benchmarks per round, drawn from NAMES or from all
    #[arg(long, default_value_t = 6)]
    benchmarks: usize,
    /// Seconds to wait for leftovers to disappear
    #[arg(long, default_value_t = 20)]
    patience: u64,
    /// The program to run
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Parent of temporary folders
    #[arg(long, default_value = "/var/tmp")]
    folder: PathBuf,
    /// Hosts between which the rounds measure; each round draws one of the values
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "as-it-is,veth,ssh"
    )]
    hosts: Vec<Hosts>,
    /// Benchmarks to draw from [default: all that run here]
    names: Vec<String>,
}

/// The hosts between which a round measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum, Serialize, Deserialize)]
enum Hosts {
    /// All benchmarks, each with its own parameters
    #[default]
    AsItIs,
    /// Network benchmarks, between two virtual hosts
    Veth,
    /// Network benchmarks, to a far end behind a temporary ssh server
    Ssh,
}

/// The target and the signal of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Manner {
    RunKilled,
    RunInterrupted,
    RunTerminated,
    /// Kills a random process of the run from time to time.
    ProcessesKilled,
}

#[derive(Serialize, Deserialize)]
struct Round {
    seed: u64,
    round: u64,
    manner: Manner,
    #[serde(default)]
    hosts: Hosts,
    names: Vec<String>,
    /// The time of each signal since the start of the run.
    milliseconds: Vec<u64>,
    victims: Vec<String>,
    status: Option<i32>,
    /// The time from the end of the run until no leftovers remained.
    settled_ms: u64,
    left: Vec<String>,
    /// Benchmarks that have no figure although they should.
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

/// Data shared by all rounds.
struct Bench<'a> {
    options: &'a Options,
    /// All benchmarks to draw from; `between_hosts` holds those of the network.
    names: Vec<String>,
    between_hosts: Vec<String>,
    /// The ssh server of the far end.
    server: Option<Server>,
}

impl Bench<'_> {
    fn new(options: &Options) -> Result<Bench<'_>, String> {
        let mut all = all_benchmarks(&options.yamba)?;
        if !options.names.is_empty() {
            all.retain(|b| options.names.contains(&b.name));
        }
        let names = |wanted: &dyn Fn(&Listed) -> bool| -> Vec<String> {
            let found = all.iter().filter(|b| wanted(b));
            found.map(|b| b.name.clone()).collect()
        };
        let wants_ssh = options.hosts.contains(&Hosts::Ssh);
        if wants_ssh && !server::is_installed() {
            return Err("--hosts ssh needs ssh, ssh-keygen and sshd".to_owned());
        }
        let bench = Bench {
            options,
            names: names(&|_| true),
            between_hosts: names(&|b| b.has("net")),
            server: wants_ssh.then(|| far(options)),
        };
        match options.hosts.iter().find(|h| bench.names(**h).is_empty()) {
            Some(hosts) => Err(format!("{hosts:?}: none of these benchmarks has two hosts")),
            None => Ok(bench),
        }
    }

    fn names(&self, hosts: Hosts) -> &[String] {
        match hosts {
            Hosts::AsItIs => &self.names,
            Hosts::Veth | Hosts::Ssh => &self.between_hosts,
        }
    }

    /// Waits for leftovers in this folder and on the far machine to disappear, and returns the remaining ones.
    fn settle(&self, folder: &Path, before: &BTreeSet<String>) -> Vec<String> {
        let far = self.server.as_ref().map(Server::far);
        let folders: Vec<&Path> = far.iter().map(PathBuf::as_path).chain([folder]).collect();
        let patience = Duration::from_secs(self.options.patience);
        leftovers::settle(&folders, self.server_pid(), before, patience)
    }

    fn server_pid(&self) -> Option<i32> {
        self.server.as_ref().map(Server::pid)
    }
}

/// Starts the ssh server. Its files are deleted with the other temporary ones.
fn far(options: &Options) -> Server {
    let folder = folder(options, "ssh");
    fs::create_dir_all(&folder).expect("a folder for the server of ssh");
    Server::start(&folder)
}

/// Runs the missing rounds. Returns the number of rounds in the file with findings.
fn work(options: &Options) -> Result<usize, String> {
    leftovers::adopt_orphans();
    let bench = Bench::new(options)?;
    let text = fs::read_to_string(&options.file).unwrap_or_default();
    let mut rounds = Vec::new();
    for line in text.lines() {
        rounds.push(
            serde_json::from_str::<Round>(line)
                .map_err(|e| format!("{}: {e}", options.file.display()))?,
        );
    }
    while (rounds.len() as u64) < options.rounds {
        let round = one(&bench, rounds.len() as u64)?;
        keep(&options.file, &round)?;
        tell(&round);
        rounds.push(round);
    }
    let found = rounds
        .iter()
        .filter(|r| !r.left.is_empty() || !r.wrong.is_empty())
        .count();
    println!("{} rounds, {found} of them found something", rounds.len());
    if let Some(server) = &bench.server {
        let _ = fs::remove_dir_all(server.far().parent().unwrap_or(Path::new("")));
    }
    Ok(found)
}

fn tell(round: &Round) {
    let names = round.names.join(" ");
    eprintln!(
        "{} {:?} {:?} after {:?} ms of {names}: settled in {} ms",
        round.round, round.hosts, round.manner, round.milliseconds, round.settled_ms
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

/// A benchmark in the output of `yamba list`.
#[derive(Deserialize)]
struct Listed {
    name: String,
    runs_here: bool,
    tags: Vec<String>,
}

impl Listed {
    fn has(&self, tag: &str) -> bool {
        self.tags.iter().any(|t| t == tag)
    }
}

fn all_benchmarks(yamba: &Path) -> Result<Vec<Listed>, String> {
    let done = Command::new(yamba)
        .args(["list", "--json"])
        .output()
        .map_err(|e| format!("{}: {e}", yamba.display()))?;
    let mut all: Vec<Listed> =
        serde_json::from_slice(&done.stdout).map_err(|e| format!("yamba list --json: {e}"))?;
    all.retain(|b| b.runs_here && !b.has("demonstration"));
    Ok(all)
}

/// Draws one of the values.
fn one_of<T: Clone>(all: &[T], draw: &mut Rng) -> T {
    all[draw.u64(..all.len() as u64) as usize].clone()
}

fn one(bench: &Bench<'_>, number: u64) -> Result<Round, String> {
    let options = bench.options;
    let mut draw = Rng::with_seed(options.seed.wrapping_mul(1_000_003).wrapping_add(number));
    let hosts = one_of(&options.hosts, &mut draw);
    let mut names = bench.names(hosts).to_vec();
    draw.shuffle(&mut names);
    names.truncate(options.benchmarks);
    let manners = [
        Manner::RunKilled,
        Manner::RunInterrupted,
        Manner::RunTerminated,
        Manner::ProcessesKilled,
        Manner::ProcessesKilled,
    ];
    let mut round = Round {
        seed: options.seed,
        round: number,
        manner: one_of(&manners, &mut draw),
        hosts,
        names,
        milliseconds: Vec::new(),
        victims: Vec::new(),
        status: None,
        settled_ms: 0,
        left: Vec::new(),
        wrong: Vec::new(),
    };
    let folder = folder(options, &number.to_string());
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    build(bench, &round)?;
    let before = kernel::objects();
    go_through(bench, &mut round, &folder, &before, &mut draw)?;
    for stray in leftovers::descendants(std::process::id() as i32) {
        if Some(stray.pid) != bench.server_pid() {
            leftovers::signal(stray.pid, Signal::KILL);
        }
    }
    if round.manner == Manner::ProcessesKilled {
        round.wrong = wrong(&document(options, number), &round);
    }
    let _ = fs::remove_dir_all(&folder);
    let _ = fs::remove_file(document(options, number));
    let patience = Duration::from_secs(options.patience);
    round.left.extend(kernel::settle(&before, patience));
    Ok(round)
}

/// Starts the run, sends signals until it ends, and records the leftovers.
fn go_through(
    bench: &Bench<'_>,
    round: &mut Round,
    folder: &Path,
    before: &BTreeSet<String>,
    draw: &mut Rng,
) -> Result<(), String> {
    let mut command = command(bench, round, &["run", "--quick", "--json"]);
    let out = File::create(document(bench.options, round.round)).map_err(|e| e.to_string())?;
    command.env("TMPDIR", folder).stdout(out);
    let mut run = command.spawn().map_err(|e| e.to_string())?;
    let begun = Instant::now();
    while run.try_wait().map_err(|e| e.to_string())?.is_none() {
        strike(bench, &mut run, draw, begun, round);
    }
    round.status = run.wait().map_err(|e| e.to_string())?.code();
    let ended = Instant::now();
    round.left = bench.settle(folder, before);
    round.settled_ms = ended.elapsed().as_millis() as u64;
    Ok(())
}

/// The path of a temporary folder of this process.
fn folder(options: &Options, name: &str) -> PathBuf {
    let name = format!("yamba-killed-{}-{name}", std::process::id());
    options.folder.join(name)
}

/// Builds the programs before the run, so that no compiler is killed.
fn build(bench: &Bench<'_>, round: &Round) -> Result<(), String> {
    let mut rehearsal = command(bench, round, &["run", "--quick", "--dry-run"]);
    let done = rehearsal.stderr(Stdio::piped()).stdout(Stdio::null());
    let done = done.output().map_err(|e| e.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

fn document(options: &Options, number: u64) -> PathBuf {
    folder(options, &format!("{number}.json"))
}

/// The store of all rounds. It is outside the temporary folders, since they are deleted after each round.
fn store(options: &Options) -> PathBuf {
    options.file.with_extension("sqlite")
}

/// A yamba command with these arguments for the benchmarks and hosts of the round.
fn command(bench: &Bench<'_>, round: &Round, words: &[&str]) -> Command {
    let mut command = Command::new(&bench.options.yamba);
    command
        .args(words)
        .args(&round.names)
        .env("YAMBA_STORE", store(bench.options))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    match (round.hosts, &bench.server) {
        (Hosts::Veth, _) => {
            command.args(["--set", "host=veth"]);
        }
        (Hosts::Ssh, Some(server)) => {
            command.args(["--remote", server.name()]);
            command.env("YAMBA_SSH", server.ssh());
        }
        _ => {}
    }
    command
}

/// Waits a random time, then sends a signal.
fn strike(bench: &Bench<'_>, run: &mut Child, draw: &mut Rng, begun: Instant, round: &mut Round) {
    let is_run = round.manner != Manner::ProcessesKilled;
    // Measuring a point takes about half a second, or several seconds for a slow one.
    let most = if is_run {
        800 * round.names.len() as u64
    } else {
        3000
    };
    let wait = Duration::from_millis(draw.u64(..most));
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
    let ends = [Some(own.pid), bench.server_pid()].into_iter().flatten();
    let all: Vec<_> = ends.flat_map(leftovers::descendants).collect();
    let (victim, signal) = match round.manner {
        Manner::RunKilled => (own, Signal::KILL),
        Manner::RunInterrupted => (own, Signal::INT),
        Manner::RunTerminated => (own, Signal::TERM),
        Manner::ProcessesKilled if all.is_empty() => return,
        Manner::ProcessesKilled => (one_of(&all, draw), Signal::KILL),
    };
    leftovers::signal(victim.pid, signal);
    round.milliseconds.push(begun.elapsed().as_millis() as u64);
    round.victims.push(victim.words);
    if is_run {
        // The run may still be writing; one signal is enough.
        let _ = run.wait();
    }
}

/// Missing benchmarks, and all crashed ones if more crashed than processes were killed.
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
