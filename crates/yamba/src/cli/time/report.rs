//! The output of `yamba time`: one line per figure, in cycles and ns with intervals, followed by
//! notes.

use yamba_record::number::{number, scale};
use yamba_record::units::nanoseconds;
use yamba_record::{Benchmark, Note, Run, Status};

use crate::cli::output;
use yamba_report::wrap;

/// Indentation of a note.
const NOTE: usize = 6;

/// Formats the results. `width` is that of the terminal; `None` without one.
pub fn report(run: &Run, colour: bool, width: Option<usize>) -> String {
    let rows: Vec<[String; 4]> = run.benchmarks.iter().map(|b| cells(run, b)).collect();
    let widths = output::widths(&rows);
    let width = width.unwrap_or(usize::MAX);
    let mut out = String::new();
    let mut subject = "";
    let mut said: &[Note] = &[];
    // The same question asked twice is shown as two results.
    let mut aspects: Vec<&str> = Vec::new();
    for (benchmark, row) in run.benchmarks.iter().zip(&rows) {
        let aspect = aspect_of(benchmark);
        if subject_of(benchmark) != subject || aspects.contains(&aspect) {
            subject = subject_of(benchmark);
            (said, aspects) = (&[], Vec::new());
            out.push_str(&output::painted(subject, "1", colour));
            out.push('\n');
        }
        aspects.push(aspect);
        out += &figures(row, &widths, &mark(benchmark, colour), width);
        // Both figures of an instruction may fail for the same reason; print it once.
        let new = benchmark.notes.iter().filter(|n| !said.contains(n));
        for line in new.map(Note::to_string).collect::<Vec<_>>().join("\n").lines() {
            for part in wrap(line, width.saturating_sub(NOTE), "") {
                out += &format!("{:NOTE$}{part}\n", "");
            }
        }
        said = &benchmark.notes;
    }
    if let Some(sentence) = yamba_report::disturbance_sentences(run) {
        for part in wrap(&sentence, width, "  ") {
            out += &format!("{part}\n");
        }
    }
    out
}

/// The line of a figure. If it is wider than the terminal, its cells are below each other.
fn figures(row: &[String; 4], widths: &[usize], mark: &str, width: usize) -> String {
    let first = format!("  {:label$}{mark}", row[0], label = widths[0]);
    let cells = row.iter().zip(widths).skip(1);
    let cells: Vec<_> = cells.filter(|(_, w)| **w > 0).collect();
    let whole: usize = cells.iter().map(|(_, w)| **w + 2).sum();
    if first.chars().count() + whole <= width {
        let padded = cells.iter().map(|(cell, w)| format!("  {cell:w$}"));
        let line = first + &padded.collect::<String>();
        return line.trim_end().to_owned() + "\n";
    }
    let indent = widths[0] + 4;
    let filled = cells.iter().filter(|(cell, _)| !cell.is_empty());
    let lines = filled.flat_map(|(cell, _)| wrap(cell, width.saturating_sub(indent), "  "));
    let below: String = lines.map(|l| format!("{:indent$}{l}\n", "")).collect();
    if !mark.is_empty() || below.is_empty() {
        return format!("{}\n{below}", first.trim_end());
    }
    // The first cell stands beside the label, within the indentation of its line.
    format!("{first}{}", &below[first.len()..])
}

/// The measured code: `imul rax, rax` in `asm/imul rax, rax/latency`.
fn subject_of(benchmark: &Benchmark) -> &str {
    let name = benchmark.name.as_str();
    let (kind, rest) = name.split_once('/').unwrap_or(("", name));
    match kind {
        "asm" => rest.rsplit_once('/').map_or(rest, |(subject, _)| subject),
        _ => rest,
    }
}

/// The measured property: `latency` or `throughput` of an instruction, else `time`.
fn aspect_of(benchmark: &Benchmark) -> &str {
    let name = benchmark.name.as_str();
    match name.strip_prefix("asm/").and_then(|n| n.rsplit_once('/')) {
        Some((_, aspect)) => aspect,
        None => "time",
    }
}

