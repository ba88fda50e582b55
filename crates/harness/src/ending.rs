//! Decides what the end of one launch means for its entry.

use super::crash::{self, Listing};
use super::outcome::{Ending, Outcome};

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
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

pub(super) fn end(class: &str, outcome: &Outcome, listing: &Listing<'_>) -> End {
    let Some(reasons) = crash::reasons(class, outcome, listing) else {
        return End::Complete;
    };
    match outcome.ending {
        Ending::Stopped => End::Stopped,
        // The program itself says why it cannot run here.
        Ending::Exit(4) if !outcome.messages.is_empty() => End::Skipped {
            reasons: vec![outcome.messages.clone()],
        },
        Ending::Exit(4) => End::Skipped { reasons },
        // Another launch would fail in the same way.
        Ending::Hung(_)
        | Ending::Suspended(_)
        | Ending::TimedOut(_)
        | Ending::Excessive(_)
        | Ending::BadRecord(_) => End::Failed {
            reasons,
            is_final: true,
        },
        _ => End::Failed {
            reasons,
            is_final: false,
        },
    }
}
