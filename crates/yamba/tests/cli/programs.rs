//! The command line with a C++ compiler: building, composing, measuring.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use yamba_child_guard::StartGuarded;

use crate::support::{Answer, Yamba, column, needs, processes_of, until};

const PRIME: &str = "yamba adds
{
    param int rounds = 100 over {10, 100};
    volatile int sum;
    void benchmark(iter_t iterations) { while (iterations-- > 0) for (int i = 0; i < rounds; i++) sum = sum + i; }
    uint64_t operations() { return rounds; }
    evidence int added() expects [0, 2147483647] { return sum > 0 ? sum : 0; }
}
";

#[test]
#[ignore = "needs g++"]
fn run_json_is_one_document() {
    let mut yamba = Yamba::new().file("adds.yamba", PRIME);
    let answer = yamba.run("run adds.yamba --quick --json").ok();
    let run: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    crate::schema::is_run(&run);
    let points = run["benchmarks"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    for point in points {
        assert_eq!(
            (&point["class"], &point["status"], &point["valid"]),
            (&"adds".into(), &"ok".into(), &true.into()),
            "{point}"
        );
        assert!(point["confidence_interval"][0].as_f64() <= point["median"].as_f64());
        assert!(point["samples"].as_array().unwrap().len() >= 11);
        assert!(point["evidence"]["added"]["median"].is_number());
    }
}

/// Each batch has its probes. Whether they are quiet depends on the host; `YAMBA_NEIGHBOURS=count`
/// lets all batches count.
#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn neighbours_are_judged_unless_they_count() {
    let of = |neighbours: &str| {
        let yamba = Yamba::new().file("adds.yamba", PRIME);
        let mut yamba = yamba.env("YAMBA_NEIGHBOURS", neighbours);
        let answer = yamba.run("run adds.yamba --quick --json --raw");
        let run: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        crate::schema::is_run(&run);
        // `yamba machine` shows the latest run of each processor. Other tests run meanwhile.
        let machine = yamba.run("machine --json").ok();
        let machine: serde_json::Value = serde_json::from_str(&machine.out).unwrap();
        for cpu in run["machine"]["contention"].as_object().into_iter().flat_map(|c| c.keys()) {
            let contention = &machine["contention"][cpu];
            assert!(
                contention["unix_s"].as_f64() >= run["finished_unix_s"].as_f64(),
                "{contention}"
            );
        }
        run
    };
    for (neighbours, is_judged) in [("discard", true), ("count", false)] {
        let run = of(neighbours);
        assert_eq!(run["machine"]["contention"].is_object(), is_judged);
        assert_eq!(run["plan"]["counts_neighbours"], !is_judged);
        let entry = &run["benchmarks"][0];
        let batches = entry["batches"]["ns"].as_array().unwrap().len();
        let probes = column(entry, "probes/between");
        assert_eq!(probes.len(), batches);
        // A disturbed reference chain has no length, and its probe no width.
        let widths = probes.iter().filter_map(serde_json::Value::as_f64);
        // Between a hundredth of a cycle and ten cycles for an instruction.
        let plausible = widths.filter(|w| (100.0..100_000.0).contains(w));
        assert!(2 * plausible.count() > batches);
        assert_eq!(entry["contended"].is_number(), is_judged, "{neighbours}");
    }
}

#[test]
#[ignore = "needs g++"]
fn set_and_sweep_select_points() {
    let mut yamba = Yamba::new().file("adds.yamba", PRIME);
    let points = |answer: Answer| answer.ok().out.matches("rounds=").count();
    assert_eq!(points(yamba.run("run adds.yamba --quick --set rounds=7")), 1);
    assert_eq!(points(yamba.run("run adds.yamba --quick --sweep rounds=1,2,3")), 3);
    yamba.run("run adds.yamba --quick --set round=7").refused(&["round"]);
}

#[test]
#[ignore = "needs g++"]
fn invalid_figure_exits_with_1() {
    let text = PRIME.replace("expects [0, 2147483647]", "expects [-2, -1]");
    let answer =
        Yamba::new().file("adds.yamba", text).run("run adds.yamba --quick --set rounds=10");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["INVALID", "added"]);
}