/// The word for a missing or disturbed figure; empty for a good one.
fn mark(benchmark: &Benchmark, colour: bool) -> String {
    let (word, code) = match benchmark.status {
        Status::Ok if benchmark.interference.is_disturbed => ("disturbed", "33"),
        Status::Ok => return String::new(),
        Status::Invalid => ("INVALID", "1;31"),
        Status::Crashed => ("CRASHED", "1;31"),
        Status::Skipped | Status::NotStarted => ("none", "2"),
    };
    format!("  {}", output::painted(word, code, colour))
}

/// The cells of a row: aspect, cycles, time, comparison.
fn cells(run: &Run, benchmark: &Benchmark) -> [String; 4] {
    let aspect = aspect_of(benchmark).to_owned();
    let (Some(median), Some(ends)) = (benchmark.median, benchmark.confidence_interval) else {
        return [aspect, String::new(), String::new(), String::new()];
    };
    let shown = |value: f64, ends: [f64; 2], unit: &str| {
        let interval = yamba_report::interval(benchmark.with_open_ends(ends), value, unit);
        format!("{} {interval}", yamba_report::figure(value, unit))
    };
    let cycles = benchmark.details.cycles.map(|c| shown(c.median, c.confidence_interval, "cycles"));
    [
        aspect,
        cycles.unwrap_or_default(),
        shown(median, ends, unit_of(benchmark)),
        compared(run, benchmark).unwrap_or_default(),
    ]
}

/// Compares a figure with the first one of the same aspect.
fn compared(run: &Run, benchmark: &Benchmark) -> Option<String> {
    let aspect = aspect_of(benchmark);
    let is_figure = |b: &&Benchmark| b.is_sound() && aspect_of(b) == aspect;
    let first = run.benchmarks.iter().find(is_figure)?;
    if std::ptr::eq(first, benchmark) || !benchmark.is_sound() {
        return None;
    }
    let (ratio, [low, high]) = ratio(first, benchmark)?;
    let subject = subject_of(first);
    if low <= 1.0 && 1.0 <= high {
        return Some(format!("~ {subject}"));
    }
    let (ratio, low, high) = (number(ratio), number(low), number(high));
    Some(format!("{ratio} times {subject} [{low}, {high}]"))
}

/// b as a multiple of a, from the printed figures: in cycles if both have them, else in time. The
/// interval spans all quotients of the two printed intervals, so it contains the ratio.
fn ratio(a: &Benchmark, b: &Benchmark) -> Option<(f64, [f64; 2])> {
    let of = |x: &Benchmark| match (a.details.cycles.and(b.details.cycles), x.details.cycles) {
        (Some(_), Some(c)) => {
            Some([c.median, c.confidence_interval[0], c.confidence_interval[1]].map(rounded))
        }
        _ => time_of(x),
    };
    let ([a, a_low, a_high], [b, b_low, b_high]) = (of(a)?, of(b)?);
    let is_positive = a_low > 0.0 && b_low > 0.0;
    is_positive.then(|| (b / a, [b_low / a_high, b_high / a_low]))
}

/// Median and interval in ns, rounded to the printed digits.
fn time_of(benchmark: &Benchmark) -> Option<[f64; 3]> {
    let (median, [low, high]) = (benchmark.median?, benchmark.confidence_interval?);
    let (factor, _) = scale(median, unit_of(benchmark));
    let to_ns = nanoseconds(unit_of(benchmark))?;
    Some([median, low, high].map(|value| rounded(value * factor) / factor * to_ns))
}

fn unit_of(benchmark: &Benchmark) -> &str {
    benchmark.unit.as_deref().unwrap_or("ns")
}

