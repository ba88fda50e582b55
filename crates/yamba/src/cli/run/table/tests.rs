//! Tests of tables with constructed entries.

use yamba_record::run::{Cycles, Throughput};
use yamba_record::{Benchmark, Evidence, Machine, Parameters, Run, Status};

use super::*;
use yamba_harness::not_started;

fn evidence(median: Option<f64>, min: Option<f64>, max: Option<f64>) -> Evidence {
    Evidence { median, min, max, ..Evidence::default() }
}

/// A valid latency from one launch.
fn entry() -> Benchmark {
    Benchmark {
        status: Status::Ok,
        valid: true,
        parameters: Parameters(vec![
            ("scale".to_owned(), 16.into()),
            ("read_ahead".to_owned(), false.into()),
        ]),
        swept: vec!["scale".to_owned()],
        unit: Some("ns".to_owned()),
        median: Some(31.0),
        confidence_interval: Some([27.0, 35.0]),
        interval_scope: Some(IntervalScope::WithinLaunches),
        cycles: Some(Cycles { median: 124.0, confidence_interval: [107.876, 140.124] }),
        evidence: [
            ("faults_per_access".to_owned(), evidence(Some(1.0), Some(1.0), Some(1.0))),
            ("pages_read".to_owned(), evidence(Some(13.0), Some(8.0), Some(18.0))),
        ]
        .into(),
        notes: vec!["not detected, assumed: cache_line = 64".into()],
        ..not_started("sample")
    }
}

/// The entry with an interval between launches.
fn between_launches() -> Benchmark {
    Benchmark { interval_scope: Some(IntervalScope::BetweenLaunches), ..entry() }
}

fn shown(benchmarks: &[Benchmark], style: &Style) -> String {
    let mut run = Run::new(Machine::default());
    run.benchmarks = benchmarks.to_vec();
    table(&run, style)
}

#[test]
fn entries_of_every_status() {
    let mut invalid = entry();
    invalid.status = Status::Invalid;
    invalid
        .evidence
        .insert("faults_per_access".to_owned(), evidence(Some(0.004), Some(0.004), Some(0.004)));
    invalid.notes.insert(
        0,
        "faults_per_access is 0.004 (median), expected [0.99, 1.01]; outside in 11 of 11 batches"
            .into(),
    );
    let mut crashed = entry();
    crashed.status = Status::Crashed;
    (crashed.median, crashed.confidence_interval) = (None, None);
    (crashed.cycles, crashed.interval_scope) = (None, None);
    for one in crashed.evidence.values_mut() {
        *one = evidence(None, None, None);
    }
    crashed.notes.insert(0, "sample was ended by SIGKILL (killed)".into());
    let mut skipped = not_started("lat_root");
    skipped.status = Status::Skipped;
    skipped.notes = vec!["needs root".into()];
    let all = [entry(), invalid, crashed, skipped];
    let expected = "\
ok       sample    scale=16  31 ns  [27, 35]  124 cycles
            faults_per_access=1 pages_read=13 (8 to 18)
            not detected, assumed: cache_line = 64
INVALID  sample    scale=16  31 ns  [27, 35]  124 cycles
            faults_per_access=0.004 pages_read=13 (8 to 18)
            faults_per_access is 0.004 (median), expected [0.99, 1.01]; outside in 11 of 11 batches
            not detected, assumed: cache_line = 64
CRASHED  sample    scale=16
            faults_per_access=none pages_read=none
            sample was ended by SIGKILL (killed)
            not detected, assumed: cache_line = 64
skipped  lat_root
            needs root
Intervals are within launches: they say nothing of the next run.
";
    let plain = Style { set_parameters: vec!["scale".to_owned()], ..Style::default() };
    assert_eq!(shown(&all, &plain), expected);
    let coloured = Style { colour: true, ..Style::default() };
    assert!(shown(&all, &coloured).contains("\x1b[1;31mINVALID\x1b[0m"));
}

#[test]
fn figure_is_below_name_on_a_narrow_terminal() {
    let at = |width| Style { width: Some(width), ..Style::default() };
    let text = shown(&[between_launches()], &at(54));
    let wide = "\
ok       sample  scale=16  31 ns  [27, 35]  124 cycles
";
    assert_eq!(text.lines().next(), wide.lines().next());
    let narrow = "\
ok       sample  scale=16
    31 ns  [27, 35]  124 cycles
    faults_per_access=1 pages_read=13 (8
      to 18)
    not detected, assumed: cache_line =
      64
";
    assert_eq!(shown(&[between_launches()], &at(40)), narrow);
}

#[test]
fn parameters_that_distinguish_points_are_shown() {
    let mut other = entry();
    other.parameters.0[0].1 = 32.into();
    let text = shown(&[entry(), other], &Style::default());
    assert!(text.contains("scale=16") && text.contains("scale=32"));
    assert!(!text.contains("read_ahead"), "{text}");
    // A single measured point of a sweep still shows its parameter.
    assert!(shown(&[entry()], &Style::default()).contains("scale=16"));
    let unswept = Benchmark { swept: Vec::new(), ..entry() };
    assert!(!shown(&[unswept], &Style::default()).contains("scale"));
}

