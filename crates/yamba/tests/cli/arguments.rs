//! The command line without a C++ compiler: what it accepts, what it rejects, and its messages.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use yamba_child_guard::StartGuarded;

use crate::support::{Answer, Yamba, root};

const GOOD: &str = "/// Nothing at all.\nyamba nothing_at_all { void benchmark() {} }\n";

#[test]
fn check_of_the_library_and_suite_finds_nothing() {
    Yamba::new().run("check").ok().says(&["no errors"]);
}

#[test]
fn check_shows_all_errors_of_a_file_with_their_places() {
    let text = "yamba a extends no_such { }\nyamba b { import(nor_this); void benchmark() {} }\n";
    Yamba::new().file("a.yamba", text).run("check a.yamba").refused(&[
        "a.yamba:1:17: error[",
        "`no_such`",
        "a.yamba:2:18: error[",
        "^^^^^^^",
        "2 errors",
    ]);
}

/// A template with ports; `x86_64`: the assembly of one of them.
fn ports(x86_64: &str) -> String {
    format!(
        "yamba abstract own extends Chain {{ uintptr_t model(uintptr_t value) {{ return value; }} }}
yamba own_x ports own on x86_64 {{ bitstring step {{ asm {{ {x86_64} }} }} }}
yamba own_r ports own on riscv64 {{ bitstring step {{ asm {{ addi a0, a0, 0 }} }} }}
"
    )
}

#[test]
fn check_names_instruction_sets_without_assembler() {
    let mut yamba =
        Yamba::new().file("own.yamba", ports("frobnicate rax")).env("PATH", "/proc/nowhere");
    let out = yamba.run("check own.yamba").ok().out;
    assert_eq!(
        out,
        "1 file, 3 classes: no errors\nnot assembled: no assembler for riscv64, x86_64\n"
    );
    let json = yamba.run("check own.yamba --json").ok().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["not_assembled"], serde_json::json!(["riscv64", "x86_64"]));
}

#[test]
#[ignore = "needs g++"]
fn check_assembles() {
    let mut yamba = Yamba::new()
        .file("wrong.yamba", ports("frobnicate rax"))
        .file("label.yamba", ports("here: nop") + &ports("here: nop").replace("own", "other"));
    yamba.run("check wrong.yamba").refused(&[
        "wrong.yamba:2:",
        "error[assembler-error]",
        "the assembler for x86_64 says: ",
        "frobnicate",
    ]);
    // GNU as takes other numbers, with a warning.
    for line in ["mov al, 300", "add eax, 0x100000005"] {
        let mut changed = Yamba::new().file("changed.yamba", ports(line));
        changed.run("check changed.yamba").refused(&["changed.yamba:2:", line]);
        changed.run_words(&["time", "--asm", line]).refused(&["help: "]);
    }
    // GNU as would take each for another instruction.
    for line in ["mov (%rbx), %rax", "mov rax, (rbx)", "subsd %xmm0, %xmm1"] {
        let mut foreign = Yamba::new().file("foreign.yamba", ports(line));
        foreign.run("check foreign.yamba").refused(&["foreign.yamba:2:", "AT&T", "[rbx]"]);
        foreign.run_words(&["time", "--asm", line]).refused(&["AT&T", "[rbx]"]);
    }
    let mut homeless = Yamba::new().file("wrong.yamba", ports("nop")).env("TMPDIR", "/proc/none");
    homeless.run("check wrong.yamba").refused(&["no temporary files", "/proc/none", "TMPDIR"]);
    let json = yamba.run("check wrong.yamba --json");
    let document: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.status, document["errors"].as_u64()), (2, Some(1)));
    // Two classes may define the same label.
    yamba.run("check label.yamba").ok();
}

