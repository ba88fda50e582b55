//! From a study file and a run to verdicts and documents, without measuring.

use std::collections::BTreeMap;

use serde_json::json;
use yamba_record::run::{Cycles, IntervalScope, Launch};
use yamba_record::{Benchmark, Evidence, Machine, Parameters, Run, Status};

use yamba::views::study::{Extent, view};
use yamba_report::markdown;
use yamba_session::study::{Answer, Figure, PredictionVerdict, Range, Study, read, rows, verdict};

const STUDY: &str = r#"
title = "A <machine> & its | cost"
text = """
What *one* thing costs.
"""

[[measurement]]
id = "call"
category = "CPU"
label = "Null call"
benchmark = "lat_null"
unit = "ns"
base = "no figure"
overhead = "the kernel"
predicted = "100..200 ns"
reason = "some hundred cycles"

[[measurement]]
category = "CPU"
label = "Read_time"
benchmark = "lat_read"
parameters = { size = ["4K", 8192], mode = "x" }
predicted = "..40 cycles"
reason = "it is short"

[[measurement]]
category = "Files"
label = "Twice a call"
benchmark = "lat_open"
predicted = "1.5..3 times"
of = "call"
reason = "two calls"

[[measurement]]
category = "Files"
label = "A wrong one"
benchmark = "lat_wrong"
predicted = "invalid"
reason = "nothing is read"

[[measurement]]
category = "Files"
label = "Faults"
benchmark = "lat_wrong"
evidence = "faults"
predicted = "..0.01 faults per access"
reason = "nothing is read"

[[measurement]]
category = "Files"
label = "Nobody's"
benchmark = "lat_nobody"
"#;

fn entry(name: &str, median: f64, interval: [f64; 2]) -> Benchmark {
    let mut entry = yamba_harness::not_started(name);
    entry.status = Status::Ok;
    entry.valid = true;
    entry.notes = Vec::new();
    entry.unit = Some("ns".to_owned());
    entry.median = Some(median);
    entry.confidence_interval = Some(interval);
    entry
}

fn run() -> Run {
    let mut read = entry("lat_read", 10.0, [9.5, 10.5]);
    read.parameters =
        Parameters(vec![("size".to_owned(), json!(4096)), ("mode".to_owned(), json!("x"))]);
    read.details.cycles = Some(Cycles { median: 30.0, confidence_interval: [28.0, 44.0] });
    let mut larger = read.clone();
    larger.parameters.0[0].1 = json!(8192);
    larger.details.cycles = None;
    let mut other = read.clone();
    other.parameters.0[1].1 = json!("y");
    let mut wrong = entry("lat_wrong", 2.0, [1.0, 3.0]);
    wrong.status = Status::Invalid;
    wrong.notes = vec!["faults is 0, but should be 1".into()];
    wrong.details.evidence = BTreeMap::from([(
        "faults".to_owned(),
        Evidence {
            median: Some(0.0),
            min: Some(0.0),
            max: Some(0.002),
            expects: Some([Some(0.99), Some(1.01)]),
            outside: 60,
        },
    )]);
    let mut open = entry("lat_open", 600.0, [560.0, 640.0]);
    open.interval_scope = Some(IntervalScope::WithinLaunches);
    let mut run = Run::new(Machine::default());
    run.machine.cpu = Some("A <cpu>".to_owned());
    run.machine.cpus = 2;
    run.machine.system = "linux".to_owned();
    run.machine.kernel = "6.1".to_owned();
    run.id = "00112233".to_owned();
    run.started_unix_s = Some(1.7e9);
    run.benchmarks =
        vec![entry("lat_null", 150.0, [140.0, 160.0]), read, larger, other, open, wrong];
    run
}

