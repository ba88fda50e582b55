//! The elapsed time of traced programs, against known waiting and the clock.

use std::time::Instant;

use serde_json::Value;

use crate::Missing;
use crate::files::storage;
use crate::support::{Yamba, needs};
use crate::tracing::{traced, vector, with_bpf};

/// Waiting per run in the primitives of which a name begins so, in ns.
fn waited_ns(vector: &Value, beginning: &str) -> f64 {
    let uses = vector["primitives"].as_array().unwrap().iter();
    let own = uses.filter(|used| used["name"].as_str().unwrap().starts_with(beginning));
    own.filter_map(|used| used["waited_ns"].as_f64()).sum()
}

/// Time in which a thread runs, or could run, in ns.
fn running_ns(vector: &Value) -> f64 {
    let ns = |value: &Value| value.as_f64().unwrap();
    let elapsed = &vector["elapsed"];
    let processor_ns = ns(&vector["user_ns"]) + ns(&vector["kernel_ns"]);
    processor_ns / ns(&elapsed["parallelism"]) + ns(&elapsed["ready_ns"])
}

/// 20 times 5 ms, with the kernel's slack and the delays of a busy machine.
pub fn sleeping_is_waiting_in_the_call_that_sleeps() -> Result<(), Missing> {
    needs(&["perl"]);
    let mut yamba = with_bpf()?;
    let line = "select(undef, undef, undef, 0.005) for 1 .. 20";
    let found = traced(&mut yamba, "bpf", &["perl", "-e", line]);
    let waited = waited_ns(&found, "select");
    assert!(waited > 100e6 && waited < 150e6, "{found}");
    let used = found["primitives"].as_array().unwrap().iter();
    let sleeps =
        used.filter(|used| used["waited_ns"].is_number() && used["name"] != "select(blocked)");
    let others: f64 = sleeps.map(|used| used["waited_ns"].as_f64().unwrap()).sum();
    assert!(others < 50e6, "{found}");
    Ok(())
}

/// A shell that waits for a process does not wait while that process computes or sleeps. The sum is
/// the time between both readings of the clock, with the start of the shell.
pub fn elapsed_time_of_processes_counts_no_time_twice() -> Result<(), Missing> {
    let mut yamba = with_bpf()?;
    let work = "sleep 0.3 & i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; wait; sleep 0.2";
    let line = format!("date +%s%N > begin; {work}; date +%s%N > end");
    let found = traced(&mut yamba, "bpf", &["sh", "-c", &line]);
    let [begin, end] = ["begin", "end"].map(|name| {
        let text = std::fs::read_to_string(yamba.folder.path().join(name)).unwrap();
        text.trim().parse::<u64>().unwrap()
    });
    let between_ns = (end - begin) as f64;
    let sum_ns = running_ns(&found) + waited_ns(&found, "");
    let is_near = sum_ns > 0.9 * between_ns && sum_ns < 1.1 * between_ns + 0.2e9;
    assert!(is_near, "{sum_ns} {between_ns}: {found}");
    // The first sleep may end before the loop does. Until the shell waits for the second one, the
    // time of that sleep is the shell's.
    let slept = waited_ns(&found, "clock_nanosleep");
    assert!(slept > 0.15e9 && slept < 0.6e9, "{found}");
    assert!(waited_ns(&found, "wait4") < 0.1e9, "{found}");
    Ok(())
}

/// Two processes that compute at once take half of their processor time. Real-time priority gives
/// them both processors of a busy machine.
pub fn parallel_processes_take_less_elapsed_than_processor_time() -> Result<(), Missing> {
    needs(&["chrt"]);
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return Err(Missing::new("only one processor may be used"));
    }
    let mut yamba = with_bpf()?;
    let compute = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done";
    let parallelism = |yamba: &mut Yamba, line: &str| {
        let found = traced(yamba, "bpf", &["chrt", "-f", "1", "sh", "-c", line]);
        found["elapsed"]["parallelism"].as_f64().unwrap()
    };
    let one = parallelism(&mut yamba, compute);
    assert!((1.0..1.1).contains(&one), "{one}");
    let two = parallelism(&mut yamba, &format!("({compute}) & {compute}; wait"));
    assert!(two > 1.4 && two <= 2.0, "{two}");
    Ok(())
}

/// `fsync` of a file in memory waits for nothing, and of a file on a disk for the disk.
pub fn fsync_waits_on_a_disk_and_not_in_memory() -> Result<(), Missing> {
    needs(&["dd"]);
    let mut yamba = with_bpf()?;
    let disk = storage();
    let waited = |yamba: &mut Yamba, folder: &str| {
        let target = format!("of={folder}/yamba-{}", std::process::id());
        let words =
            ["dd", "if=/dev/zero", &target, "bs=64k", "count=100", "conv=fsync", "status=none"];
        let found = traced(yamba, "bpf", &words);
        std::fs::remove_file(target.trim_start_matches("of=")).unwrap();
        waited_ns(&found, "fsync")
    };
    assert_eq!(waited(&mut yamba, "/dev/shm"), 0.0);
    assert!(waited(&mut yamba, disk.path().to_str().unwrap()) > 0.0);
    Ok(())
}

/// Each round has its elapsed time without the tracer, and its waiting.
pub fn rounds_have_elapsed_times() -> Result<(), Missing> {
    let mut yamba = with_bpf()?;
    let begun = Instant::now();
    yamba.run("trace --rounds 2 -o v -- sleep 0.1").ok();
    let all_ns = begun.elapsed().as_nanos() as f64;
    let found = vector(&yamba, "v");
    for round in found["traced"]["rounds"].as_array().unwrap() {
        let elapsed = round["untraced_elapsed_ns"].as_f64().unwrap();
        assert!(elapsed > 0.1e9 && elapsed < all_ns, "{found}");
        let waited = round["waited_ns"].as_f64().unwrap();
        assert!(waited > 0.1e9 && waited < all_ns, "{found}");
    }
    Ok(())
}
