//! Counts the work of a command in user mode by valgrind's tool cachegrind, which simulates caches
//! and a branch predictor: the virtual machines have no counters.
//!
//! Each pass has two caches, so that three passes have the misses of six sizes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use yamba_predict::vector::work::{Misses, UserWork};

use super::{TICK, Workload, group, output_of};

/// A simulated cache: its bytes and ways. Its sets are a power of two, as cachegrind demands.
type Cache = (u64, u64);

/// The first and the last cache of each pass.
const PASSES: [[Cache; 2]; 3] = [
    [(32 << 10, 8), (2 << 20, 16)],
    [(128 << 10, 8), (8 << 20, 16)],
    [(512 << 10, 8), (32 << 20, 16)],
];

/// Bytes of a line of all simulated caches.
const LINE: u64 = 64;

/// The events that cachegrind counts, in its order.
const EVENTS: &str = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim";

/// Further instructions of a pass, as a share of those of the first. Above it, the passes did other
/// work.
const OTHER_WORK: f64 = 0.02;

/// How long processes may go on after the command has ended.
const AFTER_END: Duration = Duration::from_secs(1);

/// Counts in the order of [`EVENTS`].
type Counts = [u64; 13];

/// The user work of one run of the command, which ended by `failure` and started `programs`
/// without valgrind. The error is the reason why it is not known.
pub fn user_work(
    workload: &Workload,
    failure: Option<ExitStatus>,
    programs: Option<f64>,
    stopped: &dyn Fn() -> bool,
) -> Result<UserWork, String> {
    let how = valgrind_version()?;
    let mut passes = Vec::new();
    for caches in PASSES {
        passes.push(Pass { workload, caches, failure, programs }.run(stopped)?);
    }
    let [first, ..] = passes[..] else { unreachable!("there are passes") };
    let instructions = first[0] as f64;
    for other in &passes {
        let off = (other[0] as f64 / instructions - 1.0).abs();
        if off > OTHER_WORK {
            return Err(format!(
                "its instructions differ by {:.0} % between two runs, as those of a program do that compiles code while it runs",
                100.0 * off
            ));
        }
    }
    Ok(UserWork {
        how,
        instructions,
        mispredictions: (first[10] + first[12]) as f64,
        misses: misses(&passes),
    })
}

/// The misses of all sizes. Those of a larger cache are at most as many: cachegrind's caches have
/// few ways, so that a larger one may miss a little more often.
fn misses(passes: &[Counts]) -> Vec<Misses> {
    let of_first = passes.iter().zip(PASSES).map(|(c, p)| (p[0].0, c[1] + c[4] + c[7]));
    let of_last = passes.iter().zip(PASSES).map(|(c, p)| (p[1].0, c[2] + c[5] + c[8]));
    let mut least = f64::INFINITY;
    let each = of_first.chain(of_last).map(|(bytes, count)| {
        least = least.min(count as f64);
        Misses { bytes: bytes as f64, count: least }
    });
    each.collect()
}

