//! The result table: one line per entry with its evidence, and problems below it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use yamba_record::number::{number, scale};
use yamba_record::run::IntervalKind;
use yamba_record::{Benchmark, Evidence, Parameters, Run, Status};

use super::skipped::NOTE_INDENT;
use super::{circle_table, scaling, skipped};
use crate::wrap::wrap;
use yamba_harness::{explains_absence, is_not_begun, says_unknown};

/// Line width without a terminal.
const WIDTH: usize = 100;

/// Minimum width; a narrower table would be unreadable.
const LEAST_WIDTH: usize = 60;

/// Indentation of lines below an entry.
const INDENT: usize = 12;

/// Display options of the table.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Style {
    /// Whether marks are coloured.
    pub colour: bool,
    /// Parameters that the user set. They are shown even if all points of a benchmark have the same value.
    pub given: Vec<String>,
    /// Whether to show all tests of a measuring circle, in the paper's format.
    pub tests: bool,
    /// The group of each benchmark; empty if there is only one group.
    pub groups: BTreeMap<String, String>,
    /// Columns of the terminal; `None` without one.
    pub width: Option<usize>,
}

impl Style {
    fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH).clamp(LEAST_WIDTH, 160)
    }

    fn group(&self, benchmark: &Benchmark) -> &str {
        self.groups.get(&benchmark.name).map_or("", String::as_str)
    }
}

/// The aligned cells: name, processes, parameters, figure, interval, cycles. Then the unaligned rest: evidence and marks.
struct Row {
    cells: [String; 6],
    rest: String,
}

/// Formats the results of a run as a table.
pub(in crate::cli) fn table(run: &Run, style: &Style) -> String {
    let all: Vec<&Benchmark> = run.benchmarks.iter().collect();
    let common = shared_notes(&all);
    let mut out = String::new();
    let mut rest = &run.benchmarks[..];
    while let Some(first) = rest.first() {
        let title = style.group(first);
        let other = rest.iter().position(|b| style.group(b) != title);
        let (group, later) = rest.split_at(other.unwrap_or(rest.len()));
        rest = later;
        add_group(&mut out, run, group, title, &common, style);
    }
    add_lines(&mut out, &skipped::not_begun(run), 0, style.width());
    if !style.groups.is_empty() {
        out.push_str(&skipped::lines(run, style.width()));
        out.push_str(&skipped::sum(run));
    }
    for note in common {
        add_lines(&mut out, &format!("Of all: {note}"), 0, style.width());
    }
    if all_within(run) {
        out.push_str("Intervals are within launches: they say nothing of the next run.\n");
    }
    if let Some(text) = run.whose() {
        add_lines(&mut out, &text, 0, style.width());
    }
    out
}

/// Adds consecutive entries of one group, aligned. With several groups, skipped benchmarks are listed at the run's end, and points that were not
/// begun in each group.
fn add_group(
    out: &mut String,
    run: &Run,
    group: &[Benchmark],
    title: &str,
    common: &[&String],
    style: &Style,
) {
    let is_told = |b: &Benchmark| title.is_empty() || b.status != Status::Skipped;
    let is_shown = |b: &&Benchmark| is_told(b) && !is_not_begun(b);
    let shown: Vec<&Benchmark> = group.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return;
    }
    if !title.is_empty() {
        out.push_str(&heading(title, style.colour));
    }
    let rows: Vec<Row> = shown.iter().map(|b| row(run, b, style)).collect();
    let longest = |i: usize| rows.iter().map(|r| r.cells[i].chars().count()).max();
    let widths: [usize; 6] = std::array::from_fn(|i| longest(i).unwrap_or(0));
    for (i, benchmark) in shown.iter().enumerate() {
        let fits = |b: &Benchmark, r: &Row| {
            let line = aligned(&r.cells, &widths).chars().count();
            b.name != benchmark.name || line + r.rest.chars().count() + 9 <= style.width()
        };
        let is_narrow = shown.iter().zip(&rows).all(|(b, r)| fits(b, r));
        add_row(out, benchmark, &rows[i], &widths, is_narrow, style);
        add_notes(out, &shown, i, common, style.width());
        let circles = benchmark.circles.as_ref();
        for line in circles.map_or(Vec::new(), |c| circle_table::lines(c, style.tests)) {
            out.push_str(format!("{:INDENT$}{line}", "").trim_end());
            out.push('\n');
        }
        for line in scaling_after(&shown, i) {
            out.push_str(&format!("{:INDENT$}{line}\n", ""));
        }
    }
    if !title.is_empty() {
        out.push('\n');
    }
}

