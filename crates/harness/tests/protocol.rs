//! Measures the Python program of docs/protocol.md: unchanged, and with one fault at a time.
//! Without Python 3.8 or later the tests that run it are reported as ignored; with
//! `--include-ignored` they fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use tempfile::TempDir;
use yamba_harness::{Job, Measurement, Options, Program, Silent, Stop, UsageError};
use yamba_record::event::RawBatch;
use yamba_record::program::Program as Description;
use yamba_record::{Benchmark, Event, Status, Workers};

const PYTHON: &str = "python3";

/// Python code that fails if the version does not support the program's syntax.
const IS_RECENT: &str = "import sys; sys.exit(sys.version_info < (3, 8))";

const PAGE: &str = include_str!("../../../docs/protocol.md");

/// Shell script that copies the program's records to a file for each launch, and passes them on.
const COPY_RECORDS: &str = r#"
case " $* " in *" --describe "*) exec "$@" ;; esac
file="$KEPT/$(ls "$KEPT" | wc -l)"
"$@" 3> "$file"
status=$?
cat "$file" >&3
exit $status
"#;

fn main() {
    let tests: [(&str, fn()); 10] = [
        ("figures_are_those_of_the_records", figures_are_those_of_the_records),
        (
            "evidence_outside_of_its_bounds_makes_figure_invalid",
            evidence_outside_of_its_bounds_makes_figure_invalid,
        ),
        ("skip_in_description_skips_benchmark", skip_in_description_skips_benchmark),
        ("exit_status_4_skips_benchmark", exit_status_4_skips_benchmark),
        ("error_record_fails_benchmark_with_its_text", error_record_fails_benchmark_with_its_text),
        ("wrong_parameter_is_usage_error", wrong_parameter_is_usage_error),
        ("unknown_version_is_refused", unknown_version_is_refused),
        (
            "bad_record_is_refused_with_its_line_and_reason",
            bad_record_is_refused_with_its_line_and_reason,
        ),
        ("line_that_is_no_record_is_passed_over", line_that_is_no_record_is_passed_over),
        ("several_processes_that_are_one_are_noticed", several_processes_that_are_one_are_noticed),
    ];
    let recent = Command::new(PYTHON).args(["-c", IS_RECENT]).status();
    let has_python = recent.is_ok_and(|status| status.success());
    let trial = |(name, test): (&str, fn())| {
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        if has_python {
            trial
        } else {
            trial.with_kind("needs python3 >= 3.8").with_ignored_flag(true)
        }
    };
    let mut trials: Vec<Trial> = tests.into_iter().map(trial).collect();
    for (name, test) in [
        ("program_has_at_most_50_lines", program_has_at_most_50_lines as fn()),
        ("page_names_every_option_event_and_key", page_names_every_option_event_and_key),
    ] {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The program from the page.
fn program() -> &'static str {
    let (_, rest) = PAGE.split_once("```python file=sum.py\n").expect("the page has a program");
    rest.split_once("```").expect("the program has an end").0
}

/// The program with one part replaced.
fn changed(part: &str, by: &str) -> String {
    let occurrences = program().matches(part).count();
    assert_eq!(occurrences, 1, "`{part}` in the program");
    program().replace(part, by)
}

/// A program in a folder of its own, with the records of its launches.
struct Measured {
    folder: TempDir,
    run: Result<Vec<Benchmark>, UsageError>,
}

impl Measured {
    /// Measures the program `text` with two launches of five batches.
    fn new(text: &str, set: &[(&str, &str)], processes: u64) -> Measured {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sum.py");
        fs::write(&path, text).expect("the program is written");
        let kept = folder.path().join("kept");
        fs::create_dir(&kept).expect("a folder for records");
        let copy = format!("KEPT='{}'{COPY_RECORDS}", kept.display());
        let words = ["/bin/sh", "-c", copy.as_str(), "copy", PYTHON];
        let job = Job {
            class: "python_sum".to_owned(),
            program: Ok(Program {
                path,
                runner: words.map(str::to_owned).to_vec(),
                emulated: false,
            }),
            provenance: Default::default(),
            texts: Default::default(),
        };
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options = Options {
            set: set.iter().map(own).collect(),
            launches: Some(2),
            batches: Some(5),
            time: Duration::from_millis(1),
            workers: vec![Workers::processes(processes)],
            ..Options::default()
        };
        let measurement = Measurement {
            jobs: &[job],
            options: &options,
            isa: std::env::consts::ARCH,
            system: std::env::consts::OS,
            progress: &mut Silent,
            stop: &Stop::default(),
            listing: &|_, _| None,
            neighbours: yamba_harness::Neighbours::Count,
        };
        let run = measurement.run().map(|run| run.benchmarks);
        Measured { folder, run }
    }

    fn one(text: &str, set: &[(&str, &str)]) -> Benchmark {
        let mut all = Measured::new(text, set, 1).run.expect("it is measured");
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn refused(text: &str, set: &[(&str, &str)]) -> String {
        let run = Measured::new(text, set, 1).run;
        run.expect_err("it is refused").0
    }

    /// The records of the launches, in the order of their start, as the program wrote them.
    fn launches(&self) -> Vec<Vec<Value>> {
        let kept: PathBuf = self.folder.path().join("kept");
        let read = |number: usize| fs::read_to_string(kept.join(number.to_string())).ok();
        let records = |text: String| -> Vec<Value> {
            let lines = text.lines();
            lines.map(|line| serde_json::from_str(line).expect("a record")).collect()
        };
        (0..).map_while(read).map(records).collect()
    }
}

fn of<'r>(records: impl IntoIterator<Item = &'r Value>, event: &str) -> Vec<&'r Value> {
    records.into_iter().filter(|r| r["event"] == event).collect()
}

fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().expect("a number")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

fn figures_are_those_of_the_records() {
    let measured = Measured::new(program(), &[], 1);
    let benchmarks = measured.run.as_ref().expect("it is measured");
    let launches = measured.launches();
    assert_eq!((benchmarks.len(), launches.len()), (2, 4), "two sizes, two launches of each");
    for (benchmark, size) in benchmarks.iter().zip([100, 1000]) {
        let total = f64::from(size) * (f64::from(size) - 1.0) / 2.0;
        let is_own = |launch: &&Vec<Value>| of(*launch, "batch")[0]["evidence"]["total"] == total;
        let own: Vec<&Value> = launches.iter().filter(is_own).flatten().collect();
        assert_eq!(of(own.iter().copied(), "begin").len(), 2);
        assert_eq!((benchmark.name.as_str(), benchmark.status), ("python_sum", Status::Ok));
        assert_eq!(benchmark.parameters.get("size"), Some(&size.into()));
        assert_eq!(benchmark.unit.as_deref(), Some("ns"));
        assert_eq!(benchmark.environment.clock.as_ref().unwrap().name, "perf_counter_ns");
        sizing_is(benchmark, &of(own.iter().copied(), "sizing"));
        batches_are(benchmark, &of(own.iter().copied(), "batch"), total);
    }
}

fn sizing_is(benchmark: &Benchmark, records: &[&Value]) {
    assert!(records.len() >= 12, "{} records", records.len());
    assert_eq!(benchmark.records.unpack().sizing.len(), records.len());
    for (sizing, record) in benchmark.records.unpack().sizing.iter().zip(records) {
        assert_eq!(sizing.passes as f64, number(record, "passes"));
        assert_eq!(
            (sizing.ns, sizing.dummy_ns),
            (number(record, "ns"), number(record, "dummy_ns"))
        );
    }
}

fn batches_are(benchmark: &Benchmark, records: &[&Value], total: f64) {
    assert_eq!((benchmark.records.batches().len(), records.len()), (10, 10));
    for (batch, record) in benchmark.records.batches().iter().zip(records) {
        assert_eq!(batch.passes as f64, number(record, "passes"));
        assert_eq!(batch.operations as f64, number(record, "operations"));
        assert_eq!((batch.ns, batch.dummy_ns), (number(record, "ns"), number(record, "dummy_ns")));
        assert_eq!(batch.evidence["total"], Some(total));
        assert_eq!(batch.counters["thread_ns"], Some(number(&record["counters"], "thread_ns")));
    }
    let each = records.iter();
    let samples = each.map(|r| (number(r, "ns") - number(r, "dummy_ns")) / number(r, "operations"));
    let expected = median(samples.collect());
    let figure = benchmark.median.expect("a figure");
    // A sample has seven significant digits.
    assert!((figure - expected).abs() <= 1e-6 * expected, "{figure} and {expected}");
    assert_eq!(benchmark.details.evidence["total"].median, Some(total));
}

const SMALL: &[(&str, &str)] = &[("size", "100")];

fn evidence_outside_of_its_bounds_makes_figure_invalid() {
    let text = changed("2 * [size * (size - 1) / 2]", "[0, 1]");
    let b = Measured::one(&text, SMALL);
    assert_eq!(b.status, Status::Invalid);
    let reason = "total is 4950 (median), expected [0, 1]; outside in 10 of 10 batches";
    assert_eq!(b.notes[0], reason);
}

fn skip_in_description_skips_benchmark() {
    let b = Measured::one(program(), &[("size", "100"), ("function", "nowhere.sum")]);
    assert_eq!((b.status, b.median), (Status::Skipped, None));
    assert!(
        b.notes[0].to_string().starts_with("No module named 'nowhere': install it for "),
        "{:?}",
        b.notes
    );
}

fn exit_status_4_skips_benchmark() {
    let text = changed(
        "    record(\"end\")",
        "    print('no room here; make some', file=sys.stderr); sys.exit(4)",
    );
    let b = Measured::one(&text, SMALL);
    assert_eq!(
        (b.status, b.notes[0].to_string().as_str()),
        (Status::Skipped, "no room here; make some")
    );
}

fn error_record_fails_benchmark_with_its_text() {
    let b = Measured::one(program(), &[("size", "100"), ("function", "math.floor")]);
    assert_eq!((b.status, b.median), (Status::Crashed, None));
    assert_eq!(b.notes, ["the benchmark: TypeError('must be real number, not list')"]);
}

