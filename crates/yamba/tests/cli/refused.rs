//! Values of parameters that cannot be: one error, before anything is measured.

use serde_json::Value;

use crate::support::{Yamba, has};

const CHOOSY: &str = "yamba abstract choosy_base extends Latency
{
    import(allowed);
    param unsigned int count = 4 over {2, 4};
    param unsigned int each  = 2;
    void check_parameters()
    {
        super::check_parameters();
        allowed.at_least(\"each\", each, 1u);
        allowed.multiple(\"count\", count, each, \"each\");
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
        allowed.words(\"way\", way, {\"up\", \"down\"});
    }
    void prepare() { if (each == 1) yamba::skip(\"there is no 1 here\"); }
}
yamba of_its_own extends choosy { each = 8; count over {4, 8}; }
";

fn choosy() -> Yamba {
    Yamba::new().file("choosy.yamba", CHOOSY)
}

#[test]
fn a_wrong_value_is_one_error_before_anything_is_measured() {
    if !has("g++") {
        return;
    }
    let mut yamba = choosy();
    for (words, told) in [
        ("--set way=left", "--set way=left: it may be up or down"),
        (
            "--sweep way=up,left",
            "--sweep way=left: it may be up or down",
        ),
        (
            "--set count=0x5",
            "--set count=0x5: it may be a multiple of 2, each",
        ),
        ("--set each=4", "count=2: it may be a multiple of 4, each"),
        ("--set each=0", "--set each=0: it may be 1 or more"),
    ] {
        for option in ["--quick", "--dry-run"] {
            let answer = yamba.run(&format!("run choosy --lib . {option} {words}"));
            let told = format!("error: choosy: {told}\n");
            assert_eq!(answer.refused(&[]).err, told);
        }
    }
    // With the values of the sweep in place of the default it is right.
    yamba
        .run("run choosy --lib . --dry-run --set each=3 --sweep count=3,6")
        .ok()
        .says(&["4 points", "count=3,6"]);
}

#[test]
fn what_is_right_but_not_here_is_skipped_and_a_class_s_own_fault_is_its_own() {
    if !has("g++") {
        return;
    }
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
    let note = "of_its_own ended with status 2: of_its_own: --set count=4: it may be a multiple of 8, each";
    assert_eq!(told(0), (Some("crashed"), Some(note)));
    assert_eq!(told(1).0, Some("ok"));
}

#[test]
fn the_suite_s_benchmarks_say_what_may_be() {
    if !has("g++") {
        return;
    }
    let mut yamba = Yamba::new().file("short", "a few bytes");
    for (words, told) in [
        (
            "lat_tcp --set host=moon",
            "lat_tcp: --set host=moon: it may be loopback, veth or ssh:NAME",
        ),
        (
            "lat_tcp --sweep message=1,0",
            "lat_tcp: --sweep message=0: it may be 1 or more",
        ),
        (
            "lat_fs --set operation=rename",
            "lat_fs: --set operation=rename: it may be create or delete",
        ),
        (
            "lat_disk_seek --set path=/no/such",
            "lat_disk_seek: --set path=/no/such: No such file or directory; it may be a disk or a large file",
        ),
        (
            "lat_disk_seek --set path=short",
            "lat_disk_seek: --set path=short: it has 11 bytes; it may be a disk or a file of at least 111411200; a fast one is read in more than 16 passes a launch, and needs many times that, or read_again=1",
        ),
    ] {
        let answer = yamba.run(&format!("run {words} --quick"));
        assert_eq!(answer.refused(&[]).err, format!("error: {told}\n"));
    }
}
