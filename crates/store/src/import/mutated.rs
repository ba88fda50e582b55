//! Changed results of other programs: each change gives the figures of the original, is refused, or
//! has what it lacks named.

use std::collections::{BTreeMap, BTreeSet};

use yamba_mutants::{Change, Form, Mutant};
use yamba_record::{Run, Status};

use super::*;

/// Changes of each form. Two samples of a form have half of them each.
const COUNT: usize = 10_000;

/// Name, parameters and threads.
type Key = (String, String, u64);

/// Status, figure and unit.
type Shown = (Status, Option<f64>, Option<String>);

fn figures(run: &Run) -> BTreeMap<Key, Shown> {
    let each = run.benchmarks.iter().map(|b| {
        let key = (b.name.clone(), b.parameters.to_string(), b.environment.threads);
        (key, (b.status, b.median, b.unit.clone()))
    });
    each.collect()
}

/// The omissions without line numbers, and whether the file was cut off.
fn omissions(run: &Run) -> BTreeSet<String> {
    let imported = run.producer.imported.as_ref().unwrap();
    let text = |place: &String| match place.split_once(": ") {
        Some((at, text)) if at.starts_with("line ") => text.to_owned(),
        _ => place.clone(),
    };
    let left_out = imported.left_out.iter().map(text);
    left_out.chain(run.interrupted.then(|| "cut off".to_owned())).collect()
}

/// Checks all mutants. `exempt` are those that no reader could notice.
fn check(original: &str, mutants: Vec<Mutant>, exempt: impl Fn(&Mutant) -> bool) {
    check_reader(original, mutants, exempt, |text| {
        run_of(text.as_bytes(), "results", Detail::Batches)
    });
}

/// Checks all mutants with a reader.
fn check_reader(
    original: &str,
    mutants: Vec<Mutant>,
    exempt: impl Fn(&Mutant) -> bool,
    read: impl Fn(&str) -> Result<Run, DocumentFault>,
) {
    let whole: Run = read(original).unwrap();
    let (expected, known) = (figures(&whole), omissions(&whole));
    let (count, mut accepted) = (mutants.len(), 0);
    for mutant in mutants {
        let run: Run = match read(&mutant.text) {
            Ok(run) => run,
            Err(fault) => {
                assert!(
                    !mutant.change.keeps_figures(),
                    "{:?} {} {fault:?}",
                    mutant.change,
                    mutant.detail
                );
                continue;
            }
        };
        accepted += 1;
        if exempt(&mutant) {
            continue;
        }
        let found = figures(&run);
        let omitted = omissions(&run);
        let omitted: Vec<&String> = omitted.difference(&known).collect();
        let is_named = !omitted.is_empty() || mutant.change == Change::LineRemoved;
        // A figure may be of fewer forks, processes or lines than it says, if that is named.
        let lacks_forks = |name: &str| {
            let ends = [" forks", " processes", " lines may be missing"];
            let is_end = |text: &str| ends.iter().any(|end| text.ends_with(end));
            let is_it = |text: &&&String| text.starts_with(name) && is_end(text);
            omitted.iter().any(|text| is_it(&text))
        };
        let added: Vec<&Shown> = found
            .iter()
            .filter(|(key, _)| !expected.contains_key(*key))
            .map(|(_, shown)| shown)
            .collect();
        for (key, shown) in &expected {
            match found.get(key) {
                Some(same) if same == shown => {}
                Some(_) if lacks_forks(&key.0) => {}
                Some((status, ..)) => assert_ne!(
                    *status,
                    Status::Ok,
                    "{key:?}\n{:?} {}",
                    mutant.change,
                    mutant.detail
                ),
                // Names are free text: the same figure may stand under another one.
                None => assert!(
                    is_named || added.contains(&shown),
                    "{key:?}\n{:?} {}",
                    mutant.change,
                    mutant.detail
                ),
            }
        }
        let is_known =
            |shown: &&Shown| shown.0 != Status::Ok || expected.values().any(|s| s == *shown);
        assert!(added.iter().all(is_known), "{added:?}\n{:?} {}", mutant.change, mutant.detail);
    }
    assert!(accepted > count / 20, "only {accepted} were read");
}