fn wrong_parameter_is_usage_error() {
    let text = Measured::refused(program(), &[("siz", "1")]);
    assert_eq!(text, "python_sum: --set siz: its parameters are size and function");
}

fn unknown_version_is_refused() {
    let text = changed("yamba-program/1", "yamba-program/2");
    assert_eq!(
        Measured::refused(&text, SMALL),
        "python_sum: it describes itself by `yamba-program/2`, and this version of Yamba reads `yamba-program/1`; \
         use a version of Yamba that reads it, or change the program as docs/protocol.md shows"
    );
}

fn bad_record_is_refused_with_its_line_and_reason() {
    let first = "{\"event\": \"begin\"";
    for (part, by, reason, shown) in [
        (
            "figure=\"latency\", unit=\"ns\", clock",
            "unit=\"ns\", clock",
            "line 1: missing field `figure`: ",
            first,
        ),
        (
            "record(\"begin\",",
            "record(\"start\",",
            "line 1: unknown variant `start`, expected one of `begin`",
            "{\"event\": \"start\"",
        ),
        (
            "{\"thread_ns\": cpu}",
            "{\"thread_ns\": float(\"nan\")}",
            ": expected value at column ",
            "{\"event\": \"batch\"",
        ),
        (
            "{\"thread_ns\": cpu}",
            "{\"thread_ns\": \"many\"}",
            ": invalid type: string \"many\", expected f64",
            "{\"event\": \"batch\"",
        ),
        (
            "passes=passes, ns=ns",
            "passes=-passes, ns=ns",
            "line 2: invalid value: integer `-1`, expected u64",
            "{\"event\": \"sizing\"",
        ),
    ] {
        let b = Measured::one(&changed(part, by), SMALL);
        assert_eq!((b.status, b.median), (Status::Crashed, None), "{by}");
        let message = b.notes[0].to_string();
        let begin = "python_sum wrote a record that is not understood, line ";
        assert!(message.starts_with(begin) && message.contains(reason), "{message}");
        assert!(message.contains(shown), "{message}");
        assert!(message.contains("docs/protocol.md shows the form of each"), "{message}");
        assert_eq!(b.launches.len(), 1, "a second launch would do the same");
        let about_it = b.notes.iter().filter(|n| n.to_string().contains("record"));
        assert_eq!(about_it.count(), 1, "{:?}", b.notes);
    }
}

fn line_that_is_no_record_is_passed_over() {
    let text = changed("    record(\"end\")", "    print('hello', file=records); record(\"end\")");
    let b = Measured::one(&text, SMALL);
    assert_eq!(b.status, Status::Ok, "{:?}", b.notes);
    let note = "2 lines among the records were none, and were passed over";
    assert!(b.notes.iter().any(|n| *n == note), "{:?}", b.notes);
}

/// As the page says, a program may ignore `--processes`; figures with several processes are invalid
/// then.
fn several_processes_that_are_one_are_noticed() {
    let all = Measured::new(program(), SMALL, 2).run.expect("it is measured");
    assert_eq!(all[0].status, Status::Invalid);
    let note = "measured with P=1 instead of P=2";
    assert!(all[0].notes.iter().any(|n| *n == note), "{:?}", all[0].notes);
}

fn program_has_at_most_50_lines() {
    let lines = program().lines().count();
    assert!((10..=50).contains(&lines), "{lines} lines");
}

/// The words in `quote` characters in a text.
fn quoted(text: &str, quote: char) -> Vec<&str> {
    text.split(quote).skip(1).step_by(2).collect()
}

fn page_names_every_option_event_and_key() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/src");
    let source = fs::read_to_string(runtime.join("command_line.h")).expect("the C++ side");
    let options = source.split("is(\"").skip(1).filter_map(|s| s.split('"').next());
    // The harness passes none of these.
    let others = ["--quick", "--help", "--compose", "--far", "--process", "--no-lock"];
    let options: Vec<&str> = options.filter(|o| !others.contains(o)).collect();
    assert!(options.len() > 10, "{options:?}");
    let unknown = serde_json::from_str::<Event>("{\"event\":\"?\"}").unwrap_err().to_string();
    let events = quoted(&unknown, '`');
    assert!(events.len() > 10, "{unknown}");
    let keys = |value: Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let batch = serde_json::to_value(RawBatch::default()).expect("JSON");
    let description = serde_json::to_value(Description::default()).expect("JSON");
    let disturbance = batch["disturbance"].clone();
    let probes = batch["probes"].clone();
    let keys = [keys(batch), keys(description), keys(disturbance), keys(probes)].concat();
    let all = options.into_iter().chain(events).filter(|w| *w != "?");
    let marked = quoted(PAGE, '`');
    for word in all.chain(keys.iter().map(String::as_str)) {
        let is_named = marked.iter().any(|m| m.split(' ').next() == Some(word));
        assert!(is_named, "docs/protocol.md does not name `{word}`");
    }
}
