//! Shows the progress of a run: a bar on a terminal, otherwise nothing. Prints a line if the run
//! was stopped.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::printable::one_line;
use yamba_harness::Progress;
use yamba_record::Workers;

/// A progress bar on standard error. It is drawn only if that is a terminal.
#[derive(Debug, Default)]
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    launched: u64,
}

impl Bar {
    fn bar(&mut self) -> &ProgressBar {
        self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let template = "{bar:24} launch {pos} of {len}, {prefix} left  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        })
    }
}

impl Progress for Bar {
    fn left(&mut self, launches: u64) {
        let all = self.launched + launches;
        self.bar().set_length(all);
    }

    fn time_left(&mut self, time: Duration) {
        let seconds = time.as_secs();
        let text = format!("{}:{:02}", seconds / 60, seconds % 60);
        self.bar().set_prefix(text);
    }

    fn launch(&mut self, class: &str, parameters: &str, workers: Workers) {
        let position = self.launched;
        let bar = self.bar();
        bar.set_position(position);
        let several = if workers.are_several() { format!("{workers} ") } else { String::new() };
        // A parameter's value may contain control characters.
        bar.set_message(one_line(&format!("{class} {several}{parameters}")));
        self.launched += 1;
    }

    fn end(&mut self, interrupted: bool) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if interrupted {
            eprintln!("stopped; what was measured is kept");
        }
    }
}
