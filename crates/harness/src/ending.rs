//! What the end of one launch means for its entry.

use super::crash::{self, Listing};
use super::outcome::{Ending, Outcome};

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// It measured all that it was to measure.
    Complete,
    /// It cannot run here.
    Skipped { reasons: Vec<String> },
    /// The run was stopped meanwhile.
    Stopped,
    /// It crashed, gave up or was ended.
    Failed {
        reasons: Vec<String>,
        /// Another launch would end in the same way.
        is_final: bool,
    },
}

pub(super) fn end(class: &str, outcome: &Outcome, listing: &Listing<'_>) -> End {
    let Some(reasons) = crash::reasons(class, outcome, listing) else {
        return End::Complete;
    };
    match outcome.ending {
        Ending::Stopped => End::Stopped,
        // It says itself why it does not run here.
        Ending::Exit(4) if !outcome.messages.is_empty() => End::Skipped {
            reasons: vec![outcome.messages.clone()],
        },
        Ending::Exit(4) => End::Skipped { reasons },
        // A second time it would do the same.
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
