//! Checks that several processes or threads ran at the same time, and computes their common
//! throughput. Pure.

use std::collections::BTreeMap;

use yamba_record::batch::Load;
use yamba_record::number::number;
use yamba_record::run::Throughput;
use yamba_record::{Batch, Workers};
use yamba_stats::median;

/// Shortest batch under load. It holds several of a scheduler's time slices, which are shorter.
const LONG_ENOUGH_NS: f64 = 1e9;

/// Tolerated share of that length, since batches are sized beforehand.
const SIZING: f64 = 0.95;

/// Why the records do not prove that every process or thread ran the benchmark while another timed
/// a batch; `None` if they do.
///
/// Each worker times one batch in each round: the k-th batch of every worker belongs to the k-th
/// round.
pub(super) fn broken_guarantee(batches: &[Batch], workers: Workers) -> Option<String> {
    let mut rounds: BTreeMap<(u64, u64), Vec<&Batch>> = BTreeMap::new();
    let mut timed: BTreeMap<(u64, Worker), u64> = BTreeMap::new();
    for batch in batches {
        let round = timed.entry((batch.launch, worker(batch))).or_default();
        let of_round = rounds.entry((batch.launch, *round)).or_default();
        of_round.push(batch);
        *round += 1;
    }
    rounds.iter().find_map(|((launch, round), of)| {
        let why = broken_round(of, workers)?;
        let (round, launch) = (round + 1, launch + 1);
        Some(format!("not under load: {why} (round {round} of launch {launch})"))
    })
}

/// Indices of a process and of its thread.
pub(super) type Worker = (u64, u64);

pub(super) fn worker(batch: &Batch) -> Worker {
    (batch.process, batch.thread)
}

fn broken_round(round: &[&Batch], workers: Workers) -> Option<String> {
    let (count, timed) = (workers.count(), round.len());
    if timed as u64 != count {
        let kinds = workers.kinds();
        return Some(format!("{timed} of {count} {kinds} timed a batch"));
    }
    round.iter().find_map(|timing| {
        let name = |batch: &Batch| named(batch, workers);
        let Some(own) = timing.load else {
            return Some(format!("{} does not say when it ran", name(timing)));
        };
        if own.end_ns < own.begin_ns {
            let name = name(timing);
            return Some(format!("the batch of {name} ended before it began"));
        }
        let others = round.iter().filter(|o| worker(o) != worker(timing));
        others.into_iter().find_map(|other| {
            let gap = gap(own, other.load?)?;
            Some(format!("{} {}", name(other), gap.beside(&name(timing))))
        })
    })
}

/// The name of the worker of a batch: `process 3` or `thread 3`.
fn named(batch: &Batch, workers: Workers) -> String {
    let kind = workers.kind();
    let index = if workers.threads > 1 { batch.thread } else { batch.process };
    format!("{kind} {index}")
}

/// Time at one side of a batch in which another worker did not run.
struct Gap {
    is_before: bool,
    ns: f64,
}

fn gap(own: Load, other: Load) -> Option<Gap> {
    let (late, early) = (other.ready_ns - own.begin_ns, own.end_ns - other.left_ns);
    let at = |is_before, ns| Gap { is_before, ns };
    if late > 0.0 {
        return Some(at(true, late));
    }
    (early > 0.0).then(|| at(false, early))
}

impl Gap {
    /// The gap in words, beside the batch of the worker `timed`.
    fn beside(&self, timed: &str) -> String {
        let us = number(self.ns / 1e3);
        if self.is_before {
            format!("only began running the benchmark {us} us after {timed}'s batch began")
        } else {
            format!("had stopped running the benchmark {us} us before {timed}'s batch ended")
        }
    }
}

/// A note about batches that are too short for a load.
pub(super) fn short_intervals(batches: &[Batch]) -> Option<String> {
    let lengths = batches.iter().filter_map(|i| i.load);
    let lengths: Vec<f64> = lengths.map(|l| l.end_ns - l.begin_ns).collect();
    let usual = median(&lengths)?;
    (usual < SIZING * LONG_ENOUGH_NS).then(|| {
        format!(
            "batches of {} ms are shorter than 1 s: scheduling may not have evened out",
            number(usual / 1e6)
        )
    })
}

/// One value of a process or thread in one launch.
pub(super) struct Sample {
    pub launch: u64,
    pub worker: Worker,
    pub value: f64,
}

/// The median of each worker, by launch.
fn worker_medians(samples: &[Sample]) -> BTreeMap<u64, Vec<f64>> {
    let mut values: BTreeMap<(u64, Worker), Vec<f64>> = BTreeMap::new();
    for s in samples {
        let of_worker = values.entry((s.launch, s.worker)).or_default();
        of_worker.push(s.value);
    }
    let mut medians: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for ((launch, _), of_worker) in values {
        let of_launch = medians.entry(launch).or_default();
        of_launch.extend(median(&of_worker));
    }
    medians
}

/// The median of the workers' medians.
pub(super) fn median_of_medians(samples: &[Sample]) -> Option<f64> {
    let medians = worker_medians(samples);
    median(&medians.into_values().flatten().collect::<Vec<f64>>())
}

