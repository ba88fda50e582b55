//! Result files of lmbench 3 and variants. Lines in brackets contain facts about machine and settings, others `NAME: NUMBER UNIT`, and a sweep is a block of
//! number lines under a heading.
//!
//! Names and parameters are kept as lmbench prints them. Its `MB` and `KB` are 10^6 and 10^3 bytes (lib_timing.c), but the sizes of its load latencies are in 2^20 bytes
//! (lat_mem_rd.c). Sizes are kept as printed, since they are rounded.

use chrono::NaiveDateTime;
use serde_json::{Value, json};
use yamba_record::Parameters;

use super::DocumentFault;
use super::foreign::{Figure, Number, Results};

/// The beginning of lmbench results.
const MARK: &[u8] = b"[lmbench";

/// Number of bytes that are searched for it, since messages of other programs may come first.
pub(super) const SEARCHED: usize = 1 << 16;

/// Maximum length of a line with a figure or a heading. A heading is copied into each figure of its block.
const LONGEST_LINE: usize = 400;

/// Whether the first [`SEARCHED`] bytes of a file are results of lmbench.
pub(super) fn is_it(head: &[u8]) -> bool {
    head.split(|b| *b == b'\n')
        .any(|line| line.starts_with(MARK))
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
    };
    let mut last = "";
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim_end())?;
        if !line.trim().is_empty() {
            last = line;
        }
    }
    // A complete file ends with the date in brackets.
    reader.results.is_cut_off = !last.starts_with('[');
    reader.results.run()
}

/// The text with bracketed lines emptied, since they name the machine and its owner. Line numbers stay the same.
fn without_facts(text: &str) -> String {
    text.lines()
        .map(|l| {
            if l.starts_with('[') {
                "[]\n".to_owned()
            } else {
                format!("{l}\n")
            }
        })
        .collect()
}

struct Reader {
    results: Results,
    block: Option<Block>,
    /// A heading without figures of its own, such as that above all strides.
    heading: Option<String>,
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
    /// Numbers of this kind and unit; the unit may follow the number.
    Of(Figure, &'static str),
    /// Files, creations and deletions per second.
    Files,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), DocumentFault> {
        if line.trim().is_empty() {
            self.block = None;
            return Ok(());
        }
        if let Some(fact) = line.strip_prefix('[') {
            self.fact(fact.strip_suffix(']').unwrap_or(fact));
            return self.clock_rate(fact);
        }
        if line.len() > LONGEST_LINE {
            self.leave_out(number, line);
            return Ok(());
        }
        if let Some(title) = line.strip_prefix('"') {
            self.block = block(title.trim(), self.heading.as_deref());
            if self.block.is_none() {
                self.leave_out(number, line);
            }
            return Ok(());
        }
        if let Some(block) = &self.block
            && let Some(rows) = block.row(line)
        {
            return rows.into_iter().try_for_each(|r| self.results.push(r));
        }
        if let Some(numbers) = named(line) {
            return numbers.into_iter().try_for_each(|n| self.results.push(n));
        }
        match unquoted(line) {
            Some(block) => self.block = Some(block),
            None if line.ends_with("load latency") => self.heading = Some(line.to_owned()),
            None => self.leave_out(number, line),
        }
        Ok(())
    }

    fn leave_out(&mut self, number: usize, line: &str) {
        self.results.leave_out(&format!("line {number}"), line);
    }

