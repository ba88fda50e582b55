//! What came of one child process.

use std::time::Duration;

use yamba_record::Event;

use super::bounds::Excess;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a status of its own.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It said nothing for so long, and was killed.
    Hung(Duration),
    /// It said nothing for so long since a signal had stopped it, and was killed.
    Suspended(Duration),
    /// It took longer than this, and was killed.
    TimedOut(Duration),
    /// It took too much of the machine, and was killed.
    Excessive(Excess),
    /// It wrote a record that is not understood.
    BadRecord(String),
    /// It wrote more than any measurement does, and was killed.
    Flooded,
    /// The run was stopped.
    Stopped,
    /// It never began.
    NotStarted(String),
}

/// What one process wrote and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Its records, in order.
    pub events: Vec<Event>,
    /// Lines that were no records.
    pub garbled: u64,
    /// The last of what it wrote to standard error.
    pub messages: String,
    /// The names of the processes that outlived it and were ended.
    pub strays: Vec<String>,
    /// How it ended.
    pub ending: Ending,
    /// From the record of its first interval to that of its last.
    pub intervals_took: Duration,
}