#[test]
#[ignore = "needs g++"]
fn demonstrations_run_only_when_named() {
    let tagged = PRIME.replace("{\n    param", "{\n    tags demonstration;\n    param");
    let mut yamba = Yamba::new().file("adds.yamba", &tagged);
    yamba.run("run adds.yamba --quick --set rounds=10").ok().says(&["adds"]);
    yamba.run("run --lib . adds --quick --set rounds=10").ok().says(&["adds"]);
    yamba
        .run("run --lib . add*")
        .refused(&["no benchmark among what was named", "adds is a demonstration"]);
}

#[test]
#[ignore = "needs g++"]
fn program_does_not_replace_its_source() {
    let mut yamba = Yamba::new().file("adds.yamba", PRIME);
    for command in ["build", "bundle"] {
        yamba
            .run(&format!("{command} adds.yamba -o adds.yamba"))
            .refused(&["adds.yamba is an input of this command"]);
    }
    assert_eq!(fs::read_to_string(yamba.folder.path().join("adds.yamba")).unwrap(), PRIME);
}

/// The runtime's headers have parameters and templates with these names.
#[test]
#[ignore = "needs g++"]
fn macros_of_the_user_do_not_reach_the_runtime() {
    let text = PRIME.replace("{\n    param", "{\n    compile { define \"A=7\"; }\n    param");
    let text = text.replace("sum + i", "sum + N - A");
    let mut yamba = Yamba::new().file("adds.yamba", &text);
    yamba.run("build adds.yamba -D N=100 -D T=1 -D name=it").ok();
}

#[test]
#[ignore = "needs g++"]
fn error_in_a_body_is_shown_at_its_line() {
    let text = "yamba broken\n{\n    void benchmark() { nowhere = 1; }\n}\n";
    let mut yamba = Yamba::new().file("broken.yamba", text);
    for command in ["build broken.yamba", "run broken.yamba", "disasm broken.yamba x"] {
        yamba.run(command).refused(&["broken.yamba:3:24: error[", "nowhere"]);
    }
}

#[test]
#[ignore = "needs g++"]
fn cpp_errors_are_shown_at_their_place() {
    let program = "yamba t\n{\n    param int p = nullptr;\n    bitstring b(nosuch n) { le(1, 8) }\n    void benchmark() { b(0); }\n}\n";
    let mut yamba = Yamba::new().file("t.yamba", program);
    yamba.run("build t.yamba").refused(&["t.yamba:3:5: error", "t.yamba:4:5: error", "'nosuch'"]);
}

#[test]
#[ignore = "needs g++"]
fn assembler_and_cpp_errors_are_reported_together() {
    let program = "yamba t on x86_64\n{\n    bitstring<void c_function()> f { asm { movv rax, 5 } }\n    void benchmark() { f(); nonsense(); }\n}\n";
    Yamba::new()
        .file("t.yamba", program)
        .run("build t.yamba --target x86_64-linux")
        .refused(&["t.yamba:3:44: error", "t.yamba:4:29: error"]);
}

