//! Evidence of one batch: counters that start with it, and bounds that do not depend on it.

use serde_json::{Value, json};

use crate::support::{Yamba, column};

/// Counts its own passes in `setup`, in the dummy and in the benchmark. Its evidence is exact only
/// if the start value is read at each batch.
const COUNTED: &str = r#"
yamba counted
{
    uint64_t calls;
    uint64_t hooked;
    native { uint64_t at_begin = 0; }
    bool may_wait() { return true; }
    void setup()           { calls = 1000; }
    void before_batch()    { at_begin = calls; hooked++; }
    void benchmark()       { calls++; for (volatile int i = 0; i < 200; i = i + 1) {} }
    void benchmark_dummy() { calls++; }
    evidence uint64_t calls_beyond_passes() expects [0, 0] { return calls - at_begin - batch.passes; }
    evidence bool many_passes() expects [1, 1] { return batch.passes > 1; }
    evidence uint64_t batches() { return hooked; }
}
"#;

/// The raw values of an evidence in all launches.
fn values(entry: &Value, name: &str) -> Vec<f64> {
    let values = column(entry, &format!("evidence/{name}"));
    values.iter().map(|v| v.as_f64().unwrap()).collect()
}

fn entries(out: &str) -> Vec<Value> {
    let run: Value = serde_json::from_str(out).unwrap();
    run["benchmarks"].as_array().unwrap().clone()
}

#[test]
#[ignore = "needs g++"]
fn counter_started_in_before_batch_is_exact_in_each_batch() {
    let mut yamba = Yamba::new().file("counted.yamba", COUNTED);
    let words = "run counted.yamba --quick --json --raw -W 30ms --time 1s -P 1,2";
    let entries = entries(&yamba.run(words).out);
    assert_eq!(entries.len(), 2);
    for entry in &entries {
        let beyond = values(entry, "calls_beyond_passes");
        assert!(beyond.len() > 2 && beyond.iter().all(|v| *v == 0.0), "{beyond:?}");
    }
    // Warm-up and sizing have had batches before the first one of a launch.
    let batches = values(&entries[0], "batches");
    assert!(batches.iter().all(|n| *n > 1.0), "{batches:?}");
}

#[test]
#[ignore = "needs g++"]
fn counter_without_before_batch_is_wrong() {
    let text = COUNTED.replace("void before_batch()", "void never_called()");
    let mut yamba = Yamba::new().file("counted.yamba", text);
    let answer = yamba.run("run counted.yamba --quick --json --raw --time 1s");
    let entry = &entries(&answer.out)[0];
    assert!(values(entry, "calls_beyond_passes").iter().all(|v| *v >= 1000.0), "{entry}");
    assert_eq!(entry["valid"], json!(false));
}

#[test]
#[ignore = "needs g++"]
fn pass_hooks_run_before_the_counter_starts() {
    let text = r#"
yamba hooked
{
    uint64_t calls;
    native { uint64_t at_begin = 0; }
    void before_pass()  { calls += 7; }
    void before_batch() { at_begin = calls; }
    void benchmark()    { calls++; }
    evidence uint64_t calls_in_pass() expects [1, 1] { return calls - at_begin; }
}
"#;
    let mut yamba = Yamba::new().file("hooked.yamba", text);
    let answer = yamba.run("run hooked.yamba --quick --json --raw --time 1s");
    let calls = values(&entries(&answer.out)[0], "calls_in_pass");
    assert!(calls.len() > 2 && calls.iter().all(|v| *v == 1.0), "{calls:?}");
}

#[test]
fn bound_that_uses_batch_is_rejected_with_help() {
    let text = "yamba b { void benchmark() {} evidence uint64_t n() expects [batch.passes, batch.passes] { return batch.passes; } }";
    let mut yamba = Yamba::new().file("b.yamba", text);
    for command in ["check b.yamba", "run b.yamba --quick"] {
        let answer = yamba.run(command);
        assert_ne!(answer.status, 0, "{command}");
        assert!(answer.err.contains("error[bound-of-batch]"), "{}", answer.err);
        assert!(answer.err.contains("expects [1, 1]"), "{}", answer.err);
    }
}

