//! Reports the progress of a run while it is measured.

use std::time::Duration;

use yamba_record::Workers;

/// Receives the progress of a run.
pub trait Progress {
    /// The number of launches to come. It may still grow or shrink.
    fn left(&mut self, launches: u64);
    /// The estimated time of the launches to come.
    fn time_left(&mut self, _: Duration) {}
    /// The next launch begins.
    fn launch(&mut self, class: &str, parameters: &str, workers: Workers);
    /// The run is over; `interrupted` if it was stopped.
    fn end(&mut self, interrupted: bool);
}

/// Reports nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn left(&mut self, _: u64) {}
    fn launch(&mut self, _: &str, _: &str, _: Workers) {}
    fn end(&mut self, _: bool) {}
}
