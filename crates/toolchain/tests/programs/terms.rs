//! Every kind of term, compared with bytes computed by hand.

use crate::support::{ISAS, build, compose, compose_fault, hex, run};

/// A class with the bitstrings under test; its timed function does not matter.
fn program(members: &str) -> String {
    format!(
        "native {{ #include <stdint.h> }}\nyamba t\n{{\n    void benchmark() {{}}\n{members}\n}}\n"
    )
}

#[test]
#[ignore = "needs g++"]
fn literals_casts_and_words() {
    let text = program(
        "bitstring long_one = 0x00112233445566778899AABBCCDDEEFF00112;
         bitstring halves { 0b110 0b01000 0x9 0x0 }
         bitstring casts(int v) { le(v, 24) be(v, 12) bits(v, 7, 4) le(uint64_t(v) << 40, 64) }
         bitstring drawn(unsigned int rd) { word(32) { 0b110100101 be(1, 2) be(0xBEEFu, 16) be(rd, 5) } }
         bitstring small { word(16) { 0xAB 0xCD } }",
    );
    let built = build(&text, "t", "x86_64");
    let odd = compose(&built, "long_one", &[]);
    assert_eq!((odd.bits, odd.bytes.len()), (Some(37 * 4), 19));
    assert_eq!(hex(&built, "long_one", &[]), "00112233445566778899AABBCCDDEEFF001120");
    assert_eq!(hex(&built, "halves", &[]), "C890");
    assert_eq!(hex(&built, "casts", &["5"]), "05000000500000000000050000");
    assert_eq!(hex(&built, "drawn", &["3"]), "E3DDB7D2");
    assert_eq!(hex(&built, "small", &[]), "CDAB");
}

#[test]
#[ignore = "needs g++"]
fn control_flow_and_labels() {
    let text = program(
        "bitstring chosen(int n) { if (n > 2) { 0x01 } else if (n == 2) { 0x02 } else { 0x03 } }
         bitstring turns(unsigned int n) { unroll (unsigned int i = 0; i < n; i++) { label top: le(i, 8) rel(top, 8) } }
         bitstring around { 0xEB rel(end, 8) label back: 0x9090 0xE9 rel(back, 32) label end: 0xC3 }
         bitstring aligned { 0x01 align(8) 0x02 align(16) }
         bitstring distance { word(8) { be(offset(end), 8) } 0xFF label end: }
         bitstring recursive(unsigned int n) { if (n > 0) { le(n, 8) recursive(n - 1) } }",
    );
    let built = build(&text, "t", "x86_64");
    assert_eq!(hex(&built, "chosen", &["3"]), "01");
    assert_eq!(hex(&built, "chosen", &["2"]), "02");
    assert_eq!(hex(&built, "chosen", &["-1"]), "03");
    assert_eq!(hex(&built, "turns", &["3"]), "00FE01FE02FE");
    assert_eq!(hex(&built, "around", &[]), "EB079090E9F9FFFFFFC3");
    assert_eq!(hex(&built, "aligned", &[]), "010F1F8000000000020F1F8000000000");
    assert_eq!(hex(&built, "distance", &[]), "02FF");
    assert_eq!(hex(&built, "recursive", &["3"]), "030201");
    let endless = compose_fault(&built, "recursive", &["1000"]);
    assert!(endless["text"].as_str().expect("text").contains("without end"), "{endless}");
}

