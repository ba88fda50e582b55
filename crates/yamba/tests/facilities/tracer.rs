//! Counts by the programs of `yamba trace` in the kernel: threads that share descriptors, many
//! threads, running processes, interrupts.

use std::fs;
use std::num::NonZero;
use std::process::Stdio;

use yamba_child_guard::StartGuarded;

use crate::Missing;
use crate::support::{Yamba, needs, until};
use crate::tracing::{calls, compile, traced, until_counting, vector, with_bpf};

/// A program with two threads: one reads, and the other one closes the descriptor meanwhile and
/// opens another kind with its number.
const REOPENS_IN_ANOTHER_THREAD: &str = r#"
#include <atomic>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

static std::atomic<int> turn;

static void wait_for(int expected) {
    while (turn != expected)
        ;
}

static void read_bytes(int descriptor, int count) {
    char byte;
    for (int i = 0; i < count; i++)
        if (read(descriptor, &byte, 1) != 1)
            _exit(1);
}

int main() {
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "abcdefghijklmnopqrstuvwxyz", 26) != 26)
        return 1;
    std::thread other([&] {
        for (int i = 0; i < 5; i++) {
            wait_for(2 * i + 1);
            int file = open("touched", O_RDONLY);
            if (file < 0 || dup2(i % 2 == 0 ? file : ends[1] + 10, ends[0]) != ends[0])
                _exit(2);
            close(file);
            turn++;
        }
    });
    if (dup2(ends[0], ends[1] + 10) < 0)
        return 1;
    for (int i = 0; i < 5; i++) {
        /* Fewer than are sent together. The thread makes no other call until the descriptor has
         * changed. */
        read_bytes(ends[0], 3);
        turn++;
        wait_for(2 * i + 2);
    }
    other.join();
}
"#;

/// The events of a thread may arrive after later ones of another thread.
pub fn kinds_of_descriptors_are_those_at_the_time_of_the_call() -> Result<(), Missing> {
    needs(&["g++"]);
    if std::thread::available_parallelism().map_or(1, NonZero::get) < 2 {
        return Err(Missing::new("two processors: on one, events arrive in their order"));
    }
    let mut yamba = with_bpf()?;
    compile(&mut yamba, REOPENS_IN_ANOTHER_THREAD);
    let found = traced(&mut yamba, "bpf", &["./program"]);
    let calls = calls(&found);
    // The rounds with an even number read the pipe, the others the file. The loader reads
    // libraries, too.
    assert_eq!(calls["read(pipe)"], 9.0, "{calls:?}");
    Ok(())
}

/// A program that makes more threads than are traced at once, one after the other.
const MANY_THREADS: &str = r#"
#include <thread>

int main() {
    for (int i = 0; i < 40000; i++)
        std::thread([] {}).join();
}
"#;

/// The state of a thread that has ended is used again.
pub fn states_of_ended_threads_are_used_again() -> Result<(), Missing> {
    needs(&["g++"]);
    let mut yamba = with_bpf()?;
    compile(&mut yamba, MANY_THREADS);
    let found = traced(&mut yamba, "bpf", &["./program"]);
    assert_eq!(found["traced"]["lost"], 0, "{found}");
    assert_eq!(calls(&found)["clone(thread)"], 40000.0, "{found}");
    Ok(())
}

/// A program that computes. After a signal, it makes five calls, and computes on. It tells how far
/// it is by a byte of a file, without a call.
const CALLS_RARELY: &str = r#"
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t is_asked;

int main() {
    signal(SIGUSR1, [](int) { is_asked = 1; });
    int file = open("state", O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 1) != 0)
        return 1;
    void *mapped = mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, file, 0);
    volatile char *state = static_cast<volatile char *>(mapped);
    *state = 'w';
    while (!is_asked)
        ;
    for (int i = 0; i < 5; i++)
        getppid();
    *state = 'd';
    for (;;)
        ;
}
"#;