    fn fact(&mut self, fact: &str) {
        let results = &mut self.results;
        if let Some(rest) = fact.strip_prefix("lmbench") {
            let version = rest.split_whitespace().next().unwrap_or_default();
            results.producer = format!("lmbench {version}");
            return;
        }
        if let Some(seconds) = seconds(fact) {
            results.started_unix_s.get_or_insert(seconds);
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

    /// Parses lmbench's own clock rate: `[MHZ: 2394 MHz, 0.4177 nanosec clock]`.
    fn clock_rate(&mut self, fact: &str) -> Result<(), DocumentFault> {
        let rate = fact.strip_prefix("MHZ: ");
        let rate = rate.and_then(|r| number(r.split_whitespace().next()?));
        match rate {
            Some(rate) => self
                .results
                .push(figure("MHZ", Vec::new(), Figure::Value, "MHz", rate)),
            None => Ok(()),
        }
    }
}

/// Parses a UTC date to seconds since 1970. `None` for other time zones, whose abbreviations are ambiguous.
fn seconds(text: &str) -> Option<f64> {
    let forms = ["%a %b %e %H:%M:%S UTC %Y", "%a %b %e %I:%M:%S %p UTC %Y"];
    let date = forms
        .iter()
        .find_map(|f| NaiveDateTime::parse_from_str(text, f).ok())?;
    Some(date.and_utc().timestamp() as f64)
}

/// The block of a quoted heading. `None` if the unit of its numbers is unknown.
fn block(title: &str, heading: Option<&str>) -> Option<Block> {
    if let Some((size, overhead)) = title.strip_prefix("size=").and_then(|t| t.split_once(' ')) {
        let taken = overhead.strip_prefix("ovr=")?;
        return Some(Block {
            name: "lat_ctx".to_owned(),
            parameters: vec![("size".to_owned(), json!(size))],
            column: "processes",
            rows: Rows::Of(Figure::Latency, "us"),
            notes: vec![format!("lmbench took {taken} us of its own off")],
        });
    }
    if let Some(stride) = title.strip_prefix("stride=") {
        return Some(Block {
            name: heading.unwrap_or("lat_mem_rd").to_owned(),
            parameters: vec![("stride".to_owned(), json!(stride.parse::<u64>().ok()?))],
            column: "MiB",
            rows: Rows::Of(Figure::Latency, "ns"),
            notes: Vec::new(),
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
    line.ends_with("load parallelism")
        .then(|| Block::new(line, "MiB", Rows::Of(Figure::Value, "")))
}

impl Block {
    fn new(name: &str, column: &'static str, rows: Rows) -> Block {
        Block {
            name: name.to_owned(),
            parameters: Vec::new(),
            column,
            rows,
            notes: Vec::new(),
        }
    }

    /// The figures of a line. `None` if the line does not belong to this block.
    fn row(&self, line: &str) -> Option<Vec<Number>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&self.rows, &words[..]) {
            (Rows::Of(figure, _), [place, value, unit]) => {
                let (kind, unit) = of_unit(unit)?;
                (kind == *figure).then(|| self.figure(place, None, *figure, unit, value))?
            }
            (Rows::Of(figure, unit), [place, value]) => {
                self.figure(place, None, *figure, unit, value)
            }
            (Rows::Files, [size, files, created, deleted]) => {
                number(files)?;
                let rate =
                    |what, value| self.figure(size, Some(what), Figure::Value, "files/s", value);
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
            Some(place) if place.fract() == 0.0 && place.abs() < 1e15 => json!(place as i64),
            Some(place) => json!(place),
            None if matches!(self.rows, Rows::Files) => json!(place),
            None => return None,
        };
        parameters.push((self.column.to_owned(), place));
        parameters.extend(what.map(|w| ("operation".to_owned(), json!(w))));
        let mut figure = figure(&self.name, parameters, kind, unit, number(value)?);
        figure.notes.clone_from(&self.notes);
        Some(vec![figure])
    }
}

/// Parses `NAME: NUMBER UNIT`, or several pairs of which each is a figure: `L1 cache: 32768 bytes 1.17 nanoseconds 64 linesize`.
fn named(line: &str) -> Option<Vec<Number>> {
    let (name, rest) = line.rsplit_once(": ")?;
    if let Some(rest) = rest.strip_suffix(" MB/sec").filter(|_| name == "Avg xfer") {
        let rate = number(rest.rsplit(' ').next()?)?;
        return Some(vec![figure(
            name,
            Vec::new(),
            Figure::Bandwidth,
            "MB/s",
            rate,
        )]);
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    if let [value] = words[..] {
        let is_parallelism = name.ends_with("parallelism");
        let value = number(value).filter(|_| is_parallelism)?;
        return Some(vec![figure(name, Vec::new(), Figure::Value, "", value)]);
    }
    let pairs = words.chunks(2).map(|pair| {
        let [value, unit] = pair else { return None };
        Some((number(value)?, of_unit(unit)?, *unit))
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

/// Converts a unit of lmbench.
fn of_unit(unit: &str) -> Option<(Figure, &'static str)> {
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

/// Parses a number as `printf` writes it. `None` for texts such as `inf`.
fn number(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.e".contains(&b));
    text.parse()
        .ok()
        .filter(|n: &f64| is_plain && n.is_finite())
}

fn figure(
    name: &str,
    parameters: Vec<(String, Value)>,
    figure: Figure,
    unit: &str,
    value: f64,
) -> Number {
    Number {
        name: name.to_owned(),
        parameters: Parameters(parameters),
        figure,
        unit: unit.to_owned(),
        value: Ok(value),
        samples: Vec::new(),
        notes: Vec::new(),
    }
}
