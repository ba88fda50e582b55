//! Tests of the reader of Go's benchmarks.

use yamba_record::run::IntervalScope;
use yamba_record::{Note, Status};

use super::LESS_IS_BETTER;
use crate::import::cases::{has, left_out, read_text, refused};

const GO: &str = include_str!("../samples/go.txt");
const FAILED: &str = include_str!("../samples/go-failed.txt");

#[test]
fn lines_of_a_process_are_repetitions() {
    let shop_a = "pkg=example.com/shop/a";
    let shop_b = "pkg=example.com/shop/b";
    has(
        GO,
        &[
            &format!("BenchmarkSort/n=100 {shop_a}: 2099 ns"),
            &format!("BenchmarkSort/n=100 {shop_a} counter=MB/s: 381.2 MB/s"),
            &format!("BenchmarkSort/n=100 {shop_a} counter=B/op: 896 B/op"),
            &format!("BenchmarkSort/n=100 {shop_a} counter=allocs/op: 1 allocs/op"),
            &format!("BenchmarkSort/n=100 gomaxprocs=2 {shop_a}: 2099 ns"),
            &format!("BenchmarkSort/n=100 gomaxprocs=2 {shop_a} counter=MB/s: 381.08 MB/s"),
            &format!("BenchmarkSort/n=100 gomaxprocs=2 {shop_a} counter=B/op: 896 B/op"),
            &format!("BenchmarkSort/n=100 gomaxprocs=2 {shop_a} counter=allocs/op: 1 allocs/op"),
            &format!("BenchmarkSleep {shop_a}: 945312 ns"),
            &format!("BenchmarkSleep {shop_a} counter=hits/op: 3 hits/op"),
            &format!("BenchmarkSleep {shop_a} counter=req/s: 1500000 req/s"),
            &format!("BenchmarkSleep gomaxprocs=2 {shop_a}: 1122949 ns"),
            &format!("BenchmarkSleep gomaxprocs=2 {shop_a} counter=hits/op: 3 hits/op"),
            &format!("BenchmarkSleep gomaxprocs=2 {shop_a} counter=req/s: 1500000 req/s"),
            &format!("BenchmarkMake {shop_a}: 86.71 ns"),
            &format!("BenchmarkMake {shop_a} counter=B/op: 88 B/op"),
            &format!("BenchmarkMake {shop_a} counter=allocs/op: 2 allocs/op"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_a}: 87.44 ns"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_a} counter=B/op: 88 B/op"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_a} counter=allocs/op: 2 allocs/op"),
            &format!("BenchmarkMake {shop_b}: 408.9 ns"),
            &format!("BenchmarkMake {shop_b} counter=B/op: 536 B/op"),
            &format!("BenchmarkMake {shop_b} counter=allocs/op: 2 allocs/op"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_b}: 515 ns"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_b} counter=B/op: 536 B/op"),
            &format!("BenchmarkMake gomaxprocs=2 {shop_b} counter=allocs/op: 2 allocs/op"),
        ],
        &[],
    );
    let run = read_text(GO).unwrap();
    assert_eq!((run.machine.isa.as_str(), run.machine.system.as_str()), ("x86_64", "linux"));
    assert_eq!(run.machine.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert!(!run.interrupted);
    let sort = &run.benchmarks[0];
    assert_eq!(sort.details.samples, [3144.0, 1970.0, 2099.0]);
    assert!(sort.launches.is_empty() && sort.confidence_interval.is_none());
    assert_eq!(sort.notes, ["the median of 3 repetitions in one process"]);
    let kinds: Vec<_> = run.benchmarks.iter().map(|b| b.declaration.figure.as_deref()).collect();
    assert_eq!(kinds[..3], [Some("latency"), Some("bandwidth"), Some("value")]);
}

#[test]
fn unit_line_says_that_more_is_better() {
    let run = read_text(&format!("Unit req/s better=higher\n{GO}")).unwrap();
    let sleep = &run.benchmarks[10];
    assert_eq!(sleep.parameters.to_string(), "pkg=example.com/shop/a counter=req/s");
    assert_eq!(sleep.declaration.figure.as_deref(), Some("rate"));
    let run = read_text(&format!("Unit req/s better=lower\n{GO}")).unwrap();
    let sleep = &run.benchmarks[10];
    assert_eq!(sleep.declaration.figure.as_deref(), Some("value"));
    assert!(sleep.notes.iter().any(|note| *note == LESS_IS_BETTER));
    // A line about something else does not change the direction.
    let both = format!("Unit hits/op better=higher\nUnit hits/op assume=exact\n{GO}");
    let run = read_text(&both).unwrap();
    assert_eq!(run.benchmarks[9].declaration.figure.as_deref(), Some("rate"));
}

