//! Keeping a run while it is measured, so that its death loses little.

use std::time::{Duration, Instant};

use yamba_record::{Benchmark, Run};

use super::compressed::CompressedEntry;
use super::job::UsageError;
use super::launches::Launches;

/// Launches are summarised anew with each that is added. So much of their time that may take; where it takes more, not each is kept at once.
const SHARE: f64 = 0.05;

/// Where it is kept.
pub trait Keep {
    /// All parameters are good, and the first launch comes next. `of_job` tells of each entry to come which job it is of.
    ///
    /// # Errors
    /// When it is better not to measure.
    fn begin(&mut self, run: &Run<CompressedEntry>, of_job: &[usize]) -> Result<(), UsageError>;
    /// What is known of the entry at `place`, counted from 0.
    fn entry(&mut self, place: usize, benchmark: &Benchmark);
    /// Whether entries are to be told before the run ends.
    fn is_wanted(&self) -> bool;
}

/// Nowhere.
impl Keep for () {
    fn begin(&mut self, _: &Run<CompressedEntry>, _: &[usize]) -> Result<(), UsageError> {
        Ok(())
    }

    fn entry(&mut self, _: usize, _: &Benchmark) {}

    fn is_wanted(&self) -> bool {
        false
    }
}

/// What of each place is kept.
pub(super) struct Kept<'a> {
    keep: &'a mut dyn Keep,
    places: Vec<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Whether all that is known of it was told.
    is_told: bool,
    /// What telling took, all of it and the last time.
    took: Duration,
    last: Duration,
}

impl<'a> Kept<'a> {
    pub fn begin(
        keep: &'a mut dyn Keep,
        run: &Run<CompressedEntry>,
        of_job: &[usize],
    ) -> Result<Kept<'a>, UsageError> {
        keep.begin(run, of_job)?;
        Ok(Kept {
            keep,
            places: vec![State::default(); of_job.len()],
        })
    }

    /// The entry at `place` had a launch, and is to have more.
    pub fn launched(&mut self, place: usize, launches: &Launches<'_>) {
        let state = &mut self.places[place];
        state.is_told = false;
        let bound = launches.spent().mul_f64(SHARE);
        let is_cheap = state.took.is_zero() || state.took + state.last <= bound;
        if is_cheap && self.keep.is_wanted() {
            let begun = Instant::now();
            self.tell(place, &launches.summary());
            let state = &mut self.places[place];
            state.last = begun.elapsed();
            state.took += state.last;
        }
    }

    /// The run ends; what is known of it.
    pub fn last(&mut self, place: usize, entry: &CompressedEntry) {
        if !self.places[place].is_told {
            self.tell(place, &entry.unpack());
        }
    }

    /// What is known of it now.
    pub fn tell(&mut self, place: usize, benchmark: &Benchmark) {
        self.keep.entry(place, benchmark);
        self.places[place].is_told = true;
    }
}
