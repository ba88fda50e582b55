//! Replays recorded lines up to the finished entry: no clock, no process, exact numbers.

use yamba_record::event::{Code, Event};
use yamba_record::program::{Physical, Program as Description, Side};
use yamba_record::{Benchmark, Machine, Run, Status, Workers};

use std::collections::BTreeMap;

use super::assemble::{Recorded, skipped};
use super::contention::QuietWidth;
use super::crash::Listing;
use super::launch_status::{LaunchStatus, launch_status};
use super::process_output::{ProcessExit, ProcessOutput};
use super::reader::Reader;
use super::summary::{Protocol, summarise};
use super::validity;
use std::time::Duration;

const PROGRAM: &str = include_str!("../../../tests/records/program.json");
const VALID: &str = include_str!("../../../tests/records/valid.jsonl");

pub(super) fn program() -> Description {
    serde_json::from_str(PROGRAM).unwrap()
}

pub(super) fn output(lines: &str, exit: ProcessExit) -> ProcessOutput {
    let mut reader = Reader::default();
    reader.push(lines.as_bytes());
    let (events, garbled) = reader.finish();
    ProcessOutput {
        events,
        garbled,
        messages: String::new(),
        orphans: Vec::new(),
        exit,
        batches_took: Duration::ZERO,
    }
}

fn no_listing(_: &Code, _: u64) -> Option<String> {
    None
}

fn replay(program: &Description, lines: &str, exit: ProcessExit) -> Benchmark {
    replay_all(program, 1, &[output(lines, exit)])
}

pub(super) fn replay_all(
    program: &Description,
    processes: u64,
    launches: &[ProcessOutput],
) -> Benchmark {
    replay_listed(program, processes, launches, &no_listing)
}

pub(super) fn replay_workers(
    program: &Description,
    workers: Workers,
    launches: &[ProcessOutput],
) -> Benchmark {
    replay_beside(program, workers, launches, &no_listing, &BTreeMap::new())
}

fn replay_listed(
    program: &Description,
    processes: u64,
    launches: &[ProcessOutput],
    listing: &Listing<'_>,
) -> Benchmark {
    let workers = Workers::processes(processes);
    replay_beside(program, workers, launches, listing, &BTreeMap::new())
}

/// `quiet` has the quiet width of each processor.
fn replay_beside(
    program: &Description,
    workers: Workers,
    launches: &[ProcessOutput],
    listing: &Listing<'_>,
    quiet: &BTreeMap<u64, QuietWidth>,
) -> Benchmark {
    let planned = Protocol {
        launches: launches.len() as u64,
        percentiles: false,
        is_emulated: false,
        cpu_quota: None,
        quiet,
    };
    let mut recorded = Recorded::new(program, workers);
    let append = |launch| recorded.append(program, launch);
    let records: Vec<_> = launches.iter().map(append).collect();
    let ends = launches.iter().map(|o| launch_status(&program.class, o, listing));
    let ends: Vec<LaunchStatus> = ends.collect();
    summarise(program, planned, &recorded, records, &ends)
}

/// The saved record, with `change` applied to each batch.
pub(super) fn changed(change: impl Fn(usize, &mut yamba_record::Batch)) -> String {
    changed_raw(|raw| change(raw.index as usize, &mut raw.batch))
}

fn changed_raw(change: impl Fn(&mut yamba_record::event::RawBatch)) -> String {
    let mut lines = String::new();
    for line in VALID.lines() {
        let mut event: Event = serde_json::from_str(line).unwrap();
        if let Event::Batch(raw) = &mut event {
            change(raw);
        }
        lines += &serde_json::to_string(&event).unwrap();
        lines.push('\n');
    }
    lines
}

/// The saved record with this probe before each batch, on processor 3.
pub(super) fn probed(probe: Option<f64>) -> String {
    let lines = changed(|_, batch| batch.probes.before = probe);
    let (begin, rest) = lines.split_once('\n').unwrap();
    let mut begin: serde_json::Value = serde_json::from_str(begin).unwrap();
    begin["placement"] = serde_json::json!({"kind": "pinned", "cpu": 3});
    format!("{begin}\n{rest}")
}

