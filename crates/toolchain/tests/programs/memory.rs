//! Executable memory in running programs.

use std::process::Command;

use crate::support::{build, run};

#[test]
#[ignore = "needs g++"]
fn no_page_is_ever_writable_and_executable() {
    let text = "
native { #include <stdio.h>
         #include <string.h>
    static int writable_code() { int found = 0; char line[512]; FILE *maps = fopen(\"/proc/self/maps\", \"r\");
        while (fgets(line, sizeof line, maps)) if (strstr(line, \"wx\")) found++;
        fclose(maps); return found; } }
yamba t on x86_64 {
    bitstring<int c_function()> give(int v) { 0xB8 le(v, 32) 0xC3 }
    int sum;
    void benchmark() { for (int i = 0; i < 100; i++) sum += give(i)(); }
    evidence int pages() expects [0, 0] { auto held = give(7); return writable_code() + (held() - 7); }
}";
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--run", "--batches", "2", "--time-ns", "1000"]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains("\"pages\":0") && !out.contains("\"pages\":1"), "{out}");
}

#[test]
#[ignore = "needs g++"]
fn crash_in_composed_code_names_the_member() {
    let text = "
yamba t on x86_64 {
    bitstring trap(int v) { 0x0F0B le(v, 8) }
    bitstring<void c_function()> dies() { 0x90 trap(5) 0xC3 }
    void benchmark() { dies()(); }
}";
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--run", "--batches", "1", "--time-ns", "1000"]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = out.lines().find(|l| l.contains("\"crash\"")).unwrap_or_else(|| panic!("{out}"));
    let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
    assert_eq!(record["signal"], "SIGILL");
    let code: yamba_toolchain::disasm::Code =
        serde_json::from_value(record["code"].clone()).expect("code");
    let lines = yamba_toolchain::disasm::listing(&code);
    let shown = yamba_toolchain::disasm::render(&lines, record["pc"].as_u64(), Some(3));
    assert!(shown.contains("t.trap(5)"), "{shown}");
    assert!(shown.lines().any(|l| l.starts_with('>') && l.contains("ud2")), "{shown}");
}

/// The message names the class and the line of the program that requested the memory.
#[test]
#[ignore = "needs g++"]
fn failed_allocation_is_reported_at_its_request() {
    let text = "
yamba t on x86_64 {
    import(memory);
    void setup() { memory.allocate(256 << 20, false); }
    void benchmark() {}
}";
    let built = build(text, "t", "x86_64");
    let output = Command::new("sh")
        .args(["-c", "ulimit -d 131072 && exec \"$0\" --run --batches 1"])
        .arg(&built.program)
        .output()
        .expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = out.lines().find(|l| l.contains("\"error\""));
    let record = record.unwrap_or_else(|| panic!("{out}"));
    let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
    assert_eq!(record["class"], "memory", "{record}");
    let file = record["file"].as_str().unwrap_or_default();
    assert!(file.ends_with("library/memory.yamba"), "{record}");
}