#[test]
fn line_that_is_left_out_keeps_its_numbers_apart() {
    let run =
        read_text("BenchmarkX 10 1 ns/op\nBenchmarkI-8\t100\t4 ns/op 5 ns/op\nPASS\n").unwrap();
    assert_eq!(left_out(&run)[0], "line 2: BenchmarkI-8 100 4 ns/op 5 ns/op");
}

#[test]
fn time_of_which_less_is_better_is_a_latency() {
    for (unit, time) in [("p99-ns", "ns"), ("us/req", "us"), ("p50-sec/op", "s")] {
        let text = format!("Unit {unit} better=lower\nBenchmarkX 10 1 ns/op 7 {unit}\nPASS\n");
        let run = read_text(&text).unwrap();
        let entry = &run.benchmarks[1];
        let found = (entry.declaration.figure.as_deref(), entry.unit.as_deref());
        assert_eq!(found, (Some("latency"), Some(time)), "{unit}");
    }
}

#[test]
fn processes_of_one_package_are_launches() {
    let header = "goos: linux\ngoarch: arm64\npkg: a\ncpu: x\n";
    let process =
        |time: u32| format!("{header}BenchmarkX-4 \t 100\t {time} ns/op\nPASS\nok  \ta\t1.2s\n");
    let times = [11, 13, 9, 10, 14, 12];
    let text: String = times.into_iter().map(process).collect();
    has(&text, &["BenchmarkX gomaxprocs=4 pkg=a: 11.5 ns"], &[]);
    let entry = &read_text(&text).unwrap().benchmarks[0];
    let medians: Vec<f64> = entry.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(medians, times.map(f64::from));
    assert_eq!(entry.confidence_interval, Some([9.0, 14.0]));
    assert_eq!(entry.interval_scope, Some(IntervalScope::BetweenLaunches));

    // A launch that is not there, and one of another machine.
    let lacking = text.replace("  13 ns/op", " 13 ns").replace(" 13 ns/op", " 13,5 ns/op");
    let run = read_text(&lacking).unwrap();
    assert_eq!(run.benchmarks[0].median, Some(11.0));
    assert_eq!(
        left_out(&run),
        [
            "line 12: BenchmarkX-4   100  13,5 ns/op",
            "BenchmarkX-4 of a: line 12 is no result",
            "BenchmarkX-4 of a: values of 5 of 6 processes",
        ]
    );
    let other = text.replacen("cpu: x", "cpu: y", 1);
    let run = read_text(&other).unwrap();
    assert_eq!(run.benchmarks[0].median, Some(11.0));
    assert_eq!(left_out(&run).len(), 5);
    assert_eq!(left_out(&run)[0], "a process, a: its cpu is x, and that of the first is y");
}

#[test]
fn failed_benchmarks_and_processes_are_named() {
    has(
        FAILED,
        &[
            "BenchmarkMake gomaxprocs=2 pkg=example.com/shop/b: 434.3 ns",
            "BenchmarkMake gomaxprocs=2 pkg=example.com/shop/b counter=B/op: 536 B/op",
            "BenchmarkMake gomaxprocs=2 pkg=example.com/shop/b counter=allocs/op: 2 allocs/op",
            "BenchmarkFail pkg=example.com/shop/b: Crashed",
            "BenchmarkFailLate gomaxprocs=2 pkg=example.com/shop/b: Crashed",
            "BenchmarkZ gomaxprocs=2 pkg=example.com/shop/b: 0.5471 ns",
            "BenchmarkPanic gomaxprocs=2 pkg=example.com/shop/b: Crashed",
        ],
        &[
            "line 12: FAIL: a test or a benchmark failed",
            "line 20: BenchmarkPanic-2    panic: boom",
            "line 30: exit status 2",
            "BenchmarkMake-2 of example.com/shop/b: values of 1 of 2 processes",
            "BenchmarkZ-2 of example.com/shop/b: values of 1 of 2 processes",
        ],
    );
    let run = read_text(FAILED).unwrap();
    assert!(run.interrupted, "a process panicked");
    let make = &run.benchmarks[0];
    assert_eq!(make.confidence_interval, None);
    assert_eq!(make.notes, ["the median of one process", "values of 1 of 2 processes"]);
    let reasons: Vec<String> = run
        .benchmarks
        .iter()
        .filter(|b| b.status == Status::Crashed)
        .map(|b| b.notes.first().map(Note::to_string).unwrap_or_default())
        .collect();
    assert_eq!(reasons, ["b_test.go:6: about to", "b_test.go:7: late", "panic: boom"]);
    assert!(!serde_json::to_string(&run).unwrap().contains("somebody"));
}