/// Throughput of all workers together: the sum over the workers of each launch, and the median over
/// launches. `samples` are times per operation in ns, or bandwidths in `unit`.
pub(super) fn throughput(figure: &str, unit: &str, samples: &[Sample]) -> Option<Throughput> {
    let (rate, unit): (fn(&f64) -> f64, _) = match figure {
        "latency" => (|value| 1e9 / value, "operations/s"),
        "bandwidth" => (|value| *value, unit),
        _ => return None,
    };
    let each = worker_medians(samples).into_values();
    let sums: Vec<f64> = each.map(|m| m.iter().map(rate).sum()).collect();
    let sum = median(&sums)?;
    (sum.is_finite() && sum > 0.0).then(|| Throughput { sum, unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds of three processes that follow the protocol.
    fn kept() -> Vec<Batch> {
        let mut all = Vec::new();
        for round in 0..2 {
            for process in 0..3 {
                let at = f64::from(round) * 4e9 + f64::from(process) * 1e3;
                all.push(Batch {
                    process: process as u64,
                    load: Some(Load {
                        ready_ns: at,
                        begin_ns: at + 1e6,
                        end_ns: at + 1e6 + 1.2e9,
                        left_ns: at + 2e9,
                    }),
                    ..Batch::default()
                });
            }
        }
        all
    }

    fn broken(change: impl Fn(&mut Vec<Batch>)) -> String {
        let mut all = kept();
        change(&mut all);
        broken_guarantee(&all, Workers::processes(3)).expect("the guarantee is broken")
    }

    fn load(all: &mut [Batch], which: usize) -> &mut Load {
        all[which].load.as_mut().unwrap()
    }

    #[test]
    fn overlapping_rounds_pass() {
        assert_eq!(broken_guarantee(&kept(), Workers::processes(3)), None);
        // Another launch has rounds of its own.
        let mut all = kept();
        let mut later = kept();
        later.iter_mut().for_each(|i| i.launch = 1);
        all.extend(later);
        assert_eq!(broken_guarantee(&all, Workers::processes(3)), None);
        assert_eq!(short_intervals(&all), None);
    }

    #[test]
    fn late_start_or_early_end_breaks_guarantee() {
        assert_eq!(
            broken(|all| load(all, 4).ready_ns += 2e6),
            "not under load: process 1 only began running the benchmark 1001 us after process 0's batch began (round 2 of launch 1)"
        );
        assert_eq!(
            broken(|all| load(all, 2).left_ns = 1e9),
            "not under load: process 2 had stopped running the benchmark 201000 us before process 0's batch ended (round 1 of launch 1)"
        );
    }

    #[test]
    fn incomplete_rounds_break_guarantee() {
        assert_eq!(
            broken(|all| all[1].load = None),
            "not under load: process 1 does not say when it ran (round 1 of launch 1)"
        );
        assert_eq!(
            broken(|all| {
                all.remove(5);
            }),
            "not under load: 2 of 3 processes timed a batch (round 2 of launch 1)"
        );
        assert!(broken(|all| load(all, 0).end_ns = 0.0).contains("ended before it began"));
    }

    #[test]
    fn threads_are_told_apart_and_named() {
        let mut all = kept();
        for batch in &mut all {
            (batch.thread, batch.process) = (batch.process, 0);
        }
        assert_eq!(broken_guarantee(&all, Workers::threads(3)), None);
        load(&mut all, 4).ready_ns += 2e6;
        assert_eq!(
            broken_guarantee(&all, Workers::threads(3)).as_deref(),
            Some(
                "not under load: thread 1 only began running the benchmark 1001 us after thread 0's batch began (round 2 of launch 1)"
            )
        );
        all.remove(5);
        let broken = broken_guarantee(&all, Workers::threads(3)).unwrap();
        assert!(broken.contains("2 of 3 threads timed a batch"), "{broken}");
    }

    #[test]
    fn short_batches_are_noted() {
        let mut all = kept();
        for batch in &mut all {
            let load = batch.load.as_mut().unwrap();
            load.end_ns = load.begin_ns + 1e8;
        }
        assert_eq!(
            short_intervals(&all).as_deref(),
            Some("batches of 100 ms are shorter than 1 s: scheduling may not have evened out")
        );
    }

    #[test]
    fn together() {
        let sample = |launch, process, value| Sample { launch, worker: (process, 0), value };
        let samples = [
            sample(0, 0, 10.0),
            sample(0, 0, 10.0),
            sample(0, 0, 99.0),
            sample(0, 1, 20.0),
            sample(1, 0, 10.0),
            sample(1, 1, 10.0),
        ];
        assert_eq!(median_of_medians(&samples), Some(10.0));
        let all = throughput("latency", "ns", &samples).unwrap();
        // 1/10 + 1/20 and 1/10 + 1/10 in 1/ns; the median is their mean.
        assert!((all.sum - 1.75e8).abs() < 1.0);
        assert_eq!(all.unit, "operations/s");
        let bytes = throughput("bandwidth", "GB/s", &samples).unwrap();
        assert_eq!((bytes.sum, bytes.unit.as_str()), (25.0, "GB/s"));
        assert_eq!(throughput("value", "MHz", &samples), None);
    }
}
