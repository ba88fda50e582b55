//! The results as a person reads them: one line a point, its evidence in it; what is wrong, below it.

use yamba_record::{Benchmark, Evidence, Parameters, Run, Status};

use super::units::{number, scale};

/// How the table may look.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Whether marks are coloured.
    pub colour: bool,
    /// Parameters to show even where all points of a benchmark share their value: those that the user gave.
    pub given: Vec<String>,
}

/// The table of a run.
pub fn table(run: &Run, style: &Style) -> String {
    let each = run.benchmarks.iter();
    let rows: Vec<[String; 5]> = each.map(|b| cells(run, b, style)).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut out = String::new();
    for (benchmark, row) in run.benchmarks.iter().zip(&rows) {
        out.push_str(&mark(benchmark.status, style.colour));
        for (cell, width) in row.iter().zip(widths) {
            if width > 0 {
                out.push_str(&format!("  {cell:width$}"));
            }
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        for note in &benchmark.notes {
            for line in note.lines() {
                out.push_str(&format!("            {line}\n"));
            }
        }
    }
    out
}

fn mark(status: Status, colour: bool) -> String {
    let (word, code) = match status {
        Status::Ok => ("ok", "32"),
        Status::Invalid => ("INVALID", "1;31"),
        Status::Crashed => ("CRASHED", "1;31"),
        Status::Skipped => ("skipped", "2"),
    };
    if colour {
        format!("\x1b[{code}m{word:7}\x1b[0m")
    } else {
        format!("{word:7}")
    }
}

/// Name, parameters, figure, interval, evidence.
fn cells(run: &Run, benchmark: &Benchmark, style: &Style) -> [String; 5] {
    let (figure, interval) = figure(benchmark);
    let each = benchmark.evidence.iter();
    let evidence: Vec<String> = each.map(|(name, e)| said(name, e)).collect();
    [
        benchmark.name.clone(),
        distinguishing(run, benchmark, style).to_string(),
        figure,
        interval,
        evidence.join(" "),
    ]
}

/// The parameters that tell the points of a benchmark apart, and those that were given; a run's document has them all.
fn distinguishing(run: &Run, benchmark: &Benchmark, style: &Style) -> Parameters {
    let differs = |name: &str| {
        let mut same_name = run.benchmarks.iter().filter(|b| b.name == benchmark.name);
        same_name.any(|b| b.parameters.get(name) != benchmark.parameters.get(name))
    };
    let is_shown = |name: &String| style.given.contains(name) || differs(name);
    let each = benchmark.parameters.0.iter();
    Parameters(each.filter(|(name, _)| is_shown(name)).cloned().collect())
}

/// A figure and its interval are shown together or not at all.
fn figure(benchmark: &Benchmark) -> (String, String) {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (Some(median), Some([low, high])) = (benchmark.median, benchmark.interval) else {
        return (String::new(), String::new());
    };
    let (factor, unit) = scale(median, unit);
    let text = format!("{} {unit}", number(median * factor));
    let interval = format!("[{}, {}]", number(low * factor), number(high * factor));
    (text.trim_end().to_owned(), interval)
}

fn said(name: &str, evidence: &Evidence) -> String {
    let median = evidence.median.map_or("none".to_owned(), number);
    match (evidence.min, evidence.max) {
        (Some(min), Some(max)) if number(min) != number(max) => {
            format!("{name}={median} ({} to {})", number(min), number(max))
        }
        _ => format!("{name}={median}"),
    }
}
