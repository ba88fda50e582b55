//! The result table: one line per entry with its evidence, and problems below it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use yamba_record::number::number;
use yamba_record::run::IntervalScope;
use yamba_record::workers::WorkersShown;
use yamba_record::{Benchmark, Evidence, Note, Parameters, Run, Status};

use super::skipped::NOTE_INDENT;
use super::{circle_table, scaling, skipped};
use crate::cli::output;
use yamba_report::terminal::{self, Terminal};
use yamba_report::wrap;

/// Line width without a terminal.
const WIDTH: usize = 100;

/// Minimum width; a narrower table would be unreadable.
const LEAST_WIDTH: usize = 36;

/// Indentation of lines below an entry, and where the terminal has fewer than `NARROW` columns.
const INDENT: usize = 12;
const NARROW_INDENT: usize = 4;
const NARROW: usize = 60;

/// Width of the status before the cells.
const MARK: usize = 7;

/// Display options of the table.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Style {
    /// Whether marks are coloured.
    pub colour: bool,
    /// Parameters that the user set. They are shown even if all points of a benchmark have the same
    /// value.
    pub set_parameters: Vec<String>,
    /// Whether to show all tests of a measuring circle, in the paper's format.
    pub tests: bool,
    /// The group of each benchmark; empty if there is only one group.
    pub topics: BTreeMap<String, String>,
    /// Columns of the terminal; `None` without one.
    pub width: Option<usize>,
}

impl Style {
    fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH).clamp(LEAST_WIDTH, 160)
    }

    fn indent(&self) -> usize {
        if self.width() < NARROW { NARROW_INDENT } else { INDENT }
    }

    fn group(&self, benchmark: &Benchmark) -> &str {
        self.topics.get(&benchmark.name).map_or("", String::as_str)
    }
}

/// The aligned cells: name, processes or threads, parameters, figure, interval, cycles. Then the
/// unaligned rest: evidence and marks.
struct FigureRow {
    cells: [String; 6],
    rest: String,
}

/// Formats the results of a run as a table.
pub(in crate::cli) fn table(run: &Run, style: &Style) -> String {
    let all: Vec<&Benchmark> = run.benchmarks.iter().collect();
    let mut table = Table { run, style, common: shared_notes(&all), out: String::new() };
    for group in run.benchmarks.chunk_by(|a, b| style.group(a) == style.group(b)) {
        table.add_group(group, style.group(&group[0]));
    }
    table.add_lines(&skipped::not_started_line(run), 0);
    if !style.topics.is_empty() {
        table.out.push_str(&skipped::lines(run, style.width()));
        table.out.push_str(&skipped::sum(run));
    }
    for note in table.common.clone() {
        table.add_lines(&format!("All figures: {note}"), 0);
    }
    if all_within(run) {
        table.out.push_str("Intervals are within launches: they say nothing of the next run.\n");
    }
    let terminal = Terminal { width: Some(style.width()), has_colours: style.colour };
    let sections = yamba_report::sections(std::slice::from_ref(run));
    table.out.push_str(&terminal::sections(&sections, terminal));
    if let Some(text) = yamba_report::disturbance_sentences(run) {
        table.add_lines(&text, 0);
    }
    if let Some(text) = run.whose() {
        table.add_lines(&text, 0);
    }
    table.out
}

/// The table under construction.
struct Table<'a> {
    run: &'a Run,
    style: &'a Style,
    /// The notes that all entries share.
    common: Vec<&'a Note>,
    out: String,
}

