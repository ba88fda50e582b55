//! Tests of the reader of divan.

use crate::import::cases::{has, left_out, read_text, refused};

const DIVAN: &str = include_str!("../samples/divan.txt");

const ALL: [&str; 17] = [
    "d::add: 0.693 ns",
    "d::fib::1: 1.026 ns",
    "d::fib::2: 2.756 ns",
    "d::fib::4: 8.14 ns",
    "d::fib::8: 54.28 ns",
    "d::fib::16: 2715 ns",
    "d::fib::22: 53780 ns",
    "d::inner::ignored: Skipped",
    "d::inner::threaded::t=1: 1663 ns",
    "d::inner::threaded::t=2: 1663 ns",
    "d::inner::copy::64: 35.38 ns",
    "d::inner::copy::64 counter=bytes_per_second: 1808000000 B/s",
    "d::inner::copy::64 counter=items_per_second: 226100000 items/s",
    "d::inner::copy::4096: 112.1 ns",
    "d::inner::copy::4096 counter=bytes_per_second: 36510000000 B/s",
    "d::inner::copy::4096 counter=items_per_second: 4564000000 items/s",
    "d::make::String: 0.387 ns",
];

#[test]
fn names_are_paths_of_the_tree() {
    let all: Vec<&str> = ALL.into_iter().chain(["d::make::u8: 0.339 ns"]).collect();
    has(DIVAN, &all, &[]);
    let run = read_text(DIVAN).unwrap();
    assert!(!run.interrupted);
    let copy = &run.benchmarks[10];
    assert_eq!(
        copy.notes,
        ["the median of 100 samples in one process", "divan prints four digits"]
    );
    let kinds: Vec<_> = run.benchmarks.iter().map(|b| b.declaration.figure.as_deref()).collect();
    assert_eq!(kinds[10..13], [Some("latency"), Some("bandwidth"), Some("rate")]);
}

#[test]
fn rows_that_do_not_fit_the_tree_are_left_out() {
    let without = |begin: &str| {
        let lines = DIVAN.split_inclusive('\n').filter(|line| !line.starts_with(begin));
        read_text(&lines.collect::<String>()).unwrap()
    };
    // The rows of a parent without its row are of no other parent.
    let run = without("├─ inner");
    assert_eq!(run.benchmarks.len(), 9);
    assert!(left_out(&run).len() >= 9, "{:?}", left_out(&run));
    // Nor are the counters of a benchmark without its row those of the one above it.
    for begin in ["│     ├─ 64", "│     ╰─ 4096"] {
        let run = without(begin);
        assert_eq!(run.benchmarks.len(), 15, "{begin}");
        assert_eq!(left_out(&run).len(), 2, "{begin}");
    }
}

#[test]
fn rows_that_contradict_themselves_are_left_out() {
    for (from, to, named) in [
        ("│ 0.693 ns", "│ 0,693 ns", "line 3: d::add: median is \"0,693 ns\""),
        ("│ 0.693 ns", "│ 9.693 ns", "line 3: d::add: its columns contradict each other"),
        ("│ 0.693 ns", "│ 0.693", "line 3: d::add: median is \"0.693\""),
        ("│ 0.693 ns", "│", "line 3: d::add: median is \"\""),
        ("│ 204800\n", "│ 2,048\n", "line 3: d::add: iters is \"2,048\""),
        ("│ 2.663 ns      │", "│", "line 3: ├─ add"),
    ] {
        let run = read_text(&DIVAN.replacen(from, to, 1)).unwrap();
        assert_eq!(run.benchmarks.len(), 17, "{to}");
        let [only] = left_out(&run) else { panic!("{to}") };
        assert!(only.starts_with(named), "{only}");
    }
    let exchanged = DIVAN.replacen("median ", "mean ", 1);
    refused(&exchanged, "is no JSON");
}

#[test]
fn cut_and_mixed_output_is_named() {
    let end = DIVAN.find("╰─ make").unwrap();
    let run = read_text(&DIVAN[..end]).unwrap();
    assert!(run.interrupted);
    assert_eq!(run.benchmarks.len(), 16);
    // A benchmark that prints text divides its row.
    let text = DIVAN.replacen("├─ add          0.675", "├─ add          hello\n0.675", 1);
    let run = read_text(&text).unwrap();
    assert_eq!(run.benchmarks.len(), 17);
    assert_eq!(left_out(&run).len(), 2);
    let both = format!("BenchmarkX 10 5 ns/op\nPASS\n{DIVAN}");
    refused(&both, "has lines of Go's benchmarks and of divan's table");
}

/// This text is made by hand after divan's source.
#[test]
fn allocations_are_no_figures() {
    let text = "\
c        fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ grow  1 µs          │ 3 µs          │ 2 µs          │ 2 µs          │ 100     │ 100
         max alloc:    │               │               │               │         │
           2           │ 2             │ 2             │ 2             │         │
           64 B        │ 64 B          │ 64 B          │ 64 B          │         │
         alloc:        │               │               │               │         │
           2           │ 2             │ 2             │ 2             │         │
           64 B        │ 64 B          │ 64 B          │ 64 B          │         │

";
    has(text, &["c::grow: 2000 ns"], &[]);
}