#[test]
fn verdicts_follow_from_intervals() {
    let study = read(STUDY).unwrap();
    let run = run();
    let rows = rows(&study, &run, &[]);
    let verdicts: Vec<Option<PredictionVerdict>> = rows.iter().map(|r| r.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Some(PredictionVerdict::Within),
            // 28 to 44 straddles 40.
            Some(PredictionVerdict::Unknown),
            // The cycles are unknown.
            Some(PredictionVerdict::Unknown),
            // At least 560 / 160 = 3.5 times.
            Some(PredictionVerdict::Above),
            Some(PredictionVerdict::Within),
            Some(PredictionVerdict::Within),
            None,
        ]
    );
    assert_eq!(rows[1].point, "size=4096");
    assert_eq!(rows[2].notes, ["it is not known in cycles, but in ns"]);
    assert_eq!(rows[6].notes, ["the run did not measure it"]);
    assert!(rows.iter().all(|r| r.is_failure() == r.status.is_none()), "only what the run lacks");
}

#[test]
fn invalid_figure_has_no_verdict() {
    let study = read(STUDY).unwrap();
    let mut run = run();
    for status in [Status::Invalid, Status::Crashed, Status::Skipped] {
        run.benchmarks[0].status = status;
        run.benchmarks[0].notes = vec!["for a reason".into()];
        let rows = rows(&study, &run, &[]);
        assert_eq!(rows[0].verdict, None);
        assert_eq!(rows[0].notes, ["for a reason"]);
        assert_eq!(rows[0].is_failure(), status != Status::Skipped);
        // A multiple of an invalid figure is unknown.
        assert_eq!(rows[3].verdict, Some(PredictionVerdict::Unknown));
        assert_eq!(rows[3].multiple, None);
    }
    run.benchmarks[0].status = Status::Ok;
    run.benchmarks[0].interference.is_disturbed = true;
    assert_eq!(rows(&study, &run, &[])[0].verdict, Some(PredictionVerdict::Unknown));
    run.benchmarks[5].status = Status::Ok;
    let valid = &rows(&study, &run, &[])[4];
    assert_eq!(valid.verdict, Some(PredictionVerdict::Valid));
}

/// A neighbour on the same core made the call up to 1.5 times as long as without it.
#[test]
fn disturbed_figure_is_judged_by_the_interval_that_bounds_it() {
    let study = read(STUDY).unwrap();
    let verdicts = |seen: f64, is_bounded: bool| {
        let mut run = run();
        let mut call = entry("lat_null", seen, [seen / 1.5, seen]);
        call.interference.is_disturbed = true;
        call.interference.is_bounded = is_bounded;
        run.benchmarks[0] = call;
        let rows = rows(&study, &run, &[]);
        (rows[0].verdict.unwrap(), rows[3].verdict.unwrap(), rows[0].notes.clone())
    };
    use PredictionVerdict::{Above, Below, Unknown, Within};
    // The call should take 100 to 200 ns, and `lat_open`, which takes 560 to 640 ns, 1.5 to 3 times
    // as long.
    let bounded = "disturbed: its interval also holds the value of a quiet machine";
    for (seen, of_call, of_open) in [
        (170.0, Within, Above),
        (140.0, Unknown, Above),
        (290.0, Unknown, Unknown),
        (315.0, Above, Unknown),
        (90.0, Below, Above),
    ] {
        assert_eq!(verdicts(seen, true), (of_call, of_open, vec![bounded.to_owned()]));
    }
    let (of_call, of_open, notes) = verdicts(170.0, false);
    assert_eq!((of_call, of_open), (Unknown, Unknown));
    assert!(notes[0].contains("it proves nothing"), "{notes:?}");
}

#[test]
fn entry_skipped_before_its_parameters_is_matched() {
    let study = read(STUDY).unwrap();
    let mut run = run();
    run.benchmarks = vec![yamba_harness::not_started("lat_read")];
    let rows = rows(&study, &run, &[]);
    assert_eq!(rows[1].entry().map(|e| e.status), Some(Status::NotStarted));
}

#[test]
fn row_shows_parameters_set_for_the_run() {
    let study = read(STUDY).unwrap();
    let mut run = run();
    run.benchmarks[0].parameters = Parameters(vec![("far".to_owned(), json!(true))]);
    assert_eq!(rows(&study, &run, &["far".to_owned()])[0].point, "far=true");
    assert_eq!(rows(&study, &run, &[])[0].point, "");
}

