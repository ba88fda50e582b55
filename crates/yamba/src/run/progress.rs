//! What a person sees while a run lasts: a bar on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Is told how far a run is.
pub trait Progress {
    /// The run will measure so many points.
    fn begin(&mut self, points: usize);
    /// The next point begins.
    fn point(&mut self, class: &str, parameters: &str);
    /// The run is over; `interrupted` if it was stopped.
    fn end(&mut self, interrupted: bool);
}

/// A bar on standard error, if that is a terminal.
#[derive(Debug, Default)]
pub struct Bar(Option<ProgressBar>, u64);

impl Progress for Bar {
    fn begin(&mut self, points: usize) {
        let bar = ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::stderr());
        let template = "{bar:24} {pos}/{len} {eta_precise} left  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        self.0 = Some(bar);
    }

    fn point(&mut self, class: &str, parameters: &str) {
        if let Some(bar) = &self.0 {
            bar.set_position(self.1);
            bar.set_message(format!("{class} {parameters}"));
        }
        self.1 += 1;
    }

    fn end(&mut self, interrupted: bool) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
        Silent.end(interrupted);
    }
}

/// No bar; only says when the run was stopped.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _: usize) {}
    fn point(&mut self, _: &str, _: &str) {}
    fn end(&mut self, interrupted: bool) {
        if interrupted {
            eprintln!("stopped; what was measured is kept");
        }
    }
}
