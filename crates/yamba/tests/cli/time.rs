//! `yamba time`: the content of its results, not their size.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{Answer, Yamba, column};

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answer.out, answer.err))
}

/// The entry with this name in a run's document.
fn entry<'a>(run: &'a Value, name: &str) -> &'a Value {
    let all = run["benchmarks"].as_array().unwrap();
    let found = all.iter().find(|b| b["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {run:#}"))
}

#[test]
#[ignore = "needs g++"]
fn statements_are_entries_of_a_run() {
    let words =
        ["time", "getppid();", "sqrt(x)", "--setup", "double x = 2; do_not_optimize(x);", "--json"];
    let answer = Yamba::new().run_words(&words).ok();
    let run = document(&answer);
    assert_eq!(run["schema"], "yamba-run/1");
    for name in ["statement/getppid();", "statement/sqrt(x)"] {
        let entry = entry(&run, name);
        assert_eq!(entry["status"], "ok", "{entry:#}");
        assert!(entry["median"].as_f64() > Some(0.0), "{entry:#}");
        assert!(entry["samples"].as_array().unwrap().len() >= 11);
    }
}

#[test]
#[ignore = "needs g++"]
fn errors_are_shown_in_the_typed_statement() {
    for (words, place, message) in [
        (vec!["getppid(); foo;"], "statement:1:12", "'foo' was not declared"),
        (vec!["getppid();", "x = 1;"], "statement 2:1:1", "'x' was not declared"),
        (vec!["x;", "--setup", "int x = y;"], "--setup:1:9", "'y' was not declared"),
        (vec!["f();", "--include", "no/such.h"], "--include:1", "no/such.h"),
    ] {
        let words: Vec<&str> = std::iter::once("time").chain(words).collect();
        let answer = Yamba::new().env("CXX", "g++").run_words(&words);
        answer.refused(&[place, message, "help: "]);
    }
    Yamba::new()
        .run_words(&["time", "f();}"])
        .refused(&["`}` without its counterpart", "write a whole statement"]);
}

#[test]
#[ignore = "needs g++"]
fn statement_removed_by_compiler_has_no_figure() {
    let answer = Yamba::new().run_words(&["time", "return;"]);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["INVALID", "nothing measurable", "do_not_optimize(VALUE)"]);
}

#[test]
fn first_values_of_registers_are_for_instructions() {
    let words = ["time", "--init", "rbx=0", "getppid();"];
    Yamba::new().run_words(&words).refused(&["--init", "cannot be used"]);
}

/// The compiler replaces the loop by its sum. A loop that it cannot replace has no hint.
#[test]
#[ignore = "needs g++"]
fn statement_replaced_by_its_result_has_a_hint() {
    let folded = "int s = 0; for (int i = 0; i < 100; i++) s += i; do_not_optimize(s);";
    let kept = "for (int i = 0; i < 100; i++) do_not_optimize(i);";
    let answer = Yamba::new().run_words(&["time", "--json", folded, kept]);
    let run = document(&answer);
    let hint = "may have replaced the statement by its result";
    let notes = |name: &str| entry(&run, &format!("statement/{name}"))["notes"].to_string();
    // A busy machine may not know the length of its cycles, or the statement has no figure at all.
    let entry = entry(&run, &format!("statement/{folded}"));
    if entry["status"] == "ok" && !entry["cycles"].is_null() {
        assert!(notes(folded).contains(hint), "{entry:#}");
    }
    assert!(!notes(kept).contains(hint), "{answer:#?}", answer = notes(kept));
}

#[test]
#[ignore = "needs g++"]
fn sleeping_statement_has_time_and_no_cycles() {
    let mut yamba = Yamba::new();
    let answer = yamba.run_words(&["time", "usleep(1000);"]).ok();
    assert!(!answer.out.contains(" cycles ["), "{}", answer.out);
    answer.says(&["ms [", "no cycles: the thread was off the processor"]);
    let answer = yamba.run_words(&["time", "usleep(1000);", "--json"]).ok();
    let run = document(&answer);
    let entry = entry(&run, "statement/usleep(1000);");
    assert!(entry["median"].as_f64() >= Some(1e6), "{entry:#}");
    assert!(entry["cycles"].is_null(), "{entry:#}");
    for launch in entry["launches"].as_array().unwrap() {
        assert!(launch["cycles"].is_null(), "{launch:#}");
    }
}

