//! The system calls of a benchmark's program, and calls that the system refuses.

use std::fs;
use std::process::Command;

use crate::Missing;
use crate::support::{Yamba, needs};

const CHAIN: &str = "lat_integer_add";

/// A process makes no system call between the readings before and after a timed batch.
pub fn no_system_call_in_a_timed_batch() -> Result<(), Missing> {
    needs(&["strace"]);
    let yamba = Yamba::new();
    let built = yamba.command(&["build", CHAIN]).output().unwrap();
    let program = String::from_utf8(built.stdout).unwrap();
    let trace = yamba.folder.path().join("trace");
    let traced = Command::new("strace")
        .args(["-o".as_ref(), trace.as_os_str()])
        .args([program.trim(), "--run", "--time-ns", "2000000"])
        .output()
        .unwrap();
    if !traced.status.success() {
        return Err(Missing::new("tracing is not permitted"));
    }
    let text = fs::read_to_string(trace).unwrap();
    // The calls before the record of each batch, since the previous record.
    let mut calls: Vec<&str> = Vec::new();
    let mut batches = Vec::new();
    for line in text.lines() {
        let name = line.split('(').next().unwrap_or_default();
        if name != "write" {
            calls.push(name);
            continue;
        }
        if line.contains(r#"\"event\":\"batch\""#) {
            batches.push(std::mem::take(&mut calls));
        }
        calls.clear();
    }
    assert!(batches.len() >= 11, "{}", batches.len());
    // Benchmark and dummy, before and after each: the children's processor time, the thread's wait
    // time, its resource usage, its processor time, and that of the process.
    let before = ["getrusage", "pread64", "getrusage", "clock_gettime", "clock_gettime"];
    let after = ["clock_gettime", "getrusage", "clock_gettime", "pread64", "getrusage"];
    // At the end, whether the process is a copy that the benchmark forked.
    let expected = [[before, after].concat().repeat(2), vec!["getpid"]].concat();
    for calls in &batches {
        assert_eq!(*calls, expected);
    }
    Ok(())
}

/// Drops pages between passes, as a first benchmark of page faults might.
const DROPS: &str = "\
native {
    #include <sys/mman.h>
}
yamba drops on linux
{
    byte_t *memory;
    void setup() { memory = static_cast<byte_t *>(must(mmap(nullptr, 4 * platform.page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))); }
    void before_pass() { must(madvise(memory, 4 * platform.page_size, MADV_DONTNEED)); }
    void benchmark() { for (int i = 0; i < 4; i++) memory[size_t(i) * platform.page_size] = 1; }
}
";

pub fn madvise_on_locked_memory_names_may_fault() -> Result<(), Missing> {
    for processes in ["-P 1", "-P 2"] {
        let mut yamba = Yamba::new().file("drops.yamba", DROPS);
        let answer = yamba.run(&format!("run drops.yamba --quick {processes}"));
        let said = answer.out.split_whitespace().collect::<Vec<_>>().join(" ");
        if said.contains("memory is not locked") {
            return Err(Missing::new("this process may not lock memory"));
        }
        assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
        assert!(said.contains("failed: Invalid argument"), "{}", answer.out);
        let fix = "memory is locked after `setup`, and the system does not drop locked pages; fix: add `bool may_fault() { return true; }` to the class";
        assert!(said.contains(fix), "{}", answer.out);
    }
    let fixed = DROPS
        .replace("    void setup()", "    bool may_fault() { return true; }\n    void setup()");
    let mut yamba = Yamba::new().file("drops.yamba", fixed);
    let answer = yamba.run("run drops.yamba --quick");
    assert!(!answer.out.contains("CRASHED"), "{}", answer.out);
    Ok(())
}

/// An unrelated EINVAL gets no advice on locked memory: this program's memory is not locked.
pub fn madvise_that_fails_otherwise_says_nothing_of_locked_memory() {
    let text = DROPS
        .replace("    void setup()", "    bool may_fault() { return true; }\n    void setup()")
        .replace("MADV_DONTNEED", "12345");
    let answer = Yamba::new().file("drops.yamba", text).run("run drops.yamba --quick");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let said = answer.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("(errno 22)"), "{}", answer.out);
    assert!(!answer.out.contains("locked"), "{}", answer.out);
}