#[test]
#[ignore = "needs g++"]
fn addresses_of_functions_are_called() {
    let text = "
native { static int answer() { return 42; } }
yamba t on x86_64
{
    void benchmark() {}
    bitstring<int c_function()> both() { asm { sub rsp, 8 } 0x48B8 abs(answer, 64) asm { call rax } 0x89C1 0x48B8 abs(more, 64) asm { call rax
        add rsp, 8
        ret } }
    static int more() { return 43; }
    evidence int answered() expects [43, 43] { return both()(); }
}";
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--run", "--batches", "1", "--time-ns", "1000"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\"answered\":43"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs g++"]
fn super_and_imports() {
    let text = "
yamba helper extends Part { bitstring two(int v) { le(v, 8) le(v, 8) } int three() { return 3; } }
yamba base { void benchmark() {} import(helper);
    bitstring b(int v) { 0xAA helper.two(v) }
    int f() { return 1; }
    int g() { return 10; }
}
yamba derived extends base {
    bitstring b(int v) { super::b(v + 1) 0xBB }
    int f() { return super::f() + super::g() + helper.three(); }
    bitstring sum { le(f(), 8) }
    int length() { return int(b(1).size()) + int(super::b(1).size()) + int(helper.two(1).size()); }
    bitstring lengths { le(length(), 8) }
}";
    let built = build(text, "derived", "x86_64");
    assert_eq!(hex(&built, "b", &["1"]), "AA0202BB");
    assert_eq!(hex(&built, "sum", &[]), "0E");
    assert_eq!(hex(&built, "lengths", &[]), "48");
}

#[test]
#[ignore = "needs g++"]
fn value_that_does_not_fit_names_call_value_and_width() {
    let text = program(
        "bitstring imm(int64_t v) { le(v, 32) }
         bitstring outer(unsigned int n) { imm(n * int64_t(1000000)) }
         bitstring narrow(int v) { be(v, 4) }
         bitstring takes(unsigned int n) { le(n, 32) }
         bitstring negative { takes(-1) }
         bitstring real { takes(5e9) }
         bitstring fraction { takes(0.5) }
         bitstring whole { takes(3.0) }
         bitstring cut(int v) { bits(yamba::fit(v, 4), 3, 0) 0x0 }
         bitstring branch(int v) { if (v > 0) { label inside: } word(8) { be(offset(inside), 8) } }
         bitstring<void c_function()> odd(int n) { unroll (int i = 0; i < n; i++) { 0b1 } }
         evidence size_t composed() { return odd(3).size(); }",
    );
    let built = build(&text, "t", "x86_64");
    let fault = |member: &str, arguments: &[&str]| compose_fault(&built, member, arguments);
    let record = fault("outer", &["5000"]);
    assert_eq!(
        record["text"],
        "le(v, 32): the value 5000000000 does not fit in 32 bits (signed: -2147483648 to 2147483647), in t.outer(5000) > t.imm(5000000000)"
    );
    assert_eq!(
        (&record["class"], &record["file"], &record["line"]),
        (&"t".into(), &"test.yamba".into(), &5.into())
    );
    for (member, arguments, part) in [
        (
            "narrow",
            vec!["8"],
            "be(v, 4): the value 8 does not fit in 4 bits (signed: -8 to 7), in t.narrow(8)",
        ),
        (
            "negative",
            vec![],
            "takes(-1): the argument -1 is no unsigned integer of 32 bits, in t.negative",
        ),
        ("real", vec![], "takes(5e9): the argument 5000000000 is no unsigned integer of 32 bits"),
        ("fraction", vec![], "takes(0.5): the argument 0.5 is no unsigned"),
        ("cut", vec!["8"], "fit(8, 4): the value does not fit, in t.cut(8)"),
        ("branch", vec!["0"], "the label `inside` stands in a branch that was not taken"),
    ] {
        let record = fault(member, &arguments);
        assert!(record["text"].as_str().expect("text").contains(part), "{member}: {record}");
    }
    assert_eq!(hex(&built, "whole", &[]), "03000000");
    assert_eq!(hex(&built, "narrow", &["-8"]), "80");
    let output = run(&built, &["--run", "--batches", "1", "--time-ns", "1000"]);
    assert!(
        String::from_utf8_lossy(&output.stdout)
            .contains("t.odd composes 3 bits; a function is a whole number of bytes"),
        "{output:?}"
    );
}

#[test]
#[ignore = "needs g++"]
fn arguments_on_the_command_line_are_checked() {
    let text = program("bitstring imm(unsigned char v, bool b) { le(v, 8) if (b) { 0xFF } }");
    let built = build(&text, "t", "x86_64");
    assert_eq!(hex(&built, "imm", &["0x7F", "true"]), "7FFF");
    for (arguments, part) in [
        (vec!["256", "true"], "out of range"),
        (vec!["1"], "takes 2 arguments, not 1"),
        (vec!["x", "1"], "not a number"),
    ] {
        let all: Vec<&str> = ["--compose", "imm"].into_iter().chain(arguments).collect();
        let output = run(&built, &all);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(part), "{output:?}");
    }
    assert_eq!(run(&built, &["--compose", "none"]).status.code(), Some(2));
}

