//! Benchmarks that use too many resources. Each loses only its own figure, reports the reason, and
//! leaves nothing behind.
//!
//! The programs are harmless even if they are not ended: together they start at most [`MOST`]
//! processes, each exits within seconds, and none uses more than 600 MB.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Missing;
use crate::memory_group::MemoryGroup;
use crate::support::{Answer, Yamba, behind, processes_of, until};
use crate::user::UserEnvironment;

/// Maximum number of processes that a fork bomb starts; `LIMIT` is the limit for a launch.
const MOST: usize = 600;
const LIMIT: usize = 200;

/// The part that all programs share.
const COMMON: &str = "
    native {
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>

        // Forks while fewer than MOST processes were made. Each ends soon, whatever becomes of
        // the others.
        inline bool forks()
        {
            static int *made = static_cast<int *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
            alarm(6);
            return __atomic_add_fetch(made, 1, __ATOMIC_RELAXED) < MOST && fork() == 0;
        }
    }
";

const FINE: &str = "yamba fine extends Latency { void benchmark() { (void)getppid(); } }\n";

const BOMBS: [&str; 3] = [
    "yamba bomb extends Latency { void benchmark() { if (forks()) for (;;) forks(); } }\n",
    "yamba bomb_in_setup extends Latency { void setup() { for (;;) forks(); } void benchmark() {} }\n",
    "yamba bomb_in_sessions extends Latency { void benchmark() { if (forks()) for (setsid();; ) if (forks()) setsid(); } }\n",
];

const HOG: &str = "
    yamba hog extends Latency
    {
        void setup() { for (int n = 0; n < 600; n++) memset(malloc(1 << 20), 1, 1 << 20); }
        void benchmark() {}
    }
";

const ENDLESS_FILE: &str = "
    yamba endless_file extends Latency
    {
        void setup()
        {
            static char data[1 << 20];
            const int file = must(open(\"endless\", O_WRONLY | O_CREAT, 0600));
            for (int n = 0; n < 64; n++) must(write(file, data, sizeof data));
        }
        void benchmark() {}
    }
";

const ENDLESS: [&str; 4] = [
    "yamba endless extends Latency { void benchmark() { for (;;) alarm(20); } }\n",
    "yamba endless_setup extends Latency { void setup() { for (;;) alarm(20); } void benchmark() {} }\n",
    "yamba endless_talk extends Latency
    {
        void setup() { for (;;) { yamba::goes_on(); usleep(10000); } }
        void benchmark() {}
    }\n",
    "yamba endless_evidence extends Latency
    {
        void benchmark() { (void)getppid(); }
        evidence double answer() expects [0, 1] { for (;;) alarm(20); return 0; }
    }\n",
];

/// Waits, with a partner that has left its process group.
const SLEEPER: &str = "
    yamba sleeper extends Latency
    {
        void setup() { if (fork() == 0) setsid(); alarm(60); pause(); }
        void benchmark() {}
    }
";

/// Never ends. Its `cleanup_guard` takes some time to record that it ran.
const ENDLESS_WITH_WILL: &str = "
    yamba endless_with_will extends Latency
    {
        import(cleanup_guard);
        native {
            static void note(int)
            {
                usleep(100000);
                close(open(\"noted\", O_WRONLY | O_CREAT, 0600));
            }
        }
        void setup() { cleanup_guard.leave(note, 0); }
        void benchmark() { for (;;) alarm(20); }
    }
";

fn programs(classes: &[&str]) -> String {
    COMMON.replace("MOST", &MOST.to_string()) + &classes.concat()
}

/// A folder with all programs in one file. It is also the `TMPDIR` of runs.
fn yamba(classes: &[&str]) -> Yamba {
    let yamba = Yamba::new().file("all.yamba", programs(classes));
    let folder = yamba.folder.path().to_path_buf();
    yamba.env("TMPDIR", folder)
}

fn entries(answer: &Answer) -> Vec<Value> {
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    run["benchmarks"].as_array().unwrap().clone()
}

/// The status of a benchmark and its notes.
fn said(entries: &[Value], name: &str) -> String {
    let mut own = entries.iter().filter(|b| b["name"] == name);
    let entry = own.next().expect(name);
    format!("{} {}", entry["status"].as_str().unwrap(), entry["notes"])
}

/// Each fork bomb must be ended for its number of processes, and the benchmark beside them must
/// have a figure.
#[track_caller]
fn bombs_are_ended(answer: &Answer) {
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let entries = entries(answer);
    let why = format!("started more than {LIMIT} processes and threads and was ended");
    for name in ["bomb", "bomb_in_setup", "bomb_in_sessions"] {
        let said = said(&entries, name);
        assert!(said.starts_with("crashed") && said.contains(&why), "{name}: {said}");
        assert!(said.contains("--process-limit"), "{said}");
    }
    let fine = said(&entries, "fine");
    assert!(fine.starts_with("ok"), "{fine}");
}

/// No process of the run in this folder is alive, and no scratch folder is left.
#[track_caller]
fn nothing_is_left(folder: &Path) {
    let left = processes_of(folder);
    assert!(left.is_empty(), "processes {left:?}");
    let names = fs::read_dir(folder).unwrap().flatten();
    let scratch = names.filter(|e| e.file_name().to_string_lossy().starts_with("yamba-run-"));
    assert_eq!(scratch.count(), 0);
}

/// The control groups that the run with this process id created.
fn groups_of(process: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    groups_in(Path::new("/sys/fs/cgroup"), &format!("yamba-run-{process}-"), &mut found);
    found
}

fn groups_in(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|t| t.is_dir()) {
            continue;
        }
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            found.push(entry.path());
        }
        groups_in(&entry.path(), prefix, found);
    }
}

/// Runs the fork bombs and a harmless benchmark.
const RUN: &str = "run all.yamba --quick --process-limit 200 --json";

fn bombs() -> Vec<&'static str> {
    BOMBS.into_iter().chain([FINE]).collect()
}