fn heading(title: &str, colour: bool) -> String {
    match colour {
        true => format!("\x1b[1m{title}\x1b[0m\n"),
        false => format!("{title}\n"),
    }
}

fn aligned(cells: &[String; 6], widths: &[usize; 6]) -> String {
    let shown = cells.iter().zip(widths).filter(|(_, width)| **width > 0);
    let mut line = String::new();
    for (cell, width) in shown {
        line.push_str(&format!("  {cell:width$}"));
    }
    line
}

fn add_row(
    out: &mut String,
    benchmark: &Benchmark,
    row: &Row,
    widths: &[usize; 6],
    is_narrow: bool,
    style: &Style,
) {
    out.push_str(&mark(benchmark.status, style.colour));
    out.push_str(&aligned(&row.cells, widths));
    if is_narrow && !row.rest.is_empty() {
        out.push_str(&format!("  {}", row.rest));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    if !is_narrow && !row.rest.is_empty() {
        add_note(out, &row.rest, style.width());
    }
}

/// Adds an entry's notes, without those shared by the whole run. Notes shared by all entries of a benchmark follow its last entry.
fn add_notes(
    out: &mut String,
    shown: &[&Benchmark],
    entry: usize,
    common: &[&String],
    width: usize,
) {
    let benchmark = shown[entry];
    let same_name = |b: &&&Benchmark| b.name == benchmark.name;
    let points: Vec<&Benchmark> = shown.iter().filter(same_name).copied().collect();
    let of_points = shared_notes(&points);
    let is_told = |n: &&String| {
        benchmark.status == Status::Ok && (common.contains(n) || of_points.contains(n))
    };
    for note in benchmark
        .notes
        .iter()
        .filter(|n| !is_told(n) && !is_about_cycles(n))
    {
        add_note(out, note, width);
    }
    if shown[entry + 1..].iter().any(|b| same_name(&b)) {
        return;
    }
    for note in of_points.iter().filter(|n| !common.contains(n)) {
        add_note(out, &format!("all of {}: {note}", benchmark.name), width);
    }
}

fn add_note(out: &mut String, note: &str, width: usize) {
    add_lines(out, note, INDENT, width);
}

/// Adds a note. A long single line is wrapped; a note with several lines keeps them.
fn add_lines(out: &mut String, note: &str, indent: usize, width: usize) {
    let lines: Vec<&str> = note.lines().collect();
    let broken = match lines[..] {
        [line] => wrap(line, width - indent, NOTE_INDENT),
        _ => lines.into_iter().map(Cow::from).collect(),
    };
    for line in broken {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
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

fn row(run: &Run, benchmark: &Benchmark, style: &Style) -> Row {
    let (figure, interval) = figure(run, benchmark);
    let mut rest: Vec<String> = benchmark
        .evidence
        .iter()
        .filter(|(_, e)| e.median.is_some() || benchmark.status != Status::Skipped)
        .map(|(name, e)| said(name, e))
        .collect();
    rest.extend(marks(run, benchmark));
    let cells = [
        benchmark.name.clone(),
        processes(run, benchmark),
        distinguishing(run, benchmark, style).to_string(),
        figure,
        interval,
        cycles(benchmark),
    ];
    // A name from an imported document must not break the line.
    Row {
        cells: cells.map(|c| c.replace(char::is_control, " ")),
        rest: rest.join(" ").replace(char::is_control, " "),
    }
}

/// The number of processes, shown if any entry of the run has several.
fn processes(run: &Run, benchmark: &Benchmark) -> String {
    if run.benchmarks.iter().all(|b| b.processes == 1) {
        return String::new();
    }
    format!("P={}", benchmark.processes)
}

/// The parameters to show: those that distinguish the points of a benchmark or were swept, and those that the user set. A run's document has all
/// parameters.
fn distinguishing(run: &Run, benchmark: &Benchmark, style: &Style) -> Parameters {
    let differs = |name: &str| {
        let mut same_name = run.benchmarks.iter().filter(|b| b.name == benchmark.name);
        same_name.any(|b| b.parameters.get(name) != benchmark.parameters.get(name))
    };
    let is_shown = |name: &String| {
        style.given.contains(name) || benchmark.swept.contains(name) || differs(name)
    };
    let each = benchmark.parameters.0.iter();
    Parameters(each.filter(|(name, _)| is_shown(name)).cloned().collect())
}

/// The median and its interval. Imported figures have no interval.
fn figure(run: &Run, benchmark: &Benchmark) -> (String, String) {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let Some(median) = benchmark.median else {
        return (String::new(), String::new());
    };
    let (factor, unit) = scale(median, unit);
    let text = format!("{} {unit}", number(median * factor));
    let interval = match benchmark.interval {
        Some([low, high]) => format!("[{}, {}]", number(low * factor), number(high * factor)),
        None if run.producer.imported.is_some() => "no interval".to_owned(),
        None => return (String::new(), String::new()),
    };
    (text.trim_end().to_owned(), interval)
}

/// The cycles of a figure, omitted for long times.
fn cycles(benchmark: &Benchmark) -> String {
    if benchmark.notes.iter().any(|n| says_unknown(n)) {
        return "cycles unknown".to_owned();
    }
    let known = benchmark.cycles.filter(|c| c.median < 1e5);
    known.map_or(String::new(), |c| format!("{} cycles", number(c.median)))
}

/// Whether the note is about missing cycles. The table omits it: the column says `cycles unknown`, or is empty if the thread was blocked.
fn is_about_cycles(note: &str) -> bool {
    explains_absence(note)
}

/// Short remarks on how the figure was obtained.
fn marks(run: &Run, benchmark: &Benchmark) -> Option<String> {
    let mut marks = Vec::new();
    if benchmark.is_disturbed {
        marks.push("disturbed".to_owned());
    }
    if benchmark.set_aside > 0 {
        marks.push(format!("{} set aside", benchmark.set_aside));
    }
    if benchmark.interval_kind == Some(IntervalKind::WithinLaunches) && !all_within(run) {
        marks.push("within launches".to_owned());
    }
    (!marks.is_empty()).then(|| format!("({})", marks.join(", ")))
}

/// Whether all intervals of the run are within launches, so that none predicts another run.
fn all_within(run: &Run) -> bool {
    let mut kinds = run.benchmarks.iter().filter_map(|b| b.interval_kind);
    let first = kinds.next();
    first == Some(IntervalKind::WithinLaunches) && kinds.all(|k| k == IntervalKind::WithinLaunches)
}

/// The notes that all valid entries share, if there are several. They are printed once.
fn shared_notes<'a>(entries: &[&'a Benchmark]) -> Vec<&'a String> {
    let good = || entries.iter().filter(|b| b.status == Status::Ok);
    let Some(first) = good().next().filter(|_| good().count() > 1) else {
        return Vec::new();
    };
    let is_shared =
        |note: &&String| !is_about_cycles(note) && good().all(|b| b.notes.contains(note));
    first.notes.iter().filter(is_shared).collect()
}

/// The scaling curve that ends with this entry. Its entries differ only in the number of processes.
fn scaling_after(all: &[&Benchmark], last: usize) -> Vec<String> {
    let same = |b: &&&Benchmark| b.name == all[last].name && b.parameters == all[last].parameters;
    if all.get(last + 1).is_some_and(|b| same(&b)) {
        return Vec::new();
    }
    let curve: Vec<&Benchmark> = all[..=last]
        .iter()
        .rev()
        .take_while(same)
        .copied()
        .collect();
    scaling::lines(&curve)
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

#[cfg(test)]
mod tests;
