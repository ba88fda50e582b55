//! The launches of each benchmark of both sides.

use std::collections::{BTreeMap, BTreeSet};

use yamba_compare::pairing::in_order;
use yamba_harness::CommandRun;
use yamba_record::run::{IntervalScope, Launch};
use yamba_record::{Benchmark, Note, Status};
use yamba_stats::{launch_interval, median};

use super::adapter::Reading;
use crate::commands::counts;

/// Confidence of the interval of a figure.
const CONFIDENCE: f64 = 0.95;

/// The processor time of a benchmark is compared only if it waits for anything but a processor in
/// at most this share of its time.
const LEAST_WAITING: f64 = 0.05;

/// Processor time does not show a change of that waiting. The shares of both sides may differ by
/// this part of the difference that matters.
const HIDDEN: f64 = 0.25;

/// Rounds with a figure of both sides from which on their ratio has an interval.
const FEWEST_PAIRS: usize = 2;

/// The figure of one benchmark in one process.
#[derive(Clone, Debug)]
struct Observation {
    clock: f64,
    processor: Option<f64>,
    /// The share of the process's time in which it was ready, and had no processor.
    ready: Option<f64>,
    /// The process itself, if the figure is its time.
    command: Option<CommandRun>,
}

/// One benchmark of one side.
struct Series {
    /// The entry of its first launch, for name, parameters and unit.
    first: Benchmark,
    /// By round.
    launches: BTreeMap<u64, Observation>,
    /// Why it has no figure.
    fault: Option<(Status, Vec<Note>)>,
}

/// All benchmarks of one side, in the order in which they were first measured.
#[derive(Default)]
pub(super) struct AllSeries {
    series: Vec<Series>,
    places: BTreeMap<String, usize>,
}

impl AllSeries {
    /// Adds the results of one process. Those of benchmarks for which `is_wanted` is false are
    /// ignored. `ready` is the share of the process's time in which it was ready to run, and had no
    /// processor.
    pub fn add(
        &mut self,
        round: u64,
        readings: Vec<Reading>,
        ready: Option<f64>,
        is_wanted: &dyn Fn(&str) -> bool,
    ) {
        for reading in readings {
            let key = in_order(&reading.entry);
            if !is_wanted(&key) {
                continue;
            }
            let place = *self.places.entry(key).or_insert(self.series.len());
            if place == self.series.len() {
                self.series.push(Series {
                    first: reading.entry.clone(),
                    launches: BTreeMap::new(),
                    fault: None,
                });
            }
            self.series[place].add(round, reading, ready);
        }
    }

    fn find(&self, key: &str) -> Option<&Series> {
        Some(&self.series[*self.places.get(key)?])
    }

    /// The keys of the benchmarks that wait for little but a processor, and equally on both sides.
    /// `matters` returns the difference that matters for a name. A side that is missing waits for
    /// nothing.
    pub fn only_compute(
        &self,
        other: &AllSeries,
        matters: &dyn Fn(&str) -> f64,
    ) -> BTreeSet<String> {
        let both = self.series.iter().filter_map(|series| {
            let key = in_order(&series.first);
            let of_other = other.find(&key).map_or(Some(0.0), Series::waiting)?;
            let of_self = series.waiting()?;
            // Several threads use more processor time than time on the clock.
            let is_little = [of_self, of_other].iter().all(|share| share.abs() <= LEAST_WAITING);
            let hidden = (of_self - of_other).abs();
            let is_equal = hidden < HIDDEN * matters(&series.first.name);
            (is_little && is_equal).then_some(key)
        });
        both.collect()
    }

    /// The entries of a run. Of a benchmark of both sides only the rounds count in which both have
    /// a figure, unless these are too few to compare: then the figures of the other side are the
    /// reason, and all rounds of this one stay. It is the processor time of those of
    /// `by_processor`.
    pub fn entries(&self, other: &AllSeries, by_processor: &BTreeSet<String>) -> Vec<Benchmark> {
        let entry = |series: &Series| {
            let key = in_order(&series.first);
            series.entry(other.find(&key), by_processor.contains(&key))
        };
        self.series.iter().map(entry).collect()
    }
}

impl Series {
    fn add(&mut self, round: u64, reading: Reading, ready: Option<f64>) {
        let Reading { entry, processor, command } = reading;
        match (entry.status, entry.median) {
            (Status::Ok, Some(clock)) if entry.unit == self.first.unit => {
                self.launches.insert(round, Observation { clock, processor, ready, command });
            }
            (Status::Ok, _) => {
                let note = Note::Text("its launches have several units".to_owned());
                self.fault.get_or_insert((Status::Invalid, vec![note]));
            }
            (status, _) => {
                self.fault.get_or_insert((status, entry.notes));
            }
        }
    }

    /// The share of its time in which it waits for anything but a processor. `None` if that is not
    /// known.
    fn waiting(&self) -> Option<f64> {
        let waiting =
            |launch: &Observation| Some(1.0 - launch.processor? / launch.clock - launch.ready?);
        let waiting: Option<Vec<f64>> = self.launches.values().map(waiting).collect();
        waiting.and_then(|shares| median(&shares))
    }

    /// The launches whose figures count.
    fn counted(&self, other: Option<&Series>) -> Vec<&Observation> {
        let all = || self.launches.iter();
        if let Some(other) = other {
            let common = all().filter(|(round, _)| other.launches.contains_key(round));
            let common: Vec<&Observation> = common.map(|(_, launch)| launch).collect();
            let has_less = self.launches.len() <= other.launches.len();
            if common.len() >= FEWEST_PAIRS || has_less {
                return common;
            }
        }
        all().map(|(_, launch)| launch).collect()
    }

