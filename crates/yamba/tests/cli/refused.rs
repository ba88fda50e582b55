//! Refused input and its messages. An invalid parameter value gives one error before anything is
//! measured.

use serde_json::Value;

use crate::support::Yamba;

const CHOOSY: &str = "yamba abstract choosy_base extends Latency
{
    import(check);
    param unsigned int count = 4 over {2, 4};
    param unsigned int each  = 2;
    void check_parameters()
    {
        super::check_parameters();
        check.at_least(\"each\", each, 1u);
        check.multiple(\"count\", count, each, \"each\");
    }
    volatile unsigned int sum;
    void benchmark(iter_t iterations) { while (iterations-- > 0) for (unsigned int i = 0; i < 100; i++) sum = sum + i; }
}
yamba choosy extends choosy_base
{
    param const char *way = \"up\" over {\"up\", \"down\"} quick {\"up\"};
    void check_parameters()
    {
        super::check_parameters();
        check.words(\"way\", way, {\"up\", \"down\"});
    }
    void prepare() { if (each == 1) yamba::skip(\"there is no 1 here\"); }
}
yamba of_its_own extends choosy { each = 8; count over {4, 8}; }
";

fn choosy() -> Yamba {
    Yamba::new().file("choosy.yamba", CHOOSY)
}

#[test]
#[ignore = "needs g++"]
fn wrong_value_is_one_error_before_measuring() {
    let mut yamba = choosy();
    for (words, told) in [
        ("--set way=left", "--set way=left: it must be up or down"),
        ("--sweep way=up,left", "--sweep way=left: it must be up or down"),
        ("--set count=0x5", "--set count=0x5: it must be a multiple of 2, each"),
        ("--set each=4", "count=2: it must be a multiple of 4, each"),
        ("--set each=0", "--set each=0: it must be 1 or more"),
    ] {
        for option in ["--quick", "--dry-run"] {
            let answer = yamba.run(&format!("run choosy --lib . {option} {words}"));
            let told = format!("error: choosy: {told}\n");
            assert_eq!(answer.refused(&[]).err, told);
        }
    }
    // With the sweep's values instead of the default, the value is valid.
    yamba
        .run("run choosy --lib . --dry-run --set each=3 --sweep count=3,6")
        .ok()
        .says(&["4 points", "count=3,6"]);
}

#[test]
#[ignore = "needs g++"]
fn value_impossible_here_is_skipped_and_faulty_class_fails_alone() {
    let mut yamba = choosy();
    yamba
        .run("run choosy --lib . --quick --set each=1")
        .ok()
        .says(&["skipped", "there is no 1 here"]);
    let answer = yamba.run("run of_its_own --lib . --quick --json");
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let told = |n: usize| {
        let point = &run["benchmarks"][n];
        (point["status"].as_str(), point["notes"][0].as_str())
    };
    let note = "of_its_own: count=4: it must be a multiple of 8, each";
    assert_eq!(told(0), (Some("crashed"), Some(note)));
    assert_eq!(told(1).0, Some("ok"));
}

const STRIDES: &str = "yamba strides
{
    param unsigned int size   = 64 over {64, 512};
    param unsigned int stride = 8 over {8, 128};
    requires stride <= size;
    volatile unsigned int sum;
    void benchmark() { for (unsigned int i = 0; i < 1000 * size; i += stride) sum = sum + i; }
}
yamba strides_up extends strides
{
    param bool up = true over {true, false};
    void check_parameters() { if (size == 7) yamba::refuse(\"size\", \"it must be 6 or less\"); }
    requires up ||
        size / stride > 8;
}
";

#[test]
#[ignore = "needs g++"]
fn points_that_do_not_fulfil_a_condition_are_skipped_with_it() {
    let mut yamba = Yamba::new().file("strides.yamba", STRIDES);
    let reason = "not measured with these parameters: it requires ";
    let plan = yamba.run("run strides.yamba --dry-run").ok();
    plan.says(&[
        "strides     3 points",
        "strides_up  4 points",
        &format!("{reason}stride <= size"),
        &format!("strides_up: {reason}up || size / stride > 8"),
    ]);
    let answer = yamba.run("run strides.yamba --quick --json").ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let entries = run["benchmarks"].as_array().unwrap();
    let skipped = entries.iter().filter(|b| b["status"] == "skipped");
    let skipped: Vec<String> = skipped
        .map(|b| format!("{} {}", b["parameters"], b["notes"][0].as_str().unwrap()))
        .collect();
    assert_eq!((entries.len(), skipped.len()), (12, 5), "{skipped:?}");
    assert!(skipped[0].contains(r#""stride":128"#), "{skipped:?}");
    assert!(skipped[0].ends_with(&format!("{reason}stride <= size")), "{skipped:?}");
    // A single combination of the user's is skipped too; a wrong value is an error.
    yamba
        .run("run strides.yamba --set size=1 --set stride=2 --quick")
        .ok()
        .says(&["skipped", "it requires stride <= size"]);
    yamba
        .run("run strides_up --lib . --set size=7 --quick")
        .refused(&["--set size=7: it must be 6 or less"]);
}

#[test]
#[ignore = "needs g++"]
fn suite_states_allowed_values_of_parameters() {
    let mut yamba = Yamba::new().file("short", "a few bytes");
    for (words, told) in [
        (
            "lat_tcp --set host=moon",
            "lat_tcp: --set host=moon: it must be loopback, veth or ssh:NAME",
        ),
        ("lat_tcp --sweep message=1,0", "lat_tcp: --sweep message=0: it must be 1 or more"),
        (
            "lat_fs --set operation=rename",
            "lat_fs: --set operation=rename: it must be create or delete",
        ),
        (
            "lat_ops --set operation=int4_add",
            "lat_ops: --set operation=int4_add: it must be a type (int, int64, float, double), `_`, and add, mul or div; of whole numbers also and, or, xor, shl, shr or mod",
        ),
        (
            "lat_ops_vector --set operation=int_add",
            "lat_ops_vector: --set operation=int_add: it must be int4_ and add, and, or, xor, shl or shr; or float4_ and add, mul or div",
        ),
        (
            "lat_disk_seek --set path=/no/such",
            "lat_disk_seek: --set path=/no/such: No such file or directory; it must be a disk or a large file",
        ),
        (
            "lat_disk_seek --set path=short",
            "lat_disk_seek: --set path=short: it has 11 bytes; it must be a disk or a file of at least 111411200; a fast one is read in more than 16 passes a launch, and needs many times that, or read_again=1",
        ),
    ] {
        let answer = yamba.run(&format!("run {words} --quick"));
        assert_eq!(answer.refused(&[]).err, format!("error: {told}\n"));
    }
}

/// A class that extends the library's chain must choose the operations that it compiles.
#[test]
fn operation_chain_without_operation_is_incomplete() {
    let mut yamba = Yamba::new()
        .file("mine.yamba", "yamba mine extends OperationChain { operation = \"int_add\"; }\n");
    let answer = yamba.run("check mine.yamba");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
    let told = answer.out + &answer.err;
    for member in ["bool choose()", "void check_operation()"] {
        let missing = format!("missing: `{member}`");
        assert!(told.contains(&missing), "no {missing} in\n{told}");
    }
}

/// User errors of each command. Every message includes help, which
/// [`refused`](crate::support::Answer::refused) checks.
#[test]
#[ignore = "needs g++"]
fn every_rejection_has_help() {
    let mut yamba = Yamba::new()
        .file("latin.yamba", b"yamba a\xe9 {}")
        .file("long.yamba", vec![b' '; (4 << 20) + 1])
        .file("wrong.toml", "title = 1")
        .file("no.sqlite", "no database");
    std::fs::create_dir(yamba.folder.path().join("folder.yamba")).unwrap();
    for (words, told) in [
        ("list --lib nowhere", "cannot read the folder nowhere"),
        ("check none.yamba", "cannot read none.yamba"),
        ("check folder.yamba", "folder.yamba is a folder"),
        ("check latin.yamba", "latin.yamba:1: not UTF-8"),
        ("check long.yamba", "longer than 4 MiB"),
        ("check lat_pipee", "no class is named lat_pipee"),
        ("build none", "no class is named none"),
        ("disasm none f", "none"),
        ("list nosuch", "nosuch"),
        ("port none --on riscv64", "none"),
        ("port lat_pipe --on mars", "mars"),
        ("build lat_pipe --target mars-linux", "mars"),
        ("run none", "none"),
        ("run lat_pipe --cpu 99999", "no such processor"),
        ("run lat_pipe --time soon", "soon"),
        ("run lat_pipe --set size", "size"),
        ("run lat_pipe --store no.sqlite", "no.sqlite"),
        ("run lat_pipe --store postgres:x", "no URL"),
        ("selftest --noise none", "none"),
        ("study none", "none"),
        ("study wrong.toml", "wrong.toml"),
        ("study nowhere.toml", "nowhere.toml"),
        ("study new course.txt", "course.txt"),
        ("runs --store no.sqlite", "no.sqlite"),
        ("show none", "no run is kept there yet"),
        ("show none.json", "none.json"),
        ("report none", "no run is kept there yet"),
        ("report none.json", "none.json"),
        ("export none --format csv", "no run is kept there yet"),
        ("export --format none", "none"),
        ("compare none none", "no run is kept there yet"),
        ("history none", "no run is kept there yet"),
        ("tag none x", "no run is kept there yet"),
        ("rm none", "no run is kept there yet"),
        ("import none.json", "none.json"),
        ("import wrong.toml", "wrong.toml"),
        ("man folder.yamba/x/y/latin.yamba --nosuch", "nosuch"),
        ("man no.sqlite", "no.sqlite"),
        ("completions none", "none"),
        ("time", "STATEMENT"),
        ("nosuch", "nosuch"),
    ] {
        yamba.run(words).refused(&[told]);
    }
}