#[test]
fn interval_end_at_range_end_is_judged() {
    let range = |text: &str| Range::parse(text).unwrap();
    for (text, interval, verdict) in [
        ("1..2 ns", [1.0, 2.0], PredictionVerdict::Within),
        ("1..2 ns", [0.9, 2.0], PredictionVerdict::Unknown),
        ("1..2 ns", [0.9, 2.1], PredictionVerdict::Unknown),
        ("1..2 ns", [0.5, 0.9], PredictionVerdict::Below),
        ("1..2 ns", [0.5, 1.0], PredictionVerdict::Unknown),
        ("1..2 ns", [2.1, 3.0], PredictionVerdict::Above),
        ("..2 ns", [-1e300, 2.0], PredictionVerdict::Within),
        ("2.. ns", [2.0, 1e300], PredictionVerdict::Within),
        ("2.. ns", [1.0, 1.5], PredictionVerdict::Below),
        ("2.. ns", [f64::NAN, 3.0], PredictionVerdict::Unknown),
    ] {
        assert_eq!(verdict::judge(&range(text), interval), verdict, "{text} {interval:?}");
    }
    assert_eq!(verdict::quotient([4.0, 6.0], [2.0, 3.0]), Some([4.0 / 3.0, 3.0]));
    assert_eq!(verdict::quotient([-2.0, 6.0], [2.0, 3.0]), Some([-1.0, 3.0]));
    assert_eq!(verdict::quotient([4.0, 6.0], [0.0, 3.0]), None);
}

#[test]
fn figures_are_sorted_in_one_unit() {
    let of = |median, unit: &str| {
        let figure = Figure {
            median,
            confidence_interval: None,
            interval_scope: None,
            unit: unit.to_owned(),
        };
        figure.sortable()
    };
    assert_eq!(of(2.0, "ms"), (2e6, "ns".to_owned()));
    assert_eq!(of(3.0, "KiB"), (3072.0, "B".to_owned()));
    assert_eq!(of(1.5, "GB/s"), (1.5e9, "B/s".to_owned()));
    assert_eq!(of(5.0, "pages"), (5.0, "pages".to_owned()));
}