pub fn fork_bomb_loses_only_its_own_figure() {
    let mut yamba = yamba(&bombs());
    bombs_are_ended(&yamba.run(RUN));
    nothing_is_left(yamba.folder.path());
    bombs_are_ended(&yamba.run(&format!("{RUN} -P 2")));
    nothing_is_left(yamba.folder.path());
}

/// As in a container, where control groups are read-only.
pub fn fork_bomb_of_root_is_killed_without_control_groups() -> Result<(), Missing> {
    let hidden = "for place in $(grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5); do \
                  mount -o remount,bind,ro $place || exit 77; done; exec \"$0\" \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", hidden];
    let is_possible = Command::new(words[0]).args(&words[1..]).arg("true").status();
    if !is_possible.is_ok_and(|s| s.success()) {
        return Err(Missing::new("only root can make control groups read-only"));
    }
    let yamba = yamba(&bombs());
    let run: Vec<&str> = RUN.split(' ').collect();
    bombs_are_ended(&behind(&words, &yamba, &run));
    nothing_is_left(yamba.folder.path());
    Ok(())
}

pub fn fork_bomb_of_ordinary_user_is_killed() {
    let place = UserEnvironment::new(&["suite/cpu/lat_syscall_getppid.yamba"]);
    fs::write(place.folder().join("all.yamba"), programs(&bombs())).unwrap();
    bombs_are_ended(&place.run(RUN));
    nothing_is_left(place.folder());
}

/// Below the user's own limit, forks of a bomb fail; the time of a failing fork is not a valid
/// figure. No other test uses this user.
pub fn fork_bomb_below_user_limit_is_killed() -> Result<(), Missing> {
    if !rustix::process::geteuid().is_root() {
        return Err(Missing::new("only root can become a user without other processes"));
    }
    const USER: u32 = 65533;
    let place = UserEnvironment::new(&["suite/cpu/lat_syscall_getppid.yamba"]);
    fs::write(place.folder().join("all.yamba"), programs(&[BOMBS[0], FINE])).unwrap();
    let limited = ["prlimit", "--nproc=300", "--"];
    let answer = place.run_as(USER, &limited, "run all.yamba --quick --json");
    let entries = entries(&answer);
    let bomb = said(&entries, "bomb");
    assert!(bomb.starts_with("crashed"), "{bomb}");
    assert!(bomb.contains("processes and threads and was ended"), "{bomb}");
    assert!(said(&entries, "fine").starts_with("ok"), "{entries:?}");
    nothing_is_left(place.folder());
    Ok(())
}

