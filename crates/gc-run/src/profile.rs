//! Profiles the demand of an application: a run with Serial whose young collections copy all live objects each few megabytes, and ordinary runs, which show the cost of
//! collections. Runs with G1 also count cards.

use std::collections::BTreeMap;

use yamba_gc::Collector;
use yamba_gc::costs::{CollectorCosts, Costs};
use yamba_gc::demand::{AGES, Census, Demand, PricedRuns, SCHEMA};
use yamba_gc::log::{Collection, Kind};
use yamba_gc::ordinary::OrdinaryRun;
use yamba_gc::refinement::Cards;
use yamba_java::JavaCommand;

use crate::characterise::G1_DETAILS;
use crate::classes::Classes;
use crate::jvm::{Finished, heap_options};
use crate::{Jvm, Limits};

/// Size of the young generation, in MB. A third is one survivor space, and bounds the live set.
const YOUNG_MB: u64 = 3072;
const OLD_MB: u64 = 256;

/// Heaps of the ordinary runs, as multiples of the largest live set: a small one, whose old generation is often full, and a large one. Predictions interpolate between both.
const ORDINARY_LIVE_SETS: [f64; 2] = [2.25, 6.0];
/// Smallest heap of an ordinary run.
const LEAST_HEAP_BYTES: f64 = 24e6;
/// Runs with each heap. That with the median of the processor time counts.
const ORDINARY_RUNS: usize = 3;
/// Collectors that can have ordinary runs beside those with Serial: they stop the application.
pub const OTHERS: [Collector; 2] = [Collector::Parallel, Collector::G1];

/// Runs an application with at least `step_bytes` allocated between two censuses, and with ordinary runs of Serial, of the `others` and, for its cards, of G1. `not_measured` has
/// the reason for a missing run. The costs of Serial must be there, and one of its ordinary runs must succeed.
pub fn profile(
    jvm: &Jvm,
    costs: &Costs,
    others: &[Collector],
    command: &JavaCommand,
    step_bytes: u64,
    limits: Limits,
) -> Result<Demand, String> {
    let serial_costs = costs_of(costs, Collector::Serial)?;
    let mut demand = counted(jvm, command, step_bytes, limits)?;
    let runs = Runs {
        jvm,
        command,
        heaps: ordinary_heaps(demand.largest_live_bytes()),
        limits,
    };
    let serial = runs.all(Collector::Serial, ORDINARY_RUNS)?;
    demand.not_measured.extend(serial.missing);
    demand.serial = PricedRuns {
        runs: serial.runs,
        costs: serial_costs.clone(),
    };
    for &collector in others {
        let name = collector.name();
        let found = costs_of(costs, collector)
            .and_then(|costs| Ok((costs.clone(), runs.all(collector, ORDINARY_RUNS)?)));
        let (costs, found) = match found {
            Ok(found) => found,
            Err(reason) => {
                let missing = format!("ordinary runs with {name}: {reason}");
                demand.not_measured.push(missing);
                continue;
            }
        };
        if collector == Collector::G1 {
            demand.cards = Some(Cards::of(&found.collections));
        }
        demand.not_measured.extend(found.missing);
        let runs = found.runs;
        demand
            .others
            .insert(name.to_owned(), PricedRuns { runs, costs });
    }
    if demand.cards.is_none() {
        match runs.all(Collector::G1, 1) {
            Ok(found) => demand.cards = Some(Cards::of(&found.collections)),
            Err(reason) => demand.not_measured.push(format!("cards with G1: {reason}")),
        }
    }
    Ok(demand)
}

/// Heaps of the ordinary runs for a largest live set. They differ by the same factor, however small the live set is.
fn ordinary_heaps(live_bytes: f64) -> [f64; 2] {
    let [small, large] = ORDINARY_LIVE_SETS;
    let least = (small * live_bytes).max(LEAST_HEAP_BYTES);
    [least, least * large / small]
}

/// The costs of a collector, or why they are missing.
fn costs_of(costs: &Costs, collector: Collector) -> Result<&CollectorCosts, String> {
    let found = costs.collectors.get(collector.name());
    found.ok_or_else(|| {
        let reason = costs.skipped.get(collector.name());
        reason.cloned().unwrap_or_else(|| "no costs".to_owned())
    })
}

/// The ordinary runs of an application.
struct Runs<'a> {
    jvm: &'a Jvm,
    command: &'a JavaCommand,
    heaps: [f64; 2],
    limits: Limits,
}

/// The ordinary runs with a collector, each with its collections, and the heaps that have none, with the reason.
#[derive(Default)]
struct Found {
    runs: Vec<OrdinaryRun>,
    collections: Vec<Vec<Collection>>,
    missing: Vec<String>,
}

