//! The table that nanobench prints. Its last column has the title above the names.
//!
//! A time has two decimals, so that of a short operation has few digits, and its rate, which stands
//! beside it, has more. The figure is computed from the number with the smaller rounding.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use yamba_record::{Parameters, Run, Status};

use super::super::DocumentFault;
use super::super::foreign::{Figure, Number, Results};
use super::super::words::decimal;
use super::{NO_TITLE, OPERATION, rate_kind};

/// The largest part of the last printed digit that rounding takes away.
const HALF: f64 = 0.005;

/// Columns beside the time and its rate. Another column is a variable of the benchmark.
const KNOWN: [&str; 6] = ["relative", "err%", "IPC", "miss%", "total", "95% CI"];

/// The column of the size for which the complexity is computed.
const COMPLEXITY: &str = "complexityN";

/// The first column of the table of complexities, which has three.
const COEFFICIENT: &str = "coefficient";
const COMPLEXITY_COLUMNS: usize = 3;

/// Beginnings of lines that nanobench prints beside its tables.
const MESSAGES: [&str; 6] = [
    "Warning, results might be unstable:",
    "Recommendations",
    "* ",
    "Note: perf_event_open failed",
    "This is usually a container",
    "/proc/sys/kernel/perf_event_paranoid",
];

/// Why a head has no figure. nanobench prints it with the first row.
const NO_ROW: &str = "the head of a table without a row";

/// Maximum length of a line.
const LONGEST_LINE: usize = 4_000;

/// Whether a text has the head of such a table.
pub(crate) fn is_it(head: &str) -> bool {
    let mut lines = head.lines().peekable();
    while let Some(line) = lines.next() {
        let is_separated = lines.peek().is_some_and(|next| is_separator(next));
        if is_separated && Header::read(line).is_some() {
            return true;
        }
    }
    false
}

/// Parses what a program printed. `name` is the file name.
///
/// # Errors
/// If it contains no figure or too many.
pub(crate) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let kept =
        text.lines().map(|l| if l.starts_with('|') { format!("{l}\n") } else { "\n".into() });
    let mut results = Results::new("nanobench", name, kept.collect());
    let mut header = None;
    // The place of a head that no row has followed yet.
    let mut bare_head: Option<String> = None;
    let mut known = BTreeSet::new();
    let count = text.lines().count();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let place = format!("line {}", index + 1);
        let is_cut_at = |at: usize| !text.ends_with('\n') && at + 1 == count;
        let is_separated =
            lines.peek().is_some_and(|(next, rule)| is_separator(rule) && !is_cut_at(*next));
        let is_cut = is_cut_at(index);
        let line = line.trim_end();
        if is_separated && let Some(place) = bare_head.take() {
            results.leave_out(&place, NO_ROW);
        }
        if (is_cut && !line.is_empty()) || line.len() > LONGEST_LINE {
            bare_head = None;
            results.is_cut_off |= is_cut;
            results.leave_out(&place, &format!("not a whole line: {line}"));
        } else if is_separated && is_complexity(line) {
            lines.next();
        } else if is_separated {
            header = Header::read(line);
            if header.is_none() {
                results.leave_out(&place, &format!("no known head of a table: {line}"));
            } else {
                bare_head = Some(place);
            }
            lines.next();
        } else if is_separator(line) || Header::read(line).is_some() {
            // A part of a head: the rows below it are of an unknown table.
            header = None;
            results.leave_out(&place, line);
        } else if line.starts_with('|') {
            bare_head = None;
            match header.as_ref().and_then(|header| header.row(line)) {
                Some(row) => add(&row, &place, &mut known, &mut results)?,
                None if cells(line).len() == COMPLEXITY_COLUMNS => {}
                None => results.leave_out(&place, line),
            }
        } else if !line.is_empty() && !MESSAGES.iter().any(|begin| line.starts_with(begin)) {
            results.leave_out(&place, line);
        }
    }
    if let Some(place) = bare_head {
        results.is_cut_off = true;
        results.leave_out(&place, NO_ROW);
    }
    results.run()
}

