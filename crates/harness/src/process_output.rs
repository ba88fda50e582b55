//! The result of one child process, and what it means for the entry of its launch.

use std::time::Duration;

use yamba_record::{Event, Note};

use super::bounds::Excess;
use super::crash::{self, Listing};
use super::process_output::ProcessExit::*;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessExit {
    /// By exit, with this status.
    Exit(i32),
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

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LaunchStatus {
    /// It completed its measurement.
    Complete,
    /// It cannot run on this machine.
    Skipped { reasons: Vec<Note> },
    /// The run was stopped during the launch.
    Stopped,
    /// It crashed, reported an error or was killed.
    Failed {
        reasons: Vec<Note>,
        /// Whether another launch would fail in the same way.
        is_final: bool,
    },
}

pub(super) fn launch_status(
    class: &str,
    output: &ProcessOutput,
    listing: &Listing<'_>,
) -> LaunchStatus {
    let Some(reasons) = crash::reasons(class, output, listing) else {
        return LaunchStatus::Complete;
    };
    let is_final =
        matches!(output.exit, Hung(_) | Suspended(_) | TimedOut(_) | Excessive(_) | BadRecord(_));
    match output.exit {
        Stopped => LaunchStatus::Stopped,
        // The program itself says why it cannot run here.
        Exit(4) if !output.messages.is_empty() => {
            let mut reason = Note::Text(output.messages.clone());
            reason.recognise_report(class);
            LaunchStatus::Skipped { reasons: vec![reason] }
        }
        Exit(4) => LaunchStatus::Skipped { reasons },
        _ => LaunchStatus::Failed { reasons, is_final },
    }
}