pub(super) fn until(event: &str) -> String {
    VALID.split(event).next().unwrap().rsplit_once('\n').unwrap().0.to_owned() + "\n"
}

fn valid() -> Benchmark {
    replay(&program(), VALID, ProcessExit::Exit(0))
}

#[test]
fn valid_record_gives_figure() {
    let b = valid();
    assert_eq!((b.status, b.valid), (Status::Ok, true));
    assert_eq!(
        b.details.samples,
        [31.0, 29.0, 30.0, 35.0, 28.0, 33.0, 32.0, 27.0, 34.0, 26.0, 36.0]
    );
    assert_eq!(b.median, Some(31.0));
    assert_eq!(b.confidence_interval, Some([27.0, 35.0]));
    assert_eq!(b.details.operations, Some(10.0));
    assert_eq!(b.environment.cycle_ns, [Some(0.25)]);
    let cycles = b.details.cycles.expect("the length of a cycle is known");
    // [27, 35] ns, plus a thousandth of the median for the error of the cycle length.
    assert_eq!((cycles.median, cycles.confidence_interval), (124.0, [107.876, 140.124]));
    let faults = &b.details.evidence["faults_per_access"];
    assert_eq!((faults.median, faults.min, faults.max), (Some(1.0), Some(1.0), Some(1.0)));
    assert_eq!(faults.expects, Some([Some(0.99), Some(1.01)]));
    let pages = &b.details.evidence["pages_read"];
    assert_eq!(
        (pages.median, pages.min, pages.max, pages.expects),
        (Some(13.0), Some(8.0), Some(18.0), None)
    );
    assert_eq!(b.notes, ["not detected, assumed: cache_line = 64"]);
    assert_eq!(
        (b.records.batches().len(), b.records.unpack().sizing.len(), b.declaration.charts.len()),
        (11, 6, 1)
    );
}