/// Adds the figures of a row. Of rows with one name, the first counts, even if it has no figure.
fn add(
    row: &Row,
    place: &str,
    known: &mut BTreeSet<String>,
    results: &mut Results,
) -> Result<(), DocumentFault> {
    if !known.insert(format!("{} {}", row.name, Parameters(row.parameters.clone()))) {
        results.leave_out(place, &format!("{} stands again; the first counts", row.name));
        return Ok(());
    }
    match row.numbers() {
        Ok(numbers) => numbers.into_iter().try_for_each(|number| results.push(number)),
        Err(reason) => {
            results.leave_out(place, &format!("{}: {reason}", row.name));
            Ok(())
        }
    }
}

/// The head of a table.
struct Header {
    /// All columns but the last.
    columns: Vec<String>,
    title: String,
    /// The place of the time. The rate is in the next column.
    time: usize,
    time_unit: &'static str,
    /// Number of these times in a second.
    per_second: f64,
    unit: String,
}

/// A row of a table, without the columns that are not read.
struct Row {
    name: String,
    parameters: Vec<(String, Value)>,
    values: Result<Values, (Status, String)>,
    time_unit: &'static str,
    per_second: f64,
    unit: String,
}

struct Values {
    time: f64,
    rate: f64,
}

fn cells(line: &str) -> Vec<&str> {
    line.strip_prefix('|').unwrap_or(line).split('|').map(str::trim).collect()
}

fn is_separator(line: &str) -> bool {
    let cells = cells(line.trim_end());
    let is_rule = |cell: &&str| cell.contains("--") && cell.bytes().all(|b| b"-:".contains(&b));
    line.starts_with('|') && cells.len() > 1 && cells.iter().all(is_rule)
}

fn is_complexity(line: &str) -> bool {
    cells(line).first() == Some(&COEFFICIENT)
}

impl Header {
    /// `None`: another line.
    fn read(line: &str) -> Option<Header> {
        if !line.starts_with('|') {
            return None;
        }
        let mut columns: Vec<String> = cells(line).into_iter().map(str::to_owned).collect();
        let title = columns.pop()?;
        if columns.iter().any(String::is_empty) {
            return None;
        }
        let time = columns.windows(2).position(|pair| time_and_unit(pair).is_some())?;
        let (name, unit) = time_and_unit(&columns[time..])?;
        let (time_unit, per_second) = match name {
            "ns" => ("ns", 1e9),
            "us" | "µs" => ("us", 1e6),
            "ms" => ("ms", 1e3),
            "s" => ("s", 1.0),
            _ => return None,
        };
        let unit = unit.to_owned();
        Some(Header { columns, title, time, time_unit, per_second, unit })
    }

    /// A row below this head. `None`: another line.
    fn row(&self, line: &str) -> Option<Row> {
        let line = line.strip_prefix('|')?;
        let mut cells: Vec<&str> =
            line.splitn(self.columns.len() + 1, '|').map(str::trim).collect();
        let last = cells.pop()?;
        if cells.len() != self.columns.len() {
            return None;
        }
        let (name, failure) = name(last)?;
        let values = match failure {
            Some(message) => Err((Status::Crashed, message)),
            None => Ok(Values {
                time: grouped(cells[self.time])?,
                rate: grouped(cells[self.time + 1])?,
            }),
        };
        Some(Row {
            name,
            parameters: self.parameters(&cells),
            values,
            time_unit: self.time_unit,
            per_second: self.per_second,
            unit: self.unit.clone(),
        })
    }

    /// The title, the size, and the variables of a benchmark.
    fn parameters(&self, cells: &[&str]) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        if self.title != NO_TITLE {
            all.push(("title".to_owned(), json!(self.title)));
        }
        let is_counter = |column: &str| {
            ["ins", "cyc", "bra"].iter().any(|kind| column == format!("{kind}/{}", self.unit))
        };
        for (at, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            let is_figure = at == self.time || at == self.time + 1;
            if is_figure || KNOWN.contains(&column.as_str()) || is_counter(column) {
                continue;
            }
            let value = match grouped(cell) {
                Some(number) if column == COMPLEXITY => json!(number),
                _ => json!(cell),
            };
            all.push((column.clone(), value));
        }
        all
    }
}

