//! Keeping a run while it is measured, so that its death loses little.

use std::time::{Duration, Instant};

use yamba_record::{Benchmark, Run};

use super::packed::Packed;
use super::{Conditions, Place, UsageError};

/// An entry's launches are summarised anew each time: of short ones not each is.
const SELDOM: Duration = Duration::from_secs(1);

/// Where it is kept.
pub trait Keep {
    /// All parameters are good, and the first launch comes next. `of_job` tells of each entry to come which job it is of.
    ///
    /// # Errors
    /// When it is better not to measure.
    fn begin(&mut self, run: &Run<Packed<Benchmark>>, of_job: &[usize]) -> Result<(), UsageError>;
    /// What is known of the entry at `place`, counted from 0. Whether it is kept; if not, it is tried again.
    fn entry(&mut self, place: usize, benchmark: &Benchmark) -> bool;
}

/// Nowhere.
impl Keep for () {
    fn begin(&mut self, _: &Run<Packed<Benchmark>>, _: &[usize]) -> Result<(), UsageError> {
        Ok(())
    }

    fn entry(&mut self, _: usize, _: &Benchmark) -> bool {
        true
    }
}

/// What of each place is kept.
pub(super) struct Kept<'a> {
    keep: &'a mut dyn Keep,
    places: Vec<State>,
}

#[derive(Clone, Copy)]
struct State {
    tried: Option<Instant>,
    is_kept: bool,
}

impl<'a> Kept<'a> {
    pub fn begin(
        keep: &'a mut dyn Keep,
        run: &Run<Packed<Benchmark>>,
        places: &[Place<'_>],
        of_job: &[usize],
    ) -> Result<Kept<'a>, UsageError> {
        keep.begin(run, of_job)?;
        let state = State {
            tried: None,
            is_kept: false,
        };
        let mut kept = Kept {
            keep,
            places: vec![state; places.len()],
        };
        for (i, place) in places.iter().enumerate() {
            if let Place::Settled(benchmark) = place {
                kept.entry(i, benchmark);
            }
        }
        Ok(kept)
    }

    /// The entry at `place` had a launch.
    pub fn launched(&mut self, place: usize, of: &Place<'_>, conditions: &Conditions<'_>) {
        let Place::Measured(launches) = of else {
            return;
        };
        let state = &mut self.places[place];
        state.is_kept = false;
        let is_soon = state.tried.is_some_and(|t| t.elapsed() < SELDOM);
        if launches.left() == 0 || !is_soon {
            self.entry(place, &launches.summary(conditions));
        }
    }

    /// What is known of it at the end.
    pub fn last(&mut self, place: usize, benchmark: &Benchmark) {
        if !self.places[place].is_kept {
            self.entry(place, benchmark);
        }
    }

    fn entry(&mut self, place: usize, benchmark: &Benchmark) {
        self.places[place] = State {
            is_kept: self.keep.entry(place, benchmark),
            tried: Some(Instant::now()),
        };
    }
}