/// The limit is derived from the available memory, here a group's limit.
pub fn launch_that_takes_all_memory_is_killed() -> Result<(), Missing> {
    let group = MemoryGroup::new("hog", 400 << 20)?;
    let yamba = yamba(&[HOG, FINE]);
    // The compiler needs more memory than the group allows.
    yamba.command(&["build", "all.yamba"]).output().unwrap();
    let run: Vec<&str> = "run all.yamba --quick --json".split(' ').collect();
    let answer = behind(&group.entered(), &yamba, &run);
    let entries = entries(&answer);
    let hog = said(&entries, "hog");
    assert!(hog.starts_with("crashed"), "{hog}");
    assert!(hog.contains("took more memory than the"), "{hog}");
    assert!(said(&entries, "fine").starts_with("ok"));
    nothing_is_left(yamba.folder.path());
    Ok(())
}

pub fn file_size_is_limited_by_disk_limit() {
    let mut yamba = yamba(&[ENDLESS_FILE, FINE]);
    let entries = entries(&yamba.run("run all.yamba --quick --json --disk-limit 20M"));
    let said_of_it = said(&entries, "endless_file");
    assert!(said_of_it.starts_with("crashed"), "{said_of_it}");
    assert!(said_of_it.contains("a file outgrew the room"), "{said_of_it}");
    assert!(said(&entries, "fine").starts_with("ok"));
    let file = fs::metadata(yamba.folder.path().join("endless")).unwrap();
    assert_eq!(file.size(), 20 << 20);
}

pub fn timeout_kills_launch_in_every_phase() {
    let classes: Vec<&str> = ENDLESS.into_iter().chain([FINE]).collect();
    let mut yamba = yamba(&classes);
    let answer = yamba.run("run all.yamba --quick --json --timeout 2s");
    assert_eq!(answer.status, 1, "{}", answer.err);
    let entries = entries(&answer);
    for name in ["endless", "endless_setup", "endless_talk", "endless_evidence"] {
        let said = said(&entries, name);
        let why = "took longer than 2 s and was ended; --timeout gives it longer";
        assert!(said.starts_with("crashed") && said.contains(why), "{said}");
    }
    let fine = said(&entries, "fine");
    assert!(fine.starts_with("ok"), "{fine}");
    nothing_is_left(yamba.folder.path());
}

pub fn cleanup_runs_after_timeout() {
    let mut yamba = yamba(&[ENDLESS_WITH_WILL]);
    let answer = yamba.run("run all.yamba --quick --json --timeout 2s");
    let said = said(&entries(&answer), "endless_with_will");
    assert!(said.contains("took longer than 2 s"), "{said}");
    assert!(yamba.folder.path().join("noted").exists());
    nothing_is_left(yamba.folder.path());
}

pub fn endless_statement_is_killed() {
    let mut yamba = Yamba::new();
    for (more, why) in [
        (&[] as &[&str], "`for(;;);` said nothing for 5 s and was ended"),
        (
            // Less than the silence above, and enough for the other statement on a busy machine.
            &["--timeout", "4s"],
            "`for(;;);` took longer than 4 s and was ended; --timeout gives it longer",
        ),
    ] {
        let words = ["time", "for(;;);", "getppid();", "--json"];
        let answer = yamba.run_words(&[&words, more].concat());
        assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
        let entries = entries(&answer);
        let endless = said(&entries, "statement/for(;;);");
        assert!(endless.starts_with("crashed") && endless.contains(why), "{endless}");
        let other = said(&entries, "statement/getppid();");
        assert!(other.starts_with("ok"), "{other}");
    }
    yamba.run("time getppid(); --timeout 5").refused(&["--timeout", "write a time with its unit"]);
}

/// Also if the run itself is killed.
pub fn killed_run_leaves_no_control_group() -> Result<(), Missing> {
    let yamba = yamba(&[SLEEPER]);
    let folder = yamba.folder.path();
    yamba.command(&["build", "all.yamba"]).output().unwrap();
    let mut run = yamba.begin(&["run", "all.yamba", "--quick"]);
    // The run, the executor, the program and its partner.
    until("the program runs", || processes_of(folder).len() >= 4);
    let groups = groups_of(run.id());
    run.kill().unwrap();
    run.wait().unwrap();
    until("its processes end", || processes_of(folder).is_empty());
    if groups.is_empty() {
        return Err(Missing::new("no control group can be made here"));
    }
    until("its groups are removed", || groups_of(run.id()).is_empty());
    Ok(())
}
