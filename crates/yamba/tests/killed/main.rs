//! A run that is killed, or a process of it, at moments that differ: nothing is left behind, and no benchmark stops another.
//! `benches/src/bin/killed.rs` does the same with the whole suite, for as long as one likes.
#![cfg(target_os = "linux")]

mod leftovers;
#[path = "../far/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use server::Server;
use yamba::random::Random;

/// Of the moments. A failure names it with the moment; `YAMBA_KILLED_SEED` draws others.
const SEED: u64 = 1;
const PATIENCE: Duration = Duration::from_secs(30);
/// Three signals to the run itself; where one process after the other is killed, so many.
const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::INT, Signal::TERM];
const VICTIMS: usize = 3;

/// What a run measures, and where.
struct Scene<'a> {
    name: &'a str,
    /// Benchmarks.
    names: &'a [&'a str],
    words: &'a [&'a str],
    /// The other machine.
    server: Option<&'a Server>,
    /// A signal comes within so many milliseconds.
    within: u64,
}

/// They fork partners, leave last wills, start servers on hosts of their own, and fill files.
const SUITE: Scene = Scene {
    name: "suite",
    names: &[
        "lat_pipe",
        "lat_sem",
        "lat_open_close",
        "lat_remote_read_sshfs",
        "lat_remote_read_nfs",
        "lat_remote_read_smb",
    ],
    words: &[],
    server: None,
    within: 3000,
};
const NETWORK: [&str; 4] = ["lat_tcp", "lat_http", "lat_connect", "bw_tcp"];
/// They make two hosts, and cables between them.
const VETH: Scene = Scene {
    name: "veth",
    names: &NETWORK,
    words: &["--set", "host=veth", "--set", "placement=same"],
    server: None,
    within: 2000,
};

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
            .env("YAMBA_STORE", folder.with_extension("sqlite"))
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        if let Some(server) = self.server {
            command.env("YAMBA_SSH", server.ssh());
        }
        command
    }

    /// Whether its programs are there from now on: compilers are no part of it.
    fn build(&self, folder: &Path) -> bool {
        let mut rehearsal = self.yamba(folder, &["run", "--quick", "--dry-run"]);
        rehearsal.args(self.words).stdout(Stdio::null());
        rehearsal.status().unwrap().success()
    }

    /// Its document goes to a file beside the folder: nobody reads while it runs.
    fn start(&self, folder: &Path) -> Child {
        fs::create_dir(folder).unwrap();
        let document = File::create(folder.with_extension("json")).unwrap();
        let mut command = self.yamba(folder, &["run", "--quick", "--json"]);
        command.args(self.words).stdout(document).spawn().unwrap()
    }

    /// What is left of the run in this folder, here and on the other machine.
    fn left(&self, folder: &Path) -> Vec<String> {
        let far = self.server.map(Server::far);
        let folders: Vec<&Path> = far.iter().map(PathBuf::as_path).chain([folder]).collect();
        leftovers::settle(&folders, self.server.map(Server::pid), PATIENCE)
    }

    /// The processes of a run, and of its far end.
    fn processes(&self, run: &Child) -> Vec<leftovers::Process> {
        let ends = [Some(run.id() as i32), self.server.map(Server::pid)];
        let all = ends.into_iter().flatten();
        all.flat_map(leftovers::descendants).collect()
    }

    /// Waits so long, then for a process; none if the run ends before.
    fn someone(
        &self,
        run: &mut Child,
        after: Duration,
        moments: &mut Random,
    ) -> Option<leftovers::Process> {
        let since = Instant::now();
        while run.try_wait().unwrap().is_none() {
            let mut all = self.processes(run);
            if since.elapsed() > after && !all.is_empty() {
                return Some(all.swap_remove(moments.below(all.len() as u64) as usize));
            }
            sleep(Duration::from_millis(5));
        }
        None
    }

    /// The run gets a signal.
    fn is_ended(&self, home: &Path, signal: Signal, moments: &mut Random) {
        let after = moments.below(self.within);
        let folder = home.join(format!("{}-{}", self.name, signal.as_raw()));
        let mut run = self.start(&folder);
        let someone = self.someone(&mut run, Duration::from_millis(after), moments);
        // Where it has ended before, its number may be another's.
        if someone.is_some() {
            leftovers::signal(run.id() as i32, signal);
        }
        run.wait().unwrap();
        let left = self.left(&folder);
        assert_eq!(
            left,
            Vec::<String>::new(),
            "seed {}, {}: {signal:?} after {after} ms",
            seed(),
            self.name
        );
    }

    /// One of its processes after the other is killed.
    fn loses_processes(&self, home: &Path, moments: &mut Random) {
        let folder = home.join(format!("{}-one-by-one", self.name));
        let mut run = self.start(&folder);
        let mut victims = Vec::new();
        for _ in 0..VICTIMS {
            let after = Duration::from_millis(moments.below(self.within / 2));
            if let Some(victim) = self.someone(&mut run, after, moments) {
                leftovers::signal(victim.pid, Signal::KILL);
                victims.push((after, victim));
            }
        }
        run.wait().unwrap();
        let told = format!("seed {}, {}: {victims:?}", seed(), self.name);
        assert_eq!(self.left(&folder), Vec::<String>::new(), "{told}");
        let all = statuses(&folder);
        let hurt = all.iter().filter(|(_, status)| status == "crashed").count();
        assert!(hurt <= victims.len(), "{told}: {all:?}");
        for name in self.names {
            assert!(all.iter().any(|(n, _)| n == name), "{told}: no {name}");
        }
    }
}

