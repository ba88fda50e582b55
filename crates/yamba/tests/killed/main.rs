//! Kills a run, or one of its processes, at various moments. Nothing may be left behind, and other
//! benchmarks must continue.
#![cfg(target_os = "linux")]

mod leftovers;
#[allow(dead_code, reason = "tests/facilities uses the rest")]
#[path = "../far/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;
use libtest_mimic::{Arguments, Completion, Trial};
use rustix::process::Signal;
use server::Server;
use yamba_child_guard::{Guarded, StartGuarded};
use yamba_harness::random::drawn_seed;

/// The variable with the seed of the moments. Without it, each test run draws another seed.
const SEED: &str = "YAMBA_KILLED_SEED";
/// The variable with benchmarks to run in place of those of `SUITE`, separated by spaces.
const BENCHMARKS: &str = "YAMBA_KILLED_BENCHMARKS";
const PATIENCE: Duration = Duration::from_secs(300);
/// The three signals sent to the run itself. `VICTIMS` is the number of processes killed one after
/// the other.
const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::INT, Signal::TERM];
const VICTIMS: usize = 3;

/// The options and place of a run.
struct Scene<'a> {
    name: &'a str,
    /// Benchmark names.
    names: &'a [&'a str],
    words: &'a [&'a str],
    /// The server on the other machine.
    server: Option<&'a Server>,
    /// A signal is sent within this many milliseconds.
    within: u64,
}

/// These fork partners, use cleanup guards, create a control group, start servers on their own
/// hosts, and write files.
const SUITE: Scene = Scene {
    name: "suite",
    names: &[
        "lat_pipe",
        "lat_sem",
        "lat_open_close",
        "file_cache",
        "lat_remote_read_sshfs",
        "lat_remote_read_nfs",
        "lat_remote_read_smb",
    ],
    words: &[],
    server: None,
    within: 3000,
};
/// This benchmark creates a memory control group.
const GROUP: Scene =
    Scene { name: "group", names: &["file_cache"], words: &[], server: None, within: 0 };
const NETWORK: [&str; 4] = ["lat_tcp", "lat_http", "lat_connect", "bw_tcp"];
/// These create two hosts, connected by cables.
const VETH: Scene = Scene {
    name: "veth",
    names: &NETWORK,
    words: &["--set", "host=veth", "--set", "placement=same"],
    server: None,
    within: 2000,
};

/// The common environment of all scenes.
struct Ground<'a> {
    /// The folder that contains each run's folder.
    home: &'a Path,
    /// Kernel objects that existed before.
    before: BTreeSet<String>,
    seed: u64,
}

impl Ground<'_> {
    /// The random moments of one part of the test, independent of how many processes another part
    /// has met.
    fn moments(&self, scene: &str, part: i32) -> Rng {
        let add = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
        Rng::with_seed(scene.bytes().fold(self.seed, add) ^ part as u64)
    }
}

