//! Work in user mode against programs whose work is known. They are machine code of x86-64.
#![cfg(target_arch = "x86_64")]

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use yamba_predict::vector::work::UserWork;
use yamba_trace::live::{Units, Workload, user_work};

const PROGRAM: &str = r#"
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

static uint64_t state = 88172645463325252u;
static uint64_t next() { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; }

int main(int, char **words)
{
    const char mode = *words[1];
    long n = atol(words[2]);
    if (mode == 'l') asm volatile("1: dec %0; jnz 1b" : "+r"(n));                      // 2 n instructions
    if (mode == 'c') {                                                                 // n loads over 1 MiB
        struct Line { Line *to; char rest[56]; };
        std::vector<Line> lines(16384);
        std::vector<int> order(lines.size());
        for (size_t i = 0; i < order.size(); i++) order[i] = i;
        for (size_t i = order.size() - 1; i > 0; i--) std::swap(order[i], order[next() % (i + 1)]);
        for (size_t i = 0; i < order.size(); i++) lines[order[i]].to = &lines[order[(i + 1) % order.size()]];
        Line *at = &lines[0];
        while (n-- > 0) at = at->to;
        asm volatile("" : : "r"(at));
    }
    if (mode == 'b')                                                                   // n branches at random
        while (n-- > 0) if (next() >> 40 & 1) asm volatile("");
    if (mode == 'f') {
        if (fork() == 0) _exit(0);
        wait(nullptr);
    }
    if (mode == 'x') execl("/bin/true", "true", nullptr);
    if (mode == 's') _exit(3);
    if (mode == 'v') asm volatile("vpaddd %zmm0, %zmm1, %zmm2");
    if (mode == 'p') for (long i = getpid() % 1000 * n; i >= 0; i--) asm volatile("");
    if (mode == 'd') {                                                                 // a child that is killed
        const pid_t child = fork();
        if (child == 0) pause();
        usleep(100000);
        kill(child, SIGKILL);
        wait(nullptr);
    }
    if (mode == 'o' && fork() == 0) for (;;) pause();
    if (mode == 'k') {
        if (fork() == 0) execl("/bin/sh", "sh", "-c", "sh -c 'kill -9 $PPID'; :", nullptr);
        wait(nullptr);
    }
}
"#;

fn built(folder: &Path) -> String {
    let source = folder.join("known.cc");
    std::fs::write(&source, PROGRAM).unwrap();
    let program = folder.join("known").display().to_string();
    let status = Command::new("g++").args(["-O1", "-o", &program]).arg(source).status();
    assert!(status.unwrap().success());
    program
}

fn count(program: &str, mode: &str, n: u64, programs: f64) -> Result<UserWork, String> {
    let workload = Workload {
        command: vec![program.to_owned(), mode.to_owned(), n.to_string()],
        load: None,
        runs: 1,
        rounds: 1,
        bare: Vec::new(),
        units: Units::Number(1.0),
        hides_output: true,
    };
    user_work(&workload, None, Some(programs), &|| false)
}

/// The work beyond that of the same program without work.
fn beyond_start(program: &str, mode: &str, n: u64) -> UserWork {
    let [start, mut all] = [0, n].map(|n| count(program, mode, n.max(1), 1.0).unwrap());
    all.instructions -= start.instructions;
    all.mispredictions -= start.mispredictions;
    for (own, start) in all.misses.iter_mut().zip(start.misses) {
        own.count -= start.count;
    }
    all
}

#[test]
#[ignore = "it needs g++ and valgrind"]
fn known_work_is_counted() {
    let folder = TempDir::new().unwrap();
    let program = built(folder.path());
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.02;
    let n = 2_000_000;
    let expected = n as f64;
    let found = beyond_start(&program, "loop", n);
    assert!(near(found.instructions, 2.0 * expected), "{found:?}");
    assert!(found.mispredictions < 100.0 && found.misses[0].count < 1000.0, "{found:?}");
    let found = beyond_start(&program, "chase", n);
    let misses: Vec<f64> = found.misses.iter().map(|own| own.count / expected).collect();
    // Each line comes again after 1 MiB of others.
    let is_all = |share: &f64| (0.98..1.01).contains(share);
    assert!(misses[..3].iter().all(is_all) && misses[3] < 0.01, "{misses:?}");
    let found = beyond_start(&program, "branches", n);
    assert!(found.mispredictions > 0.45 * expected, "{found:?}");
    assert!(found.mispredictions < 0.55 * expected, "{found:?}");
}

#[test]
#[ignore = "it needs g++ and valgrind"]
fn work_that_cannot_be_counted_is_refused() {
    let folder = TempDir::new().unwrap();
    let program = built(folder.path());
    let reasons = [
        ("fork", 1.0, "a process was forked and starts no program"),
        ("x: exec", 2.0, "the command starts 2 programs, and valgrind has counted 1"),
        ("status", 1.0, "under valgrind it ended with exit status: 3, and before with status 0"),
        ("vector", 1.0, "valgrind does not know an instruction of it"),
        ("process", 1.0, "its instructions differ by"),
        ("killed", 3.0, "a process has no counts: it was killed"),
        ("dead child", 1.0, "a process has no counts: it was killed"),
        ("outlives", 1.0, "a process outlives the command"),
    ];
    for (mode, programs, expected) in reasons {
        let found = count(&program, mode, 1_000_000, programs).unwrap_err();
        assert!(found.starts_with(expected), "{mode}: {found}");
    }
    let missing = count("/no/such/program", "loop", 1, 1.0).unwrap_err();
    assert!(missing.starts_with("under valgrind it ended with exit status: 127"), "{missing}");
}