#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn composed_functions_run_on_every_instruction_set() {
    // Each body has its own loop, a value in a hole, the standard frame, an argument and a result.
    let bodies = [
        (
            "x86_64",
            "asm { mov eax, edi } label again: asm { add eax, ${step} \n dec rsi } 0x75 rel(again, 8)",
        ),
        (
            "x86_32",
            "asm { mov eax, [ebp + 8] \n mov ecx, [ebp + 12] } label again: asm { add eax, ${step} \n dec ecx } 0x75 rel(again, 8)",
        ),
        (
            "aarch64",
            "label again: asm { add w0, w0, #${step} \n subs x1, x1, #1 } asm { b.ne .+${offset(again)} }",
        ),
        (
            "riscv64",
            "label again: asm { addiw a0, a0, ${step} \n addi a1, a1, -1 } asm { bnez a1, .+${offset(again)} }",
        ),
    ];
    for ((isa, body), (known, _)) in bodies.into_iter().zip(ISAS) {
        assert_eq!(isa, known);
        let text = format!(
            "yamba t {{ import(compiler); void benchmark() {{}}
    bitstring<int c_function(int from, long turns)> count(int step) {{ compiler.prologue_standard {body} compiler.epilogue_standard }}
    evidence int counted() expects [1070, 1070] {{ return count(7)(1000, 10); }} }}"
        );
        let built = build(&text, "t", isa);
        let output = run(&built, &["--run", "--batches", "1", "--time-ns", "1000"]);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            out.contains("\"counted\":1070"),
            "{isa}: {out}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Builds like `build`, with the shared code in a separate object file. Also without optimisation,
/// where nothing is inlined.
#[test]
#[ignore = "needs clang++"]
fn clang_builds_the_same_bits() {
    let runs = |words: &[&str]| {
        let output = std::process::Command::new("clang++").args(words).output();
        let output = output.expect("clang++");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.is_empty(), "{said}");
        output.status.success()
    };
    let text = program(
        "param int n = 3 over {1, 2, 3}; int state[4]; bitstring b(int v) { align(4) le(v + n, 8) asm { add eax, ${v} } } evidence double e() expects [0, 1] { return 0.5; }",
    );
    let with_gcc = build(&text, "t", "x86_64");
    assert_eq!(hex(&with_gcc, "b", &["9"]), "0C0509000000");
    let root = crate::support::root();
    let runtime = root.join("runtime");
    let (main, include) = (runtime.join("src/runtime.cc"), format!("-I{}", runtime.display()));
    let folder = tempfile::tempdir().expect("a folder");
    let (harness, program) = (folder.path().join("harness.o"), folder.path().join("t"));
    let [main, harness, program, source] =
        [&main, &harness, &program, &with_gcc.source].map(|p| p.to_str().expect("a name"));
    for level in ["-O2", "-O0"] {
        let common = ["-std=c++17", level, "-Wall", "-Wextra", "-Werror", "-pthread", &include];
        let isa = ["-include", "yamba/isa/x86_64/isa.h"];
        assert!(runs(&[&common[..], &isa, &["-c", main, "-o", harness]].concat()));
        assert!(runs(&[&common[..], &[source, harness, "-o", program]].concat()));
        let mut with_clang = with_gcc.clone();
        with_clang.program = program.into();
        assert_eq!(hex(&with_gcc, "b", &["9"]), hex(&with_clang, "b", &["9"]));
    }
}