#[test]
fn interval_within_launches_is_marked_beside_others() {
    let text = shown(&[entry(), between_launches()], &Style::default());
    assert!(text.contains("(within launches)\n"), "{text}");
    assert!(!text.contains("Intervals are within launches"), "{text}");
}

#[test]
fn interval_between_runs_is_explained_once() {
    let between_runs = Benchmark {
        interval_scope: Some(IntervalScope::BetweenRuns),
        launches_disagree: true,
        ..entry()
    };
    let text = shown(&[between_runs.clone(), between_runs], &Style::default());
    assert!(text.contains("(launches disagree)\n"), "{text}");
    assert_eq!(text.matches("in 90 % of cases.\n").count(), 1, "{text}");
    assert!(!text.contains("within launches"), "{text}");
    let text = shown(&[between_launches()], &Style::default());
    assert!(!text.contains("in 90 % of cases"), "{text}");
}

#[test]
fn disturbances_are_marked() {
    let discarded = Benchmark { discarded: 2, ..between_launches() };
    assert!(shown(std::slice::from_ref(&discarded), &Style::default()).contains("(2 discarded)"));
    let with_reasons = Benchmark {
        disturbed: [("fault".to_owned(), 1), ("switch".to_owned(), 2)].into(),
        ..discarded
    };
    let text = shown(&[with_reasons], &Style::default());
    assert!(text.contains("(2 discarded: 2 switch and 1 fault)"), "{text}");
    let disturbed = Benchmark { is_disturbed: true, ..between_launches() };
    let mark = |b: &Benchmark| shown(std::slice::from_ref(b), &Style::default());
    assert!(mark(&disturbed).contains("(disturbed)"));
    let mut contended = Benchmark {
        contended: Some(0.37),
        disturbed: [("neighbour".to_owned(), 40)].into(),
        ..disturbed
    };
    assert!(mark(&contended).contains("(disturbed, 37 % contended)"));
    contended.contended = Some(0.002);
    assert!(mark(&contended).contains("(disturbed)"));
}

#[test]
fn blocked_thread_has_an_empty_cycles_column() {
    let mut blocked = between_launches();
    blocked.cycles = None;
    blocked.notes.push(
        "no cycles: the thread was off the processor for 98 % of the time, and uses none there"
            .into(),
    );
    let text = shown(&[blocked], &Style::default());
    assert!(!text.contains("cycles"), "{text}");
    assert!(shown(&[between_launches()], &Style::default()).contains("124 cycles"));
    let mut unknown = between_launches();
    unknown.cycles = None;
    unknown.notes.push("cycles are unknown: two chains of instructions disagree".into());
    let text = shown(&[unknown], &Style::default());
    assert!(text.contains("  cycles unknown"), "{text}");
    assert!(!text.contains("disagree"), "{text}");
}

#[test]
fn scaling_curve_follows_its_entries() {
    let at = |processes: u64, median: f64, interval, cycles: f64, sum: f64| Benchmark {
        processes,
        median: Some(median),
        confidence_interval: Some(interval),
        cycles: Some(Cycles { median: cycles, confidence_interval: [cycles; 2] }),
        throughput: Some(Throughput { sum, unit: "operations/s".to_owned() }),
        evidence: Default::default(),
        ..between_launches()
    };
    let one = at(1, 31.0, [31.0; 2], 124.0, 1e9 / 31.0);
    let two = at(2, 30.5, [30.5; 2], 122.0, 1e9 / 31.0 + 1e9 / 29.0);
    assert_eq!(
        shown(&[one, two], &Style::default()),
        "\
ok       sample  P=1  scale=16  31 ns    [31, 31]      124 cycles
ok       sample  P=2  scale=16  30.5 ns  [30.5, 30.5]  122 cycles
            P=1  32.26 M operations/s  efficiency 1.00
            P=2  66.74 M operations/s  efficiency 1.03
All figures: not detected, assumed: cache_line = 64
"
    );
}

/// Shared notes are printed once: a benchmark's notes after its last entry, the run's notes at its
/// end.
#[test]
fn shared_notes_are_printed_once() {
    let noted = |name: &str, own: &str| Benchmark {
        name: name.to_owned(),
        evidence: Default::default(),
        notes: vec![own.into(), format!("of {name}").into(), "of the run".into()],
        ..between_launches()
    };
    let all = [noted("a", "first"), noted("a", "second"), noted("b", "third")];
    assert_eq!(
        shown(&all, &Style::default()),
        "\
ok       a  scale=16  31 ns  [27, 35]  124 cycles
            first
ok       a  scale=16  31 ns  [27, 35]  124 cycles
            second
            all of a: of a
ok       b  scale=16  31 ns  [27, 35]  124 cycles
            third
            of b
All figures: of the run
"
    );
}
