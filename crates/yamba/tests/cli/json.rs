//! `--json` of the commands that do not print a run: the documents that docs/json.md specifies.

use std::fs;

use serde_json::{Value, json};

use crate::shells::commands;
use crate::support::{Answer, Yamba};

/// Commands without `--json`. They write a benchmark or a bundle, or print a skeleton, a vector
/// (which is JSON), a page, a file in a requested format, a script, or manual pages. `fleet`, `gc`,
/// `java` and `load` have commands of their own.
const WITHOUT: [&str; 13] = [
    "new",
    "bundle",
    "fleet",
    "gc",
    "java",
    "load",
    "port",
    "trace",
    "report",
    "export",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_command_with_a_table_has_json() {
    let mut yamba = Yamba::new();
    for name in commands(&mut yamba) {
        let help = yamba.run(&format!("{name} --help")).ok().out;
        let is_there = help.lines().any(|l| l.trim_start().starts_with("--json"));
        assert_eq!(is_there, !WITHOUT.contains(&name.as_str()), "{name}");
    }
}

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|e| panic!("{e}: {}", answer.out))
}

#[test]
fn check_json_has_place_and_help_of_each_error() {
    let text = "yamba a extends no_such { }\nyamba b { import(compilr); void benchmark() {} }\n";
    let mut yamba =
        Yamba::new().file("a.yamba", text).file("good.yamba", "yamba good { void benchmark() {} }");
    let answer = yamba.run("check a.yamba good.yamba --json");
    assert_eq!((answer.status, answer.err.as_str()), (2, ""));
    let told = document(&answer);
    assert_eq!(told["files"], 2);
    assert_eq!(told["errors"], 2);
    assert_eq!(told["warnings"], 0);
    let all = told["diagnostics"].as_array().unwrap();
    let place = |fault: &Value| {
        ["file", "line", "column", "end_line", "end_column"].map(|k| fault[k].clone())
    };
    assert_eq!(place(&all[0]), [json!("a.yamba"), json!(1), json!(17), json!(1), json!(24)]);
    assert_eq!(all[0]["severity"], "error");
    assert!(all[0]["kind"].is_string() && all[0]["also"].is_array());
    assert!(all[0]["message"].as_str().unwrap().contains("`no_such`"));
    assert_eq!(place(&all[1])[..2], [json!("a.yamba"), json!(2)]);
    assert!(all[1]["help"].as_str().unwrap().contains("compiler"), "{all:?}");
    let good = document(&yamba.run("check good.yamba --json").ok());
    assert_eq!(good["diagnostics"], json!([]));
    assert_eq!(good["classes"], 1);
}

#[test]
fn check_of_unreadable_file_prints_no_document() {
    let mut yamba = Yamba::new();
    yamba.run("check none.yamba --json").refused(&["cannot read none.yamba"]);
}

#[test]
fn list_json_of_a_class_names_origin_of_each_member() {
    let mut yamba = Yamba::new();
    let told = document(&yamba.run("list pagefault --json --target x86_64-linux").ok());
    let class = &told[0];
    assert_eq!(class["name"], "pagefault");
    assert_eq!(class["target"], "x86_64-linux");
    assert_eq!(class["runs"], true);
    let file = class["file"].as_str().unwrap();
    assert!(file.ends_with("suite/memory/pagefault.yamba"), "{file}");
    let composed = &class["composition"];
    let names = |list: &Value, key: &str| -> Vec<String> {
        let each = list.as_array().unwrap().iter();
        each.map(|v| v[key].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&composed["parameters"], "name").contains(&"scale".to_owned()));
    assert!(names(&composed["evidence"], "name").contains(&"faults_per_access".to_owned()));
    let touch = composed["members"].as_array().unwrap();
    let touch = touch.iter().find(|m| m["from"] == "pagefault_x86_64");
    assert!(touch.is_some_and(|m| m["line"].is_u64()), "{composed}");
    let port = document(&yamba.run("list pagefault_x86_64 --json").ok());
    assert_eq!(port[0]["port"]["base"], "pagefault");
    assert_eq!(port[0]["composition"], Value::Null);
}

#[test]
#[ignore = "needs g++"]
fn build_and_disasm_print_json() {
    let mut yamba = Yamba::new();
    let built = document(&yamba.run("build lat_syscall_getppid --json -o out/").ok());
    let program = &built[0];
    assert_eq!(program["class"], "lat_syscall_getppid");
    assert_eq!(program["program"], "out/lat_syscall_getppid");
    assert!(yamba.folder.path().join("out/lat_syscall_getppid").is_file());
    let source = program["source"].as_str().unwrap();
    assert!(fs::metadata(source).is_ok(), "{source}");
    assert!(program["command"].as_str().unwrap().contains(source));
    yamba.run("build lat_syscall_getppid --json --print").refused(&["--print"]);
    if cfg!(target_arch = "x86_64") {
        let listing = document(&yamba.run("disasm pagefault touch 3 --json").ok());
        assert_eq!(listing["isa"], "x86_64");
        let lines = listing["lines"].as_array().unwrap();
        assert_eq!(lines[0]["kind"], "member");
        assert_eq!(lines[0]["name"], "pagefault_x86_64.touch(3)");
        let code = lines.iter().find(|l| l["kind"] == "code").unwrap();
        let digits = code["bytes"].as_str().unwrap();
        assert!(digits.len() >= 2 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(code["text"].as_str().unwrap().contains("mov"));
        let unknown = yamba.run("disasm pagefault tuch 3");
        unknown.refused(&[
            "error: pagefault: there is no bitstring `tuch`",
            "help: did you mean touch?",
        ]);
        let without = yamba.run("disasm lat_syscall_getppid steps");
        without.refused(&["help: it has no bitstrings: all its code is C++"]);
    }
}

/// Import, tag and removal report their changes to the store.
#[test]
fn commands_that_change_runs_print_json() {
    let mut yamba = Yamba::new()
        .file("old.json", crate::export::document().to_string())
        .file("host.0", "[lmbench3.0 results for Linux host 6.1.0]\nSimple syscall: 0.1250 microseconds\nSegmentation fault\n");
    let taken = document(&yamba.run("import old.json host.0 --json").ok());
    assert_eq!(taken[0]["file"], "old.json");
    assert_eq!(taken[0]["left_out"], json!([]));
    assert_eq!(taken[1]["left_out"], json!(["line 3: Segmentation fault"]));
    let id = taken[0]["id"].as_str().unwrap();
    let named = document(&yamba.run(&format!("tag {id} one two --json")).ok());
    assert_eq!(named, json!({"id": id, "tags": ["one", "two"]}));
    let named = document(&yamba.run(&format!("tag {id} one two --remove --json")).ok());
    assert_eq!(named["tags"], json!([]));
    let gone = document(&yamba.run(&format!("rm {id} --json")).ok());
    assert_eq!(gone, json!({"removed": [id]}));
}