/// Rounds a number to its printed digits.
fn rounded(value: f64) -> f64 {
    number(value).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(name: &str, status: &str, figure: f64, notes: &[&str]) -> Benchmark {
        let launch = |factor: f64| {
            let (median, cycles) = (factor * figure, 4.0 * factor * figure);
            json!({"median": median, "cycles": cycles, "samples": 11, "cycle_ns": 0.25})
        };
        let is_ok = status == "ok";
        let cycles = json!({"median": 4.0 * figure, "confidence_interval": [3.996 * figure, 4.004 * figure]});
        serde_json::from_value(json!({
            "name": name, "class": "c", "ports": [], "parameters": {}, "processes": 1,
            "status": status, "valid": is_ok, "unit": "ns", "operations": 1.0,
            "median": is_ok.then_some(figure),
            "confidence_interval": is_ok.then_some([0.999 * figure, 1.001 * figure]),
            "cycles": is_ok.then_some(cycles),
            "launches": [launch(0.999), launch(1.0), launch(1.001)],
            "samples": [], "evidence": {}, "notes": notes,
        }))
        .unwrap()
    }

    fn report_of(benchmarks: Vec<Benchmark>) -> String {
        let mut run = Run::new(Default::default());
        run.benchmarks = benchmarks;
        report(&run, false, None)
    }

    #[test]
    fn figures_are_below_each_other_on_a_narrow_terminal() {
        let mut run = Run::new(Default::default());
        run.benchmarks = vec![
            entry("statement/first();", "ok", 0.75, &["a note of several words"]),
            entry("statement/b();", "ok", 7.5, &[]),
        ];
        let lines = [
            "first();",
            "  time  3 cycles [2.997, 3.003]",
            "        0.75 ns [0.7492, 0.7507]",
            "      a note of several words",
            "b();",
            "  time  30 cycles [29.97, 30.03]",
            "        7.5 ns [7.492, 7.507]",
            "        10 times first(); [9.98,",
            "          10.02]",
        ];
        let text = report(&run, false, Some(34));
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        run.benchmarks[1].interference.is_disturbed = true;
        let text = report(&run, false, Some(34));
        let lines: Vec<&str> = text.lines().skip(5).collect();
        assert_eq!(lines[0], "  time  disturbed");
        assert_eq!(lines[1], "        30 cycles [29.97, 30.03]");
    }

    #[test]
    fn figures_are_listed_below_their_question() {
        let chain = "chain: imul rax, rax";
        let text = report_of(vec![
            entry("asm/imul rax, rax/latency", "ok", 0.75, &[chain]),
            entry("asm/imul rax, rax/throughput", "ok", 0.25, &[]),
        ]);
        let lines = [
            "imul rax, rax",
            "  latency     3 cycles [2.997, 3.003]  0.75 ns [0.7492, 0.7507]",
            "      chain: imul rax, rax",
            "  throughput  1 cycles [0.999, 1.001]  0.25 ns [0.2497, 0.2502]",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn disturbed_figure_is_marked_and_not_compared() {
        let mut disturbed = entry("statement/b;", "ok", 2.0, &[]);
        disturbed.interference.is_disturbed = true;
        let first = || entry("statement/a;", "ok", 1.0, &[]);
        let text = report_of(vec![first(), disturbed.clone()]);
        assert!(text.contains("  time  disturbed  "), "{text}");
        assert!(!text.contains("times"), "{text}");
        let text = report_of(vec![disturbed, first()]);
        assert!(!text.contains("times"), "{text}");
    }

    #[test]
    fn ratios_are_to_the_first_valid_figure() {
        let text = report_of(vec![
            entry("statement/bad();", "crashed", 1.0, &["ended"]),
            entry("statement/a();", "ok", 1.0, &[]),
            entry("statement/a/b;", "ok", 2.0, &[]),
            entry("statement/a();", "ok", 1.0, &[]),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["bad();", "  time  CRASHED", "      ended"]);
        assert_eq!((lines[3], lines[5], lines[7]), ("a();", "a/b;", "a();"));
        assert!(lines[6].contains("2 times a(); [1.99"), "{text}");
        assert!(lines[8].ends_with("~ a();"), "{text}");
    }

    /// A figure from nine launches: `cycles` holds their medians, which determine figure and
    /// interval.
    fn recorded(name: &str, cycles: [f64; 9], cycle_ns: f64) -> Benchmark {
        let mut sorted = cycles;
        sorted.sort_by(f64::total_cmp);
        let [low, median, high] = [sorted[1], sorted[4], sorted[7]];
        let mut b = entry(name, "ok", median * cycle_ns, &[]);
        b.confidence_interval = Some([low * cycle_ns, high * cycle_ns]);
        b.details.cycles =
            Some(yamba_record::run::Cycles { median, confidence_interval: [low, high] });
        let launch = b.launches[0].clone();
        let launch = |c: &f64| yamba_record::run::Launch {
            median: Some(c * cycle_ns),
            cycles: Some(*c),
            ..launch.clone()
        };
        b.launches = cycles.iter().map(launch).collect();
        b
    }

    /// The number before `word`.
    fn before(line: &str, word: &str) -> Option<f64> {
        let head = line.split(word).next()?.trim_end();
        let head = head.rsplit_once("] ").map_or(head, |(_, tail)| tail);
        head.split_whitespace().last()?.parse().ok()
    }

    /// The numbers in the last brackets of a line.
    fn last_interval(line: &str) -> Option<[f64; 2]> {
        let (_, inside) = line.trim_end_matches(']').rsplit_once('[')?;
        let (low, high) = inside.split_once(", ")?;
        Some([low.parse().ok()?, high.parse().ok()?])
    }

    /// The median time of a printed line, in ns.
    fn printed_time(line: &str) -> f64 {
        let units = [(" ns [", 1.0), (" us [", 1e3), (" ms [", 1e6), (" s [", 1e9)];
        let (word, size) = units.iter().find(|(w, _)| line.contains(w)).unwrap();
        before(line, word).unwrap() * size
    }

    #[test]
    fn printed_ratio_is_quotient_of_printed_medians_and_within_its_interval() {
        // Skewed launches: the mean of their logarithms is far from their median, as in 74.13 and
        // 9.251 cycles with 7.559 times.
        let slow = [74.13, 74.0, 74.2, 60.0, 55.0, 74.3, 74.4, 58.0, 74.5];
        let fast = [9.251, 9.2, 9.3, 9.25, 9.26, 9.9, 9.0, 9.24, 9.27];
        let near = [9.261, 9.21, 9.31, 9.26, 9.27, 9.9, 9.1, 9.25, 9.28];
        let long = slow.map(|c| c * 54_321.0);
        let without = |mut b: Benchmark| {
            b.details.cycles = None;
            b
        };
        let runs = [
            (recorded("statement/a();", fast, 0.25), recorded("statement/b();", slow, 0.25)),
            (recorded("statement/a();", slow, 0.27), recorded("statement/b();", fast, 0.31)),
            (recorded("statement/a();", fast, 0.25), recorded("statement/b();", long, 0.25)),
            (
                without(recorded("statement/a();", fast, 0.25)),
                recorded("statement/b();", long, 0.3),
            ),
            (
                recorded("statement/a();", slow, 0.25),
                without(recorded("statement/b();", fast, 0.3)),
            ),
        ];
        for (a, b) in runs {
            let in_cycles = a.details.cycles.is_some() && b.details.cycles.is_some();
            let text = report_of(vec![a, b]);
            let lines: Vec<&str> = text.lines().collect();
            let figure = |line: &str| {
                if in_cycles { before(line, " cycles [").unwrap() } else { printed_time(line) }
            };
            let quotient = figure(lines[3]) / figure(lines[1]);
            let ratio = before(lines[3], " times a();").unwrap_or_else(|| panic!("{text}"));
            let [low, high] = last_interval(lines[3]).unwrap();
            assert_eq!(number(quotient), number(ratio), "{text}");
            assert!(low <= ratio && ratio <= high, "{text}");
        }
        // Overlapping intervals show no difference.
        let text = report_of(vec![
            recorded("statement/a();", fast, 0.25),
            recorded("statement/b();", near, 0.25),
        ]);
        assert!(text.lines().nth(3).unwrap().ends_with("~ a();"), "{text}");
    }

    #[test]
    fn reason_shared_by_both_figures_is_printed_once() {
        let text = report_of(vec![
            entry("asm/ud2/latency", "crashed", 1.0, &["illegal"]),
            entry("asm/ud2/throughput", "crashed", 1.0, &["illegal"]),
        ]);
        assert_eq!(text.matches("illegal").count(), 1);
        assert_eq!(text.matches("CRASHED").count(), 2);
    }
}