impl Table<'_> {
    /// Adds consecutive entries of one group, aligned. With several topics, skipped benchmarks are
    /// listed at the run's end, and points that were not begun in each group.
    fn add_group(&mut self, group: &[Benchmark], title: &str) {
        let is_left_out = |b: &Benchmark| !title.is_empty() && b.status.is_skipped();
        let is_shown = |b: &&Benchmark| b.status != Status::NotStarted && !is_left_out(b);
        let shown: Vec<&Benchmark> = group.iter().filter(is_shown).collect();
        if shown.is_empty() {
            return;
        }
        if !title.is_empty() {
            self.out += &output::painted(title, "1", self.style.colour);
            self.out.push('\n');
        }
        let rows: Vec<FigureRow> = shown.iter().map(|b| row(self.run, b, self.style)).collect();
        let cells: Vec<&[String]> = rows.iter().map(|row| &row.cells[..]).collect();
        let widths = output::widths(&cells);
        for (i, benchmark) in shown.iter().enumerate() {
            let fits = |b: &Benchmark, r: &FigureRow| {
                let line = aligned(&r.cells, &widths).chars().count();
                let whole = line + r.rest.chars().count() + MARK + 2;
                b.name != benchmark.name || whole <= self.style.width()
            };
            let is_narrow = shown.iter().zip(&rows).all(|(b, r)| fits(b, r));
            self.add_row(benchmark, &rows[i], &widths, is_narrow);
            self.add_notes(&shown, i);
            let circles = benchmark.details.circles.as_ref();
            let mut lines =
                circles.map_or(Vec::new(), |c| circle_table::lines(c, self.style.tests));
            lines.extend(scaling_after(&shown, i));
            for line in lines {
                let indent = self.style.indent();
                self.out += format!("{:indent$}{line}", "").trim_end();
                self.out.push('\n');
            }
        }
        if !title.is_empty() {
            self.out.push('\n');
        }
    }

    /// Adds an entry. On a terminal that is narrower than the group's cells, the figure is below
    /// the name.
    fn add_row(
        &mut self,
        benchmark: &Benchmark,
        row: &FigureRow,
        widths: &[usize],
        is_narrow: bool,
    ) {
        self.out += &mark(benchmark.status, self.style.colour);
        let whole: usize = widths.iter().filter(|w| **w > 0).map(|w| w + 2).sum();
        if self.style.width.is_some() && MARK + whole > self.style.width() {
            self.add_below(row);
        } else {
            let mut line = aligned(&row.cells, widths);
            if is_narrow {
                line += &format!("  {}", row.rest);
            }
            self.out += line.trim_end();
            self.out.push('\n');
            if is_narrow {
                return;
            }
        }
        if !row.rest.is_empty() {
            self.add_lines(&row.rest, self.style.indent());
        }
    }

    /// Adds the cells that say which entry it is, and below them its figure.
    fn add_below(&mut self, row: &FigureRow) {
        let (which, figure) = row.cells.split_at(3);
        let joined = |cells: &[String]| {
            let filled = cells.iter().filter(|c| !c.is_empty());
            filled.cloned().collect::<Vec<_>>().join("  ")
        };
        let room = self.style.width().saturating_sub(MARK + 2);
        let which = joined(which);
        let indent = " ".repeat(self.style.indent().min(MARK + 2));
        for (i, line) in wrap(&which, room, "").iter().enumerate() {
            let before = if i == 0 { "  " } else { &indent };
            self.out += &format!("{before}{line}\n");
        }
        let figure = joined(figure);
        if !figure.is_empty() {
            self.add_lines(&figure, self.style.indent());
        }
    }

    /// Adds an entry's notes, without those shared by the whole run. Notes shared by all entries of
    /// a benchmark follow its last entry.
    fn add_notes(&mut self, shown: &[&Benchmark], entry: usize) {
        let benchmark = shown[entry];
        let same_name = |b: &&&Benchmark| b.name == benchmark.name;
        let points: Vec<&Benchmark> = shown.iter().filter(same_name).copied().collect();
        let mut of_points = shared_notes(&points);
        let is_shared = |note: &Note| {
            benchmark.status == Status::Ok
                && (self.common.contains(&note) || of_points.contains(&note))
        };
        let own = benchmark.notes.iter();
        let own = own.filter(|note| !is_shared(note) && note.without_cycles().is_none());
        let own: Vec<&Note> = own.collect();
        if let Some(distribution) = &benchmark.details.distribution {
            self.add_lines(&yamba_report::percentiles(distribution), self.style.indent());
        }
        for note in own {
            self.add_lines(&note.to_string(), self.style.indent());
        }
        if shown[entry + 1..].iter().any(|b| same_name(&b)) {
            return;
        }
        of_points.retain(|note| !self.common.contains(note));
        for note in of_points {
            let note = format!("all of {}: {note}", benchmark.name);
            self.add_lines(&note, self.style.indent());
        }
    }

    /// Adds a note. A long single line is wrapped; a note with several lines keeps them.
    fn add_lines(&mut self, note: &str, indent: usize) {
        let mut lines: Vec<Cow<str>> = note.lines().map(Cow::from).collect();
        if lines.len() == 1 {
            lines = wrap(note, self.style.width() - indent, NOTE_INDENT);
        }
        for line in lines {
            self.out += &format!("{:indent$}{line}\n", "");
        }
    }
}

/// Joins the cells, without the columns that are empty in every row.
fn aligned(cells: &[String; 6], widths: &[usize]) -> String {
    let shown = cells.iter().zip(widths).filter(|(_, width)| **width > 0);
    shown.map(|(cell, width)| format!("  {cell:width$}")).collect()
}

fn mark(status: Status, colour: bool) -> String {
    let (word, code) = match status {
        Status::Ok => ("ok", "32"),
        Status::Invalid => ("INVALID", "1;31"),
        Status::Crashed => ("CRASHED", "1;31"),
        Status::Skipped | Status::NotStarted => ("skipped", "2"),
    };
    output::painted(&format!("{word:MARK$}"), code, colour)
}

fn row(run: &Run, benchmark: &Benchmark, style: &Style) -> FigureRow {
    let (figure, interval) = figure(benchmark);
    let evidence = benchmark.details.evidence.iter();
    let evidence = evidence
        .filter(|(_, e)| e.median.is_some() || !benchmark.status.is_skipped())
        .map(|(name, e)| said(name, e));
    let rest: Vec<String> = evidence.chain(marks(run, benchmark)).collect();
    let cells = [
        yamba_report::short_name(&benchmark.name),
        workers(run, benchmark),
        yamba_report::short_label(&distinguishing(run, benchmark, style).to_string()),
        figure,
        interval,
        cycles(benchmark),
    ];
    // A name from an imported document must not break the line.
    FigureRow {
        cells: cells.map(|c| c.replace(char::is_control, " ")),
        rest: rest.join(" ").replace(char::is_control, " "),
    }
}

