//! Decides what the end of one launch means for its entry.

use yamba_record::Note;

use super::crash::{self, Listing};
use super::process_output::ProcessExit::*;
use super::process_output::ProcessOutput;

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LaunchStatus {
    /// It completed its measurement.
    Complete,
    /// It cannot run on this machine.
    Skipped { reasons: Vec<Note> },
    /// The run was stopped during the launch.
    Stopped,
    /// The time of the run was over during the launch.
    OutOfTime,
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
        OutOfTime => LaunchStatus::OutOfTime,
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
