//! Collects the lines of a log.

use std::collections::HashMap;

use super::foreign::recognized;
use super::layout::Layout;
use super::line::{self, CommonLine};
use super::reason::{LogFault, MOST_VALUES, NotTimes, Note, Reason};
use super::squid;
use super::{Entry, FieldChoice, Line, Log, RefusedLine, TookFrom};

/// The most refused lines whose reason is kept.
const MOST_REFUSED: usize = 10;

/// The most reasons whose lines are counted.
const MOST_REASONS: usize = 100;

/// Number of lines that decide on the form of the log.
const SAMPLE: usize = 10_000;

/// Texts with their indices.
#[derive(Default)]
struct Names {
    indices: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }
}

/// The form of a log.
enum Form {
    Common(Layout),
    Squid,
}

/// Collects the lines of a log.
#[derive(Default)]
pub struct LogReader {
    choice: FieldChoice,
    /// The first lines with their numbers, until the form is known.
    sample: Vec<(u64, String)>,
    form: Option<Form>,
    fault: Option<LogFault>,
    clients: Names,
    paths: Names,
    methods: Names,
    /// The values of the unused fields before the time, by their places.
    unused: Vec<Names>,
    without_latency: u64,
    not_times: Option<NotTimes>,
    log: Log,
    /// The most digits after the point of a time.
    digits: u32,
}

impl LogReader {
    /// A reader of a log in which the user names these fields.
    pub fn new(choice: FieldChoice) -> LogReader {
        LogReader { choice, ..LogReader::default() }
    }

    /// Reads the next line, with its line feed. A line that is no request is counted. The
    /// other lines are still read.
    pub fn line(&mut self, text: &str) {
        self.log.lines += 1;
        let number = self.log.lines;
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if self.fault.is_some() || text.trim().is_empty() {
            return;
        }
        if !text.ends_with('\n') {
            self.refuse(number, Reason::CutOff);
        } else if self.form.is_some() {
            self.read(number, text);
        } else {
            self.sample.push((number, text.to_owned()));
            if self.sample.len() == SAMPLE {
                self.decide();
            }
        }
    }

