//! Collects diagnostics up to a maximum number. A file that is not Yamba at all would otherwise
//! give too many.

use crate::diagnostic::{Diagnostic, error};
use crate::source::Span;

const MOST_MESSAGES: usize = 1000;

/// The diagnostics of one step.
#[derive(Default)]
pub(super) struct Messages {
    kept: Vec<Diagnostic>,
    count: usize,
}

impl Messages {
    pub(super) fn push(&mut self, message: Diagnostic) {
        self.count += 1;
        if self.kept.len() < MOST_MESSAGES {
            self.kept.push(message);
        }
    }

    /// Number of diagnostics, those over the limit included.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The last diagnostic, unless it was over the limit.
    pub(super) fn last_mut(&mut self) -> Option<&mut Diagnostic> {
        if self.count == self.kept.len() { self.kept.last_mut() } else { None }
    }

    /// Removes all but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.kept.truncate(count);
        self.count = self.count.min(count);
    }
}

/// The diagnostics of all steps in order of position; `end` is the end of the text.
pub(super) fn in_order(steps: Vec<Messages>, end: Span) -> Vec<Diagnostic> {
    let count: usize = steps.iter().map(Messages::count).sum();
    let mut all: Vec<Diagnostic> = steps.into_iter().flat_map(|m| m.kept).collect();
    all.sort_by_key(|m| (m.primary.span.start, m.primary.span.end));
    if count > MOST_MESSAGES {
        all.truncate(MOST_MESSAGES);
        all.push(error!("too-many-errors" at end,
            "there are more errors in this file than are shown"));
    }
    all
}
