//! Reads access logs: Common and Combined Log Format with further fields, and Squid's native log.

mod fields;
mod foreign;
mod latency;
mod layout;
mod line;
mod reader;
mod reason;
mod squid;
mod target;
mod time;

use std::borrow::Cow;

pub use foreign::ForeignLog;
pub use latency::{LatencyField, LatencyUnit};
pub use reader::{LogReader, read};
pub use reason::{LogFault, MOST_VALUES, NotTimes, Note, Reason};
pub use time::TimeFault;

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
    pub reason: Reason,
}

/// The requests of a log, in the order of its times.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The requests, by ascending time.
    pub entries: Vec<Entry>,
    /// The clients: addresses, or names if most are no addresses.
    pub clients: Vec<String>,
    /// The targets of the requests: paths, or full URLs of requests to a proxy.
    pub paths: Vec<String>,
    /// The methods of the requests.
    pub methods: Vec<String>,
    /// The first lines that are no request.
    pub refused: Vec<RefusedLine>,
    /// Number of lines that are no request.
    pub refused_count: u64,
    /// Their reasons with the number of lines, the most frequent first; at most 100 reasons.
    pub refused_by: Vec<(Reason, u64)>,
    /// Number of lines.
    pub lines: u64,
    /// The step of the times, in seconds: 1 for whole seconds.
    pub resolution_s: f64,
    /// The step of the latencies, in seconds.
    pub took_step_s: f64,
    /// Where the latencies come from. `None`: the log has none.
    pub took_from: Option<TookFrom>,
    /// Which parts are used, and which are not.
    pub notes: Vec<Note>,
}

/// Where latencies come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TookFrom {
    /// A field after the bytes.
    Field(LatencyField),
    /// The elapsed time of Squid's native log, in milliseconds.
    SquidElapsed,
}

/// Which fields the user names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldChoice {
    /// The client: its number before the time, from 1. `None`: the lines decide.
    pub client: Option<usize>,
    /// The latency. `None`: the lines decide.
    pub latency: Option<LatencyField>,
}

impl Log {
    /// Says how many lines are left out, and why. `None`: none.
    pub fn refusals(&self) -> Option<String> {
        const MOST: usize = 5;
        if self.refused_count == 0 {
            return None;
        }
        let named = &self.refused_by[..self.refused_by.len().min(MOST)];
        let mut reasons: Vec<String> =
            named.iter().map(|(reason, lines)| format!("{reason} ({lines})")).collect();
        let others = self.refused_count - named.iter().map(|(_, lines)| lines).sum::<u64>();
        if others > 0 {
            reasons.push(format!("other reasons ({others})"));
        }
        let all = self.refused_count + self.entries.len() as u64;
        Some(format!(
            "{} of {all} lines ({:.1} %) are left out: {}",
            self.refused_count,
            100.0 * self.refused_count as f64 / all as f64,
            reasons.join("; ")
        ))
    }

    /// Whether this method asks for an object and changes nothing: the model and the replay contain
    /// only such requests.
    pub fn is_safe(&self, entry: &Entry) -> bool {
        is_safe(&self.methods[entry.method as usize])
    }
}

/// Whether this method asks for an object and changes nothing.
pub fn is_safe(method: &str) -> bool {
    method == "GET" || method == "HEAD"
}

/// The request of a line in any form.
#[derive(Clone, Debug, PartialEq)]
struct Line<'a> {
    client: Cow<'a, str>,
    at_s: f64,
    time_digits: u32,
    method: &'a str,
    object: Cow<'a, str>,
    status: u16,
    bytes: u64,
    latency_s: Option<f64>,
}
