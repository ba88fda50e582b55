//! The results as a person reads them: one line a point, its evidence in it; what is wrong, below it.

use yamba_record::{Benchmark, Evidence, Run, Status};

use super::units::{number, scale};

/// How the table may look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether marks are coloured.
    pub colour: bool,
}

/// The table of a run.
pub fn table(run: &Run, style: Style) -> String {
    let rows: Vec<[String; 5]> = run.benchmarks.iter().map(cells).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut out = String::new();
    for (benchmark, row) in run.benchmarks.iter().zip(&rows) {
        out.push_str(&mark(benchmark.status, style));
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

fn mark(status: Status, style: Style) -> String {
    let (word, colour) = match status {
        Status::Ok => ("ok", "32"),
        Status::Invalid => ("INVALID", "1;31"),
        Status::Crashed => ("CRASHED", "1;31"),
        Status::Skipped => ("skipped", "2"),
    };
    if style.colour {
        format!("\x1b[{colour}m{word:7}\x1b[0m")
    } else {
        format!("{word:7}")
    }
}

/// Name, parameters, figure, interval, evidence.
fn cells(benchmark: &Benchmark) -> [String; 5] {
    let (figure, interval) = figure(benchmark);
    let each = benchmark.evidence.iter();
    let evidence: Vec<String> = each.map(|(name, e)| said(name, e)).collect();
    [
        benchmark.name.clone(),
        benchmark.parameters.to_string(),
        figure,
        interval,
        evidence.join(" "),
    ]
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