/// The compiler does not analyse the author's own C++; the run compares the values.
#[test]
#[ignore = "needs g++"]
fn bound_that_changes_while_measuring_fails() {
    for (name, native) in [
        ("batch", "double most() { return double(batch.passes); }"),
        ("state", "double most() { return double(seen); }"),
    ] {
        let text = format!(
            "yamba b_{name} {{ uint64_t seen; native {{ {native} }} void setup() {{ seen = 5; }} void benchmark() {{}}
             evidence double n() expects [0, most()] {{ return 0; }} }}"
        );
        let mut yamba = Yamba::new().file("b.yamba", text);
        for processes in ["", "-P 2"] {
            let answer =
                yamba.run(&format!("run b.yamba --quick --json --raw --time 1s {processes}"));
            assert_eq!(answer.status, 1, "{name} {processes}: {}", answer.err);
            let entry = &entries(&answer.out)[0];
            assert_eq!(entry["valid"], json!(false), "{entry}");
            let notes = entry["notes"].to_string();
            assert!(
                notes.contains("the bound of the evidence `n` changed from [0, 0] to"),
                "{notes}"
            );
        }
    }
}

/// The dummy makes passes too, and `setup` makes many. Evidence of the library's classes counts
/// only those of the batch.
#[test]
#[ignore = "needs g++"]
fn library_counters_exclude_setup_and_dummy() {
    let text = r#"
native {
    #include <unistd.h>
}
yamba echoed extends PingPong
{
    int there[2];
    int back[2];
    void connect() { must(pipe(there)); must(pipe(back)); }
    void pass()    { byte_t c = 1; must(write(there[1], &c, 1)); must(read(back[0], &c, 1)); }
    void answer()  { byte_t c; must(read(there[0], &c, 1)); must(write(back[1], &c, 1)); }
    void setup()   { super::setup(); for (int i = 0; i < 500; i++) pass(); }
    void benchmark_dummy(iter_t iterations) { while (iterations > 1) pass(), iterations -= 2; }
}
"#;
    let mut yamba = Yamba::new().file("echoed.yamba", text);
    let words = "run echoed.yamba --quick --json --raw --time 1s -P 1,2 --set placement=same";
    let entries = entries(&yamba.run(words).out);
    assert_eq!(entries.len(), 2);
    for entry in &entries {
        let answers = values(entry, "answers_per_pass");
        // The count of a batch's last answer may come too late for that batch: `partner.count` does
        // not expect the dummy's passes.
        assert!(answers.len() > 2 && answers.iter().all(|n| (n - 1.0).abs() < 0.2), "{answers:?}");
    }
}

/// One waits for a timer, the other for a child process that computes all the time.
const WAITING: &str = r#"
native {
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/prctl.h>
    #include <sys/wait.h>
    #include <unistd.h>
}
yamba waits_for_timer on linux
{
    bool may_wait() { return true; }
    void benchmark() { must(usleep(2000)); }
}
yamba beside_child extends waits_for_timer on linux
{
    pid_t child;
    void setup()
    {
        child = must(fork());
        if (child != 0) return;
        must(prctl(PR_SET_PDEATHSIG, SIGKILL));
        for (volatile int i = 0;; i = i + 1) {}
    }
    void cleanup()
    {
        must(kill(child, SIGKILL));
        must(waitpid(child, nullptr, 0));
    }
}
"#;

/// Processor time of child processes is that of the batch: a partner beside a neighbour lengthens
/// it. On a busy machine the child gets less of the processor, but far more than the sleeping
/// process.
#[test]
#[ignore = "needs g++"]
fn batch_has_the_processor_time_of_child_processes() {
    let mut yamba = Yamba::new().file("waiting.yamba", WAITING);
    let entries = entries(&yamba.run("run waiting.yamba --quick --json --raw").out);
    let share = |class: &str| {
        let entry = entries.iter().find(|e| e["class"] == class).unwrap();
        let [busy, all] = ["disturbance/processor_ns", "ns"].map(|name| {
            let values = column(entry, name);
            values.iter().map(|v| v.as_f64().unwrap()).sum::<f64>()
        });
        busy / all
    };
    let (alone, beside) = (share("waits_for_timer"), share("beside_child"));
    assert!(alone < 0.5 && beside > 2.0 * alone, "{alone} {beside}");
}