/// Few calls wait to be sent together when the trace of a running process ends.
pub fn trace_of_a_running_process_has_its_last_calls() -> Result<(), Missing> {
    needs(&["g++"]);
    let mut yamba = with_bpf()?;
    compile(&mut yamba, CALLS_RARELY);
    let mut program = yamba.other("./program").start();
    let state = yamba.folder.path().join("state");
    let is = |expected| fs::read_to_string(&state).is_ok_and(|state| state == expected);
    until("the program waits", || is("w"));
    let id = program.id().to_string();
    let words = ["trace", "--how", "bpf", "-p", &id, "--units", "1", "-o", "v"];
    let mut command = yamba.command(&words);
    let mut tracer = command.stderr(Stdio::piped()).start();
    let signal = |yamba: &Yamba, signal: &str, process: u32| {
        let sent = yamba.other("kill").args([signal, &process.to_string()]).status();
        assert!(sent.unwrap().success());
    };
    // The tracer measures its cost first.
    let _open = until_counting(&mut tracer);
    signal(&yamba, "-USR1", program.id());
    until("the calls are made", || is("d"));
    signal(&yamba, "-INT", tracer.id());
    assert!(tracer.wait().unwrap().success());
    program.kill().unwrap();
    program.wait().unwrap();
    let calls = calls(&vector(&yamba, "v"));
    assert_eq!(calls["getppid"], 5.0, "{calls:?}");
    Ok(())
}

/// A program that computes for three seconds on one processor. It prints how many soft interrupts
/// that processor had meanwhile, by the kernel's own count, in the program's part of the time.
const COMPUTES_AT_INTERRUPTS: &str = r#"
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int processor;

/* Each line has the number of one kind of soft interrupts on each processor. Those of packets
 * belong to the calls of programs. */
static long soft_interrupts(void) {
    static char line[65536];
    FILE *file = fopen("/proc/softirqs", "r");
    long sum = 0, place = 0;
    char *rest = fgets(line, sizeof line, file);
    for (char *name; (name = strtok(rest, " \n")); rest = NULL, place++) {
        char expected[32];
        snprintf(expected, sizeof expected, "CPU%d", processor);
        if (strcmp(name, expected) == 0)
            break;
    }
    while (fgets(line, sizeof line, file)) {
        long count = 0;
        const char *kind = strtok(line, " :");
        if (strncmp(kind, "NET", 3) == 0)
            continue;
        for (long i = 0; i <= place; i++)
            sscanf(strtok(NULL, " \n"), "%ld", &count);
        sum += count;
    }
    fclose(file);
    return sum;
}

static double now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(void) {
    cpu_set_t one;
    processor = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    /* Interrupts do not come evenly in the time of this program and that of others. */
    struct sched_param first = {1};
    sched_setscheduler(0, SCHED_FIFO, &first);
    long before = soft_interrupts();
    double begun = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - begun < 3)
        ;
    /* The part while this program had the processor. */
    double share = now(CLOCK_PROCESS_CPUTIME_ID) / (now(CLOCK_MONOTONIC) - begun);
    printf("%f\n", share * (soft_interrupts() - before));
}
"#;

/// Interrupt work is timed in a part of the time, and counted for the whole.
pub fn bpf_counts_interrupt_work_as_the_kernel() -> Result<(), Missing> {
    needs(&["g++"]);
    let mut yamba = with_bpf()?;
    compile(&mut yamba, COMPUTES_AT_INTERRUPTS);
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let found = traced(&mut yamba, "bpf", &["sh", "-c", "./program > counted"]);
        let counted = fs::read_to_string(yamba.folder.path().join("counted")).unwrap();
        let counted: f64 = counted.trim().parse().unwrap();
        let mut uses = found["primitives"].as_array().unwrap().iter();
        let soft = uses.find(|used| used["name"] == "softirq");
        let soft = soft.map_or(0.0, |used| used["count"].as_f64().unwrap());
        ratios.push(soft / counted);
    }
    ratios.sort_by(f64::total_cmp);
    assert!(ratios[2] > 0.5 && ratios[2] < 1.5, "{ratios:?}");
    Ok(())
}