fn seed() -> u64 {
    let given = std::env::var("YAMBA_KILLED_SEED").ok();
    given.map_or(SEED, |text| text.parse().expect("a number"))
}

fn statuses(folder: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder.with_extension("json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).expect("a document");
    let text = |b: &serde_json::Value, key: &str| b[key].as_str().unwrap_or_default().to_owned();
    let all = document["benchmarks"].as_array().unwrap();
    all.iter()
        .map(|b| (text(b, "name"), text(b, "status")))
        .collect()
}

/// One test: what is left is found by descent from this process, so nothing else may run in it.
#[test]
fn nothing_is_left_and_nobody_is_stopped() {
    leftovers::adopt_orphans();
    let home = tempfile::tempdir().unwrap();
    let must = std::env::var_os("YAMBA_TEST_ALL").is_some();
    if !SUITE.build(home.path()) && !must {
        eprintln!("left out: nothing can be built here");
        return;
    }
    let mut moments = Random::new(seed());
    let before = leftovers::system_v();
    goes_through(&SUITE, home.path(), &mut moments);
    no_object_is_left(&before);
    goes_through(&VETH, home.path(), &mut moments);
    if !server::is_installed() && !must {
        eprintln!("left out: there is no server of ssh here");
        return;
    }
    let server = Server::start(home.path());
    let words = ["--remote", server.name()];
    let ssh = Scene {
        name: "ssh",
        words: &words,
        server: Some(&server),
        ..VETH
    };
    goes_through(&ssh, home.path(), &mut moments);
}

/// Those of other programs come and go.
fn no_object_is_left(before: &BTreeSet<String>) {
    let since = Instant::now();
    loop {
        let now = leftovers::system_v();
        let left: Vec<&String> = now.difference(before).collect();
        if left.is_empty() {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "seed {}: {left:?}", seed());
        sleep(Duration::from_millis(100));
    }
}

fn goes_through(scene: &Scene<'_>, home: &Path, moments: &mut Random) {
    assert!(scene.build(home), "{}", scene.name);
    for signal in SIGNALS {
        scene.is_ended(home, signal, moments);
    }
    scene.loses_processes(home, moments);
}