    fn entry(&self, other: Option<&Series>, is_processor: bool) -> Benchmark {
        let mut entry = self.first.clone();
        entry.details = Default::default();
        entry.declaration.provenance.files = Vec::new();
        entry.notes = Vec::new();
        let figure = |launch: &Observation| {
            launch.processor.filter(|_| is_processor).unwrap_or(launch.clock)
        };
        let counted = self.counted(other);
        let figures: Vec<f64> = counted.iter().map(|launch| figure(launch)).collect();
        let commands = counted.iter().filter_map(|launch| launch.command.as_ref());
        entry.details.command = commands.clone().next().map(|_| counts(commands));
        let launch =
            |figure: &f64| Launch { median: Some(*figure), samples: 1, ..Launch::default() };
        entry.launches = figures.iter().map(launch).collect();
        if let Some((status, notes)) = &self.fault {
            (entry.status, entry.valid, entry.notes) = (*status, false, notes.clone());
            (entry.median, entry.confidence_interval, entry.interval_scope) = (None, None, None);
            return entry;
        }
        if is_processor {
            let note = "processor time, without the time in which others had the processor";
            entry.notes = vec![Note::Text(note.to_owned())];
        }
        entry.median = median(&figures);
        let interval = launch_interval(&figures, CONFIDENCE);
        entry.confidence_interval = interval.map(|interval| [interval.low, interval.high]);
        entry.interval_scope = interval.map(|_| IntervalScope::BetweenLaunches);
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches of a benchmark whose processor has the given share of its time on the clock, in
    /// processes that had no processor for another share.
    fn series(figures: &[f64], processor: f64, ready: f64) -> AllSeries {
        let mut all = AllSeries::default();
        for (round, clock) in figures.iter().enumerate() {
            let mut entry = Benchmark::ended("x", Status::Ok, Vec::new());
            (entry.median, entry.unit) = (Some(*clock), Some("ns".to_owned()));
            let processor = Some(clock * processor);
            let reading = Reading { processor, ..Reading::new(entry) };
            all.add(round as u64, vec![reading], Some(ready), &|_| true);
        }
        all
    }

    fn median_beside(one: &AllSeries, other: &AllSeries) -> Option<f64> {
        one.entries(other, &one.only_compute(other, &|_| 0.03))[0].median
    }

    #[test]
    fn processor_time_counts_only_if_both_sides_only_compute() {
        let computes = series(&[200.0; 6], 0.5, 0.5);
        let waits = series(&[200.0; 6], 0.5, 0.1);
        let threads = series(&[200.0; 6], 2.0, 0.0);
        assert_eq!(median_beside(&computes, &computes), Some(100.0));
        for other in [&waits, &threads] {
            assert_eq!(median_beside(&computes, other), Some(200.0));
            assert_eq!(median_beside(other, &computes), Some(200.0));
        }
    }

    /// A head that sleeps in 4 % of its time is 4 % slower by the clock, not by processor time.
    #[test]
    fn waiting_that_differs_by_what_matters_is_compared_by_the_clock() {
        let base = series(&[200.0; 6], 0.5, 0.5);
        let sleeps = series(&[208.0; 6], 0.48, 0.48);
        let is_by_processor = |matters| !base.only_compute(&sleeps, &|_| matters).is_empty();
        assert_eq!([0.03, 0.15, 0.2].map(is_by_processor), [false, false, true]);
        // The same waiting on both sides changes no ratio.
        assert_eq!(sleeps.only_compute(&sleeps, &|_| 0.03).len(), 1);
    }

    /// Otherwise a benchmark that always fails in the head would be no loss: the base would have no
    /// figure of it.
    #[test]
    fn side_keeps_its_figures_where_the_other_has_too_few() {
        let one = series(&[10.0; 6], 0.0, 0.0);
        let mut fails = AllSeries::default();
        let failed = || Benchmark::ended("x", Status::Crashed, vec![Note::Text("no".to_owned())]);
        for round in 0..6 {
            fails.add(round, vec![Reading::new(failed())], None, &|_| true);
        }
        let none = BTreeSet::new();
        for (other, status) in [(&fails, Status::Crashed), (&series(&[70.0], 0.0, 0.0), Status::Ok)]
        {
            let own = &one.entries(other, &none)[0];
            assert_eq!((own.median, own.launches.len()), (Some(10.0), 6));
            assert_eq!(other.entries(&one, &none)[0].status, status);
        }
    }

    #[test]
    fn only_rounds_of_both_sides_count() {
        let mut one = series(&[10.0, 20.0, 30.0], 0.0, 0.0);
        let other = series(&[1.0, 2.0], 0.0, 0.0);
        let none = BTreeSet::new();
        let launches = |a: &AllSeries, b: &AllSeries| a.entries(b, &none)[0].launches.len();
        assert_eq!((launches(&one, &other), launches(&other, &one)), (2, 2));
        assert_eq!(launches(&one, &AllSeries::default()), 3);
        // A failure in any process is that of the benchmark.
        let failed = Benchmark::ended("x", Status::Crashed, vec![Note::Text("no".to_owned())]);
        one.add(3, vec![Reading::new(failed)], None, &|_| true);
        let entry = &one.entries(&other, &none)[0];
        assert_eq!((entry.status, entry.median), (Status::Crashed, None));
    }
}
