//! Result files of lmbench 3 and variants. Lines in brackets contain facts about machine and
//! settings, others `NAME: NUMBER UNIT`, and a sweep is a block of number lines under a heading.
//!
//! A line that is not understood ends the block and the heading above it, so that no figure gets a
//! heading that is not its own.
//!
//! Names and parameters are kept as lmbench prints them. Its `MB` and `KB` are 10^6 and 10^3 bytes
//! (lib_timing.c), but the sizes of its load latencies are in 2^20 bytes (lat_mem_rd.c). Sizes are
//! kept as printed, since they are rounded.

use chrono::NaiveDateTime;
use serde_json::{Value, json};
use yamba_record::Parameters;

use super::DocumentFault;
use super::foreign::{Figure, Number, Results};
use super::words::number;

/// The beginning of lmbench results.
const MARK: &[u8] = b"[lmbench";

/// Number of bytes that are searched for it, since messages of other programs may come first.
pub(super) const SEARCHED: usize = 1 << 16;

/// Maximum length of a line with a figure or a heading. A heading is copied into each figure of its
/// block.
const LONGEST_LINE: usize = 400;

/// Beginnings of lines of lmbench. They identify results without the first line.
const LINES: [&str; 12] = [
    "Simple syscall: ",
    "Simple read: ",
    "Simple write: ",
    "Simple stat: ",
    "Simple open/close: ",
    "Signal handler ",
    "Protection fault: ",
    "Pipe latency: ",
    "AF_UNIX sock stream ",
    "Process fork+",
    "Memory load latency",
    "\"size=0k ovr=",
];

/// The title of lmbench's summaries.
const SUMMARY: &[u8] = b"L M B E N C H";

/// Whether the first [`SEARCHED`] bytes of a file are results of lmbench, with their first line or
/// without it.
pub(super) fn is_it(head: &[u8]) -> bool {
    let lines = || head.split(|b| *b == b'\n');
    let is_json = head.trim_ascii_start().starts_with(b"{");
    let has_figure = |line: &[u8]| LINES.iter().any(|begin| line.starts_with(begin.as_bytes()));
    lines().any(|line| line.starts_with(MARK)) || (!is_json && lines().any(has_figure))
}

/// Whether it is a summary of results, which has rounded figures in tables.
pub(super) fn is_summary(head: &[u8]) -> bool {
    head.windows(SUMMARY.len()).any(|part| part == SUMMARY)
}

/// Parses the results. `name` is the file name.
///
/// # Errors
/// If there is no figure, or if there are too many.
pub(super) fn read(name: &str, text: &str) -> Result<yamba_record::Run, DocumentFault> {
    let mut reader = Reader {
        results: Results::new("lmbench", name, without_facts(text)),
        block: None,
        heading: None,
        strides: Vec::new(),
        has_figures: false,
    };
    let has_mark = |line: &str| line.as_bytes().starts_with(MARK);
    if !text.lines().any(has_mark) {
        let missing = "the line `[lmbench... results for ...]` is missing: version, machine and date are not known";
        reader.results.leave_out("line 1", missing);
    }
    let mut last = "";
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let is_last = lines.peek().is_none();
        let is_cut = is_last && !text.ends_with('\n');
        if is_last && !line.starts_with('[') && has_time(line) {
            let missing = format!("the date at the end has no brackets: {}", line.trim_end());
            reader.results.leave_out(&format!("line {}", index + 1), &missing);
        } else {
            reader.line(index + 1, line.trim_end(), is_cut)?;
        }
        if !line.trim().is_empty() {
            last = line;
        }
    }
    reader.results.is_cut_off = !(reader.has_figures && is_end(last));
    reader.results.run()
}

/// Whether a line is the date in brackets with which a complete file ends, in any language.
fn is_end(line: &str) -> bool {
    let date = line.trim_end().strip_prefix('[').and_then(|l| l.strip_suffix(']'));
    date.is_some_and(has_time)
}

/// Whether a word is a time of day such as `10:11:12`.
fn has_time(text: &str) -> bool {
    let is_time = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        let is_number = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(is_number)
    };
    text.split_whitespace().any(is_time)
}

