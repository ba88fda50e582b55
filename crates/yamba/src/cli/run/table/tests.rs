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
    let mut entry = Benchmark {
        status: Status::Ok,
        valid: true,
        parameters: Parameters(vec![
            ("scale".to_owned(), 16.into()),
            ("read_ahead".to_owned(), false.into()),
        ]),
        unit: Some("ns".to_owned()),
        median: Some(31.0),
        confidence_interval: Some([27.0, 35.0]),
        interval_scope: Some(IntervalScope::WithinLaunches),
        notes: vec!["not detected, assumed: cache_line = 64".into()],
        ..not_started("sample")
    };
    entry.declaration.swept = vec!["scale".to_owned()];
    let cycles = Cycles { median: 124.0, confidence_interval: [107.876, 140.124] };
    entry.details.cycles = Some(cycles);
    entry.details.evidence = [
        ("faults_per_access".to_owned(), evidence(Some(1.0), Some(1.0), Some(1.0))),
        ("pages_read".to_owned(), evidence(Some(13.0), Some(8.0), Some(18.0))),
    ]
    .into();
    entry
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
        .details
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
    (crashed.details.cycles, crashed.interval_scope) = (None, None);
    for one in crashed.details.evidence.values_mut() {
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
    let mut unswept = entry();
    unswept.declaration.swept.clear();
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
    let mut between_runs = entry();
    between_runs.interval_scope = Some(IntervalScope::BetweenRuns);
    between_runs.interference.launches_disagree = true;
    let text = shown(&[between_runs.clone(), between_runs], &Style::default());
    assert!(text.contains("(launches disagree)\n"), "{text}");
    assert_eq!(text.matches("in 90 % of cases.\n").count(), 1, "{text}");
    assert!(!text.contains("within launches"), "{text}");
    let text = shown(&[between_launches()], &Style::default());
    assert!(!text.contains("in 90 % of cases"), "{text}");
}

#[test]
fn disturbances_are_marked() {
    let mut discarded = between_launches();
    discarded.interference.discarded = 2;
    assert!(shown(std::slice::from_ref(&discarded), &Style::default()).contains("(2 discarded)"));
    let mut with_reasons = discarded;
    with_reasons.interference.disturbed =
        [("fault".to_owned(), 1), ("switch".to_owned(), 2)].into();
    let text = shown(&[with_reasons], &Style::default());
    assert!(text.contains("(2 discarded: 2 switch and 1 fault)"), "{text}");
    let mut disturbed = between_launches();
    disturbed.interference.is_disturbed = true;
    let mark = |b: &Benchmark| shown(std::slice::from_ref(b), &Style::default());
    assert!(mark(&disturbed).contains("(disturbed)"));
    let mut contended = disturbed;
    contended.interference.contended = Some(0.37);
    contended.interference.disturbed = [("neighbour".to_owned(), 40)].into();
    assert!(mark(&contended).contains("(disturbed, 37 % contended)"));
    contended.interference.contended = Some(0.002);
    assert!(mark(&contended).contains("(disturbed)"));
}

#[test]
fn blocked_thread_has_an_empty_cycles_column() {
    let mut blocked = between_launches();
    blocked.details.cycles = None;
    blocked.notes.push(
        "no cycles: the thread was off the processor for 98 % of the time, and uses none there"
            .into(),
    );
    let text = shown(&[blocked], &Style::default());
    assert!(!text.contains("cycles"), "{text}");
    assert!(shown(&[between_launches()], &Style::default()).contains("124 cycles"));
    let mut unknown = between_launches();
    unknown.details.cycles = None;
    unknown.notes.push("cycles are unknown: two chains of instructions disagree".into());
    let text = shown(&[unknown], &Style::default());
    assert!(text.contains("  cycles unknown"), "{text}");
    assert!(!text.contains("disagree"), "{text}");
}

#[test]
fn scaling_curve_follows_its_entries() {
    let at = |processes: u64, median: f64, interval, cycles: f64, sum: f64| {
        let mut entry = Benchmark {
            median: Some(median),
            confidence_interval: Some(interval),
            ..between_launches()
        };
        entry.details.evidence.clear();
        entry.environment.processes = processes;
        entry.details.cycles = Some(Cycles { median: cycles, confidence_interval: [cycles; 2] });
        entry.details.throughput = Some(Throughput { sum, unit: "operations/s".to_owned() });
        entry
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
    let noted = |name: &str, own: &str| {
        let mut entry = between_launches();
        entry.name = name.to_owned();
        entry.details.evidence.clear();
        entry.notes = vec![own.into(), format!("of {name}").into(), "of the run".into()];
        entry
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

/// Few runs of a command, or another program's results, have a figure without an interval.
#[test]
fn figure_without_interval_is_shown() {
    let without = Benchmark { confidence_interval: None, interval_scope: None, ..entry() };
    let text = shown(&[without], &Style::default());
    assert!(text.starts_with("ok       sample  scale=16  31 ns  no interval  "), "{text}");
}