#[test]
fn check_of_a_file_in_the_same_folder_uses_its_neighbours() {
    let mut yamba = Yamba::new()
        .file("base.yamba", "yamba abstract base { void step(); void benchmark() { step(); } }")
        .file("mine.yamba", "yamba mine extends base { void step() {} }");
    yamba.run("check mine.yamba").ok().says(&["1 file, 1 class"]);
    yamba.run("check base.yamba mine.yamba ./mine.yamba").ok().says(&["2 files, 2 classes"]);
}

#[test]
fn lib_is_searched_after_the_files_own_folder() {
    let mut yamba = Yamba::new().file("mine.yamba", "yamba mine extends base { }");
    fs::create_dir(yamba.folder.path().join("lib")).unwrap();
    fs::write(
        yamba.folder.path().join("lib/base.yamba"),
        "yamba abstract base { void benchmark() {} }",
    )
    .unwrap();
    yamba.run("check mine.yamba").refused(&["`base`"]);
    yamba.run("check mine.yamba --lib lib").ok();
    yamba
        .run("check mine.yamba --lib none")
        .refused(&["cannot read the folder none: no such file or directory"]);
}

#[test]
fn unreadable_benchmark_file_is_one_error() {
    let mut yamba = Yamba::new()
        .file("bad.yamba", b"yamba x {\n\xff }")
        .file("long.yamba", vec![b'\n'; 5 << 20]);
    fs::create_dir(yamba.folder.path().join("folder.yamba")).unwrap();
    yamba
        .run("check none.yamba")
        .refused(&["error: cannot read none.yamba: no such file or directory"]);
    yamba.run("check bad.yamba").refused(&["bad.yamba:2: not UTF-8 text"]);
    yamba.run("check folder.yamba").refused(&["folder.yamba is a folder"]);
    yamba.run("check long.yamba").refused(&["long.yamba is longer than 4 MiB"]);
    yamba.run("run /dev/null").refused(&["no benchmark among what was named"]);
}

#[test]
fn unreadable_file_is_an_error() {
    let mut yamba = Yamba::new().file("secret.yamba", GOOD);
    let path = yamba.folder.path().join("secret.yamba");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let may_read_anything = fs::read(&path).is_ok();
    let answer = yamba.run("check secret.yamba");
    if !may_read_anything {
        answer.refused(&["cannot read secret.yamba: permission denied"]);
    }
}

#[test]
fn misspelt_name_suggests_the_nearest() {
    let mut yamba = Yamba::new().file("nothing.yamba", GOOD);
    yamba
        .run("run pagefalt")
        .refused(&["no class is named pagefalt", "help: did you mean pagefault?"]);
    yamba.run("list qqqqqqqq").refused(&["help: `yamba list`"]);
    yamba.run("run nothing").refused(&["there is a file nothing.yamba here"]);
    yamba.run("run zzz*").refused(&["no class matches zzz*"]);
    yamba.run_words(&["run", "lat_[a"]).refused(&["`lat_[a` is no glob"]);
}

#[test]
fn abstract_classes_and_parts_are_not_run() {
    let mut yamba = Yamba::new();
    yamba
        .run("run pagefault_linux")
        .refused(&["pagefault_linux is a port of pagefault", "help: name pagefault"]);
    yamba.run("run x86_64").refused(&["x86_64 is an instruction set"]);
    yamba.run("run linux").refused(&["linux is an operating system"]);
    yamba.run("run compiler").refused(&["a class to import"]);
    yamba.run("run Latency").refused(&["a shape for others to extend"]);
}

#[test]
fn usage_errors_have_status_2() {
    let mut yamba = Yamba::new();
    for words in [
        "",
        "frob",
        "run --frob",
        "run pagefault --set x",
        "run pagefault --sweep x=1,,2",
        "run pagefault --batches 0",
        "disasm pagefault",
        "port pagefault",
        "list --md --json",
    ] {
        yamba.run(words).refused(&["--help"]);
    }
    yamba.run("list --target riscv64-linux").refused(&["--target", "name a class"]);
    yamba.run("list pagefault --target vax-vms").refused(&["no target vax-vms"]);
    yamba.run("list pagefault --target aarch46-linux").refused(&["did you mean aarch64-linux?"]);
    yamba
        .run("run --only-tag no_such_tag")
        .refused(&["none of these benchmarks is tagged no_such_tag"]);
    yamba
        .run("run --only-tag demonstration --only-tag no_such_tag")
        .refused(&["none of these benchmarks is tagged no_such_tag"]);
}