/// The text with bracketed lines emptied, since they name the machine and its owner. Line numbers
/// stay the same.
fn without_facts(text: &str) -> String {
    text.lines()
        .map(|l| if l.starts_with('[') { "[]\n".to_owned() } else { format!("{l}\n") })
        .collect()
}

struct Reader {
    results: Results,
    block: Option<Block>,
    /// A heading without figures of its own, such as that above all strides.
    heading: Option<String>,
    /// The strides under that heading.
    strides: Vec<String>,
    /// Whether a benchmark's figure was read.
    has_figures: bool,
}

/// A block of number lines under a heading.
struct Block {
    name: String,
    parameters: Vec<(String, Value)>,
    /// Name of the first column.
    column: &'static str,
    rows: Rows,
    notes: Vec<String>,
}

enum Rows {
    /// Numbers of this kind and unit, which may follow the number.
    Of(Figure, &'static str),
    /// Files, creations and deletions per second.
    Files,
}

impl Reader {
    /// Reads a line. `is_cut`: the text ends within it or right after it.
    fn line(&mut self, number: usize, line: &str, is_cut: bool) -> Result<(), DocumentFault> {
        if line.trim().is_empty() {
            self.block = None;
            return Ok(());
        }
        if let Some(fact) = line.strip_prefix('[') {
            return match fact.strip_suffix(']') {
                Some(fact) => self.fact(number, fact),
                // Its text may name the owner of the machine.
                None => {
                    self.leave_out(number, "begins with a bracket and ends without one");
                    Ok(())
                }
            };
        }
        // The rest of a last number may be missing.
        let is_short = is_cut && line.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        if line.len() > LONGEST_LINE || is_short {
            self.unknown(number, line);
            return Ok(());
        }
        if let Some(title) = line.strip_prefix('"') {
            self.block = self.quoted_block(title.trim());
            if self.block.is_none() {
                self.leave_out(number, line);
            }
            return Ok(());
        }
        if let Some(block) = &self.block
            && let Some(rows) = block.row(line)
        {
            return self.push_all(rows);
        }
        if let Some(numbers) = named(line) {
            return self.push_all(numbers);
        }
        match unquoted(line) {
            Some(block) => self.block = Some(block),
            None if line.ends_with("load latency") => {
                self.heading = Some(line.to_owned());
                self.strides.clear();
                self.block = None;
            }
            None => self.unknown(number, line),
        }
        Ok(())
    }

    fn push_all(&mut self, numbers: Vec<Number>) -> Result<(), DocumentFault> {
        self.has_figures = true;
        numbers.into_iter().try_for_each(|n| self.results.push(n))
    }

    /// Leaves out a line that may have been a heading.
    fn unknown(&mut self, number: usize, line: &str) {
        self.leave_out(number, line);
        self.heading = None;
        self.block = None;
    }

    /// The block of a quoted heading. `None` if the unit of its numbers is unknown, or if it
    /// belongs to a heading that is missing.
    fn quoted_block(&mut self, title: &str) -> Option<Block> {
        let Some(stride) = title.strip_prefix("stride=") else {
            return block(title);
        };
        // A stride that stands again is of another heading, whose line is missing.
        if self.strides.iter().any(|known| known == stride) {
            self.heading = None;
        }
        self.strides.push(stride.to_owned());
        let size = json!(stride.parse::<u64>().ok()?);
        Some(Block {
            parameters: vec![("stride".to_owned(), size)],
            ..Block::new(self.heading.as_deref()?, "MiB", Rows::Of(Figure::Latency, "ns"))
        })
    }

    fn leave_out(&mut self, number: usize, line: &str) {
        self.results.leave_out(&format!("line {number}"), line);
    }