/// `yamba_mutants` puts 1e300 in the place of any value: a number that is as good as the one
/// before.
fn is_another_number(mutant: &Mutant) -> bool {
    let is_in = |number| mutant.text.contains(number);
    mutant.change == Change::TypeChanged && (is_in("1e300") || is_in("1e+300"))
}

#[test]
fn google_benchmark() {
    for (seed, original) in
        [include_str!("samples/google-repeated.json"), include_str!("samples/google.json")]
            .into_iter()
            .enumerate()
    {
        let mutants = yamba_mutants::json(original, seed as u64, COUNT / 2);
        check(original, mutants, |mutant| {
            // Without the median of repetitions, the figure is their mean, and its note says so.
            let has_median = mutant.text.contains("BM_sums_median");
            is_another_number(mutant)
                || is_of_rate(mutant)
                || (mutant.change == Change::LineRemoved && !has_median)
        });
    }
}

/// Rows of old files have no index: a repeated row is one more repetition.
#[test]
fn google_benchmark_of_old_versions() {
    let original = include_str!("samples/google-old.json");
    let mutants = yamba_mutants::json(original, 3, COUNT);
    check(original, mutants, |mutant| {
        is_another_number(mutant) || is_of_rate(mutant) || is_of_old_rows(mutant)
    });
}

/// A benchmark may report a rate or not.
fn is_of_rate(mutant: &Mutant) -> bool {
    mutant.detail.ends_with("_per_second")
}

/// Without `run_type`, the names alone say which rows belong together, and how many there are.
fn is_of_old_rows(mutant: &Mutant) -> bool {
    let is_row = matches!(mutant.change, Change::LineRemoved | Change::LineRepeated);
    (is_row && mutant.detail.starts_with("/benchmarks: ")) || mutant.detail.ends_with(": name")
}

/// The share of processor time is a metric that a benchmark has or has not.
#[test]
fn jmh() {
    let modes = include_str!("samples/jmh-modes.json");
    // Batches of several calls, in a virtual machine with options.
    let facts = "\"measurementBatchSize\": 64, \"jvmArgs\": [\"-XX:+UseParallelGC\"], \"forks\"";
    let batches = modes.replace("\"forks\"", facts);
    for (seed, original) in
        [modes, &batches, include_str!("samples/jmh.json")].into_iter().enumerate()
    {
        let mutants = yamba_mutants::json(original, seed as u64, COUNT.div_ceil(3));
        check(original, mutants, |mutant| {
            let removed = ["secondaryMetrics", "processor_share"];
            let is_metric = removed.iter().any(|name| mutant.detail.ends_with(name));
            // How many pairs a histogram has is not stated.
            let is_pair = mutant.change == Change::LineRemoved
                && mutant.detail.contains("rawDataHistogram/")
                && !mutant.detail.contains("rawDataHistogram/0:")
                && !mutant.detail.contains("rawDataHistogram/1:");
            is_another_number(mutant)
                || is_pair
                || (mutant.change == Change::FieldRemoved && is_metric)
        });
    }
}

#[test]
fn hyperfine() {
    let original = include_str!("samples/hyperfine.json");
    check(original, yamba_mutants::json(original, 1, COUNT), |mutant| {
        // Older versions write no exit codes, and the note says so.
        mutant.detail.ends_with(": exit_codes")
    });
}

#[test]
fn pytest_benchmark() {
    let with_data = include_str!("samples/pytest-benchmark.json").replace("NaN", "null");
    let without_data = include_str!("samples/pytest-benchmark-without-data.json");
    for (seed, original) in [&with_data, without_data].into_iter().enumerate() {
        let mutants = yamba_mutants::json(original, seed as u64, COUNT / 2);
        check(original, mutants, is_another_number);
    }
}

