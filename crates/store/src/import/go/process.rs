//! The lines of one process, and of a benchmark in it.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::Status;

use super::line::{Benchmark, Row};

/// The configuration of the machine. Other keys are free.
pub(super) const MACHINE: [&str; 3] = ["goos", "goarch", "cpu"];

/// The key of the package.
pub(super) const PACKAGE: &str = "pkg";

/// A process, from its header to its `PASS` or `FAIL`.
#[derive(Default)]
pub(super) struct Process<'a> {
    pub(super) config: BTreeMap<&'a str, &'a str>,
    pub(super) benchmarks: Vec<Lines<'a>>,
    places: BTreeMap<Benchmark<'a>, usize>,
    pub(super) is_ended: bool,
    pub(super) is_failed: bool,
    /// Number of configuration lines after the first benchmark.
    changes: usize,
    /// The benchmarks that began, with the number of the line.
    begun: Vec<(usize, &'a str)>,
}

/// The lines of a benchmark in a process. Each is a repetition.
pub(super) struct Lines<'a> {
    pub(super) benchmark: Benchmark<'a>,
    pub(super) rows: Vec<Row<'a>>,
    /// Why the program has no figure.
    pub(super) failure: Option<(Status, String)>,
    /// Why its rows are no figure.
    pub(super) fault: Option<String>,
    /// Number of configuration lines before its first row.
    changes: usize,
}

impl<'a> Process<'a> {
    pub(super) fn package(&self) -> Option<&'a str> {
        self.config.get(PACKAGE).copied()
    }

    pub(super) fn is_cut_off(&self) -> bool {
        let is_begun = !self.config.is_empty() || !self.benchmarks.is_empty();
        is_begun && !self.is_ended
    }

    /// Whether a configuration line with this key is the header of another process.
    pub(super) fn is_before(&self, key: &str) -> bool {
        let has_key = self.config.contains_key(key);
        let is_header = key == PACKAGE || MACHINE.contains(&key);
        self.is_ended || (is_header && (has_key || !self.benchmarks.is_empty()))
    }

    /// Takes a configuration line. `false`: it stands below a benchmark, as a line of a log does.
    pub(super) fn configure(&mut self, key: &'a str, value: &'a str) -> bool {
        if self.benchmarks.is_empty() {
            self.config.insert(key, value);
            return true;
        }
        self.changes += 1;
        false
    }

    pub(super) fn begin(&mut self, number: usize, benchmark: Benchmark<'a>) {
        self.begun.push((number, benchmark.name));
    }

    /// The lines of a benchmark, which may be its first.
    pub(super) fn lines(&mut self, benchmark: Benchmark<'a>) -> &mut Lines<'a> {
        let place = *self.places.entry(benchmark).or_insert(self.benchmarks.len());
        if place == self.benchmarks.len() {
            self.benchmarks.push(Lines {
                benchmark,
                rows: Vec::new(),
                failure: None,
                fault: None,
                changes: self.changes,
            });
        }
        &mut self.benchmarks[place]
    }

    pub(super) fn push(&mut self, benchmark: Benchmark<'a>, row: Row<'a>) {
        let changes = self.changes;
        let lines = self.lines(benchmark);
        if lines.changes != changes {
            let fault = "its lines stand below different configurations";
            lines.fault.get_or_insert(fault.to_owned());
        }
        lines.rows.push(row);
    }

    /// The benchmarks that began and have neither result nor failure, nor a part that has one.
    pub(super) fn without_result(&self) -> Vec<(usize, &'a str)> {
        let mut ended = BTreeSet::new();
        let has_result = |lines: &&Lines<'_>| !lines.rows.is_empty() || lines.failure.is_some();
        for lines in self.benchmarks.iter().filter(has_result) {
            let name = lines.benchmark.name;
            ended.insert(name);
            ended.extend(name.match_indices('/').map(|(end, _)| &name[..end]));
        }
        self.begun.iter().filter(|(_, name)| !ended.contains(name)).copied().collect()
    }

    /// The only benchmark of a process without an end. No other says how many lines it should have.
    pub(super) fn uncertain(&self) -> Option<&Lines<'a>> {
        match &self.benchmarks[..] {
            [only] if !self.is_ended => Some(only),
            _ => None,
        }
    }

    /// Go runs each benchmark of a process `-count` times. Benchmarks with another number of lines
    /// than most others lack one, or have one of another benchmark.
    pub(super) fn check_counts(&mut self) {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let is_counted = |lines: &&Lines<'_>| lines.failure.is_none() && lines.fault.is_none();
        for lines in self.benchmarks.iter().filter(is_counted) {
            *numbers.entry(lines.rows.len()).or_default() += 1;
        }
        let most = numbers.values().max().copied().unwrap_or_default();
        let mut common = numbers.iter().filter(|(_, number)| **number == most).map(|(at, _)| *at);
        let expected = match (common.next(), common.next()) {
            (Some(count), None) => Some(count),
            _ => None,
        };
        for lines in &mut self.benchmarks {
            let count = lines.rows.len();
            if expected != Some(count) {
                let fault = match expected {
                    Some(expected) => format!("{count} lines, and most others have {expected}"),
                    None => format!("{count} lines, and others have another number"),
                };
                lines.fault.get_or_insert(fault);
            }
        }
    }
}

impl<'a> Lines<'a> {
    /// The units in the order of the lines.
    pub(super) fn units(&self) -> Vec<&'a str> {
        let mut units = Vec::new();
        for (_, unit) in self.rows.iter().flat_map(|row| &row.values) {
            if !units.contains(unit) {
                units.push(*unit);
            }
        }
        units
    }

    pub(super) fn has(&self, unit: &str) -> bool {
        self.rows.iter().flat_map(|row| &row.values).any(|(_, known)| *known == unit)
    }

    /// The values with a unit. Empty: no line has it.
    ///
    /// # Errors
    /// If only some lines have it.
    pub(super) fn values(&self, unit: &str) -> Result<Vec<f64>, String> {
        let each = self.rows.iter().flat_map(|row| &row.values);
        let values: Vec<f64> = each.filter(|(_, u)| *u == unit).map(|(value, _)| *value).collect();
        if !values.is_empty() && values.len() < self.rows.len() {
            return Err(format!("{unit} in {} of {} lines", values.len(), self.rows.len()));
        }
        Ok(values)
    }
}
