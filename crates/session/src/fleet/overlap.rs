//! Checks on the record that no node was timed while another one did not run the benchmark, within
//! the errors of their clocks.

use std::collections::BTreeMap;

use yamba_record::event::CommonClock;
use yamba_record::{Benchmark, Run};

/// Most violations that are described.
const MOST: usize = 10;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlap {
    /// The number of timed batches, of all nodes.
    pub batches: usize,
    /// The number of timed batches during which another node did not run the benchmark, or of which
    /// that is unknown.
    pub outside: usize,
    /// The first of them, in words.
    pub examples: Vec<String>,
    /// The largest error of a clock, in ns.
    pub clock_error_ns: f64,
}

/// A batch of a node: the time for which it ran the benchmark, and the part that was timed, on the
/// clock of the first node in ns.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    node: usize,
    runs: [f64; 2],
    timed: [f64; 2],
    error_ns: f64,
}

/// Identifies the batches of all nodes that belong together: the entry, its round, and the number
/// of the batch in its launch.
type Key = (String, u64, usize);

/// Checks the runs of all nodes, which need their raw batches.
pub fn check(runs: &[Run]) -> Overlap {
    let mut overlap = Overlap::default();
    let mut rounds: BTreeMap<Key, Vec<Stretch>> = BTreeMap::new();
    for (node, run) in runs.iter().enumerate() {
        for entry in &run.benchmarks {
            add(entry, node, &mut rounds, &mut overlap);
        }
    }
    for (key, stretches) in &rounds {
        for own in stretches {
            let error = overlap.clock_error_ns.max(own.error_ns);
            overlap.clock_error_ns = error;
            if let Some(why) = alone(own, stretches, runs.len()) {
                overlap.note(format!("{} in round {}, task {}: {why}", key.0, key.1, own.node));
            }
        }
    }
    overlap
}

impl Overlap {
    fn note(&mut self, example: String) {
        self.outside += 1;
        if self.examples.len() < MOST {
            self.examples.push(example);
        }
    }
}

fn add(
    entry: &Benchmark,
    node: usize,
    rounds: &mut BTreeMap<Key, Vec<Stretch>>,
    overlap: &mut Overlap,
) {
    let name = format!("{}{}", entry.name, entry.parameters);
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for batch in entry.records.batches() {
        overlap.batches += 1;
        let number = numbers.entry(batch.launch).or_default();
        *number += 1;
        let launch = entry.launches.get(batch.launch as usize);
        let clock = launch.and_then(|launch| launch.common_clock);
        let (Some(load), Some(clock), Some(launch)) = (batch.load, clock, launch) else {
            overlap.note(format!("{name}, task {node}: a batch has no common clock"));
            continue;
        };
        let (offset, error_ns) = common(&clock);
        let key = (name.clone(), launch.round, *number);
        rounds.entry(key).or_default().push(Stretch {
            node,
            runs: [load.ready_ns + offset, load.left_ns + offset],
            timed: [load.begin_ns + offset, load.end_ns + offset],
            error_ns,
        });
    }
}

/// The offset to the clock of the first node during a launch, and the bound of its error: a clock
/// may drift from one of its offsets to the other.
fn common(clock: &CommonClock) -> (f64, f64) {
    let [before, after] = clock.offset_ns;
    let drift = (after - before).abs() / 2.0;
    ((before + after) / 2.0, drift + clock.error_ns[0].max(clock.error_ns[1]))
}

/// Why a timed batch was not within the runs of all other nodes. `None` if it was, for any clocks
/// within their errors.
fn alone(own: &Stretch, all: &[Stretch], nodes: usize) -> Option<String> {
    if all.len() != nodes {
        return Some(format!("{} of {nodes} nodes have this batch", all.len()));
    }
    all.iter().filter(|other| other.node != own.node).find_map(|other| {
        let error = own.error_ns + other.error_ns;
        let early = own.timed[0] - other.runs[0] - error;
        let late = other.runs[1] - own.timed[1] - error;
        let worst = early.min(late);
        (worst < 0.0).then(|| {
            let microseconds = -worst / 1e3;
            format!(
                "it was timed up to {microseconds:.1} us while task {} did not run, with clocks known within {:.1} us",
                other.node,
                error / 1e3
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use yamba_record::batch::{Batch, Load};
    use yamba_record::run::Launch;
    use yamba_record::{Benchmark, Machine, Run, Status};

    use super::*;

    /// A node whose clock is behind that of the first node by `behind_ns`, and which does
    /// everything `late_ns` later.
    fn node(behind_ns: f64, late_ns: f64, error_ns: f64) -> Run {
        let at = |ns: f64| ns + late_ns - behind_ns;
        let batch = |begin: f64| Batch {
            load: Some(Load {
                ready_ns: at(begin - 1e6),
                begin_ns: at(begin),
                end_ns: at(begin + 5e7),
                left_ns: at(begin + 5.1e7),
            }),
            ..Batch::default()
        };
        let mut entry = Benchmark::ended("lat", Status::Ok, Vec::new());
        entry.records = [1e9, 2e9].map(batch).into_iter().collect();
        entry.launches = vec![Launch {
            common_clock: Some(CommonClock {
                offset_ns: [behind_ns - 100.0, behind_ns + 100.0],
                error_ns: [error_ns, error_ns / 2.0],
            }),
            ..Launch::default()
        }];
        let mut run = Run::new(Machine::default());
        run.benchmarks = vec![entry];
        run
    }

    #[test]
    fn nodes_with_different_clocks_ran_at_the_same_time() {
        let found = check(&[node(0.0, 0.0, 0.0), node(7e12, 0.0, 400.0), node(-3e9, 4e5, 400.0)]);
        assert_eq!((found.batches, found.outside), (6, 0), "{found:?}");
        assert_eq!(found.clock_error_ns, 500.0);
    }

    #[test]
    fn delayed_node_is_found() {
        let found = check(&[node(0.0, 0.0, 0.0), node(7e12, 1.1e6, 400.0)]);
        assert_eq!(found.outside, 4, "{found:?}");
        assert!(found.examples[0].contains("did not run"), "{found:?}");
    }

    /// The delay is 0.9 ms, and the others run 1 ms before and after each batch.
    #[test]
    fn clock_that_is_not_known_well_enough_fails_the_check() {
        let nodes = |error_ns| check(&[node(0.0, 0.0, 0.0), node(7e12, 9e5, error_ns)]);
        assert_eq!(nodes(5e4).outside, 0);
        assert_eq!(nodes(2e5).outside, 4);
    }

    #[test]
    fn missing_batch_and_unknown_clock_fail_the_check() {
        let mut other = node(0.0, 0.0, 0.0);
        other.benchmarks[0].launches[0].common_clock = None;
        let found = check(&[node(0.0, 0.0, 0.0), other]);
        assert_eq!((found.batches, found.outside), (4, 4), "{found:?}");
    }
}