/// The version of valgrind here, such as `valgrind-3.19.0`. The error is the reason why there is
/// none.
pub fn valgrind_version() -> Result<String, String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => "valgrind is missing: install the package valgrind".to_owned(),
        _ => format!("valgrind cannot be started: {e}"),
    })?;
    if !output.status.success() {
        return Err(format!("valgrind --version ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A run under cachegrind.
struct Pass<'a> {
    workload: &'a Workload,
    caches: [Cache; 2],
    failure: Option<ExitStatus>,
    programs: Option<f64>,
}

impl Pass<'_> {
    fn run(&self, stopped: &dyn Fn() -> bool) -> Result<Counts, String> {
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        let status = self.wait(folder.path(), stopped)?;
        let status = status.ok_or("a stop was requested")?;
        if let Some(reason) = fault_in_logs(folder.path())? {
            return Err(reason);
        }
        let failure = (!status.success()).then_some(status);
        if failure != self.failure {
            let text = |end: Option<ExitStatus>| {
                end.map_or("status 0".to_owned(), |status| status.to_string())
            };
            let (now, before) = (text(failure), text(self.failure));
            return Err(format!("under valgrind it ended with {now}, and before with {before}"));
        }
        let mut logs = files(folder.path(), "log").map_err(|e| e.to_string())?;
        logs.retain(|(_, path)| has_program(path));
        if let Some(programs) = self.programs
            && (programs - logs.len() as f64).abs() > 0.5
        {
            let noun = if programs.round() == 1.0 { "program" } else { "programs" };
            return Err(format!(
                "the command starts {programs:.0} {noun}, and valgrind has counted {}: one was replaced by another (exec), or is for 32 bits",
                logs.len()
            ));
        }
        self.sum(folder.path())
    }

    /// Runs the command to its end, with an empty standard input: the traced runs have consumed
    /// that of Yamba. `None`: a stop was requested. No process of the group is left.
    fn wait(
        &self,
        folder: &Path,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<ExitStatus>, String> {
        let text = |e: io::Error| e.to_string();
        let mut child = self.command(folder).and_then(|mut own| own.spawn()).map_err(text)?;
        let status = loop {
            if stopped() {
                break None;
            }
            if let Some(status) = child.try_wait().map_err(text)? {
                break Some(status);
            }
            sleep(TICK);
        };
        let group = Pid::from_child(&child);
        if status.is_some() {
            wait_for_group(group);
        }
        let is_left = has_processes(group);
        if is_left {
            // It may have ended by now.
            let _ = kill_process_group(group, Signal::KILL);
        }
        if status.is_none() {
            child.wait().map_err(text)?;
        }
        wait_for_group(group);
        match status {
            Some(_) if is_left => Err("a process outlives the command".to_owned()),
            status => Ok(status),
        }
    }

    fn command(&self, folder: &Path) -> io::Result<Command> {
        let mut command = group("valgrind");
        command.args([
            "--tool=cachegrind",
            "--cache-sim=yes",
            "--branch-sim=yes",
            "--trace-children=yes",
            // Then a log shows whether its process has a program of its own.
            "--verbose",
        ]);
        let [first, last] = self.caches.map(|(bytes, ways)| format!("{bytes},{ways},{LINE}"));
        for (option, cache) in [("I1", &first), ("D1", &first), ("LL", &last)] {
            command.arg(format!("--{option}={cache}"));
        }
        let to = |name: &str| folder.join(name).display().to_string();
        command.arg(format!("--log-file={}", to("log.%p")));
        command.arg(format!("--cachegrind-out-file={}", to("out.%p")));
        command.arg("--").args(&self.workload.command).stdout(output_of(self.workload)?);
        command.stdin(Stdio::null());
        Ok(command)
    }

    /// The counts of all processes. A child that its parent forked begins with the counts of its
    /// parent, unless it starts a program.
    fn sum(&self, folder: &Path) -> Result<Counts, String> {
        let mut sum = Counts::default();
        let outs = files(folder, "out").map_err(|e| e.to_string())?;
        for (process, path) in &outs {
            if !has_program(&folder.join(format!("log.{process}"))) {
                return Err(
                    "a process was forked and starts no program: cachegrind counts its parent's work twice"
                        .to_owned(),
                );
            }
            let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
            for (sum, own) in sum.iter_mut().zip(read(&text, self.caches)?) {
                *sum += own;
            }
        }
        for (process, _) in files(folder, "log").map_err(|e| e.to_string())? {
            if !outs.iter().any(|(other, _)| *other == process) {
                return Err(
                    "a process has no counts: it was killed, or outlives the command".to_owned()
                );
            }
        }
        if sum[0] == 0 { Err("it has no instruction".to_owned()) } else { Ok(sum) }
    }
}

/// Whether a process of the group runs. One that has ended and that its parent did not wait for
/// does not.
fn has_processes(group: Pid) -> bool {
    let group = group.as_raw_nonzero().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read(entry.path().join("stat")).ok());
    let mut own = stats.filter(|stat| {
        let text = String::from_utf8_lossy(stat);
        let mut words = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, its_group) = (words.next(), words.nth(1));
        its_group == Some(&group) && !matches!(state, Some("Z" | "X"))
    });
    own.next().is_some()
}

/// Waits until no process of the group runs, or for [`AFTER_END`].
fn wait_for_group(group: Pid) {
    let begun = Instant::now();
    while has_processes(group) && begun.elapsed() < AFTER_END {
        sleep(TICK);
    }
}

/// Whether a log has the line that cachegrind writes when a program starts, and not when one forks.
fn has_program(log: &Path) -> bool {
    let text = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&text).contains("Cache configuration used:")
}

