//! Reads access logs in Common and Combined Log Format.

mod line;
mod time;

use std::collections::HashMap;

pub use line::{Line, parse};

/// The most refused lines whose reason is kept.
const MOST_REFUSED: usize = 10;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Index of the client in [`Log::clients`].
    pub client: u32,
    /// Index of the path in [`Log::paths`].
    pub path: u32,
    /// Index of the method in [`Log::methods`].
    pub method: u32,
    /// The time in the log, in seconds since 1970 (UTC).
    pub at_s: f64,
    /// Status of the response.
    pub status: u16,
    /// Bytes of the response's body, as the log has them.
    pub bytes: u64,
    /// Time in which the server answered, in seconds. `None`: the log does not have it.
    pub took_s: Option<f64>,
}

/// A line that is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLine {
    /// Number of the line, from 1.
    pub line: u64,
    /// Why it is refused.
    pub reason: &'static str,
}

/// The requests of a log, in the order of its times.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The requests, by ascending time.
    pub entries: Vec<Entry>,
    /// The addresses of the clients.
    pub clients: Vec<String>,
    /// The targets of the requests.
    pub paths: Vec<String>,
    /// The methods of the requests.
    pub methods: Vec<String>,
    /// The first lines that are no request.
    pub refused: Vec<RefusedLine>,
    /// Number of lines that are no request.
    pub refused_count: u64,
    /// Number of lines.
    pub lines: u64,
    /// The step of the times, in seconds: 1 for whole seconds.
    pub resolution_s: f64,
}

impl Log {
    /// Whether this method asks for an object and changes nothing: the model and the replay contain only such requests.
    pub fn is_safe(&self, entry: &Entry) -> bool {
        is_safe(&self.methods[entry.method as usize])
    }
}

/// Whether this method asks for an object and changes nothing.
pub fn is_safe(method: &str) -> bool {
    method == "GET" || method == "HEAD"
}

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

/// Collects the lines of a log.
#[derive(Default)]
pub struct LogReader {
    clients: Names,
    paths: Names,
    methods: Names,
    log: Log,
    /// The most digits after the point of a time.
    digits: u32,
}

impl LogReader {
    /// Reads the next line. A line that is no request is counted, and costs only itself.
    pub fn line(&mut self, text: &str) {
        self.log.lines += 1;
        if text.trim().is_empty() {
            return;
        }
        match parse(text) {
            Ok(line) => self.enter(&line),
            Err(reason) => {
                self.log.refused_count += 1;
                if self.log.refused.len() < MOST_REFUSED {
                    let line = self.log.lines;
                    self.log.refused.push(RefusedLine { line, reason });
                }
            }
        }
    }

    fn enter(&mut self, line: &Line) {
        self.digits = self.digits.max(line.time_digits);
        self.log.entries.push(Entry {
            client: self.clients.index(line.client),
            path: self.paths.index(line.path),
            method: self.methods.index(line.method),
            at_s: line.at_s,
            status: line.status,
            bytes: line.bytes,
            took_s: line.took_s,
        });
    }

    /// The log. Servers write a line at the end of a request, so its times may be out of order.
    pub fn finish(mut self) -> Log {
        self.log.entries.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        self.log.clients = self.clients.names;
        self.log.paths = self.paths.names;
        self.log.methods = self.methods.names;
        self.log.resolution_s = 10f64.powi(-(self.digits as i32));
        self.log
    }
}

/// Reads a whole log.
pub fn read(text: &str) -> Log {
    let mut reader = LogReader::default();
    text.lines().for_each(|line| reader.line(line));
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
        );
        let at: Vec<f64> = log.entries.iter().map(|e| e.at_s).collect();
        assert_eq!(at, [1_431_857_141.0, 1_431_857_142.0, 1_431_857_143.0]);
        assert_eq!(
            (log.clients.len(), log.paths.len(), log.methods.len()),
            (2, 2, 2)
        );
        assert_eq!(
            (log.lines, log.refused_count, log.refused[0].line),
            (5, 1, 3)
        );
        assert_eq!(log.resolution_s, 1.0);
        let safe: Vec<bool> = log.entries.iter().map(|e| log.is_safe(e)).collect();
        assert_eq!(safe, [false, true, true]);
    }

    #[test]
    fn fractions_of_seconds_are_kept() {
        let log = read("a - - [17/May/2015:10:05:43.250 +0000] \"GET / HTTP/1.1\" 200 5");
        assert_eq!(
            (log.entries[0].at_s.fract(), log.resolution_s),
            (0.25, 0.001)
        );
    }
}