impl Row {
    /// The time of a unit, and the rate of units other than operations. The error says why
    /// there are no numbers.
    fn numbers(&self) -> Result<Vec<Number>, String> {
        let number = |figure, unit: &str, value| {
            let parameters = Parameters(self.parameters.clone());
            Number { parameters, ..Number::new(&self.name, figure, unit, value) }
        };
        let Values { time, rate } = match &self.values {
            Ok(values) => values,
            Err(failure) => {
                let failure = Err(failure.clone());
                return Ok(vec![number(Figure::Latency, self.time_unit, failure)]);
            }
        };
        // Both are medians of the same epochs.
        let may_be = |value: f64, other: f64| value * (1.0 + 1e-9) + HALF >= other;
        let slowest = self.per_second / (rate - HALF).max(0.0);
        let fastest = self.per_second / (rate + HALF);
        if !(may_be(slowest, *time) && may_be(*time, fastest)) {
            return Err(format!("its time {time} and its rate {rate} contradict each other"));
        }
        let (time, rate, rounding) = if HALF / time <= HALF / rate {
            (*time, self.per_second / time, HALF / time)
        } else {
            (self.per_second / rate, *rate, HALF / rate)
        };
        let rounded = format!("nanobench rounds it by up to {rounding:.1e} of its value");
        let mut value = number(Figure::Latency, self.time_unit, Ok(time));
        value.notes.push(rounded.clone());
        if self.unit == OPERATION {
            return Ok(vec![value]);
        }
        value.notes.push(format!("the time of one {}", self.unit));
        let (figure, unit) = rate_kind(&self.unit);
        let mut rate = number(figure, &unit, Ok(rate));
        rate.parameters.0.push(("counter".to_owned(), json!(format!("{}/s", self.unit))));
        rate.notes.push(rounded);
        Ok(vec![value, rate])
    }
}

/// The two parts of the head of a time, which stands before that of its rate: `ns/op | op/s`.
fn time_and_unit(columns: &[String]) -> Option<(&str, &str)> {
    let (time, unit) = columns[0].split_once('/')?;
    (columns[1] == format!("{unit}/s")).then_some((time, unit))
}

/// The name in the last cell, and why the benchmark failed. `None`: the cell has another form.
fn name(cell: &str) -> Option<(String, Option<String>)> {
    let (is_failed, cell) = match cell.strip_prefix(":boom: ") {
        Some(rest) => (true, rest),
        None => (false, cell.strip_prefix(":wavy_dash: ").unwrap_or(cell)),
    };
    let quoted = cell.strip_prefix('`')?;
    let (name, rest) = quoted.split_at(end_of_name(quoted)?);
    let rest = &rest[1..];
    let reason = rest.strip_prefix(" (").and_then(|reason| reason.strip_suffix(')'));
    if !rest.is_empty() && reason.is_none() {
        return None;
    }
    let failure = is_failed.then(|| reason.unwrap_or("without a reason").to_owned());
    Some((name.replace("``", "`"), failure))
}

/// The place of the mark after a name. A mark in the name stands twice.
fn end_of_name(text: &str) -> Option<usize> {
    let mut marks = text.match_indices('`').map(|(at, _)| at).peekable();
    while let Some(at) = marks.next() {
        if marks.next_if_eq(&(at + 1)).is_none() {
            return Some(at);
        }
    }
    None
}

/// Parses a number with commas between its thousands.
fn grouped(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.split(',');
    let is_first = (1..=3).contains(&groups.next()?.len());
    if !is_first || !groups.all(|group| group.len() == 3) || decimals.contains(',') {
        return None;
    }
    decimal(&text.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_between_thousands() {
        let right =
            [("0.62", 0.62), ("1,609,568,685.23", 1_609_568_685.23), ("17", 17.0), ("1,000", 1e3)];
        for (text, number) in right {
            assert_eq!(grouped(text), Some(number), "{text}");
        }
        for text in
            ["0,62", "180,277,83", "1609.5", "-0.62", "1e3", "nan", "inf", "", "1,60.2", "5.", ".5"]
        {
            assert_eq!(grouped(text), None, "{text}");
        }
    }

    #[test]
    fn name_may_contain_the_marks_of_a_table() {
        let is = |cell, name: &str| assert_eq!(super::name(cell), Some((name.to_owned(), None)));
        is("`add`", "add");
        is(
            ":wavy_dash: `a | b` (Unstable with ~9.0 iters. Increase `minEpochIterations`)",
            "a | b",
        );
        is("`a``b`", "a`b");
        let failed = super::name(":boom: `x` (iterations overflow)");
        assert_eq!(failed, Some(("x".to_owned(), Some("iterations overflow".to_owned()))));
        for cell in ["add", "`add", "`add` x", ":boom: add", ""] {
            assert_eq!(super::name(cell), None, "{cell}");
        }
    }
}