    /// Reads what a line in brackets says of the machine, and lmbench's own clock rate.
    fn fact(&mut self, number: usize, fact: &str) -> Result<(), DocumentFault> {
        if let Some(rate) = fact.strip_prefix("MHZ: ") {
            return match clock_rate(rate) {
                Some(rate) => {
                    self.results.push(figure("MHZ", Vec::new(), Figure::Value, "MHz", rate))
                }
                None => {
                    self.leave_out(number, fact);
                    Ok(())
                }
            };
        }
        self.machine_fact(fact);
        Ok(())
    }

    fn machine_fact(&mut self, fact: &str) {
        let is_start = !self.has_figures;
        let results = &mut self.results;
        if let Some(rest) = fact.strip_prefix("lmbench") {
            let version = rest.split_whitespace().next().unwrap_or_default();
            results.producer = format!("lmbench {version}");
            return;
        }
        if let Some(seconds) = seconds(fact) {
            // The date at the end is not that of the start.
            if is_start {
                results.started_unix_s.get_or_insert(seconds);
            }
            return;
        }
        let Some((key, value)) = fact.split_once(": ") else {
            return;
        };
        let machine = &mut results.machine;
        match key {
            "LMBENCH VERSION" => results.producer.push_str(&format!(" ({value})")),
            "SYSNAME" => machine.system = value.to_lowercase(),
            "RELEASE" => machine.kernel = value.to_owned(),
            "MACHINE" => machine.isa = value.to_owned(),
            "PROCESSORS" => machine.cpus = value.parse().unwrap_or(0),
            _ => {}
        }
    }
}

/// Parses the clock rate and the length of a clock: `2394 MHz, 0.4177 nanosec clock`.
fn clock_rate(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [rate, "MHz,", clock, "nanosec", "clock"] => number(clock).and(number(rate)),
        _ => None,
    }
}

/// Parses a UTC date to seconds since 1970. `None` for other time zones, whose abbreviations are
/// ambiguous.
fn seconds(text: &str) -> Option<f64> {
    let forms = ["%a %b %e %H:%M:%S UTC %Y", "%a %b %e %I:%M:%S %p UTC %Y"];
    let date = forms.iter().find_map(|f| NaiveDateTime::parse_from_str(text, f).ok())?;
    Some(date.and_utc().timestamp() as f64)
}

/// The block of a quoted heading without a heading above it.
fn block(title: &str) -> Option<Block> {
    if let Some((size, overhead)) = title.strip_prefix("size=").and_then(|t| t.split_once(' ')) {
        let taken = overhead.strip_prefix("ovr=")?;
        number(taken)?;
        return Some(Block {
            name: "lat_ctx".to_owned(),
            parameters: vec![("size".to_owned(), json!(size))],
            column: "processes",
            rows: Rows::Of(Figure::Latency, "us"),
            notes: vec![format!("lmbench took {taken} us of its own off")],
        });
    }
    let (column, rows) = match title {
        "mappings" => ("MB", Rows::Of(Figure::Latency, "us")),
        "File system latency" => ("size", Rows::Files),
        _ if title.contains("bandwidth") || title.contains("bcopy") => {
            ("MB", Rows::Of(Figure::Bandwidth, "MB/s"))
        }
        _ => return None,
    };
    Some(Block::new(title, column, rows))
}

/// The block of an unquoted heading.
fn unquoted(line: &str) -> Option<Block> {
    if line.ends_with("bandwidth") || line.starts_with("Socket bandwidth using ") {
        return Some(Block::new(line, "MB", Rows::Of(Figure::Bandwidth, "MB/s")));
    }
    line.ends_with("load parallelism").then(|| Block::new(line, "MiB", Rows::Of(Figure::Value, "")))
}

impl Block {
    fn new(name: &str, column: &'static str, rows: Rows) -> Block {
        Block { name: name.to_owned(), parameters: Vec::new(), column, rows, notes: Vec::new() }
    }