impl Scene<'_> {
    fn yamba(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_yamba"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        command
            .args(words)
            .args(self.names)
            .env("YAMBA_HOME", root)
            .env("YAMBA_CACHE", cache)
            // Cargo's value would make other programs than those that the command-line tests have
            // built.
            .env_remove("LD_LIBRARY_PATH")
            .env("YAMBA_STORE", folder.with_extension("sqlite"))
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        if let Some(server) = self.server {
            command.env("YAMBA_SSH", server.ssh());
        }
        command
    }

    /// Builds the programs in advance, so that no compilers are killed. Returns whether it
    /// succeeded.
    fn build(&self, folder: &Path) -> bool {
        let mut dry_run = self.yamba(folder, &["run", "--quick", "--dry-run"]);
        dry_run.args(self.words).stdout(Stdio::null());
        dry_run.status().unwrap().success()
    }

    /// Starts the run. Its document goes to a file beside the folder, since no program reads a pipe
    /// meanwhile.
    fn start(&self, folder: &Path) -> Guarded {
        fs::create_dir(folder).unwrap();
        let document = File::create(folder.with_extension("json")).unwrap();
        let mut command = self.yamba(folder, &["run", "--quick", "--json"]);
        command.args(self.words).stdout(document).start()
    }

    /// Leftovers of the run in this folder, here and on the other machine.
    fn left(&self, folder: &Path, ground: &Ground<'_>) -> Vec<String> {
        let far = self.server.map(Server::far);
        let folders: Vec<&Path> = far.iter().map(PathBuf::as_path).chain([folder]).collect();
        let known = self.server.map(Server::pid);
        leftovers::settle(&folders, known, &ground.before, PATIENCE)
    }

    /// The processes of a run and of its far end.
    fn processes(&self, run: &Guarded) -> Vec<leftovers::Process> {
        let ends = [Some(run.id() as i32), self.server.map(Server::pid)];
        let all = ends.into_iter().flatten();
        all.flat_map(leftovers::descendants).collect()
    }

    /// Waits for `after`, then for a process. `None` if the run ends first.
    fn someone(
        &self,
        run: &mut Guarded,
        after: Duration,
        moments: &mut Rng,
    ) -> Option<leftovers::Process> {
        let since = Instant::now();
        while run.try_wait().unwrap().is_none() {
            let mut all = self.processes(run);
            if since.elapsed() > after && !all.is_empty() {
                return Some(all.swap_remove(moments.u64(..all.len() as u64) as usize));
            }
            sleep(Duration::from_millis(5));
        }
        None
    }

    /// Sends a signal to the run.
    fn is_ended(&self, ground: &Ground<'_>, signal: Signal) {
        let mut moments = ground.moments(self.name, signal.as_raw());
        let after = moments.u64(..self.within);
        let folder = ground.home.join(format!("{}-{}", self.name, signal.as_raw()));
        let mut run = self.start(&folder);
        let someone = self.someone(&mut run, Duration::from_millis(after), &mut moments);
        // If the run has ended, its process id may be reused.
        if someone.is_some() {
            leftovers::signal(run.id() as i32, signal);
        }
        run.wait().unwrap();
        let left = self.left(&folder, ground);
        assert_eq!(left, Vec::<String>::new(), "{}: {signal:?} after {after} ms", self.name);
    }

    /// Kills several processes of the run, one after the other.
    fn loses_processes(&self, ground: &Ground<'_>) {
        let mut moments = ground.moments(self.name, 0);
        let folder = ground.home.join(format!("{}-one-by-one", self.name));
        let mut run = self.start(&folder);
        let mut victims = Vec::new();
        for _ in 0..VICTIMS {
            let after = Duration::from_millis(moments.u64(..self.within / 2));
            if let Some(victim) = self.someone(&mut run, after, &mut moments) {
                leftovers::signal(victim.pid, Signal::KILL);
                victims.push((after, victim));
            }
        }
        run.wait().unwrap();
        let told = format!("{}: {victims:?}", self.name);
        let left = self.left(&folder, ground);
        assert_eq!(left, Vec::<String>::new(), "{told}");
        let all = statuses(&folder);
        let hurt = all.iter().filter(|(_, status)| status == "crashed").count();
        assert!(hurt <= victims.len(), "{told}: {all:?}");
        for name in self.names {
            let mut own = all.iter().filter(|(n, _)| n == name).peekable();
            assert!(own.peek().is_some(), "{told}: no {name}");
            if own.all(|(_, status)| status == "skipped") {
                eprintln!("left out: {name} is skipped here");
            }
        }
    }
}

/// Prints how to repeat the same moments. The run itself may still behave differently.
fn seed() -> u64 {
    let given = std::env::var(SEED).ok();
    let seed = given.map_or_else(drawn_seed, |text| text.parse().expect("a number"));
    eprintln!(
        "these moments again: {SEED}={seed} cargo test --release -p yamba --test killed -- --include-ignored"
    );
    seed
}

fn document(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.with_extension("json")).unwrap();
    serde_json::from_str(&text).expect("a document")
}

fn statuses(folder: &Path) -> Vec<(String, String)> {
    let document = document(folder);
    let text = |b: &serde_json::Value, key: &str| b[key].as_str().unwrap_or_default().to_owned();
    let all = document["benchmarks"].as_array().unwrap();
    all.iter().map(|b| (text(b, "name"), text(b, "status"))).collect()
}

/// A single test: leftovers are found among descendants of this process, so no other test may run
/// in it.
fn main() {
    let name = "killed_runs_leave_nothing_and_stop_no_other_process";
    let trial =
        Trial::ignorable_test(name, || Ok(killed_runs_leave_nothing_and_stop_no_other_process()));
    let trial = trial.with_kind("needs g++ and sshd").with_ignored_flag(true);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}

