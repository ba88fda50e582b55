//! Decides what the end of one launch means for its entry.

use super::crash::{self, Listing};
use super::process_output::{ProcessExit, ProcessOutput};

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LaunchStatus {
    /// It completed its measurement.
    Complete,
    /// It cannot run on this machine.
    Skipped { reasons: Vec<String> },
    /// The run was stopped during the launch.
    Stopped,
    /// It crashed, reported an error or was killed.
    Failed {
        reasons: Vec<String>,
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
    match output.exit {
        ProcessExit::Stopped => LaunchStatus::Stopped,
        // The program itself says why it cannot run here.
        ProcessExit::Exit(4) if !output.messages.is_empty() => LaunchStatus::Skipped {
            reasons: vec![output.messages.clone()],
        },
        ProcessExit::Exit(4) => LaunchStatus::Skipped { reasons },
        // Another launch would fail in the same way.
        ProcessExit::Hung(_)
        | ProcessExit::Suspended(_)
        | ProcessExit::TimedOut(_)
        | ProcessExit::Excessive(_)
        | ProcessExit::BadRecord(_) => LaunchStatus::Failed {
            reasons,
            is_final: true,
        },
        _ => LaunchStatus::Failed {
            reasons,
            is_final: false,
        },
    }
}