/// A sleeping statement does not count as disturbed. A computing statement that loses the processor
/// does.
#[test]
#[ignore = "needs g++"]
fn statement_that_blocks_is_not_disturbed_by_itself() {
    let words = ["time", "usleep(1000);", "getppid();", "--json", "--raw"];
    let run = document(&Yamba::new().run_words(&words).ok());
    let sleeping = entry(&run, "statement/usleep(1000);");
    let passes = column(sleeping, "passes");
    for (sleeps, passes) in column(sleeping, "disturbance/voluntary").iter().zip(passes) {
        assert!(sleeps.as_u64() >= passes.as_u64(), "{sleeping:#}");
    }
    for kind in ["wait", "stolen", "switch"] {
        assert!(sleeping["batches"]["disturbed"][kind].is_null(), "{kind}: {sleeping:#}");
    }
    // A computing statement that loses the processor was disturbed.
    let computing = entry(&run, "statement/getppid();");
    let switched = computing["batches"]["disturbed"]["switch"].as_array();
    for (batch, switches) in column(computing, "disturbance/involuntary").iter().enumerate() {
        let is_switched = switched.is_some_and(|batches| batches.contains(&batch.into()));
        assert_eq!(is_switched, switches.as_u64() > Some(0), "{computing:#}");
    }
}

#[test]
#[ignore = "needs g++"]
fn slow_statement_takes_fewer_batches_and_launches() {
    let words = ["time", "usleep(200000);", "getppid();", "--json", "--raw"];
    let run = document(&Yamba::new().run_words(&words).ok());
    let slow = entry(&run, "statement/usleep(200000);");
    let launches = slow["launches"].as_array().unwrap().len();
    assert!((3..9).contains(&launches), "{slow:#}");
    for launch in 0..launches {
        let of = column(slow, "launch");
        let own = of.iter().filter(|of| **of == launch).count();
        assert_eq!(own, 3, "launch {launch}: {slow:#}");
    }
    let rests = format!("the figure rests on {launches} launches of 3 batches");
    let says = |entry: &Value| entry["notes"].to_string().contains(&rests);
    assert!(says(slow), "{slow:#}");
    let fast = entry(&run, "statement/getppid();");
    assert_eq!(fast["launches"].as_array().unwrap().len(), 9);
    assert!(!fast["notes"].to_string().contains("rests on"), "{fast:#}");
}