/// `Ignored` if the system permits no control group, after all other checks.
fn killed_runs_leave_nothing_and_stop_no_other_process() -> Completion {
    leftovers::adopt_orphans();
    // On a disk, since benchmarks do not measure files in memory.
    let home = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let given = std::env::var(BENCHMARKS).unwrap_or_default();
    let given: Vec<&str> = given.split_whitespace().collect();
    let names = if given.is_empty() { SUITE.names } else { &given };
    let suite = Scene { names, ..SUITE };
    assert!(suite.build(home.path()), "{}", suite.name);
    let ground = Ground { home: home.path(), before: leftovers::kept(), seed: seed() };
    goes_through(&suite, &ground);
    let group = a_group_goes(&ground);
    goes_through(&VETH, &ground);
    let server = Server::start(home.path());
    let words = ["--remote", server.name()];
    let ssh = Scene { name: "ssh", words: &words, server: Some(&server), ..VETH };
    goes_through(&ssh, &ground);
    group.map_or_else(Completion::ignored_with, |()| Completion::Completed)
}

/// Its waiting process removes the group. If all processes ended at once, the next run does. An
/// error says why there is no group.
fn a_group_goes(ground: &Ground<'_>) -> Result<(), String> {
    assert!(GROUP.build(ground.home), "{}", GROUP.name);
    let run_alone = |run| leftovers::signal(run, Signal::KILL);
    let folder = ground.home.join("run-alone");
    if killed_with_its_group(ground, "run-alone", run_alone).is_none() {
        let notes = document(&folder)["benchmarks"][0]["notes"].to_string();
        let is_refused = notes.contains("no memory control group can be made here");
        assert!(is_refused, "no group was seen: {notes}");
        return Err(notes);
    }
    assert_eq!(GROUP.left(&folder, ground), Vec::<String>::new());

    let orphan = (0..10).find_map(|number| {
        let group = killed_with_its_group(ground, &format!("all-{number}"), all_at_once)?;
        group.exists().then_some(group)
    });
    let orphan = orphan.expect("a control group is left over");
    let folder = ground.home.join("after");
    GROUP.start(&folder).wait().unwrap();
    assert!(!orphan.exists(), "{}", orphan.display());
    assert_eq!(GROUP.left(&folder, ground), Vec::<String>::new());
    Ok(())
}

/// The run's control group at the time of `strike`. `None` if the run ended without a group.
fn killed_with_its_group(ground: &Ground<'_>, name: &str, strike: impl Fn(i32)) -> Option<PathBuf> {
    let mut run = GROUP.start(&ground.home.join(name));
    let pid = run.id() as i32;
    let group = loop {
        let family = leftovers::descendants(pid);
        let is_own = |g: &PathBuf| family.iter().any(|p| g.ends_with(format!("yamba.{}", p.pid)));
        let mut all = leftovers::groups().into_iter();
        let own = all.find(|g| is_own(g) && is_entered(g));
        if own.is_some() || run.try_wait().unwrap().is_some() {
            break own;
        }
        sleep(Duration::from_millis(1));
    };
    // If the run has ended, its process id may be reused.
    if group.is_some() {
        strike(pid);
    }
    run.wait().unwrap();
    group
}

/// Whether the group has processes. A group that cannot be used is removed at once.
fn is_entered(group: &Path) -> bool {
    let inside = fs::read_to_string(group.join("cgroup.procs"));
    inside.is_ok_and(|numbers| !numbers.is_empty())
}

/// Stops all processes before killing them, so that none can react.
fn all_at_once(_run: i32) {
    let family = || leftovers::descendants(std::process::id() as i32);
    for signal in [Signal::STOP, Signal::KILL] {
        family().iter().for_each(|p| leftovers::signal(p.pid, signal));
    }
    while !family().is_empty() {
        sleep(Duration::from_millis(5));
    }
}

fn goes_through(scene: &Scene<'_>, ground: &Ground<'_>) {
    assert!(scene.build(ground.home), "{}", scene.name);
    for signal in SIGNALS {
        scene.is_ended(ground, signal);
    }
    scene.loses_processes(ground);
}