/// How many runs a benchmark has is not stated.
#[test]
fn pyperf() {
    let original = include_str!("samples/pyperf.json");
    check(original, yamba_mutants::json(original, 1, COUNT), |mutant| {
        let is_run = mutant.change == Change::LineRemoved && mutant.detail.contains("/runs: ");
        is_another_number(mutant) || is_run
    });
}

/// The unit is free text, as a name.
#[test]
fn nanobench() {
    let original = include_str!("samples/nanobench.json");
    check(original, yamba_mutants::json(original, 1, COUNT), |mutant| {
        is_another_number(mutant) || mutant.detail.ends_with(": unit")
    });
}

/// A table does not say how many rows it has. Two numbers that are exchanged are still numbers of
/// their columns.
#[test]
fn nanobench_table() {
    let original = include_str!("samples/nanobench.txt");
    for (seed, separator) in [" ", "|"].into_iter().enumerate() {
        let form = Form { separator, fields: &["0.5", "-", "ns/op", "`x`", "|"] };
        let mutants = yamba_mutants::text(original, form, seed as u64, COUNT / 2);
        check(original, mutants, |mutant| {
            let is_whole = mutant.change == Change::Truncated && mutant.text.ends_with('\n');
            is_whole || are_numbers(original, mutant)
        });
    }
}

