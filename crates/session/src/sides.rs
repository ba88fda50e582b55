//! Splits an interleaved measurement of two sides into two runs, one per side. Both are stored
//! while they are measured.

use std::collections::BTreeMap;

use yamba_record::{Benchmark, Run, RunHead};

use super::store_sink::StoreSink;
use super::{Failure, Observer, StoreChoice};
use yamba_harness::random::drawn_id;
use yamba_harness::{RunSink, UsageError};

/// Stores the runs of both sides.
pub(super) struct Sides<'a> {
    /// Side A, if it is measured too.
    a: Option<OfA<'a>>,
    b: StoreSink<'a>,
}

/// Data of the run of side A.
struct OfA<'a> {
    sink: StoreSink<'a>,
    id: String,
    sources: &'a BTreeMap<String, String>,
    /// Jobs before this index belong to side A.
    boundary: usize,
    /// The number of entries of side A. They precede those of side B, as the jobs do.
    entries: usize,
}

impl<'a> Sides<'a> {
    /// Stores the runs in `store`. Jobs before `boundary` belong to side A and are built from
    /// `sources`; with `boundary` 0 there is one run, of side B. If the store cannot be opened, the
    /// observer is warned and measuring goes on: the verdict matters more than storing it.
    pub(super) fn open(
        store: &StoreChoice,
        boundary: usize,
        sources: &'a BTreeMap<String, String>,
        observer: &'a dyn Observer,
    ) -> Result<Sides<'a>, Failure> {
        let b = StoreSink::open(store, false, observer)?;
        let a = match boundary {
            0 => None,
            _ => {
                Some(OfA { sink: b.another(store)?, id: drawn_id(), sources, boundary, entries: 0 })
            }
        };
        Ok(Sides { a, b })
    }

    /// Finishes both runs in the store. Returns the runs, A's first if there is one, and the ids of
    /// those that are stored completely.
    pub(super) fn finish(self, mut run: Run) -> (Vec<Run>, Vec<String>) {
        let mut runs = Vec::new();
        if let Some(a) = self.a {
            let head = a.head(&run);
            let of_b = run.benchmarks.split_off(a.entries);
            let benchmarks = std::mem::replace(&mut run.benchmarks, of_b);
            runs.push((a.sink, Run { head, benchmarks }));
        }
        runs.push((self.b, run));
        let mut kept = Vec::new();
        for (sink, run) in &mut runs {
            if sink.finish(run) {
                kept.push(run.id.clone());
            }
        }
        (runs.into_iter().map(|(_, run)| run).collect(), kept)
    }
}

impl OfA<'_> {
    /// The run of side A without its entries.
    fn head(&self, of_both: &RunHead) -> RunHead {
        RunHead {
            id: self.id.clone(),
            sources: self.sources.clone(),
            fleet: None,
            vector: None,
            ..of_both.clone()
        }
    }
}

impl RunSink for Sides<'_> {
    fn begin(&mut self, head: &RunHead, of_job: &[usize]) -> Result<(), UsageError> {
        if let Some(a) = &mut self.a {
            a.entries = of_job.iter().filter(|job| **job < a.boundary).count();
            let own = a.head(head);
            a.sink.begin(&own, of_job)?;
        }
        self.b.begin(head, of_job)
    }

    fn entry(&mut self, place: usize, benchmark: &Benchmark) {
        match &mut self.a {
            Some(a) if place < a.entries => a.sink.entry(place, benchmark),
            Some(a) => self.b.entry(place - a.entries, benchmark),
            None => self.b.entry(place, benchmark),
        }
    }

    fn is_wanted(&self) -> bool {
        self.b.is_wanted()
    }
}
