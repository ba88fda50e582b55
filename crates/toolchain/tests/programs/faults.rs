//! Errors of the C++ compiler and the assembler point to the author's line.

use crate::support::build_faults;

/// The first message's `LINE:COLUMN`, and the rendered text.
fn first(text: &str, name: &str, isa: &str) -> (String, String) {
    let (found, shown) = build_faults(text, name, isa);
    assert!(!shown.contains(".cc:") && !shown.contains("blocks.s"), "{shown}");
    let place = shown.split("test.yamba:").nth(1).unwrap_or_else(|| panic!("{shown}"));
    let place: String = place.chars().take_while(|c| c.is_ascii_digit() || *c == ':').collect();
    assert!(!found.is_empty());
    (place.trim_end_matches(':').to_owned(), shown)
}

#[test]
#[ignore = "needs g++"]
fn error_in_function_is_located() {
    let text = "yamba t {\n    void benchmark()\n    {\n\tint x = nonsense + 1;\n        (void)x;\n    }\n}\n";
    let (place, shown) = first(text, "t", "x86_64");
    assert_eq!(place, "4:10", "{shown}");
    assert!(shown.contains("nonsense"), "{shown}");
}

#[test]
#[ignore = "needs g++"]
fn errors_in_each_kind_of_cpp_code_are_located() {
    for (member, place) in [
        ("bitstring b(int v) { 0x90 le(wrong, 8) }", "3:33"),
        ("bitstring b(int v) { 0x90 if (wrong) { 0x90 } }", "3:34"),
        ("bitstring b(int v) { unroll (int i = 0; wrong; i++) { 0x90 } }", "3:44"),
        ("bitstring c(int v) { le(v, 8) } bitstring b { c(wrong) }", "3:52"),
        ("bitstring b { asm { mov eax, ${wrong} } }", "3:35"),
        ("param int p = wrong;", "3:18"),
        ("param int p = 1 over {1, wrong};", "3:29"),
        ("native { int f() { return wrong; } }", "3:30"),
        ("evidence double e() expects [0, wrong] { return 0; }", "3:36"),
        ("evidence double e() { return wrong; }", "3:33"),
        ("wrong w;", "3:4"),
        ("bitstring b { 0x48B8 abs(wrong, 64) }", "3:29"),
    ] {
        let text = format!("yamba t on x86_64 {{\n    void benchmark() {{}}\n   {member}\n}}\n");
        let (found, shown) = first(&text, "t", "x86_64");
        let (line, column) = place.split_once(':').expect("a place");
        let (found_line, found_column) = found.split_once(':').expect("a place");
        assert_eq!(found_line, line, "{shown}");
        let near = found_column.parse::<i64>().expect("a number")
            - column.parse::<i64>().expect("a number");
        assert!(near.abs() <= 1, "{member}: {found} instead of {place}\n{shown}");
    }
}

#[test]
#[ignore = "needs g++"]
fn several_errors_are_reported_at_once() {
    let text = "yamba t {\n    void benchmark() { one(); }\n    void setup() { two(); }\n}\n";
    let (found, shown) = build_faults(text, "t", "x86_64");
    assert_eq!(found.len(), 2, "{shown}");
    assert!(shown.contains("test.yamba:2:24") && shown.contains("test.yamba:3:20"), "{shown}");
}

#[test]
#[ignore = "needs g++"]
fn value_without_bits_is_an_error_at_its_cast() {
    let text = "yamba t on x86_64 {\n    void benchmark() {}\n    bitstring b { le(1.5, 32) }\n}\n";
    let (place, shown) = first(text, "t", "x86_64");
    assert!(place.starts_with("3:"), "{shown}");
    assert!(shown.contains("whole number"), "{shown}");
}

#[test]
#[ignore = "needs g++"]
fn missing_function_is_a_linker_error_at_its_call() {
    let text = "native { int nowhere(); }\nyamba t {\n    void benchmark() { nowhere(); }\n}\n";
    let (place, shown) = first(text, "t", "x86_64");
    assert!(place.starts_with("3:") && shown.contains("nowhere"), "{shown}");
}

#[test]
#[ignore = "needs g++"]
fn assembler_errors_are_located() {
    let text = "yamba t on x86_64 {\n    void benchmark() {}\n    bitstring b { asm { nop\n        mov eax, [rbx\n        frobnicate   // no\n    } }\n}\n";
    let (found, shown) = build_faults(text, "t", "x86_64");
    assert!(shown.contains("test.yamba:4:9") && shown.contains("test.yamba:5:9"), "{shown}");
    assert!(found.iter().all(|d| d.code == "assembler-error"), "{shown}");
}

#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn position_dependent_blocks_are_rejected() {
    for (isa, block, code) in [
        ("x86_64", "call puts", "asm-outside-reference"),
        ("x86_64", "lea rax, [rip + elsewhere]", "asm-outside-reference"),
        ("x86_64", "jmp 0x1000", "asm-outside-reference"),
        ("x86_64", "nop\n.text\nnop", "asm-leaves-section"),
        ("aarch64", "bl puts", "asm-outside-reference"),
        ("riscv64", "la a0, puts", "asm-outside-reference"),
    ] {
        let text = format!(
            "yamba t on {isa} {{\n    void benchmark() {{}}\n    bitstring b {{ asm {{ {block} }} }}\n}}\n"
        );
        let (found, shown) = build_faults(&text, "t", isa);
        assert_eq!(found[0].code, code, "{isa} {block}: {shown}");
        assert!(shown.contains("test.yamba:3:"), "{shown}");
    }
}
