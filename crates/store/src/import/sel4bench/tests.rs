//! Tests of the reader of sel4bench's JSON.

use crate::import::cases::{has, left_out, read_text, refused};

const LIST: &str = include_str!("../samples/sel4bench.json");

const FIGURES: [&str; 5] = [
    "One way IPC microbenchmarks Function=seL4_Call Direction=client->server Client Prio=254 Server Prio=254 Same vspace?=false IPC length=0: 381 cycles",
    "One way IPC microbenchmarks Function=seL4_ReplyRecv Direction=server->client Client Prio=254 Server Prio=254 Same vspace?=false IPC length=0: 393 cycles",
    "Signal to high prio thread: 719.875 cycles",
    "Average events for signal Event=L1 i-cache misses: 0.5 ",
    "Average events for signal Event=Cycle counter: 720 cycles",
];

#[test]
fn figure_is_the_mean() {
    has(LIST, &FIGURES, &[]);
}

#[test]
fn list_is_found_in_a_log() {
    let log = format!(
        "seL4 Benchmark\r\n==============\n\nJSON OUTPUT\n{LIST}END JSON OUTPUT\nAll is well in the universe.\n"
    );
    has(&log, &FIGURES, &[]);
    let joined = log.replace("]\nEND", "]END");
    has(&joined, &FIGURES, &[]);
    refused(&log.replace("END JSON OUTPUT\n", ""), "ends before the line");
}

#[test]
fn iterations_are_launches() {
    let run = read_text(LIST).unwrap();
    let signal = &run.benchmarks[2];
    let launches: Vec<f64> = signal.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(launches, [718.25, 721.5]);
    assert_eq!(signal.confidence_interval, None);
    assert_eq!(
        run.benchmarks[0].confidence_interval, None,
        "an interval of a median is of no mean"
    );
    let whose = run.whose().unwrap();
    assert!(whose.contains("too few iterations for an interval"), "{whose}");
    let samples = &run.benchmarks[0].details.samples;
    assert_eq!(samples[..], [370.0, 375.0, 385.0, 390.0, 372.0, 377.0, 387.0, 392.0]);
}

#[test]
fn row_that_contradicts_its_raw_results_is_left_out() {
    let omitted = [
        "set 0, row 0: its raw results have the mean 380, and it says 381",
        "One way IPC microbenchmarks: a row stands in 1 of 2 iterations",
    ];
    has(&LIST.replace("\"Mean\": 380.0", "\"Mean\": 381.0"), &FIGURES[1..], &omitted);
}

#[test]
fn second_row_of_an_iteration_is_left_out() {
    let once = LIST.replace("\"Iteration\": 1", "\"Iteration\": 0");
    let run = read_text(&once).unwrap();
    assert_eq!(run.benchmarks[2].median, Some(718.25));
    assert_eq!(left_out(&run).len(), 5);
}