impl Runs<'_> {
    /// Runs with each heap, `repeats` times. An error has the reason of the last heap, if all failed.
    fn all(&self, collector: Collector, repeats: usize) -> Result<Found, String> {
        let mut found = Found::default();
        let mut last = String::new();
        for heap_bytes in self.heaps {
            match self.median(collector, heap_bytes, repeats) {
                Ok((run, collections)) => {
                    found.runs.push(run);
                    found.collections.push(collections);
                }
                Err(reason) => {
                    let (name, mb) = (collector.name(), heap_bytes / 1e6);
                    let missing = format!("ordinary runs with {name} and {mb:.0} MB: {reason}");
                    found.missing.push(missing);
                    last = reason;
                }
            }
        }
        if found.runs.is_empty() {
            Err(last)
        } else {
            Ok(found)
        }
    }

    /// Of several runs with a heap of fixed size, the one with the median of the processor time, and its collections.
    fn median(
        &self,
        collector: Collector,
        heap_bytes: f64,
        repeats: usize,
    ) -> Result<(OrdinaryRun, Vec<Collection>), String> {
        let options = heap_options(heap_bytes as u64);
        let arguments = [&options[..], &self.command.arguments()].concat();
        let logged = match collector {
            Collector::G1 => G1_DETAILS,
            _ => "gc*",
        };
        let all = self
            .jvm
            .repeat(repeats, collector, &arguments, logged, self.limits)?;
        let median = Finished::median(all).ok_or("no run")?;
        let collections = median.collections();
        let mut run = OrdinaryRun::of(heap_bytes, &collections, median.cpu.collecting_ns);
        if collector == Collector::G1 {
            // The log does not tell the freed bytes.
            run.full.dead_bytes = 0.0;
        }
        Ok((run, collections))
    }
}

/// The demand by a run that counts all live objects.
fn counted(
    jvm: &Jvm,
    command: &JavaCommand,
    step_bytes: u64,
    limits: Limits,
) -> Result<Demand, String> {
    let classes = Classes::compile(jvm)?;
    let jar = classes.jar();
    let mut arguments: Vec<String> = [
        "-XX:SurvivorRatio=1",
        "-XX:MaxTenuringThreshold=16",
        "-XX:TargetSurvivorRatio=100",
        // Eden is large, and by default a thread's allocation buffer grows with it. A whole buffer counts as allocated.
        "-XX:TLABSize=64k",
        "-XX:-ResizeTLAB",
        "-XX:MetaspaceSize=1g",
        "-XX:+DisableExplicitGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+WhiteBoxAPI",
        "-XX:-DisplayVMOutput",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("-Xmn{YOUNG_MB}m"));
    arguments.push(format!("-Xms{}m", YOUNG_MB + OLD_MB));
    arguments.push(format!("-Xmx{}m", YOUNG_MB + OLD_MB));
    arguments.push(format!("-Xbootclasspath/a:{}", jar.display()));
    arguments.push(format!("-javaagent:{}={step_bytes}", jar.display()));
    arguments.extend(command.arguments());
    let finished = jvm.run(Collector::Serial, &arguments, "gc*,gc+age=trace", limits)?;
    demand(jvm, command, &finished)
}

/// The demand without ordinary runs.
fn demand(jvm: &Jvm, command: &JavaCommand, finished: &Finished) -> Result<Demand, String> {
    let mut censuses: Vec<Census> = Vec::new();
    let mut allocated_bytes = 0.0;
    let mut pauses_ns = 0.0;
    for collection in finished.collections() {
        pauses_ns += collection.pauses_ns.iter().sum::<f64>();
        if collection.kind != Some(Kind::Young) {
            return Err(
                "the application has more live data than the profile allows: 1 GB".to_owned(),
            );
        }
        allocated_bytes += collection.eden_bytes;
        let mut ages = collection.bytes_by_age.clone();
        ages.resize(AGES, 0.0);
        ages[AGES - 1] += collection.old_bytes.1;
        censuses.push(Census {
            allocated_bytes,
            live_bytes_by_age: ages,
            metaspace_bytes: collection.metaspace_bytes,
        });
    }
    if censuses.is_empty() {
        return Err(
            "the application allocates too little for a profile: try a smaller --step".to_owned(),
        );
    }
    Ok(Demand {
        schema: SCHEMA.to_owned(),
        application: command.name(),
        command: command.arguments(),
        jvm: jvm.version.clone(),
        allocated_bytes: allocated_bytes + rest_of_eden(&finished.log),
        mutator_ns: finished.elapsed_ns - pauses_ns,
        serial: PricedRuns::default(),
        others: BTreeMap::new(),
        cards: None,
        censuses,
        not_measured: [
            "reference loads, and what barriers cost the application",
            "references from old to young objects",
            "sizes of single objects: the costs of copies stand for them",
            "calls of System.gc(), which are ignored",
        ]
        .map(str::to_owned)
        .into(),
    })
}

/// Bytes in Eden at the end: `eden space 34944K, 2% used [0xBOTTOM, 0xTOP, 0xEND)`.
fn rest_of_eden(log: &str) -> f64 {
    let line = log.lines().rev().find(|l| l.contains("eden space"));
    let Some((_, addresses)) = line.and_then(|l| l.rsplit_once('[')) else {
        return 0.0;
    };
    let number = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let parts: Vec<Option<u64>> = addresses.split(',').map(number).collect();
    match parts[..] {
        [Some(bottom), Some(top), ..] => top.saturating_sub(bottom) as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_differ_by_a_factor_also_for_small_live_sets() {
        assert_eq!(ordinary_heaps(20e6), [45e6, 120e6]);
        assert_eq!(ordinary_heaps(1e6), [24e6, 64e6]);
    }

    #[test]
    fn rest_of_eden_is_the_distance_of_its_addresses() {
        let log = "[0.5s][info][gc,exit ]   eden space 34944K,   2% used [0x00000000f8000000, 0x00000000f80aebf0, 0x00000000fa220000)";
        assert_eq!(rest_of_eden(log), f64::from(0xaebf0));
        assert_eq!(rest_of_eden(""), 0.0);
    }
}
