//! The result of one child process.

use std::time::Duration;

use yamba_record::Event;

use super::bounds::Excess;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessExit {
    /// By exit, with this status.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It wrote nothing for this time, and was killed.
    Hung(Duration),
    /// A signal stopped it, it wrote nothing for this time, and was killed.
    Suspended(Duration),
    /// It took longer than this, and was killed.
    TimedOut(Duration),
    /// It exceeded a limit of the machine's resources, and was killed.
    Excessive(Excess),
    /// It wrote a record that cannot be parsed.
    BadRecord(String),
    /// It wrote more than any measurement does, and was killed.
    Flooded,
    /// The run was stopped.
    Stopped,
    /// The time of the run was over, and it was killed.
    OutOfTime,
    /// It could not be started.
    NotStarted(String),
}

/// The output and the end of one process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProcessOutput {
    /// Its records, in order.
    pub events: Vec<Event>,
    /// Lines that were no records.
    pub garbled: u64,
    /// The last part of its standard error.
    pub messages: String,
    /// Names of the processes that outlived it and were killed.
    pub orphans: Vec<String>,
    /// How it ended.
    pub exit: ProcessExit,
    /// From the record of its first batch to that of its last.
    pub batches_took: Duration,
}

impl ProcessOutput {
    /// The processor that the process was fixed to when it began to measure.
    pub fn processor(&self) -> Option<u64> {
        self.events.iter().find_map(|event| match event {
            Event::Begin(begin) => begin.placement.cpu,
            _ => None,
        })
    }
}