/// The documented fields of a run, by their JSON names.
#[test]
fn the_document_of_a_run() {
    let mut run = Run::new(Machine::default());
    run.benchmarks = vec![valid(), skipped("absent", "needs root")];
    assert!(!run.failed());
    let json: serde_json::Value = serde_json::to_value(&run).unwrap();
    assert_eq!(json["schema"], "yamba-run/1");
    let first = &json["benchmarks"][0];
    for (field, value) in [
        ("name", serde_json::json!("sample")),
        ("class", serde_json::json!("sample")),
        ("ports", serde_json::json!(["sample_x86_64", "sample_linux"])),
        ("parameters", serde_json::json!({"scale": 16, "read_ahead": false})),
        ("processes", serde_json::json!(1)),
        ("status", serde_json::json!("ok")),
        ("valid", serde_json::json!(true)),
        ("unit", serde_json::json!("ns")),
        ("operations", serde_json::json!(10.0)),
        ("median", serde_json::json!(31.0)),
        ("confidence_interval", serde_json::json!([27.0, 35.0])),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(first["evidence"]["faults_per_access"]["expects"], serde_json::json!([0.99, 1.01]));
    let second = &json["benchmarks"][1];
    assert_eq!((&second["status"], &second["valid"]), (&"skipped".into(), &false.into()));
    assert!(second["median"].is_null() && second["confidence_interval"].is_null());
    assert_eq!(second["samples"], serde_json::json!([]));
    assert_eq!(second["notes"], serde_json::json!(["needs root"]));
    let again: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(again, run);
}

#[test]
fn few_samples_outside_bounds_are_recorded_but_excluded() {
    let lines = changed(|i, raw| {
        if i < 3 {
            let evidence = if i == 0 { None } else { Some(0.5) };
            raw.evidence.insert("faults_per_access".to_owned(), evidence);
        }
    });
    let b = replay(&program(), &lines, ProcessExit::Exit(0));
    assert_eq!(b.status, Status::Ok);
    assert_eq!(b.details.samples.len(), 8);
    assert_eq!(b.median, Some(32.5));
    assert_eq!(b.confidence_interval, Some([26.0, 36.0]));
    assert_eq!(b.records.batches().len(), 11);
    assert_eq!(b.records.batches().first().unwrap().outside, ["faults_per_access"]);
    assert_eq!(b.details.evidence["faults_per_access"].outside, 3);
    assert_eq!(
        b.notes[0],
        "3 of 11 samples left out: faults_per_access is 1 (median), expected [0.99, 1.01]; outside in 3 of 11 batches"
    );
}

/// Half of an even number of samples is not enough.
#[test]
fn figure_with_half_of_samples_outside_is_invalid() {
    let lines = changed(|i, raw| {
        if i < 6 {
            raw.evidence.insert("faults_per_access".to_owned(), Some(0.004));
        }
    });
    let b = replay(&program(), &lines, ProcessExit::Exit(0));
    assert_eq!((b.status, b.valid), (Status::Invalid, false));
    assert_eq!(b.median, Some(31.0), "an invalid figure keeps its median");
    assert_eq!(b.details.samples.len(), 11);
    assert_eq!(
        b.notes[0],
        "faults_per_access is 0.004 (median), expected [0.99, 1.01]; outside in 6 of 11 batches"
    );
}

#[test]
fn benchmark_as_fast_as_its_dummy_is_invalid() {
    let lines = changed(|i, raw| raw.ns = 1000.0 + i as f64 - 5.0);
    let b = replay(&program(), &lines, ProcessExit::Exit(0));
    assert_eq!(b.status, Status::Invalid);
    assert!(
        b.notes[0].to_string().starts_with("nothing measurable: benchmark and dummy"),
        "{:?}",
        b.notes
    );
    let never = changed(|_, raw| raw.ns = 0.0);
    assert_eq!(replay(&program(), &never, ProcessExit::Exit(0)).status, Status::Invalid);
}

#[test]
fn batches_without_operations_are_invalid_for_that_reason() {
    let empty = changed(|_, raw| raw.operations = 0);
    let b = replay(&program(), &empty, ProcessExit::Exit(0));
    assert_eq!(b.status, Status::Invalid);
    assert!(b.notes.iter().any(|n| *n == "nothing measurable: operations() is 0"), "{:?}", b.notes);
}

/// A difference of one clock step says nothing about the time, however many operations share it.
#[test]
fn time_below_clock_resolution_is_invalid() {
    let close = changed(|_, raw| raw.ns = raw.dummy_ns + 15.0);
    let b = replay(&program(), &close, ProcessExit::Exit(0));
    assert_eq!(b.status, Status::Invalid);
    assert_eq!(
        b.notes[0],
        "nothing measurable: a batch takes 15 ns longer than its dummy, and the clock steps by 20 ns"
    );
}

#[test]
fn time_that_does_not_grow_with_passes_is_invalid() {
    let lines = VALID.replace("\"passes\": 20, \"ns\": 8", "\"passes\": 20, \"ns\": 4");
    let b = replay(&program(), &lines, ProcessExit::Exit(0));
    assert_eq!(b.status, Status::Invalid);
    assert_eq!(b.notes[0], "nothing measurable: twice the passes do not take longer");
    // A benchmark with hooks has no growth check.
    let without: String =
        VALID.lines().filter(|l| !l.contains("growth")).map(|l| format!("{l}\n")).collect();
    assert_eq!(replay(&program(), &without, ProcessExit::Exit(0)).status, Status::Ok);
}

#[test]
fn physics() {
    let mut program = program();
    let mut with = |kind, value, unit: &str| {
        program.bounds = vec![Physical { kind, value, unit: unit.to_owned() }];
        replay(&program, VALID, ProcessExit::Exit(0))
    };
    // The interval is [27, 35] ns: at 0.25 ns per cycle, 108 to 140 cycles.
    assert!(with(Side::AtLeast, 141.0, "cycles").valid);
    let broken = with(Side::AtLeast, 142.0, "cycles");
    assert_eq!(broken.status, Status::Invalid);
    assert_eq!(broken.notes[0], "impossible: 107.9 to 140.1 cycles is less than 142 cycles");
    assert!(with(Side::AtMost, 107.0, "cycle").valid);
    assert_eq!(with(Side::AtMost, 106.0, "cycle").status, Status::Invalid);
    assert!(with(Side::AtLeast, 35.3, "ns").valid, "one per cent is forgiven");
    assert_eq!(with(Side::AtLeast, 0.036, "us").status, Status::Invalid);
    assert_eq!(with(Side::AtMost, 26.0, "").status, Status::Invalid);
}

#[test]
fn physics_of_a_figure_that_is_no_time() {
    let broken = |unit: &str, value: f64, bound: &str| {
        let bound = Physical { kind: Side::AtMost, value, unit: bound.to_owned() };
        validity::breaks(&bound, unit, [5000.0, 6000.0], [0.0, 0.1], None)
    };
    assert_eq!(
        broken("MB/s", 1.0, "GB/s").as_deref(),
        Some("impossible: 5 to 6 GB/s is more than 1 GB/s")
    );
    assert_eq!(broken("MB/s", 6.0, "GB/s"), None);
    assert!(broken("MHz", 4.0, "GHz").is_some());
    // A figure in nanoseconds is a quantity here, not the time of the call that reads it.
    assert!(broken("ns", 1.0, "us").is_some());
}

#[test]
fn bound_in_cycles_is_not_judged_without_cycle_length() {
    let lines = changed(|_, raw| raw.cycle_ns = None);
    let b = replay(&program(), &lines, ProcessExit::Exit(0));
    assert_eq!((b.status, b.details.cycles), (Status::Ok, None));
}

#[test]
fn bandwidths_and_values() {
    let mut program = program();
    (program.figure, program.unit) = (Some("bandwidth".to_owned()), Some("MB/s".to_owned()));
    let lines = changed(|i, raw| {
        (raw.ns, raw.dummy_ns, raw.operations) = (10_100.0 + i as f64, 100.0 + i as f64, 100_000);
    });
    let b = replay(&program, &lines, ProcessExit::Exit(0));
    // 0.1 ns per byte is less than a cycle of 0.25 ns.
    assert_eq!((b.status, b.median, b.details.cycles), (Status::Invalid, Some(10_000.0), None));
    program.bounds.clear();
    assert!(replay(&program, &lines, ProcessExit::Exit(0)).valid);

    (program.figure, program.unit) = (Some("value".to_owned()), Some("MHz".to_owned()));
    let lines = changed_raw(|raw| {
        raw.value = Some(3000.0 + raw.index as f64);
        (raw.batch.ns, raw.batch.dummy_ns) = (20.0, 0.0);
    });
    let b = replay(&program, &lines, ProcessExit::Exit(0));
    assert_eq!(
        (b.status, b.median, b.confidence_interval),
        (Status::Ok, Some(3005.0), Some([3001.0, 3009.0]))
    );
}

#[test]
fn crash_note_shows_surrounding_code() {
    let crash = r#"{"event":"crash","signal":"SIGILL","number":4,"pc":4098,"address":4098,"code":{"member":"sample.touch_all","base":4096,"bytes":"90900f0b","isa":"x86_64","parts":[{"name":"sample.touch_all","start":0,"end":32,"depth":0},{"name":"sample_x86_64.touch(1)","start":16,"end":32,"depth":1}]}}"#;
    let lines = until("\"index\": 4,") + crash + "\n";
    let listing = |code: &Code, pc: u64| Some(format!("{}: {} at {pc}", code.isa, code.bytes));
    let launches = [output(&lines, ProcessExit::Signal(4))];
    let b = replay_listed(&program(), 1, &launches, &listing);
    assert_eq!(
        (b.status, b.valid, b.median, b.confidence_interval),
        (Status::Crashed, false, None, None)
    );
    assert!(b.details.samples.is_empty());
    assert_eq!(b.records.batches().len(), 4, "what was measured is kept");
    assert_eq!(
        b.notes[0],
        "sample was ended by SIGILL (illegal instruction) in composed code of sample.touch_all, in sample_x86_64.touch(1), at 0x1002"
    );
    assert_eq!(b.notes[1], "x86_64: 90900f0b at 4098");
    assert_eq!(b.notes[2], "4 batches were measured before; they are kept in `batches`");
}

#[test]
fn one_reason_of_several_processes_is_one_note() {
    let error = "{\"event\":\"error\",\"text\":\"fork failed\"}\n";
    let lines = until("\"index\": 4,") + &error.repeat(3);
    let b = replay(&program(), &lines, ProcessExit::Exit(1));
    let notes = b.notes.iter().map(ToString::to_string);
    let reasons: Vec<String> = notes.filter(|note| note.contains("fork failed")).collect();
    assert_eq!(reasons, ["the benchmark: fork failed"]);
}

#[test]
fn each_process_exit_has_its_note() {
    let words = |exit| replay(&program(), &until("\"index\": 0,"), exit);
    for (exit, status, note) in [
        (ProcessExit::Signal(9), Status::Crashed, "sample was ended by SIGKILL (killed)"),
        (ProcessExit::Exit(0), Status::Crashed, "sample ended without finishing its measurement"),
        (ProcessExit::Exit(7), Status::Crashed, "sample ended with status 7"),
        (
            ProcessExit::Hung(Duration::from_secs(60)),
            Status::Crashed,
            "sample said nothing for 60 s and was ended; --timeout gives it longer",
        ),
        (ProcessExit::Stopped, Status::Skipped, "sample was stopped"),
        (
            ProcessExit::OutOfTime,
            Status::Skipped,
            "sample was ended, since the time of the run was over: `yamba run` gives it longer",
        ),
    ] {
        let b = words(exit);
        assert_eq!((b.status, b.notes[0].to_string().as_str()), (status, note));
        assert_eq!(b.median, None);
    }
    let error = until("\"index\": 2,")
        + r#"{"event":"error","text":"open(\"/x\") failed: No such file or directory (errno 2)","class":"sample_linux","file":"sample.yamba","line":7}"#
        + "\n";
    let b = replay(&program(), &error, ProcessExit::Exit(3));
    assert_eq!(
        b.notes[0],
        "sample_linux: open(\"/x\") failed: No such file or directory (errno 2) (sample.yamba:7)"
    );
    assert_eq!((b.status, b.records.batches().len()), (Status::Crashed, 2));
}

/// A record cut at any place still gives an entry, and an incomplete launch gives no figure.
#[test]
fn record_truncated_anywhere_gives_an_entry() {
    for cut in 0..VALID.len() {
        let b = replay(&program(), &VALID[..cut], ProcessExit::Signal(9));
        assert_eq!((b.status, b.median), (Status::Crashed, None), "cut at {cut}");
        serde_json::to_string(&b).unwrap();
    }
}

/// Neighbours are unknown if probes have no level. Without probes, and if batches beside neighbours
/// count, nothing is said.
#[test]
fn probes_without_level_get_a_note() {
    let entry = |probe: Option<f64>, quiet: &[(u64, QuietWidth)]| {
        let launches = [output(&probed(probe), ProcessExit::Exit(0))];
        let quiet = quiet.iter().copied().collect();
        replay_beside(&program(), Workers::ONE, &launches, &no_listing, &quiet)
    };
    let is_said =
        |b: Benchmark| b.notes.iter().any(|n| n.to_string().contains("it is not known whether"));
    let unknown = [(3, QuietWidth::Unknown)];
    assert!(is_said(entry(Some(1700.0), &unknown)));
    assert!(!is_said(entry(None, &unknown)));
    assert!(!is_said(entry(Some(1700.0), &[])));
    assert!(!is_said(entry(Some(1700.0), &[(3, QuietWidth::Known(1700.0))])));
}

/// A partner on the other hardware thread of the same core lengthens all probes, and is part of the
/// benchmark.
#[test]
fn partner_on_same_core_is_no_neighbour() {
    let lines = probed(Some(3000.0));
    let contended = |lines: &str| {
        let launches = [output(lines, ProcessExit::Exit(0))];
        let quiet = BTreeMap::from([(3, QuietWidth::Known(1700.0))]);
        let b = replay_beside(&program(), Workers::ONE, &launches, &no_listing, &quiet);
        (
            b.interference.contended,
            b.interference.is_disturbed,
            b.interference.disturbed.get("neighbour").copied(),
            b.notes.len(),
        )
    };
    let (begin, rest) = lines.split_once('\n').unwrap();
    let beside = format!("{begin}\n{{\"event\":\"partner\",\"cpu\":1}}\n{rest}");
    let marked = contended(&lines);
    assert_eq!((marked.0, marked.1, marked.2), (Some(1.0), true, Some(11)));
    let partner = contended(&beside);
    assert_eq!((partner.0, partner.1, partner.2), (None, false, None));
    assert!(partner.3 < marked.3);
}
