//! A line of progress on standard error, redrawn in place. It is shown on terminals only.

use crate::cli::printable::one_line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A status line, removed when it is dropped.
pub struct StatusLine(ProgressBar);

impl StatusLine {
    /// Shows a line with `text`.
    pub fn new(text: &str) -> StatusLine {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        let line = StatusLine(bar);
        line.show(text);
        line
    }

    /// Replaces the text. Control characters are removed, so that the text cannot move the cursor.
    pub fn show(&self, text: &str) {
        self.0.set_message(one_line(text));
        self.0.tick();
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