/// The files `NAME.PROCESS`. Each process has a log from its start, and counts from its end.
fn files(folder: &Path, name: &str) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        let process = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        if let Some(process) = process.and_then(|text| text.parse().ok()) {
            found.push((process, path));
        }
    }
    Ok(found)
}

/// The first line of the logs about an instruction that valgrind does not know.
fn fault_in_logs(folder: &Path) -> Result<Option<String>, String> {
    for (_, path) in files(folder, "log").map_err(|e| e.to_string())? {
        let log = fs::read(&path).map_err(|e| e.to_string())?;
        let log = String::from_utf8_lossy(&log);
        let is_fault = |line: &&str| {
            line.contains("nhandled instruction") || line.contains("nrecognised instruction")
        };
        if let Some(line) = log.lines().find(is_fault) {
            let text = line.trim_start_matches(|c: char| !c.is_alphabetic());
            return Ok(Some(format!("valgrind does not know an instruction of it ({text})")));
        }
    }
    Ok(None)
}

/// Reads what cachegrind wrote with these caches.
fn read(text: &str, caches: [Cache; 2]) -> Result<Counts, String> {
    let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    for (name, cache) in [("I1", caches[0]), ("D1", caches[0]), ("LL", caches[1])] {
        let (name, (bytes, ways)) = (&*format!("desc: {name} cache:"), cache);
        let expected = format!("{bytes} B, {LINE} B, {ways}-way associative");
        let found = line(name).unwrap_or("nothing");
        if found != expected {
            return Err(format!("cachegrind wrote {found:?} as {name} instead of {expected:?}"));
        }
    }
    let events = line("events:").unwrap_or("nothing");
    if events != EVENTS {
        return Err(format!("cachegrind counted {events:?} instead of {EVENTS:?}"));
    }
    let counts: Option<Vec<u64>> = line("summary:")
        .and_then(|numbers| numbers.split_whitespace().map(|number| number.parse().ok()).collect());
    let counts = counts.and_then(|counts| Counts::try_from(counts).ok());
    counts.ok_or_else(|| "cachegrind wrote no whole summary: did it end early?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHES: [Cache; 2] = [(32768, 8), (2097152, 16)];

    /// The output of valgrind 3.19.0, shortened.
    const WRITTEN: &str = "\
desc: I1 cache:         32768 B, 64 B, 8-way associative
desc: D1 cache:         32768 B, 64 B, 8-way associative
desc: LL cache:         2097152 B, 64 B, 16-way associative
cmd: ./forks 10000000 0
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim
fl=./csu/../sysdeps/x86_64/dl-machine.h
fn=_dl_start
0 3 1 1 0 0 0 2 1 1 0 0 0 0
summary: 60124358 1088 1073 10028492 1178 979 10010084 335 306 10020111 2034 120 37
";

    #[test]
    fn summary_is_read_and_other_forms_are_refused() {
        let counts = read(WRITTEN, CACHES).unwrap();
        assert_eq!((counts[0], counts[10], counts[12]), (60_124_358, 2034, 37));
        let fault = |from: &str, to: &str| read(&WRITTEN.replace(from, to), CACHES).unwrap_err();
        assert!(fault(" Bim", " Bim Ge").contains("instead of \"Ir I1mr"));
        assert!(
            fault("LL cache:         2097152 B", "LL cache:         4194304 B")
                .contains("LL cache")
        );
        assert!(fault("16-way", "17-way").contains("17-way"));
        assert!(
            fault("I1 cache:         32768 B", "I1 cache:         65536 B").contains("I1 cache")
        );
        for (from, to) in [("summary:", "totals:"), (" 37\n", "\n"), ("60124358", "-1")] {
            assert!(fault(from, to).contains("no whole summary"), "{from}");
        }
        assert!(read("", CACHES).is_err());
    }

    #[test]
    fn larger_caches_have_no_more_misses() {
        let pass = |first: u64, last: u64| [9, 1, 1, 9, first, last, 9, 2, 2, 0, 0, 0, 0];
        let found = misses(&[pass(97, 27), pass(107, 17), pass(47, 7)]);
        let counts: Vec<f64> = found.iter().map(|own| own.count).collect();
        assert_eq!(counts, [100.0, 100.0, 50.0, 30.0, 20.0, 10.0]);
        assert_eq!((found[0].bytes, found[5].bytes), (32768.0, 33_554_432.0));
        assert!(
            PASSES.iter().flatten().all(|(bytes, ways)| (bytes / LINE / ways).is_power_of_two())
        );
    }
}