#[test]
fn ranges_are_read() {
    let range = |low, high, unit: &str| Range { low, high, unit: unit.to_owned() };
    for (text, expected) in [
        ("20..100 cycles", range(Some(20.0), Some(100.0), "cycles")),
        ("1_000 .. 2e3 ns", range(Some(1000.0), Some(2000.0), "ns")),
        ("..0.5 ms", range(None, Some(0.5), "ms")),
        ("2.5.. GB/s", range(Some(2.5), None, "GB/s")),
        ("1..1 at once", range(Some(1.0), Some(1.0), "at once")),
    ] {
        assert_eq!(Range::parse(text), Ok(expected), "{text}");
    }
    for wrong in
        ["", "5 ns", "..", ".. ns", "2..1 ns", "a..b ns", "1..1e999 ns", "1...5 ns", "1..5ns"]
    {
        assert!(Range::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn study_errors_have_place_and_help() {
    let with = |from: &str, to: &str| read(&STUDY.replacen(from, to, 1)).unwrap_err();
    for (from, to, line, message, help) in [
        ("category = \"CPU\"", "catgory = \"CPU\"", 9, "unknown key `catgory`", "`category`"),
        ("title = ", "titel = ", 2, "unknown key `titel`", "`title`"),
        ("title = \"A <machine> & its | cost\"", "", 1, "`title` is missing", "title ="),
        ("benchmark = \"lat_null\"", "", 7, "`benchmark` is missing", "benchmark ="),
        ("100..200 ns", "200..100 ns", 15, "begins above its end", "smaller"),
        ("100..200 ns", "150 ns", 15, "`150 ns` is no range", "20..100 cycles"),
        ("100..200 ns", "100..200", 15, "has no unit", "20..100 cycles"),
        ("reason = \"it is short\"", "", 23, "without a reason", "reason ="),
        ("of = \"call\"", "of = \"cal\"", 31, "no measurement has the id `cal`", "`call`"),
        (
            "of = \"call\"",
            "",
            30,
            "`times` without `of`: it has no other measurement to multiply",
            "of =",
        ),
        ("1.5..3 times", "1.5..3 ns", 31, "number of times", "take `of` out"),
        (
            "base = \"no figure\"",
            "evidence = \"faults\"",
            30,
            "`Null call` is an evidence",
            "without `evidence`",
        ),
        (
            "base = \"no figure\"",
            "fit = \"slope\"\nagainst = \"size\"",
            31,
            "`Null call` is a line",
            "without `fit`",
        ),
        (
            "unit = \"ns\"\nbase = \"no figure\"\noverhead = \"the kernel\"\npredicted = \"100..200 ns\"",
            "statistic = \"variation\"\npredicted = \"0..0.1\"",
            28,
            "`Null call` is a statistic",
            "without `statistic`",
        ),
        (
            "of = \"call\"",
            "of = \"call\"\nevidence = \"faults\"",
            30,
            "`Null call` is a figure",
            "with `evidence`",
        ),
        ("[\"4K\", 8192]", "[]", 22, "neither a value", "[1, 2]"),
        ("[\"4K\", 8192]", "{ a = 1 }", 22, "neither a value", "[1, 2]"),
        ("label = \"Null call\"", "label = \" \"", 10, "the label is empty", "words"),
        ("unit = \"ns\"", "processes = 0", 12, "0 is no number of processes", "4096"),
        (
            "benchmark = \"lat_open\"",
            "benchmark = \"lat_read\"",
            26,
            "a `mode` in line 18",
            "value of `mode`",
        ),
        ("label = \"Null call\"", "label = 5", 10, "invalid type", "study new"),
        ("[[measurement]]", "[[measurement]", 7, "", "study new"),
    ] {
        let fault = with(from, to);
        assert!(fault.message.contains(message), "{fault:?}");
        assert!(fault.help.contains(help), "{fault:?}");
        assert_eq!(fault.place.line, line, "{fault:?}");
    }
    let empty = read("title = \"x\"").unwrap_err();
    assert!(empty.message.contains("[[measurement]]"), "{empty:?}");
}

#[test]
fn empty_prediction_counts_as_missing() {
    let study = read(&STUDY.replacen("100..200 ns", "", 1)).unwrap();
    assert_eq!(study.measurements[0].prediction, None);
}

/// `UPDATE_EXPECT=1` rewrites the expected documents.
#[test]
fn study_documents_are_as_expected() {
    let study = read(STUDY).unwrap();
    let run = run();
    let rows = rows(&study, &run, &[]);
    let document = markdown::document(&view(&study, &run, &rows, Extent::Whole), 1);
    let json = serde_json::to_string_pretty(&Answer::new(&study, &run, &rows)).unwrap() + "\n";
    for (name, text) in [("study.md", document), ("study.json", json)] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/study").join(name);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let have = std::fs::read_to_string(&path).unwrap();
        assert_eq!(have, text, "{name}: run the tests with UPDATE_EXPECT=1");
    }
}

#[test]
fn predicted_invalid_is_confirmed_only_by_evidence() {
    let study = read(STUDY).unwrap();
    let mut run = run();
    let of_wrong = |run: &Run| {
        let rows = rows(&study, run, &[]);
        let row = rows.iter().find(|r| r.measurement.label == "A wrong one");
        let row = row.unwrap();
        (row.verdict, row.is_failure(), row.notes.clone())
    };
    assert_eq!(of_wrong(&run).0, Some(PredictionVerdict::Within));
    assert!(!of_wrong(&run).1);
    let wrong = run.benchmarks.last_mut().unwrap();
    wrong.details.evidence.get_mut("faults").unwrap().median = Some(1.0);
    wrong.notes = vec!["a launch was lost".into()];
    let (verdict, is_failure, notes) = of_wrong(&run);
    assert_eq!((verdict, is_failure), (Some(PredictionVerdict::Unknown), true));
    assert_eq!(
        notes,
        ["a launch was lost", "none of its evidence is outside its bounds by its median"]
    );
    // Evidence without a median: batches out of bounds confirm the predicted invalid figure;
    // without any, the verdict is unknown.
    for (outside, verdict) in [(60, PredictionVerdict::Within), (0, PredictionVerdict::Unknown)] {
        let wrong = run.benchmarks.last_mut().unwrap();
        let faults = wrong.details.evidence.get_mut("faults").unwrap();
        (faults.median, faults.outside) = (None, outside);
        assert_eq!(of_wrong(&run).0, Some(verdict), "outside in {outside}");
    }
    run.benchmarks.pop();
    assert!(of_wrong(&run).1, "what the run lacks is a failure");
}

/// Four points on y = 2 x + 10, against a parameter and against an evidence.
fn with_a_line(spoil: impl Fn(usize, &mut Benchmark)) -> Run {
    let mut run = run();
    run.benchmarks = (0..4)
        .map(|i| {
            let x = f64::from(1 << i);
            let y = 2.0 * x + 10.0 + 0.001 * f64::from(i % 2);
            let mut entry = entry("lat_line", y, [y, y]);
            entry.parameters = Parameters(vec![("n".to_owned(), json!(1 << i))]);
            let pages = Evidence { median: Some(10.0 * x), ..Evidence::default() };
            entry.details.evidence = BTreeMap::from([("pages".to_owned(), pages)]);
            spoil(i as usize, &mut entry);
            entry
        })
        .collect();
    run
}

fn line_study(part: &str, against: &str, predicted: &str) -> Study {
    let text = format!(
        "title = 'x'\n[[measurement]]\nlabel = 'l'\nbenchmark = 'lat_line'\nparameters = {{ n = [1, 2, 4, 8] }}\n\
         fit = '{part}'\nagainst = '{against}'\npredicted = '{predicted}'\nreason = 'r'\n"
    );
    read(&text).unwrap()
}

/// A run whose launches have these medians, and a study of their variation.
fn variation(medians: &[f64], predicted: &str) -> (Study, Run) {
    let mut run = run();
    let launches = medians.iter().map(|m| Launch { median: Some(*m), ..Launch::default() });
    run.benchmarks[0].launches = launches.collect();
    run.benchmarks[0].interval_scope = Some(IntervalScope::WithinLaunches);
    let text = format!(
        "title = 'x'\n[[measurement]]\nlabel = 'l'\nbenchmark = 'lat_null'\n\
         statistic = 'variation'\npredicted = '{predicted}'\nreason = 'r'\n"
    );
    (read(&text).unwrap(), run)
}

/// Mean 5, sum of squared differences 32. With 7 degrees of freedom, chi-squared has the quantiles
/// 16.0128 and 1.68987.
#[test]
fn variation_is_of_launch_medians() {
    let medians = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    let k = (32.0_f64 / 7.0).sqrt() / 5.0;
    let end = |u: f64| k / (((u + 2.0) / 8.0 - 1.0) * k * k + u / 7.0).sqrt();
    for (predicted, verdict) in [
        ("..1.2", PredictionVerdict::Within),
        ("..0.2", PredictionVerdict::Above),
        ("1.2..", PredictionVerdict::Below),
        ("..0.5", PredictionVerdict::Unknown),
    ] {
        let (study, run) = variation(&medians, predicted);
        let rows = rows(&study, &run, &[]);
        let figure = rows[0].figure.as_ref().unwrap();
        assert!((figure.median - k).abs() < 1e-12, "{figure:?}");
        let [low, high] = figure.confidence_interval.unwrap();
        assert!((low - end(16.0128)).abs() < 1e-4, "{low}");
        assert!((high - end(1.68987)).abs() < 1e-4, "{high}");
        assert_eq!(figure.unit, "");
        assert_eq!(rows[0].verdict, Some(verdict), "{predicted}");
        assert!(!rows[0].is_within_launches(), "it is between them");
        let answer = serde_json::to_value(Answer::new(&study, &run, &rows)).unwrap();
        assert_eq!(answer["rows"][0]["statistic"], "variation");
    }
}

#[test]
fn variation_needs_launches_and_a_limit() {
    let (study, run) = variation(&[3.0], "..0.1");
    let one = &rows(&study, &run, &[])[0];
    assert_eq!((&one.figure, one.verdict), (&None, Some(PredictionVerdict::Unknown)));
    assert_eq!(one.notes, ["a variation takes two launches, and here are 1"]);
    let (study, run) = variation(&[1.0, 100.0, 1.0, 1.0], "..0.1");
    let far = &rows(&study, &run, &[])[0];
    assert!(far.figure.is_some());
    assert_eq!(far.verdict, Some(PredictionVerdict::Unknown));
    assert_eq!(far.notes, ["its interval is not known"]);
}

#[test]
fn variation_of_disturbed_launches_is_unknown() {
    let (study, mut run) = variation(&[1.0, 1.01, 0.99, 1.0, 1.02, 0.98], "..0.1");
    assert_eq!(rows(&study, &run, &[])[0].verdict, Some(PredictionVerdict::Within));
    (run.benchmarks[0].interference.is_disturbed, run.benchmarks[0].interference.is_bounded) =
        (true, true);
    let row = &rows(&study, &run, &[])[0];
    assert_eq!(row.verdict, Some(PredictionVerdict::Unknown));
    assert_eq!(row.notes, ["disturbed: a variation has no bounds"]);
}

#[test]
fn wrong_variation_is_an_error() {
    let base = "title = 'x'\n[[measurement]]\nid = 'v'\nlabel = 'l'\nbenchmark = 'b'\nstatistic = 'variation'\n";
    for (more, said) in [
        ("unit = 'ns'", "a variation has no `unit`"),
        ("evidence = 'e'", "a variation has no `evidence`"),
        ("fit = 'slope'\nagainst = 'n'", "a variation has no `fit`"),
        ("predicted = '..2 times'\nof = 'v'\nreason = 'r'", "no `of`"),
        ("predicted = '..5 ns'\nreason = 'r'", "`..5 ns` has a unit"),
        ("predicted = 'invalid'\nreason = 'r'", "is invalid or not"),
        (
            "[[measurement]]\nlabel = 'm'\nbenchmark = 'b'\npredicted = '..2 times'\nof = 'v'\nreason = 'r'",
            "`l` is a statistic",
        ),
    ] {
        let fault = read(&format!("{base}{more}\n")).unwrap_err();
        assert!(fault.message.contains(said), "{fault:?}");
        assert!(!fault.help.is_empty());
    }
    let fault = read(&base.replace("variation", "variatoin")).unwrap_err();
    assert_eq!(fault.help, "did you mean `variation`?");
}

#[test]
fn fitted_line_matches_points() {
    let run = with_a_line(|_, _| {});
    for (part, against, predicted, verdict) in [
        ("slope", "n", "1.9..2.1 ns", PredictionVerdict::Within),
        ("slope", "n", "0.0019..0.0021 us", PredictionVerdict::Within),
        ("slope", "pages", "0.19..0.21 ns", PredictionVerdict::Within),
        ("slope", "n", "..1 ns", PredictionVerdict::Above),
        ("intercept", "n", "9..11 ns", PredictionVerdict::Within),
        ("intercept", "n", "11.. ns", PredictionVerdict::Below),
        ("r_squared", "n", "0.99..1", PredictionVerdict::Within),
    ] {
        let study = line_study(part, against, predicted);
        let rows = rows(&study, &run, &[]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].verdict, Some(verdict), "{part} {predicted} {:?}", rows[0]);
        assert_eq!(rows[0].notes, ["4 of 4 points are on the line"]);
        assert!(!rows[0].is_failure());
    }
}

#[test]
fn line_needs_three_valid_points() {
    let study = line_study("slope", "n", "1.9..2.1 ns");
    let one_less = with_a_line(|i, b| b.interference.is_disturbed = i == 0);
    assert_eq!(rows(&study, &one_less, &[])[0].verdict, Some(PredictionVerdict::Within));
    let too_few = with_a_line(|i, b| {
        if i > 1 {
            b.status = Status::Invalid;
        }
    });
    let found = rows(&study, &too_few, &[]);
    assert_eq!((found[0].verdict, found[0].status), (None, Some(Status::Invalid)));
    assert!(found[0].is_failure());
    assert!(found[0].notes[0].contains("it takes 3 valid ones"), "{found:?}");
    // R squared needs one more point for its interval. Without an interval the verdict is unknown.
    let certain = line_study("r_squared", "n", "0.9..1");
    assert_eq!(rows(&certain, &one_less, &[])[0].verdict, Some(PredictionVerdict::Unknown));
    // A value that is not a number is not a point.
    let elsewhere = line_study("slope", "nothing", "1.9..2.1 ns");
    assert_eq!(rows(&elsewhere, &with_a_line(|_, _| {}), &[])[0].figure, None);
}

/// The quiet values lie on y = 2 n + 10. A neighbour adds a share that differs from point to point,
/// up to the given one.
#[test]
fn line_through_disturbed_points_holds_the_quiet_line() {
    for (most, slope, r_squared) in [
        (0.002, PredictionVerdict::Within, PredictionVerdict::Within),
        (0.5, PredictionVerdict::Unknown, PredictionVerdict::Unknown),
    ] {
        let run = with_a_line(|i, b| {
            let seen = b.median.unwrap() * (1.0 + most * [0.9, 0.1, 0.7, 0.3][i]);
            b.median = Some(seen);
            // Two launches say little about the next run, but the points show their scatter.
            b.confidence_interval = Some([0.2 * seen, 3.0 * seen]);
            b.interference.quiet_factors = Some([1.0 / (1.0 + most), 1.0]);
            (b.interference.is_disturbed, b.interference.is_bounded) = (true, true);
        });
        for (part, truth, predicted, verdict) in [
            ("slope", 2.0, "1.9..2.1 ns", slope),
            ("intercept", 10.0, "9..11 ns", slope),
            ("r_squared", 1.0, "0.99..1", r_squared),
        ] {
            let study = line_study(part, "n", predicted);
            let row = rows(&study, &run, &[]).remove(0);
            let [low, high] = row.figure.as_ref().unwrap().confidence_interval.unwrap();
            assert!(low <= truth && truth <= high, "{part}: {row:?}");
            assert_eq!((row.verdict, row.is_failure()), (Some(verdict), false), "{row:?}");
            assert_eq!(row.notes[0], "4 of 4 points are on the line");
            assert!(row.notes[1].starts_with("4 of them disturbed"), "{row:?}");
        }
    }
}

#[test]
fn line_through_points_within_launches_is_within_launches() {
    let short = with_a_line(|i, b| {
        b.interval_scope = Some(match i {
            1 => IntervalScope::WithinLaunches,
            _ => IntervalScope::BetweenLaunches,
        });
    });
    for (part, predicted) in [("slope", "1.9..2.1 ns"), ("r_squared", "0.9..1")] {
        let study = line_study(part, "n", predicted);
        let rows = rows(&study, &short, &[]);
        assert_eq!(rows[0].verdict, Some(PredictionVerdict::Within));
        assert!(rows[0].is_within_launches(), "{rows:?}");
        let [low, high] = rows[0].figure.as_ref().unwrap().confidence_interval.unwrap();
        assert!(low < high, "{rows:?}");
    }
}

#[test]
fn wrong_line_is_an_error() {
    let with = |from: &str, to: &str| {
        let text = STUDY.replacen(from, to, 1);
        read(&text).unwrap_err()
    };
    let line = "fit = \"slope\"\nagainst = \"size\"";
    for (to, message) in [
        ("fit = \"slope\"".to_owned(), "belong together"),
        (line.replace("slope", "slop"), "`slop` is no part of a line"),
        (line.replace("slope", "r_squared"), "in the wrong unit"),
    ] {
        let fault = with("unit = \"ns\"", &to);
        assert!(fault.message.contains(message), "{fault:?}");
    }
}