/// Whether two numbers of a line were exchanged, which may have commas between thousands.
fn are_numbers(original: &str, mutant: &Mutant) -> bool {
    let line = |text: &str| text.lines().nth(mutant.line?).map(str::to_owned);
    let (Some(before), Some(after)) = (line(original), line(&mutant.text)) else {
        return false;
    };
    let words = |line: &str| {
        let words = line.split([' ', '|']).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (words(&before), words(&after));
    let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let mut moved = before.iter().zip(&after).filter(|(a, b)| a != b);
    mutant.change == Change::FieldsReordered
        && before.len() == after.len()
        && moved.all(|(a, b)| is_number(a) && is_number(b))
}

#[test]
fn divan() {
    let original = include_str!("samples/divan.txt");
    for (seed, separator) in [" ", "│"].into_iter().enumerate() {
        let form = Form { separator, fields: &["0.5", "-", "ns", "0.5 ns", "╰─", "│"] };
        let mutants = yamba_mutants::text(original, form, seed as u64, COUNT / 2);
        check(original, mutants, |mutant| {
            let is_whole = mutant.change == Change::Truncated && mutant.text.ends_with("\n\n");
            is_whole || are_cells(original, mutant)
        });
    }
}

/// Whether cells of a line, or parts of them, were exchanged: numbers for numbers and units for
/// units.
fn are_cells(original: &str, mutant: &Mutant) -> bool {
    if mutant.change != Change::FieldsReordered {
        return false;
    }
    let words = |text: &str| {
        let line = text.lines().nth(mutant.line.unwrap()).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (words(original), words(&mutant.text));
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_mark = |word: &str| word.contains(['│', '├', '╰']);
    let mut moved = before.iter().zip(&after).filter(|(a, b)| a != b);
    before.len() == after.len()
        && moved.all(|(a, b)| is_number(a) == is_number(b) && !is_mark(a) && !is_mark(b))
}

/// Each of the three files of a benchmark is changed beside those of another benchmark.
#[test]
fn criterion() {
    let part = |file| match file {
        0 => include_str!("samples/criterion/copy/to_vec/64/new/benchmark.json"),
        1 => include_str!("samples/criterion/copy/to_vec/64/new/sample.json"),
        _ => include_str!("samples/criterion/copy/to_vec/64/new/estimates.json"),
    };
    let other = super::criterion::Files {
        place: "slow/fib".to_owned(),
        benchmark: Some(include_str!("samples/criterion/slow/fib/new/benchmark.json").to_owned()),
        sample: Some(include_str!("samples/criterion/slow/fib/new/sample.json").to_owned()),
        estimates: Some(include_str!("samples/criterion/slow/fib/new/estimates.json").to_owned()),
    };
    for file in 0..3 {
        let read = |text: &str| {
            let part = |at| Some(if at == file { text } else { part(at) }.to_owned());
            let changed = super::criterion::Files {
                place: "copy/to_vec/64".to_owned(),
                benchmark: part(0),
                sample: part(1),
                estimates: part(2),
            };
            super::criterion::read("criterion", &[changed, other.clone()])
        };
        let original = part(file);
        let mutants = yamba_mutants::json(original, file, COUNT.div_ceil(3));
        // `null` stands for a benchmark without a throughput.
        check_reader(original, mutants, |m| m.text.contains("\"throughput\":null"), read);
    }
}

#[test]
fn catch2() {
    // Without the second result of a benchmark: it would stand for the first if the first had
    // another name.
    let lines = include_str!("samples/catch2.xml").split_inclusive('\n').enumerate();
    let original: String =
        lines.filter(|(at, _)| !(28..34).contains(at)).map(|(_, line)| line).collect();
    let original = &original;
    let fields = &["0.5", "value=\"0.5\"", "name=\"x\"", "<mean", "/>"];
    let mutants = yamba_mutants::text(original, Form { separator: " ", fields }, 1, COUNT);
    check(original, mutants, |_| false);
}

#[test]
fn go() {
    let original = include_str!("samples/go.txt");
    for (seed, separator) in [" ", "\t"].into_iter().enumerate() {
        let form = Form { separator, fields: &["0.5", "-", "ns/op", "PASS"] };
        let mutants = yamba_mutants::text(original, form, seed as u64, COUNT / 2);
        check(original, mutants, |mutant| are_like(original, mutant) || is_whole(mutant));
    }
}

/// Whether the text ends after a package: Go does not say how many it tests.
fn is_whole(mutant: &Mutant) -> bool {
    let last = mutant.text.lines().last().unwrap_or_default();
    let is_end = last == "PASS" || last.starts_with("ok  \t");
    mutant.change == Change::Truncated && is_end
}

#[test]
fn lmbench() {
    let original = include_str!("samples/lmbench.0");
    for (seed, separator) in [" ", "\t"].into_iter().enumerate() {
        let form = Form { separator, fields: &["0.5", "-", "microseconds", "MB/sec"] };
        let mutants = yamba_mutants::text(original, form, seed as u64, COUNT / 2);
        check(original, mutants, |mutant| are_like(original, mutant));
    }
}

/// Whether two numbers, or two units, of a line were exchanged. Their places alone say what they
/// are.
fn are_like(original: &str, mutant: &Mutant) -> bool {
    if mutant.change != Change::FieldsReordered {
        return false;
    }
    let line = |text: &str| {
        let line = text.lines().nth(mutant.line.unwrap()).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (line(original), line(&mutant.text));
    let moved = before.iter().zip(&after).filter(|(a, b)| a != b);
    let moved: Vec<&String> = moved.map(|(a, _)| a).collect();
    let is_number = |word: &&&String| word.parse::<f64>().is_ok();
    let numbers = moved.iter().filter(is_number).count();
    before.len() == after.len() && (numbers == 0 || numbers == moved.len())
}

/// Which of two counters of one kind a number belongs to, only its name says.
#[test]
fn sel4bench() {
    let original = include_str!("samples/sel4bench.json");
    check(original, yamba_mutants::json(original, 1, COUNT), is_another_number);
}

/// Two numbers of a row that are exchanged are still cycles of groups.
#[test]
fn kanata_bench() {
    let original = include_str!("samples/kanata-bench.txt");
    let form = Form { separator: " ", fields: &["5", "-", "138832", "Done!"] };
    let mutants = yamba_mutants::text(original, form, 1, COUNT);
    check(original, mutants, |mutant| are_like(original, mutant));
}