/// The output of `go test -v`: each benchmark is announced, and skipped ones are named.
#[test]
fn verbose_output_is_read() {
    let text = "pkg: a\nBenchmarkX\n    a_test.go:5: hello\nBenchmarkX-2  \t 100\t 5.500 ns/op\n\
        BenchmarkNo\n    a_test.go:6: no\n--- SKIP: BenchmarkNo\nBenchmarkParent\n\
        BenchmarkParent/n=1-2  \t 100\t 7.500 ns/op\nBenchmarkLost\nPASS\n";
    has(
        text,
        &[
            "BenchmarkX gomaxprocs=2 pkg=a: 5.5 ns",
            "BenchmarkNo pkg=a: Skipped",
            "BenchmarkParent/n=1 gomaxprocs=2 pkg=a: 7.5 ns",
        ],
        &["line 10: BenchmarkLost has no result"],
    );
}

#[test]
fn output_of_the_program_between_a_name_and_its_result_is_named() {
    let text =
        "BenchmarkX-2  \tstarting\n     100\t 5.5 ns/op\nBenchmarkY-2 \t 10\t 7.5 ns/op\nPASS\n";
    has(
        text,
        &["BenchmarkY gomaxprocs=2: 7.5 ns"],
        &[
            "line 1: BenchmarkX-2   starting",
            "line 2: 100  5.5 ns/op",
            "BenchmarkX-2: line 1 is no result",
        ],
    );
    // Where the text is an empty line, the name stands alone.
    let text = text.replace("starting", "");
    has(
        &text,
        &["BenchmarkY gomaxprocs=2: 7.5 ns"],
        &["line 2: 100  5.5 ns/op", "line 1: BenchmarkX has no result"],
    );
}

#[test]
fn benchmarks_with_another_number_of_lines_are_left_out() {
    let text = GO.replacen("BenchmarkMake                 \t   26155", "BenchmarkMade\t 26155", 1);
    let run = read_text(&text).unwrap();
    assert_eq!(run.benchmarks.len(), 23);
    assert_eq!(
        left_out(&run),
        [
            "BenchmarkMade of example.com/shop/a: 1 lines, and most others have 3",
            "BenchmarkMake of example.com/shop/a: 2 lines, and most others have 3",
        ]
    );
    let one_without = GO.replacen(" 254.45 MB/s\t", "", 1);
    let run = read_text(&one_without).unwrap();
    assert_eq!(run.benchmarks.len(), 25);
    assert_eq!(left_out(&run), ["BenchmarkSort/n=100 of example.com/shop/a: MB/s in 2 of 3 lines"]);
}

/// Other programs write configuration lines of their own between benchmarks.
#[test]
fn lines_under_different_configurations_are_no_repetitions() {
    let text = "toolchain: a\nBenchmarkX 10 5 ns/op\nBenchmarkY 10 5 ns/op\ntoolchain: b\n\
        BenchmarkX 10 7 ns/op\nPASS\n";
    has(
        text,
        &["BenchmarkY: 5 ns"],
        &["line 4: toolchain: b", "BenchmarkX: its lines stand below different configurations"],
    );
}

#[test]
fn truncated_output_is_marked_interrupted() {
    let end = GO.find("PASS").unwrap();
    let run = read_text(&GO[..end]).unwrap();
    assert!(run.interrupted);
    assert_eq!(run.benchmarks.len(), 20);
    let run = read_text(GO[..end].trim_end()).unwrap();
    assert!(run.interrupted);
    assert_eq!(run.benchmarks.len(), 17);
    assert!(left_out(&run)[0].starts_with("line 22: the text ends within it: BenchmarkMake-2"));
    let run = read_text(GO.trim_end()).unwrap();
    assert_eq!((run.benchmarks.len(), run.interrupted), (26, false));
}

#[test]
fn own_export_and_output_without_figures_are_refused() {
    let own = "# run 00ff00ff00ff00ff, 0.1.0\ngoos: linux\ngoarch: amd64\npkg: yamba\n\
        BenchmarkLat_pipe-1 5 8.1 us/op\n";
    refused(own, "is a run of Yamba in the form of Go's benchmarks");
    refused("goos: linux\npkg: a\nPASS\nok  \ta\t0.1s\n", "holds no figure");
    refused("Benchmarking is fun\n", "is no JSON");
}