#[test]
#[ignore = "needs g++"]
fn crashing_statement_loses_only_its_own_figure() {
    let words = ["time", "*(volatile int *)8 = 1;", "getppid();", "--json"];
    let answer = Yamba::new().run_words(&words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let run = document(&answer);
    let crashed = entry(&run, "statement/*(volatile int *)8 = 1;");
    assert_eq!(crashed["status"], "crashed");
    assert!(crashed["notes"][0].as_str().unwrap().contains("SIGSEGV"));
    assert_eq!(entry(&run, "statement/getppid();")["status"], "ok");
}

/// The figure in ns, since a busy machine may not know the length of its cycles.
fn figure(entry: &Value) -> f64 {
    if let Some(cycles) = entry["cycles"]["median"].as_f64() {
        let [low, high] =
            [0, 1].map(|i| entry["cycles"]["confidence_interval"][i].as_f64().unwrap());
        assert!(0.0 < low && low <= cycles && cycles <= high, "{entry:#}");
    }
    entry["median"].as_f64().unwrap_or_else(|| panic!("no figure in {entry:#}"))
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn instructions_have_a_latency_and_a_throughput() {
    let words = ["time", "--asm", "imul rax, rax", "add rax, rbx", "cmovz rax, rbx", "--json"];
    let run = document(&Yamba::new().run_words(&words).ok());
    let of = |name: &str| figure(entry(&run, name));
    let latency = of("asm/imul rax, rax/latency") / of("asm/add rax, rbx/latency");
    assert!(latency > 1.5, "{latency}");
    let overlap = of("asm/imul rax, rax/latency") / of("asm/imul rax, rax/throughput");
    assert!(overlap > 1.5, "{overlap}");
    // Two units or more move conditionally. On a Skylake, 1200 copies came from the decoder and
    // took 1.2 cycles each.
    let overlap = of("asm/cmovz rax, rbx/latency") / of("asm/cmovz rax, rbx/throughput");
    assert!(overlap > 1.5, "{overlap}");
    let names = run["benchmarks"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap());
    let expected = [
        "asm/imul rax, rax/latency",
        "asm/imul rax, rax/throughput",
        "asm/add rax, rbx/latency",
        "asm/add rax, rbx/throughput",
        "asm/cmovz rax, rbx/latency",
        "asm/cmovz rax, rbx/throughput",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn measured_chain_is_named() {
    let words = [
        "time",
        "--asm",
        "popcnt rax, rbx",
        "mov rax, [rbx]",
        "cvtsi2sd xmm0, rax",
        "mul rbx",
        "nop",
    ];
    Yamba::new().run_words(&words).ok().says(&[
        "chain: popcnt rax, rax",
        "chain: mov rax, [rax]",
        "round trip, of both together: cvtsi2sd xmm0, rax; cvttsd2si rax, xmm0",
        "each after `mov rax, r15`",
        "no result that a next step could need",
    ]);
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn broken_dependency_gives_no_latency() {
    let run = document(
        &Yamba::new().run_words(&["time", "--asm", "vpxor xmm0, xmm1, xmm1", "--json"]).ok(),
    );
    let latency = entry(&run, "asm/vpxor xmm0, xmm1, xmm1/latency");
    assert_eq!(latency["status"], "skipped", "{latency:#}");
    assert!(latency["median"].is_null());
    assert_eq!(entry(&run, "asm/vpxor xmm0, xmm1, xmm1/throughput")["status"], "ok");
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn faulting_instruction_has_specific_note() {
    let words = ["time", "--asm", "ud2", "mov rax, [0]", "div rdx", "add rax, 1"];
    let answer = Yamba::new().run_words(&words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&[
        "`ud2` is illegal here",
        "`mov rax, [0]` faults",
        "`div rdx` fails with what its registers hold",
        "--init rdx=0",
        "chain: add rax, 1",
    ]);
    let words = ["time", "--asm", "div rbx", "--init", "rdx=0", "--init", "rbx=7"];
    Yamba::new().run_words(&words).ok().says(&["chain through rax: div rbx"]);
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn unmeasurable_input_is_rejected() {
    for (words, parts) in [
        (vec!["foo rax"], vec!["instruction:1:1", "no such instruction"]),
        (vec!["nop", "add rax, [rbx"], vec!["`add rax, [rbx` is no instruction"]),
        (vec!["push rax; push rbx"], vec!["by -16 bytes", "give every push its pop"]),
        (vec!["nop; jmp rax"], vec!["`jmp rax`", "leaves the row of steps"]),
        (vec!["nop", "--against", "no-such-mca"], vec!["cannot run `no-such-mca`"]),
        (vec!["jmp rax"], vec!["`jmp rax`", "leaves the row of steps"]),
        (vec!["add rsp, 8"], vec!["the stack pointer"]),
        (vec!["nop", "--init", "rax"], vec!["write REGISTER=VALUE"]),
        (vec!["nop", "--setup", "int x;"], vec!["cannot be used with"]),
    ] {
        let words: Vec<&str> = ["time", "--asm"].into_iter().chain(words).collect();
        Yamba::new().run_words(&words).refused(&parts);
    }
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn every_address_form_division_stack_and_gather_have_figures() {
    let words = [
        "time",
        "--asm",
        "mov rax, [rbx+8]",
        "mov rax, [rbx+rcx*8+64]",
        "div rbx",
        "push rax; pop rax",
        "lock xadd [rbx], rax",
        "mov rax, rbx",
        "--json",
    ];
    let run = document(&Yamba::new().run_words(&words).ok());
    for name in [
        "asm/mov rax, [rbx+8]/latency",
        "asm/mov rax, [rbx+rcx*8+64]/latency",
        "asm/div rbx/latency",
        "asm/push rax; pop rax/round-trip",
        "asm/lock xadd [rbx], rax/latency",
        "asm/mov rax, rbx/latency",
    ] {
        let entry = entry(&run, name);
        assert_eq!(entry["status"], "ok", "{entry:#}");
        assert!(figure(entry) > 0.0, "{entry:#}");
    }
    let moves = entry(&run, "asm/mov rax, rbx/latency")["notes"].to_string();
    assert!(moves.contains("chain: mov rax, rbx; mov rbx, rax"), "{moves}");
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn refused_instruction_is_reported_and_others_are_measured() {
    let answer = Yamba::new().run_words(&["time", "--asm", "fld1", "add rax, rbx"]);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["x87", "chain: add rax, rbx"]);
}

/// The addition waits for the product, and the next product for the sum.
#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn sequence_takes_as_long_as_its_dependent_instructions() {
    let sequence = "imul rax, rax; add rax, rbx";
    let words = ["time", "--asm", "imul rax, rax", "add rax, rbx", sequence, "--json"];
    let run = document(&Yamba::new().run_words(&words).ok());
    let figure = |name: &str| figure(entry(&run, &format!("asm/{name}")));
    let parts = figure("imul rax, rax/latency") + figure("add rax, rbx/latency");
    let ratio = figure(&format!("{sequence}/sequence")) / parts;
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn absolute_address_is_mapped() {
    let text = "mov eax, [0x10000000]";
    let run = document(&Yamba::new().run_words(&["time", "--asm", text, "--json"]).ok());
    assert_eq!(entry(&run, &format!("asm/{text}/throughput"))["status"], "ok");
}

fn script(yamba: &Yamba, name: &str, text: &str) -> String {
    let path = yamba.folder.path().join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The model in place of LLVM's takes 50 cycles for every instruction, and 20 to fill its pipeline.
#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn model_that_differs_is_named() {
    let mut yamba = Yamba::new();
    let model = script(
        &yamba,
        "model",
        r#"case $1 in
--version) echo "  LLVM version 1.2"; echo "  Host CPU: abacus" ;;
*)
    for word; do case $word in -iterations=*) n=${word#*=} ;; esac; done
    steps=$(tail -n +2 | wc -l)
    echo "{\"CodeRegions\": [{\"SummaryView\": {\"TotalCycles\": $((20 + 50 * n * steps))}}]}" ;;
esac"#,
    );
    let words = ["time", "--asm", "imul rax, rax; add rax, rbx", "--against", &model];
    yamba
        .run_words(&words)
        .ok()
        .says(&["llvm-mca (LLVM 1.2, abacus): 100 cycles", "the model differs"]);
    let unknown =
        script(&yamba, "unknown", "echo '  LLVM version 1.2'; echo '  Host CPU: (unknown)'");
    let words = ["time", "--asm", "nop", "--against", &unknown];
    yamba.run_words(&words).refused(&["does not know this processor"]);
}

/// An error in a library file must not look like an error in a file that the user named.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn unreadable_library_is_reported() {
    let mut yamba = Yamba::new();
    let home = yamba.folder.path().join("home");
    for folder in ["runtime", "library", "suite"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    yamba = yamba.env("YAMBA_HOME", &home);
    let answer = yamba.run_words(&["time", "--asm", "nop"]);
    let answer = answer.refused(&["cannot read ", "help: YAMBA_HOME names a checkout"]);
    assert!(!answer.err.contains(".yamba file that"), "{}", answer.err);
}
