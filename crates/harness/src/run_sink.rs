//! Saves a run while it is measured, so that a crash of Yamba loses little.

use std::time::{Duration, Instant};

use yamba_record::{Benchmark, RunHead};

use super::job::UsageError;
use super::launches::Launches;

/// Saving may cost at most this share of measuring time; beyond that, entries are saved less often.
/// Each save summarises all launches.
const SHARE: f64 = 0.05;

/// Destination of the results of a run.
pub trait RunSink {
    /// Called when all parameters are valid, before the first launch. `of_job` has the job index of
    /// each entry to come.
    ///
    /// # Errors
    /// If the run should not be measured.
    fn begin(&mut self, head: &RunHead, of_job: &[usize]) -> Result<(), UsageError>;
    /// Saves the present state of the entry at `place`, counted from 0.
    fn entry(&mut self, place: usize, benchmark: &Benchmark);
    /// Whether to save entries before the run ends.
    fn is_wanted(&self) -> bool;
}

/// Saves nothing.
impl RunSink for () {
    fn begin(&mut self, _: &RunHead, _: &[usize]) -> Result<(), UsageError> {
        Ok(())
    }

    fn entry(&mut self, _: usize, _: &Benchmark) {}

    fn is_wanted(&self) -> bool {
        false
    }
}

/// Saves entries to a [`RunSink`] and tracks which are up to date.
pub(super) struct ThrottledSink<'a> {
    sink: &'a mut dyn RunSink,
    places: Vec<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Whether the present state was saved.
    is_told: bool,
    /// Time spent on saving: in total, and the last time.
    took: Duration,
    last: Duration,
}

impl<'a> ThrottledSink<'a> {
    pub fn begin(
        sink: &'a mut dyn RunSink,
        head: &RunHead,
        of_job: &[usize],
    ) -> Result<ThrottledSink<'a>, UsageError> {
        sink.begin(head, of_job)?;
        Ok(ThrottledSink { sink, places: vec![State::default(); of_job.len()] })
    }

    /// Saves the entry at `place` after a launch that was not its last, unless that would cost too
    /// much time.
    pub fn launched(&mut self, place: usize, launches: &Launches<'_>) {
        let state = &mut self.places[place];
        state.is_told = false;
        let bound = launches.spent().mul_f64(SHARE);
        let is_cheap = state.took.is_zero() || state.took + state.last <= bound;
        if is_cheap && self.sink.is_wanted() {
            let begun = Instant::now();
            self.tell(place, &launches.summary());
            let state = &mut self.places[place];
            state.last = begun.elapsed();
            state.took += state.last;
        }
    }

    /// Saves an entry at the end of the run, if its state was not yet saved.
    pub fn last(&mut self, place: usize, entry: &Benchmark) {
        if !self.places[place].is_told {
            self.tell(place, entry);
        }
    }

    /// Saves the present state.
    pub fn tell(&mut self, place: usize, benchmark: &Benchmark) {
        self.sink.entry(place, benchmark);
        self.places[place].is_told = true;
    }
}