    /// Decides on the form by the lines so far, and reads them.
    fn decide(&mut self) {
        let sample = std::mem::take(&mut self.sample);
        match form(&sample, self.choice) {
            Ok((form, notes)) => {
                self.log.notes = notes;
                self.form = Some(form);
                for (number, text) in &sample {
                    self.read(*number, text);
                }
            }
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn read(&mut self, number: u64, text: &str) {
        let entered = match &self.form {
            Some(Form::Squid) => squid::parse(text).map(|line| self.enter(&line)),
            Some(Form::Common(_)) => self.common(number, text),
            None => return,
        };
        if let Err(reason) = entered {
            self.refuse(number, reason);
        }
    }

    fn common(&mut self, number: u64, text: &str) -> Result<(), Reason> {
        let Some(Form::Common(layout)) = &self.form else {
            return Ok(());
        };
        let line = line::parse(text)?;
        let client = layout.client(&line)?;
        let latency_s = layout.latency_s(&line);
        self.unused.resize_with(layout.before(), Names::default);
        for (place, field) in layout.unused(&line) {
            let names = &mut self.unused[place];
            if names.names.len() < MOST_VALUES {
                names.index(field.text);
            }
        }
        if let Some(latency) = layout.latency {
            let text = line.after[latency.field - 1].text;
            let step_s = latency_s.map(|_| latency.step_s(text, layout.latency_key()));
            let least_s = self.log.took_step_s;
            self.log.took_step_s =
                step_s.filter(|s| least_s == 0.0 || *s < least_s).unwrap_or(least_s);
            if latency_s.is_none() && text == "-" {
                self.without_latency += 1;
            } else if latency_s.is_none() {
                let not_times = self.not_times.get_or_insert_with(|| NotTimes {
                    count: 0,
                    all: 0,
                    line: number,
                    example: text.to_owned(),
                });
                not_times.count += 1;
            }
        }
        self.enter(&Line {
            client,
            at_s: line.at_s,
            time_digits: line.time_digits,
            method: line.method,
            object: line.object,
            status: line.status,
            bytes: line.bytes.unwrap_or(0),
            latency_s,
        });
        Ok(())
    }

    fn refuse(&mut self, line: u64, reason: Reason) {
        self.log.refused_count += 1;
        let by = &mut self.log.refused_by;
        if let Some(known) = by.iter().position(|by| by.0 == reason) {
            by[known].1 += 1;
        } else if by.len() < MOST_REASONS {
            by.push((reason.clone(), 1));
        }
        if self.log.refused.len() < MOST_REFUSED {
            self.log.refused.push(RefusedLine { line, reason });
        }
    }

    fn enter(&mut self, line: &Line) {
        self.digits = self.digits.max(line.time_digits);
        self.log.entries.push(Entry {
            client: self.clients.index(&line.client),
            path: self.paths.index(&line.object),
            method: self.methods.index(line.method),
            at_s: line.at_s,
            status: line.status,
            bytes: line.bytes,
            took_s: line.latency_s,
        });
    }

    /// The log. Servers write a line at the end of a request, so its times may be out of order.
    ///
    /// # Errors
    /// If no line is a request, or it is not certain what their fields are.
    pub fn finish(mut self) -> Result<Log, LogFault> {
        if self.form.is_none() && self.fault.is_none() {
            self.decide();
        }
        let first = || self.log.refused.first().map(|r| (r.line, r.reason.clone()));
        match self.fault {
            Some(LogFault::NoRequest(None)) => return Err(LogFault::NoRequest(first())),
            Some(fault) => return Err(fault),
            None if self.log.entries.is_empty() => return Err(LogFault::NoRequest(first())),
            None => {}
        }
        self.check_latencies()?;
        let before = self.unused.iter().enumerate().filter_map(|(place, names)| {
            Some(Note::Before {
                field: place + 1,
                example: names.names.first()?.clone(),
                values: names.names.len(),
            })
        });
        self.log.notes.extend(before);
        if self.without_latency > 0 {
            self.log.notes.push(Note::NoLatency(self.without_latency));
        }
        self.log.notes.extend(self.not_times.map(Note::NotTimes));
        self.log.took_from = match self.form {
            Some(Form::Common(layout)) => layout.latency.map(TookFrom::Field),
            _ => Some(TookFrom::SquidElapsed),
        };
        if self.log.took_step_s == 0.0 {
            self.log.took_step_s = MILLISECOND_S;
        }
        self.log.refused_by.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        self.log.entries.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        self.log.clients = self.clients.names;
        self.log.paths = self.paths.names;
        self.log.methods = self.methods.names;
        self.log.resolution_s = 10f64.powi(-(self.digits as i32));
        Ok(self.log)
    }

    /// Refuses a field that the user names as latency if it holds no latency in all or
    /// most requests that have it.
    fn check_latencies(&mut self) -> Result<(), LogFault> {
        let all = self.log.entries.len() as u64;
        let Some(not_times) = &mut self.not_times else {
            return Ok(());
        };
        not_times.all = all;
        let present = all - self.without_latency;
        match self.choice.latency {
            Some(field) if not_times.count * 2 > present => {
                Err(LogFault::NoLatency(field, not_times.clone()))
            }
            _ => Ok(()),
        }
    }
}

/// The step of latencies in Squid's native log.
const MILLISECOND_S: f64 = 1e-3;

/// The form of these lines, and what is not used of them.
fn form(sample: &[(u64, String)], choice: FieldChoice) -> Result<(Form, Vec<Note>), LogFault> {
    let lines: Vec<CommonLine> = sample.iter().filter_map(|s| line::parse(&s.1).ok()).collect();
    let squid = sample.iter().filter(|s| squid::is_squid(&s.1)).count();
    if squid > lines.len() {
        if choice != FieldChoice::default() {
            return Err(LogFault::FixedFields);
        }
        return Ok((Form::Squid, vec![Note::Headers]));
    }
    if !lines.is_empty() {
        let layout = Layout::find(&lines, choice)?;
        let notes = layout.notes(&lines);
        return Ok((Form::Common(layout), notes));
    }
    if let Some(foreign) = sample.iter().find_map(|(_, text)| recognized(text)) {
        return Err(LogFault::Foreign(foreign));
    }
    let first = sample.iter().find_map(|(line, text)| Some((*line, line::parse(text).err()?)));
    Err(LogFault::NoRequest(first))
}

/// Reads a whole log.
///
/// # Errors
/// As [`LogReader::finish`].
pub fn read(text: &str) -> Result<Log, LogFault> {
    let mut reader = LogReader::default();
    text.split_inclusive('\n').for_each(|line| reader.line(line));
    reader.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_has_its_requests_by_time_and_counts_other_lines() {
        let log = read(
            "\
a - - [17/May/2015:10:05:43 +0000] \"GET /x HTTP/1.1\" 200 5
b - - [17/May/2015:10:05:41 +0000] \"POST /y HTTP/1.1\" 302 -
nonsense

a - - [17/May/2015:10:05:42 +0000] \"GET /x HTTP/1.1\" 304 0
",
        )
        .unwrap();
        let at: Vec<f64> = log.entries.iter().map(|e| e.at_s).collect();
        assert_eq!(at, [1_431_857_141.0, 1_431_857_142.0, 1_431_857_143.0]);
        assert_eq!((log.clients.len(), log.paths.len(), log.methods.len()), (2, 2, 2));
        assert_eq!((log.lines, log.refused_count, log.refused[0].line), (5, 1, 3));
        assert_eq!(log.resolution_s, 1.0);
        let safe: Vec<bool> = log.entries.iter().map(|e| log.is_safe(e)).collect();
        assert_eq!(safe, [false, true, true]);
    }

    #[test]
    fn fractions_of_seconds_are_kept() {
        let log =
            read("a - - [17/May/2015:10:05:43.250 +0000] \"GET / HTTP/1.1\" 200 5\n").unwrap();
        assert_eq!((log.entries[0].at_s.fract(), log.resolution_s), (0.25, 0.001));
    }
}
