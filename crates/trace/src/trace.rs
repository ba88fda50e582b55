//! The result of a trace.

use yamba_page_cache::FileAccesses;
use yamba_predict::vector::{SCHEMA, Traced, Use, Vector};

/// The names for the vector and the work that the trace covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Name of the application. `None`: that of the first program of the trace.
    pub application: Option<String>,
    /// Name of one unit of work.
    pub unit: String,
    /// Number of units in the trace.
    pub units: f64,
}

/// A vector, the accesses to files, and what the trace did not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The application's vector.
    pub vector: Vector,
    /// The accesses to files. `None`: they were not recorded.
    pub files: Option<FileAccesses>,
    /// Number of system calls.
    pub calls: u64,
    /// Number of page faults of the application. `None`: the trace does not count them.
    pub faults: Option<u64>,
    /// Number of calls that had not returned at the end. They are not counted.
    pub unfinished: usize,
    /// The lines that were not understood.
    pub unread: Vec<Unread>,
}

/// A line that was not understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Index of its log.
    pub log: usize,
    /// Number of the line, from 1.
    pub line: usize,
}

/// A vector of these counts, without times of the whole.
pub fn vector(request: &Request, traced: Traced, command: Vec<String>, uses: Vec<Use>) -> Vector {
    let path = command.first().map_or("", String::as_str);
    let program = path.rsplit('/').next().filter(|name| !name.is_empty());
    let application = request.application.clone();
    Vector {
        schema: SCHEMA.to_owned(),
        application: application.unwrap_or(program.unwrap_or("unknown").to_owned()),
        unit: request.unit.clone(),
        units: Some(request.units),
        command,
        load: None,
        units_from: None,
        traced: Some(traced),
        user_ns: None,
        kernel_ns: None,
        started_user_ns: None,
        clock_reads: None,
        elapsed: None,
        user_work: None,
        primitives: uses,
    }
}