/// The number of processes or threads, shown if any entry of the run has several.
fn workers(run: &Run, benchmark: &Benchmark) -> String {
    let shown = WorkersShown::new(run.benchmarks.iter().map(Benchmark::workers));
    shown.text(benchmark.workers())
}

/// The parameters to show: those that distinguish the points of a benchmark or were swept, and
/// those that the user set. A run's document has all parameters.
fn distinguishing(run: &Run, benchmark: &Benchmark, style: &Style) -> Parameters {
    let differs = |name: &str| {
        let mut same_name = run.benchmarks.iter().filter(|b| b.name == benchmark.name);
        same_name.any(|b| b.parameters.get(name) != benchmark.parameters.get(name))
    };
    let is_shown = |name: &String| {
        style.set_parameters.contains(name)
            || benchmark.declaration.swept.contains(name)
            || differs(name)
    };
    let each = benchmark.parameters.0.iter();
    Parameters(each.filter(|(name, _)| is_shown(name)).cloned().collect())
}

/// The median and its interval. Imported figures and those of few runs of a command have none.
fn figure(benchmark: &Benchmark) -> (String, String) {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let Some(median) = benchmark.median else {
        return (String::new(), String::new());
    };
    let interval = benchmark.shown_interval();
    let interval = interval.map(|ends| yamba_report::interval(ends, median, unit));
    (yamba_report::figure(median, unit), interval.unwrap_or("no interval".to_owned()))
}

/// The cycles of a figure, omitted for long times.
fn cycles(benchmark: &Benchmark) -> String {
    if benchmark.notes.iter().any(|note| matches!(note, Note::CyclesUnknown(_))) {
        return "cycles unknown".to_owned();
    }
    let known = benchmark.details.cycles.filter(|c| c.median < 1e5);
    known.map_or(String::new(), |c| format!("{} cycles", number(c.median)))
}

/// Short remarks on how the figure was obtained.
fn marks(run: &Run, benchmark: &Benchmark) -> Option<String> {
    let mut marks = Vec::new();
    if benchmark.interference.is_disturbed {
        let by_neighbour = yamba_report::disturbing_share(benchmark);
        marks.push(by_neighbour.map_or("disturbed".to_owned(), |share| {
            format!("disturbed, {:.0} % contended", share * 100.0)
        }));
    }
    if benchmark.interference.launches_disagree {
        marks.push("launches disagree".to_owned());
    }
    if benchmark.interference.discarded > 0 {
        marks.push(discarded(benchmark));
    }
    if benchmark.interval_scope == Some(IntervalScope::WithinLaunches) && !all_within(run) {
        marks.push("within launches".to_owned());
    }
    (!marks.is_empty()).then(|| format!("({})", marks.join(", ")))
}

/// The number of discarded batches, and how many had each disturbance; a batch can have several.
fn discarded(benchmark: &Benchmark) -> String {
    let count = format!("{} discarded", benchmark.interference.discarded);
    let mut kinds: Vec<(&String, &u64)> = benchmark.interference.disturbed.iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let kinds = kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
    match kinds.collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => count,
        kinds => format!("{count}: {kinds}"),
    }
}

/// Whether all intervals of the run are within launches, so that none predicts another run.
fn all_within(run: &Run) -> bool {
    let mut kinds = run.benchmarks.iter().filter_map(|b| b.interval_scope);
    let first = kinds.next();
    first == Some(IntervalScope::WithinLaunches)
        && kinds.all(|k| k == IntervalScope::WithinLaunches)
}

/// The notes that all valid entries share, if there are several. They are printed once. Notes about
/// missing cycles are omitted: the column says `cycles unknown`, or is empty if the thread was
/// blocked.
fn shared_notes<'a>(entries: &[&'a Benchmark]) -> Vec<&'a Note> {
    let good = || entries.iter().filter(|b| b.status == Status::Ok);
    let Some(first) = good().next().filter(|_| good().count() > 1) else {
        return Vec::new();
    };
    let is_shared =
        |note: &&Note| note.without_cycles().is_none() && good().all(|b| b.notes.contains(note));
    first.notes.iter().filter(is_shared).collect()
}

/// The scaling curve that ends with this entry. Its entries differ only in the number of processes
/// or threads.
fn scaling_after(all: &[&Benchmark], last: usize) -> Vec<String> {
    let same = |b: &&&Benchmark| b.name == all[last].name && b.parameters == all[last].parameters;
    if all.get(last + 1).is_some_and(|b| same(&b)) {
        return Vec::new();
    }
    let curve = all[..=last].iter().rev().take_while(same).copied();
    scaling::lines(&curve.collect::<Vec<_>>())
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