#[test]
#[ignore = "needs g++"]
fn failed_build_loses_only_its_own_figure() {
    let broken = "yamba broken { void benchmark() { nonsense(); } }";
    let mut yamba = Yamba::new().file("adds.yamba", PRIME).file("broken.yamba", broken);
    let answer = yamba.run("run broken.yamba adds.yamba --quick --json");
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(answer.err.contains("broken.yamba:1:35"), "{}", answer.err);
    let document: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let statuses: Vec<_> = document["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses[..2], ["crashed", "ok"]);
    let note = document["benchmarks"][0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("not built: broken.yamba:1:35"), "{note}");
    let alone = yamba.run("run broken.yamba --json");
    assert_eq!(alone.status, 2);
    assert!(alone.out.contains("\"crashed\""), "one document, always");
}

#[test]
#[ignore = "needs g++"]
fn sweep_value_that_does_not_fit_its_parameter_is_rejected() {
    let sweeps = "yamba sweeps { param int8_t e = 1 over {1, 200}; void benchmark() {} }";
    let answer = Yamba::new().file("sweeps.yamba", sweeps).run("run sweeps.yamba");
    assert_eq!(answer.status, 1);
    assert!(answer.out.contains("cannot hold the value 200"), "{}", answer.out);
}

/// Each block is assembled as the first one, whatever others switch.
#[test]
#[ignore = "needs g++ and riscv64-linux-gnu-g++"]
fn directives_of_a_block_change_no_other() {
    for (isa, directive, step, code) in [
        ("x86_64", ".code32", "inc eax", "FFC0"),
        ("riscv64", ".option rvc", "addi a0, a0, 1", "13051500"),
    ] {
        let text = format!(
            "yamba t on {isa} {{ bitstring f {{ asm {{ {directive}\n {step} }} }}\n bitstring g {{ asm {{ {step} }} }}\n void benchmark() {{}} }}"
        );
        let mut yamba = Yamba::new().file("t.yamba", text);
        yamba.run(&format!("disasm t.yamba g --target {isa}-linux")).says(&[code]);
    }
}

/// A sweep is never cut short in silence.
#[test]
#[ignore = "needs g++"]
fn sweep_of_too_many_values_is_rejected() {
    for over in ["linear(1, 100000, 1)", "log(1, 1000000000, 1000)"] {
        let sweeps =
            format!("yamba sweeps {{ param int e = 1 over {over}; void benchmark() {{}} }}");
        let answer = Yamba::new().file("sweeps.yamba", &sweeps).run("run sweeps.yamba");
        assert_eq!(answer.status, 1);
        assert!(answer.out.contains("more than 1000 values"), "{}", answer.out);
    }
}

#[test]
#[ignore = "needs g++"]
fn build_prints_a_command_that_works_by_hand() {
    let mut yamba = Yamba::new().file("adds.yamba", PRIME);
    let answer = yamba.run("build adds.yamba --print").ok();
    let command = answer.out.lines().find(|l| !l.starts_with('#')).unwrap();
    let by_hand = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(yamba.folder.path())
        .status()
        .unwrap();
    assert!(by_hand.success());
    yamba.run("build adds.yamba -o program").ok();
    let described =
        Command::new(yamba.folder.path().join("program")).arg("--describe").output().unwrap();
    assert!(String::from_utf8_lossy(&described.stdout).contains("yamba-program/1"));
    yamba.run("build adds.yamba -o folder/").ok().says(&["folder/adds"]);
    yamba.run("build adds.yamba pagefault -o program").refused(&["is one file, for 2 programs"]);
}

#[test]
fn missing_compiler_error_says_what_to_install() {
    let empty = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().file("adds.yamba", PRIME).env("PATH", empty.path());
    yamba.run("check adds.yamba").ok();
    yamba.run("build adds.yamba").refused(&["no C++ compiler", "help:"]);
    yamba.run("run adds.yamba").refused(&["no C++ compiler", "help:"]);
}

#[test]
#[ignore = "needs g++"]
fn run_works_with_unwritable_cache() {
    let temporary = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new()
        .file("adds.yamba", PRIME)
        .without("YAMBA_CACHE")
        .env("XDG_CACHE_HOME", "/proc/nowhere")
        .env("TMPDIR", temporary.path());
    yamba.run("run adds.yamba --quick --set rounds=10").ok();
}

#[test]
#[ignore = "needs g++"]
fn filled_port_skeleton_compiles() {
    let template = "yamba abstract steps\n{\n    int limit();   /// how far\n    volatile int at;\n    void benchmark(iter_t n) { while (n-- > 0) at = limit(); }\n}\n";
    let mut yamba = Yamba::new().file("steps.yamba", template);
    yamba.run("port steps.yamba --on linux -o steps_linux.yamba").ok();
    let path = yamba.folder.path().join("steps_linux.yamba");
    let filled = fs::read_to_string(&path).unwrap().replace("limit();", "limit() { return 3; }");
    fs::write(path, filled).unwrap();
    yamba.run("build steps.yamba").ok();
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn disasm_shows_each_instruction_under_its_member() {
    let mut yamba = Yamba::new();
    yamba.run("disasm pagefault touch_all 2").ok().says(&[
        "pagefault_x86_64.touch(1)",
        "488B8308000000",
        "ret",
    ]);
    yamba.run("disasm pagefault_x86_64 touch 0").ok().says(&["488B8300000000"]);
    let answer = yamba.run("disasm pagefault tuch 2");
    assert_eq!((answer.status, answer.out.as_str()), (2, ""), "{}", answer.err);
    assert!(answer.err.contains("tuch"), "{}", answer.err);
    let help = "did you mean touch? it has epilogue, prologue, touch, touch_all";
    assert!(answer.err.contains(help), "{}", answer.err);
}

/// A class with a port for each of two instruction sets, and one for a feature that no processor
/// has.
const STEPS: &str = "yamba steps
{
    void benchmark() {}
    bitstring step = 0x90;
    bitstring<void c_function()> go() { step }
}
yamba steps_x86 ports steps on x86_64 { bitstring step = 0x9090; }
yamba steps_arm ports steps on aarch64 { bitstring step = 0x1F2003D5; }
yamba steps_rare_x86 ports steps_x86 on cpu(no_such_feature) { bitstring step = 0xCC; }
yamba steps_rare_arm ports steps_arm on cpu(no_such_feature) { bitstring step = 0x000020D4; }
";

#[test]
fn disasm_refuses_port_of_other_platform() {
    let mut yamba = Yamba::new().file("steps.yamba", STEPS);
    yamba.run("disasm steps_arm go --lib . --target x86_64-linux").refused(&[
        "steps_arm does not apply on x86_64-linux",
        "its condition is `aarch64`",
        "--target aarch64-linux",
    ]);
}

#[test]
fn list_of_class_names_ports_of_other_machines_of_a_target() {
    let mut yamba = Yamba::new().file("steps.yamba", STEPS);
    let target = if cfg!(target_arch = "x86_64") { "aarch64-linux" } else { "x86_64-linux" };
    let answer = yamba.run_words(&["list", "steps", "--lib", ".", "--target", target]);
    answer.ok().says(&["ports of other machines", "steps_rare_", "on cpu(no_such_feature)"]);
    let answer = yamba.run("list steps --lib .").ok();
    assert!(!answer.out.contains("steps_rare"), "{}", answer.out);
}

#[test]
#[ignore = "needs g++"]
fn disasm_refuses_port_of_other_processor() {
    let mut yamba = Yamba::new().file("steps.yamba", STEPS);
    let port = if cfg!(target_arch = "x86_64") { "steps_rare_x86" } else { "steps_rare_arm" };
    yamba.run_words(&["disasm", port, "go", "--lib", "."]).refused(&[
        "does not apply on this machine",
        "cpu(no_such_feature)",
        "in a copy of its file",
    ]);
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn disasm_says_why_a_value_cannot_be_composed() {
    let mut yamba = Yamba::new();
    let answer = yamba.run("disasm pagefault touch 1000000000");
    assert_eq!((answer.status, answer.out.as_str()), (2, ""), "{}", answer.err);
    assert!(
        answer.err.contains("8000000000 does not fit") || answer.err.contains("8000000000 has no"),
        "{}",
        answer.err
    );
}

#[test]
#[ignore = "needs g++"]
fn ctrl_c_prints_finished_entries() {
    let text = PRIME.replace("{10, 100}", "linear(1, 400, 1)");
    let mut yamba = Yamba::new().file("adds.yamba", text);
    yamba.run("build adds.yamba").ok();
    let child = yamba
        .command(&["run", "adds.yamba", "--quick", "--json"])
        .env("TMPDIR", yamba.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start();
    let mut seen = BTreeSet::new();
    until("three launches have begun", || {
        seen.extend(launches(yamba.folder.path()));
        seen.len() > 2
    });
    let pid = child.id().to_string();
    assert!(
        Command::new("sh").args(["-c", &format!("kill -INT {pid}")]).status().unwrap().success()
    );
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    crate::schema::is_run(&run);
    assert_eq!(run["interrupted"], true);
    let all = run["benchmarks"].as_array().unwrap();
    let is_measured = |b: &&serde_json::Value| b["status"] != "skipped";
    let points = all.iter().filter(is_measured).count();
    assert_eq!(all.len(), 400);
    assert!(points > 0 && points < 400, "{points} points");
}

/// The measuring processes of the run that uses this folder.
fn launches(folder: &Path) -> Vec<u32> {
    let is_launch = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|b| *b == 0).any(|word| word == b"--run")
    };
    let all = processes_of(folder).into_iter();
    all.filter(is_launch).collect()
}

/// A short loop that crosses a cache line may take twice as long. The compiler must align it.
#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++ and objdump")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn generated_loops_are_aligned_to_a_cache_line() {
    needs(&["objdump"]);
    let text = "yamba walks extends Latency
{
    native {
        template <int before> [[gnu::noipa]] static void walk(volatile int *at, volatile int *end)
        {
            asm volatile(\".skip %c0, 0x90\" : : \"i\"(before));
            for (; at != end; at++) *at = 1;
        }
    }
    int places[8];
    void benchmark() { walk<20>(places, places + 8), walk<41>(places, places + 8), walk<55>(places, places + 8); }
}
";
    let mut yamba = Yamba::new().file("walks.yamba", text);
    yamba.run("build walks.yamba -o walks").ok();
    let program = yamba.folder.path().join("walks");
    let listing = Command::new("objdump").arg("-d").arg(program).output();
    let listing = String::from_utf8(listing.unwrap().stdout).unwrap();
    let is_walk = |f: &&str| f.lines().next().is_some_and(|l| l.contains("walkILi"));
    let walks = listing.split("\n\n").filter(is_walk);
    let loops: Vec<u64> = walks.filter_map(back_to).collect();
    assert_eq!(loops.len(), 3, "{listing}");
    assert!(loops.iter().all(|at| at % 64 == 0), "{loops:x?}");
}

/// The target of a function's first backward jump, in objdump's listing.
fn back_to(function: &str) -> Option<u64> {
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    function.lines().find_map(|line| {
        let (address, rest) = line.trim_start().split_once(':')?;
        let (_, to) = rest.split_once("\tj")?;
        let to = number(to.split_whitespace().nth(1)?)?;
        (to < number(address)?).then_some(to)
    })
}

/// A wrapper of g++ that records its calls in `asked`. With `shared`, it reports no static
/// libraries.
fn compiler(yamba: Yamba, shared: bool) -> Yamba {
    let answer =
        if shared { "case $1 in -print-file-name=*) echo \"${1#*=}\"; exit;; esac\n" } else { "" };
    let text = format!("#!/bin/sh\necho \"$*\" >> asked\n{answer}exec g++ \"$@\"\n");
    let yamba = yamba.file("compiler", text);
    let path = yamba.folder.path().join("compiler");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = yamba.folder.path().join("cache");
    yamba.env("CXX", path).env("YAMBA_CACHE", cache)
}

/// The shared libraries that the program needs.
fn needed(program: &str) -> String {
    let output = Command::new("readelf").args(["-d", program]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains("NEEDED"), "{text}");
    text
}

#[test]
#[ignore = "needs g++ and readelf"]
fn cpp_library_is_linked_statically_if_possible() {
    needs(&["readelf"]);
    let built = |shared, more: &str| {
        let mut yamba = compiler(Yamba::new().file("adds.yamba", PRIME), shared);
        let path = yamba.folder.path().join("compiler");
        yamba = yamba.env("CXX", format!("{}{more}", path.display()));
        let answer = yamba.run("build adds.yamba").ok();
        needed(answer.out.trim())
    };
    let asked = Command::new("g++").arg("-print-file-name=libstdc++.a").output();
    let is_here = asked.unwrap().stdout.contains(&b'/');
    assert_eq!(!built(false, "").contains("libstdc++"), is_here);
    assert!(built(true, "").contains("libstdc++"));
    assert!(built(false, " -fsanitize=address").contains("libstdc++"));
}

#[test]
#[ignore = "needs g++"]
fn class_must_include_mathematics_it_uses() {
    let text = "yamba roots
{
    volatile float x = 2;
    void benchmark() { auto root = sqrt(x + 0.0f); static_assert(sizeof root == sizeof(float)); x = root; }
}
";
    let including = format!("native {{\n    #include <math.h>\n}}\n{text}");
    Yamba::new().file("roots.yamba", including).run("build roots.yamba").ok();
    let answer = Yamba::new().file("roots.yamba", text).run("build roots.yamba");
    assert_eq!(answer.status, 2, "{}", answer.out);
    assert!(answer.err.contains("'sqrt' was not declared"), "{}", answer.err);
}

#[test]
#[ignore = "needs g++"]
fn built_programs_are_cached() {
    let second = PRIME.replace("yamba adds", "yamba counts");
    let yamba = Yamba::new().file("adds.yamba", PRIME).file("counts.yamba", second);
    let mut yamba = compiler(yamba, false);
    let mut asked = || {
        yamba.run("build adds.yamba counts.yamba").ok();
        let log = yamba.folder.path().join("asked");
        let text = fs::read_to_string(&log).unwrap();
        fs::remove_file(log).unwrap();
        // The other calls query the compiler.
        text.lines().filter(|l| l.contains(" -o ")).count()
    };
    // The precompiled header, the harness and two programs.
    assert_eq!(asked(), 4);
    assert_eq!(asked(), 0);
}