    /// The figures of a line. `None` if the line does not belong to this block.
    fn row(&self, line: &str) -> Option<Vec<Number>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&self.rows, &words[..]) {
            (Rows::Of(figure, unit), [place, value, printed]) => {
                let is_its_unit = unit_figure(printed)? == (*figure, *unit);
                is_its_unit.then(|| self.figure(place, None, *figure, unit, value))?
            }
            (Rows::Of(figure, unit), [place, value]) => {
                self.figure(place, None, *figure, unit, value)
            }
            (Rows::Files, [size, files, created, deleted]) => {
                number(files)?;
                let rate =
                    |what, value| self.figure(size, Some(what), Figure::Rate, "files/s", value);
                let mut both = rate("create", created)?;
                both.extend(rate("delete", deleted)?);
                Some(both)
            }
            _ => None,
        }
    }

    fn figure(
        &self,
        place: &str,
        what: Option<&str>,
        kind: Figure,
        unit: &str,
        value: &str,
    ) -> Option<Vec<Number>> {
        let mut parameters = self.parameters.clone();
        let place = match number(place) {
            Some(place) if place < 0.0 => return None,
            Some(place) if place.fract() == 0.0 && place.abs() < 1e15 => json!(place as i64),
            Some(place) => json!(place),
            None if is_size(place) && matches!(self.rows, Rows::Files) => json!(place),
            None => return None,
        };
        parameters.push((self.column.to_owned(), place));
        parameters.extend(what.map(|w| ("operation".to_owned(), json!(w))));
        let mut figure = figure(&self.name, parameters, kind, unit, number(value)?);
        figure.notes.clone_from(&self.notes);
        Some(vec![figure])
    }
}

/// Parses `NAME: NUMBER UNIT`, or several pairs of which each is a figure: `L1 cache: 32768 bytes
/// 1.17 nanoseconds 64 linesize`.
fn named(line: &str) -> Option<Vec<Number>> {
    let (name, rest) = line.rsplit_once(": ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    if name == "Avg xfer" {
        let rate = average_transfer(&words)?;
        return Some(vec![figure(name, Vec::new(), Figure::Bandwidth, "MB/s", rate)]);
    }
    if name.ends_with("parallelism") {
        let [value] = words[..] else { return None };
        let value = number(value)?;
        return Some(vec![figure(name, Vec::new(), Figure::Value, "", value)]);
    }
    let pairs = words.chunks(2).map(|pair| {
        let [value, unit] = pair else { return None };
        Some((number(value)?, unit_figure(unit)?, *unit))
    });
    let pairs = pairs.collect::<Option<Vec<_>>>()?;
    let what = |unit: &str| match pairs.len() {
        1 => Vec::new(),
        _ => vec![("of".to_owned(), json!(unit))],
    };
    Some(
        pairs
            .iter()
            .map(|(value, (kind, unit), printed)| figure(name, what(printed), *kind, unit, *value))
            .collect(),
    )
}

/// The rate of `3.2KB, 41.8KB in 2.5000 millisecs, 16.72 MB/sec`.
fn average_transfer(words: &[&str]) -> Option<f64> {
    match words {
        [_, _, "in", time, "millisecs,", rate, "MB/sec"] => number(time).and(number(rate)),
        _ => None,
    }
}

/// A size of a file: digits and a letter, such as `10k`.
fn is_size(text: &str) -> bool {
    let digits = text.strip_suffix(['k', 'K', 'm', 'M']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Converts a unit of lmbench.
fn unit_figure(unit: &str) -> Option<(Figure, &'static str)> {
    Some(match unit {
        "nanoseconds" => (Figure::Latency, "ns"),
        "microseconds" => (Figure::Latency, "us"),
        "milliseconds" => (Figure::Latency, "ms"),
        "seconds" => (Figure::Latency, "s"),
        "KB/sec" => (Figure::Bandwidth, "kB/s"),
        "MB/sec" => (Figure::Bandwidth, "MB/s"),
        "pages" => (Figure::Value, "pages"),
        "bytes" | "linesize" => (Figure::Value, "bytes"),
        "parallelism" => (Figure::Value, ""),
        _ => return None,
    })
}

fn figure(
    name: &str,
    parameters: Vec<(String, Value)>,
    figure: Figure,
    unit: &str,
    value: f64,
) -> Number {
    Number { parameters: Parameters(parameters), ..Number::new(name, figure, unit, Ok(value)) }
}