#[test]
fn help_goes_to_standard_output() {
    let mut yamba = Yamba::new();
    for command in ["check", "build", "disasm", "port", "list", "run"] {
        yamba.run(&format!("{command} --help")).ok().says(&["Examples:", "yamba"]);
    }
    yamba.run("--version").ok().says(&["yamba 0."]);
}

#[test]
fn list_json_has_what_other_programs_rely_on() {
    let answer = Yamba::new().run("list --json --platforms").ok();
    let all: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let all = all.as_array().unwrap();
    assert!(all.len() >= 12);
    for one in all {
        assert!(one["name"].is_string() && one["runs_here"].is_boolean(), "{one}");
        assert!(one["tags"].is_array() && one["missing"].is_array(), "{one}");
        assert!(one["platforms"]["aarch64-linux"]["runs"].is_boolean(), "{one}");
    }
    let names: Vec<&str> = all.iter().filter_map(|o| o["name"].as_str()).collect();
    assert!(names.contains(&"pagefault") && names.contains(&"lat_pagefault_posix"));
    assert!(!names.contains(&"pagefault_linux") && !names.contains(&"chain"));
}

#[test]
fn list_finds_the_benchmarks_of_a_primitive() {
    let answer = Yamba::new().run("list write(file) --json").ok();
    let found: Vec<serde_json::Value> = serde_json::from_str(&answer.out).unwrap();
    let names: Vec<&str> = found.iter().map(|class| class["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"lat_write_cached") && names.len() < 5, "{names:?}");
}

#[test]
fn list_says_what_is_missing() {
    let text = "yamba abstract open_ended { bitstring step; /// one step\n void benchmark() {} }\nyamba open_ended_vms ports open_ended on darwin { bitstring step = 0x90; }\nyamba rootless on file(\"/no/such/file\") { void benchmark() {} }\n";
    let mut yamba = Yamba::new().file("a.yamba", text);
    if cfg!(target_os = "linux") {
        let described = yamba.run("list a.yamba").ok();
        described
            .says(&["missing\n    bitstring step", "not there: needs file(\"/no/such/file\")"]);
        let rows = yamba.run_words(&["list", "open_*", "rootless*", "--lib", "."]).ok();
        rows.says(&["open_ended: no port defines", "      bitstring step", "rootless: "]);
        yamba.run("list a.yamba --json").ok().says(&["\"bitstring step\"", "\"runs_here\": false"]);
    }
    yamba.run("list a.yamba --platforms").ok().says(&[
        "x86_64-darwin",
        "(1)",
        "yes",
        "open_ended on ",
        "    bitstring step",
    ]);
    yamba.run("list a.yamba --platforms --md").ok().says(&["| --- |", "| open_ended |"]);
    yamba.run("list a.yamba --md").ok().says(&["- `open_ended`\n", "- `rootless`\n"]);
}

#[test]
fn list_of_class_names_origin_of_each_member() {
    let answer = Yamba::new().run("list pagefault --target riscv64-linux").ok();
    answer.says(&[
        "pagefault on riscv64-linux",
        "ports     pagefault_linux, pagefault_riscv64",
        "over {16, 32, 64}",
        "from pagefault_riscv64 (",
        "expects [0.99, 1.01]",
        "chart latency against scale log",
        "with compiler_riscv64",
    ]);
}

#[test]
fn list_of_class_of_port_lists_its_members() {
    let answer = Yamba::new().run("list pagefault_linux").ok();
    answer.says(&["a port of  pagefault", "on         linux", "void cause_page_outs()"]);
}

#[test]
fn list_of_class_names_the_class_that_set_a_parameter() {
    let text = "yamba abstract base { param int n = 1; void benchmark() {} }\nyamba derived extends base { n = 2; }\n";
    let answer = Yamba::new().file("a.yamba", text).run("list a.yamba").ok();
    answer.says(&["int n  = 2  from derived", "int n  = 1  from base"]);
}

#[test]
fn list_of_class_shows_conditions_and_the_primitive() {
    let text = "yamba a { param int n = 1; requires n > 0; stands_for read(file) by n; void benchmark() {} }\n";
    let answer = Yamba::new().file("a.yamba", text).run("list a.yamba");
    answer.ok().says(&["requires n > 0", "stands_for read(file) by n"]);
}

const TEMPLATE: &str = "/// Steps.\nyamba abstract steps\n{\n    bitstring step;    /// one step\n    int  limit();      /// how far\n    param int width;   /// in bits\n    void benchmark() {}\n}\n";

#[test]
fn port_skeleton_parses_and_its_members_count_as_missing() {
    let mut yamba = Yamba::new().file("steps.yamba", TEMPLATE);
    yamba.run("port steps.yamba --on riscv64 -o steps_riscv64.yamba").ok();
    let path = yamba.folder.path().join("steps_riscv64.yamba");
    let skeleton = fs::read_to_string(&path).unwrap();
    for part in [
        "yamba steps_riscv64 ports steps on riscv64",
        "    import(riscv64);",
        "    /// one step\n    bitstring step;",
        "    /// how far\n    int  limit();",
        "    // in bits\n    // width = VALUE;",
    ] {
        assert!(skeleton.contains(part), "no `{part}` in\n{skeleton}");
    }
    let checked = yamba.run("check steps_riscv64.yamba").ok();
    assert_eq!(checked.err, "", "a skeleton needs no warning");
    yamba.run("list steps.yamba --json --platforms").ok().says(&["\"bitstring step\""]);
    let filled = skeleton
        .replace("bitstring step;", "bitstring step = 0x13000000;")
        .replace("limit();", "limit() { return 1; }")
        .replace("// width = VALUE;", "width = 32; //");
    fs::write(&path, filled).unwrap();
    yamba.run("check steps_riscv64.yamba").ok();
    yamba
        .run("list steps.yamba --target riscv64-linux")
        .ok()
        .says(&["ports     steps_riscv64", "= 32"]);
    yamba.run("port steps.yamba --on riscv64").refused(&["steps misses nothing there"]);
}

#[test]
fn port_to_a_system_omits_members_of_the_instruction_set() {
    let answer = Yamba::new().run("port pagefault --on freebsd").ok();
    assert!(!answer.out.contains("bitstring"), "{}", answer.out);
    answer.says(&[
        "void   cause_page_outs();",
        "ports pagefault on freebsd",
        "/// afterwards no page",
    ]);
}

#[test]
fn port_rejects_impossible_targets() {
    let mut yamba = Yamba::new().file("there.yamba", GOOD);
    yamba.run("port pagefault --on riscv46").refused(&["did you mean riscv64?"]);
    yamba.run_words(&["port", "pagefault", "--on", "x86_64 &&"]).refused(&["--on 'x86_64 &&'"]);
    yamba.run_words(&["port", "pagefault", "--on", "x86_64 {} yamba y"]).refused(&["--on"]);
    yamba
        .run_words(&["port", "pagefault", "--on", "linux && darwin"])
        .refused(&["holds on no platform"]);
    yamba
        .run("port pagefault --on freebsd -o there.yamba")
        .refused(&["there.yamba exists already"]);
}

#[test]
fn closed_output_pipe_is_no_error() {
    let yamba = Yamba::new();
    let mut child = yamba
        .command(&["list", "--json", "--platforms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start();
    drop(child.stdout.take());
    let output = child.finish();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
fn full_output_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let status = Yamba::new()
        .command(&["list"])
        .stdout(full.unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn embedded_files_work_without_home_folder() {
    let caches = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new()
        .without("YAMBA_HOME")
        .without("YAMBA_CACHE")
        .without("XDG_CACHE_HOME")
        .env("HOME", "/proc/nowhere")
        .env("TMPDIR", caches.path());
    yamba.run("check").ok();
    yamba.run("list pagefault").ok().says(&["pagefault"]);
    let inside: Vec<_> = fs::read_dir(caches.path()).unwrap().flatten().collect();
    assert_eq!(inside.len(), 1, "one private folder: {inside:?}");
    assert_eq!(inside[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn unknown_value_of_yamba_neighbours_is_refused() {
    let mut yamba = Yamba::new().env("YAMBA_NEIGHBOURS", "ignore");
    yamba.run("list").refused(&["YAMBA_NEIGHBOURS is ignore", "it must be count or discard"]);
}

#[test]
fn error_names_cache_that_cannot_be_created() {
    let mut yamba = Yamba::new()
        .file("file", "")
        .without("YAMBA_HOME")
        .env("YAMBA_CACHE", "file/cache")
        .env("TMPDIR", "/proc/nowhere");
    yamba.run("list").refused(&["/proc/nowhere"]);
    Yamba::new().env("YAMBA_HOME", "none").run("list").refused(&["YAMBA_HOME", "none"]);
    Yamba::new()
        .env("YAMBA_HOME", "/")
        .run("list")
        .refused(&["YAMBA_HOME is /, which has no folder runtime"]);
}

#[test]
fn embedded_files_equal_those_of_the_checkout() {
    let caches = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().without("YAMBA_HOME").env("YAMBA_CACHE", caches.path());
    let names = |text: &str| -> Vec<String> {
        let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
        all.iter().map(|o| o["name"].to_string()).collect()
    };
    let embedded = names(&yamba.run("list --json").ok().out);
    let checkout = names(&Yamba::new().run("list --json").ok().out);
    assert_eq!(embedded, checkout);
    assert!(root().join("suite").is_dir());
}

#[test]
fn list_groups_by_topic_and_searches_documentation() {
    let mut yamba = Yamba::new();
    let out = yamba.run("list").ok().out;
    let places: Vec<usize> = ["Processor\n", "\nMemory\n", "\nClocks and waiting\n"]
        .iter()
        .map(|title| out.find(title).expect(title))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    let lines = |out: &str| -> Vec<String> {
        let names = out.lines().filter(|l| l.starts_with("  "));
        names.map(|l| l.trim().to_owned()).collect()
    };
    let found = yamba.run("list CLOCK").ok();
    assert!(found.out.starts_with("No class has the name `CLOCK`."), "{}", found.out);
    let names = lines(&found.out);
    assert!(names.iter().any(|n| n.starts_with("lat_clock_read ")), "{names:?}");
    assert!(names.len() < lines(&out).len() / 2, "{names:?}");
    // A name is not searched for.
    let named = yamba.run("list lat_pipe").ok().out;
    assert!(named.starts_with("lat_pipe on ") && !named.contains("lat_pipe_own"), "{named}");
    // The heading must not be part of a document.
    let json = yamba.run("list clock --json").ok();
    assert!(json.err.starts_with("No class has the name `clock`."), "{}", json.err);
    let all: Vec<serde_json::Value> = serde_json::from_str(&json.out).unwrap();
    assert_eq!(all.len(), names.len());
    yamba.run("list nonexistentword").refused(&["no class is named"]);
}

#[test]
fn platforms_on_which_nothing_ran_are_untested() {
    let mut yamba = Yamba::new();
    let out = yamba.run("list lat_pipe --platforms").ok().out;
    let cells = |out: &str, row: usize| -> Vec<String> {
        let line = out.lines().nth(row).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let (titles, row) = (cells(&out, 0), cells(&out, 1));
    for (title, cell) in titles.iter().zip(&row).skip(1) {
        let expected = if title.ends_with("-linux") { "yes" } else { "untested" };
        assert_eq!(cell, expected, "{title}");
    }
    let json = yamba.run("list lat_pipe --platforms --json").ok().out;
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    let platforms = &all[0]["platforms"];
    assert_eq!(platforms["aarch64-darwin"]["untested"], true);
    assert_eq!(platforms["aarch64-linux"]["untested"], false);
}

#[test]
fn compiler_of_another_system_is_not_recommended() {
    let refused =
        Yamba::new().run("build lat_pipe --target aarch64-darwin").refused(&["CXX_aarch64"]);
    assert!(!refused.err.contains("linux"), "{}", refused.err);
}

#[test]
fn argument_that_is_not_utf8_is_named() {
    let argument = OsStr::from_bytes(b"lat_\xff");
    let yamba = Yamba::new();
    let answer = Answer::read(yamba.command(&["run"]).arg(argument).output().unwrap());
    answer.refused(&[r#"not UTF-8: "lat_\xFF""#]);
}

const KINDS: [&str; 4] = ["latency", "bandwidth", "ping-pong", "quantity"];

#[test]
fn new_benchmark_passes_check_and_overwrites_nothing() {
    let mut yamba = Yamba::new();
    for (i, kind) in KINDS.iter().enumerate() {
        yamba.run(&format!("new own_{i} --kind {kind}")).ok();
        let out = yamba.run(&format!("check own_{i}.yamba")).ok().out;
        assert!(out.starts_with("1 file, 1 class: no errors"), "{out}");
        let path = yamba.folder.path().join(format!("own_{i}.yamba"));
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("yamba own_{i} extends ")) && !text.contains("NAME"));
    }
    yamba.run("new other -o own.d.yamba").ok();
    yamba.run("check own.d.yamba").ok();
    for (words, part) in [
        ("new own_0", "own_0.yamba exists already"),
        ("new other -o own_0.yamba", "own_0.yamba exists already"),
        ("new other -o other.txt", "ends in .yamba"),
        ("new lat_pipe", "there is a class lat_pipe already"),
        ("new int", "is a word of C++"),
        ("new on", "cannot be the name"),
        ("new 3a", "letters, digits and _"),
        ("new a-b", "letters, digits and _"),
        ("new other --kind speed", "ping-pong"),
    ] {
        yamba.run(words).refused(&[part]);
    }
}

#[test]
#[ignore = "needs g++"]
fn new_benchmarks_run() {
    let mut yamba = Yamba::new();
    for (i, kind) in KINDS.iter().enumerate() {
        yamba.run(&format!("new own_{i} --kind {kind}")).ok();
        let out = yamba.run(&format!("run own_{i}.yamba --quick")).ok().out;
        assert!(out.starts_with("ok "), "{out}");
    }
}

/// A name that matches nothing, or the wrong kind of thing, is refused with a message that says so.
#[test]
fn patterns_without_match_are_errors() {
    let mut yamba = Yamba::new().file("empty.yamba", "").file("list.json", "[]");
    fs::create_dir(yamba.folder.path().join("folder")).unwrap();
    for (words, parts) in [
        (["check", ""], ["an empty name names no class", "help:"]),
        (
            ["check", "folder"],
            [
                "no class is named folder",
                "help: folder is a folder: name the files in it, as folder/*.yamba",
            ],
        ),
        (["list", "lat_["], ["`lat_[` is no glob", "help: in a glob, "]),
        (["list", "empty.yamba"], ["there is no class in what was named", "help:"]),
        (["time", " "], ["nothing to time in an empty argument", "help: write a statement"]),
        (["import", "none.json"], ["error: none.json: there is no such file\n", "help:"]),
        (
            ["import", "list.json"],
            ["it is a list, and a document is an object", "help: `yamba run --json`"],
        ),
        (["runs", "--store="], ["the place of the store is an empty text", "help:"]),
    ] {
        yamba.run_words(&words).refused(&parts);
    }
    yamba.run_words(&["time", "--asm", ""]).refused(&["nothing to time", "imul rax, rax"]);
}
