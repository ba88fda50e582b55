//! Profiles the demand of an application: a run with Serial whose young collections copy all live
//! objects each few megabytes, and ordinary runs, which show the cost of collections. Runs with G1
//! also count cards.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::gc::Collector;
use crate::gc::costs::{CollectorCosts, Costs};
use crate::gc::demand::{AGES, Census, Demand, PricedRuns, SCHEMA};
use crate::gc::log::{self, Collection, Kind};
use crate::gc::ordinary::OrdinaryRun;
use crate::gc::refinement::Cards;
use crate::library::JavaCommand;

use crate::run::characterise::G1_DETAILS;
use crate::run::classes::Classes;
use crate::run::jvm::{Finished, application_options};
use crate::run::rounds::{Rounds, Step, in_rounds};
use crate::run::{Jvm, Limits};

/// Size of the young generation, in MB. A third is one survivor space, and bounds the live set.
const YOUNG_MB: u64 = 3072;
const OLD_MB: u64 = 256;

/// No survivor grows too old for its space, so those in the old generation had no room there. Less
/// than this is from elsewhere: objects that native code held, and rounding of the log.
const MOST_PROMOTED_BYTES: f64 = 1048576.0;

/// Heaps of the ordinary runs, as multiples of the largest live set: a small one, whose old
/// generation is often full, and a large one. Predictions interpolate between both.
const ORDINARY_LIVE_SETS: [f64; 2] = [2.25, 6.0];
/// Smallest heap of an ordinary run.
const LEAST_HEAP_BYTES: f64 = 24e6;
/// Runs with each heap. That with the median of the collector's processor time counts.
const ORDINARY_RUNS: usize = 3;
/// Time of a collector's runs after which no heap has a further run.
const ORDINARY_TIME: Duration = Duration::from_secs(60);
/// Collectors that can have ordinary runs beside those with Serial.
pub const OTHERS: [Collector; 4] =
    [Collector::Parallel, Collector::G1, Collector::Shenandoah, Collector::Z];

/// A run of a profile that begins.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// All live objects are counted.
    Counting,
    /// An ordinary run with a collector.
    Ordinary(Collector, Step),
}

/// Runs an application with at least `step_bytes` allocated between two censuses, and with ordinary
/// runs of Serial, of the `others` and, for its cards, of G1. `not_measured` has the reasons for
/// missing runs. The costs of Serial must be there, and one of its ordinary runs must succeed.
pub fn profile(
    jvm: &Jvm,
    costs: &Costs,
    others: &[Collector],
    command: &JavaCommand,
    step_bytes: u64,
    limits: Limits,
    progress: &dyn Fn(Stage),
) -> Result<Demand, String> {
    progress(Stage::Counting);
    let serial_costs = costs_of(costs, Collector::Serial)?;
    let mut demand = counted(jvm, command, step_bytes, limits)?;
    let application =
        Application { jvm, command, live_bytes: demand.largest_live_bytes(), limits, progress };
    let serial = application.runs(Collector::Serial, ORDINARY_RUNS)?;
    demand.not_measured.extend(serial.missing);
    demand.serial = PricedRuns { runs: serial.runs, costs: serial_costs.clone() };
    for &collector in others.iter().filter(|other| **other != Collector::G1) {
        let found = costs_of(costs, collector)
            .and_then(|costs| Ok((costs, application.runs(collector, ORDINARY_RUNS)?)));
        match found {
            Ok((costs, found)) => add(&mut demand, collector, costs, found),
            Err(reason) => demand.not_measured.push(missing(collector, &reason)),
        }
    }
    let wanted = others.contains(&Collector::G1);
    add_g1(&mut demand, &application, costs, wanted);
    jvm.check_stop()?;
    Ok(demand)
}

/// Adds runs with G1, which also count its cards. Runs that are not `wanted`, and those without
/// costs of G1, count cards only.
fn add_g1(demand: &mut Demand, application: &Application, costs: &Costs, wanted: bool) {
    let collector = Collector::G1;
    let costs = wanted.then(|| costs_of(costs, collector));
    if let Some(Err(reason)) = &costs {
        demand.not_measured.push(missing(collector, reason));
    }
    let costs = costs.and_then(Result::ok);
    let repeats = costs.map_or(1, |_| ORDINARY_RUNS);
    match application.runs(collector, repeats) {
        Ok(found) => {
            demand.cards = Some(Cards::measure(&found.collections));
            match costs {
                Some(costs) => add(demand, collector, costs, found),
                None => demand.not_measured.extend(found.missing),
            }
        }
        Err(reason) => {
            if costs.is_some() {
                demand.not_measured.push(missing(collector, &reason));
            }
            demand.not_measured.push(format!("cards with G1: {reason}"));
        }
    }
}

fn add(demand: &mut Demand, collector: Collector, costs: &CollectorCosts, found: OrdinaryRuns) {
    let name = collector.name().to_owned();
    let priced = PricedRuns { runs: found.runs, costs: costs.clone() };
    demand.others.insert(name, priced);
    demand.not_measured.extend(found.missing);
}

fn missing(collector: Collector, reason: &str) -> String {
    format!("ordinary runs with {}: {reason}", collector.name())
}

/// Heaps of the ordinary runs with a collector for a largest live set, in bytes and in rising
/// order. They differ by the same factor however small the live set is, as far as the resident
/// memory of a run is allowed to be twice the heap. Z without generations maps its heap three
/// times.
fn ordinary_heaps(collector: Collector, live_bytes: f64, limits: Limits) -> Vec<u64> {
    let [small, large] = ORDINARY_LIVE_SETS;
    let least = (small * live_bytes).max(LEAST_HEAP_BYTES);
    let share = if collector == Collector::Z { 4.0 } else { 2.0 };
    let most = limits.resident_bytes as f64 / share;
    let both = [least, least * large / small];
    let mut heaps = both.map(|bytes| bytes.min(most) as u64).to_vec();
    heaps.dedup();
    heaps
}

/// The costs of a collector, or why they are missing.
fn costs_of(costs: &Costs, collector: Collector) -> Result<&CollectorCosts, String> {
    let found = costs.collectors.get(collector.name());
    found.ok_or_else(|| {
        let reason = costs.skipped.get(collector.name());
        reason.cloned().unwrap_or_else(|| "no costs".to_owned())
    })
}

/// An application that runs with ordinary heaps.
struct Application<'a> {
    jvm: &'a Jvm,
    command: &'a JavaCommand,
    /// The largest live set.
    live_bytes: f64,
    limits: Limits,
    progress: &'a dyn Fn(Stage),
}

/// The ordinary runs with a collector, each with its collections, and the reasons for missing runs.
#[derive(Default)]
struct OrdinaryRuns {
    runs: Vec<OrdinaryRun>,
    collections: Vec<Vec<Collection>>,
    missing: Vec<String>,
}

impl Application<'_> {
    /// One run for each heap, the median of `repeats` runs. A run that fails does not count, and
    /// ends the runs with its heap. An error has the last reason, if all failed.
    fn runs(&self, collector: Collector, repeats: usize) -> Result<OrdinaryRuns, String> {
        let heaps = ordinary_heaps(collector, self.live_bytes, self.limits);
        let rounds = Rounds { most: repeats, time: Some(ORDINARY_TIME), least: heaps.len() };
        let all = in_rounds(rounds, &heaps, |heap, step| {
            (self.progress)(Stage::Ordinary(collector, step));
            self.run(collector, *heap, step)
        });
        let mut found = OrdinaryRuns::default();
        let mut last = None;
        for (heap_bytes, (runs, failure)) in heaps.iter().zip(all) {
            if let Some(reason) = failure {
                let mb = *heap_bytes as f64 / 1e6;
                let of_heap = format!("{reason} (heap of {mb:.0} MB)");
                found.missing.push(missing(collector, &of_heap));
                last = Some(reason);
            }
            let Some(median) = Finished::median(runs) else {
                continue;
            };
            let collections = median.collections;
            let cpu_ns = median.cpu.collecting_ns;
            let mut run = if collector.is_concurrent() {
                OrdinaryRun::concurrent(*heap_bytes as f64, &collections, cpu_ns)
            } else {
                OrdinaryRun::new(*heap_bytes as f64, &collections, cpu_ns)
            };
            if collector == Collector::G1 {
                // The log does not tell the freed bytes.
                run.full.dead_bytes = 0.0;
            }
            found.runs.push(run);
            found.collections.push(collections);
        }
        if found.runs.is_empty() {
            return Err(last.unwrap_or_else(|| "no run".to_owned()));
        }
        Ok(found)
    }

    fn run(&self, collector: Collector, heap_bytes: u64, step: Step) -> Result<Finished, String> {
        let options = application_options(heap_bytes);
        let arguments = [&options[..], &self.command.arguments()].concat();
        let logged = match collector {
            Collector::G1 => G1_DETAILS,
            _ => "gc*",
        };
        let limits = Limits {
            time: step.left.map_or(self.limits.time, |left| left.min(self.limits.time)),
            ..self.limits
        };
        self.jvm.run(collector, &arguments, logged, limits)
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
    let own: Vec<String> = [
        "-XX:SurvivorRatio=1",
        "-XX:MaxTenuringThreshold=16",
        "-XX:TargetSurvivorRatio=100",
        // Eden is large, and by default a thread's allocation buffer grows with it. A whole buffer
        // counts as allocated.
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
    let heap_mb = YOUNG_MB + OLD_MB;
    let sizes = [
        format!("-Xmn{YOUNG_MB}m"),
        format!("-Xms{heap_mb}m"),
        format!("-Xmx{heap_mb}m"),
        format!("-Xbootclasspath/a:{}", jar.display()),
        format!("-javaagent:{}={step_bytes}", jar.display()),
    ];
    // Of an option that is there twice, the last one counts.
    let arguments = [&command.options[..], &own, &sizes, &command.application].concat();
    let finished = jvm.run(Collector::Serial, &arguments, "gc*,gc+age=trace", limits)?;
    demand(&jvm.version, command, &finished)
}

/// Computes the demand from the log of the profile's run. It has no ordinary runs yet.
fn demand(version: &str, command: &JavaCommand, finished: &Finished) -> Result<Demand, String> {
    let mut censuses: Vec<Census> = Vec::new();
    let mut allocated_bytes = 0.0;
    let mut pauses_ns = 0.0;
    for collection in &finished.collections {
        pauses_ns += collection.pauses_ns.iter().sum::<f64>();
        let first_old_bytes = finished.collections[0].old_bytes.0;
        let promoted_bytes = collection.old_bytes.1 - first_old_bytes;
        if collection.kind != Some(Kind::Young) || promoted_bytes > MOST_PROMOTED_BYTES {
            return Err("more than 1 GiB is alive at once: a profile has no room for it".to_owned());
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
            "the application allocates too little for a profile: try a smaller --step".to_owned()
        );
    }
    let rest_of_eden = log::rest_of_eden(&finished.log)
        .ok_or("the log of collections has no line about the rest of Eden at the exit")?;
    Ok(Demand {
        schema: SCHEMA.to_owned(),
        application: command.name(),
        command: command.arguments(),
        jvm: version.to_owned(),
        allocated_bytes: allocated_bytes + rest_of_eden,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_differ_by_a_factor_also_for_small_live_sets() {
        let of = |collector, live_bytes| ordinary_heaps(collector, live_bytes, crate::run::LIMITS);
        let heaps = |live_bytes| of(Collector::Serial, live_bytes);
        assert_eq!(heaps(20e6), [45_000_000, 120_000_000]);
        assert_eq!(heaps(1e6), [24_000_000, 64_000_000]);
        // A run may have 6 GiB.
        assert_eq!(heaps(1e9), [2_250_000_000, 3 << 30]);
        assert_eq!(heaps(3e9), [3 << 30]);
        assert_eq!(of(Collector::Z, 1e9), [3 << 29]);
    }

    /// Objects that had no room in the survivor space are in the old generation. They count as
    /// alive there as long as it has room. Some are there from the start: the archive of the JDK.
    #[test]
    fn live_set_beyond_the_survivor_space_is_an_error() {
        const GIB: f64 = (1u64 << 30) as f64;
        let run = |old_bytes: [f64; 2]| {
            let count = |before: f64, after: f64| Collection {
                kind: Some(Kind::Young),
                eden_bytes: 64e6,
                survivor_bytes: GIB,
                bytes_by_age: vec![GIB],
                old_bytes: (before, after),
                ..Collection::default()
            };
            let [first, last] = old_bytes;
            Finished {
                collections: vec![count(first, first), count(first, last)],
                log: "[0.5s][info][gc,heap,exit ]   eden space 34944K,   2% used [0x00000000f8000000, 0x00000000f80aebf0, 0x00000000fa220000)\n".to_owned(),
                ..Finished::default()
            }
        };
        let words = ["java", "Main"].map(str::to_owned);
        let command = JavaCommand::parse(&words).unwrap();
        let found = |old_bytes| demand("17.0.15", &command, &run(old_bytes));
        let demand = found([1.1e6, 1.1e6]).unwrap();
        assert_eq!(demand.largest_live_bytes(), GIB + 1.1e6);
        let refused = found([1.1e6, 80e6]).unwrap_err();
        assert!(refused.starts_with("more than 1 GiB is alive at once"), "{refused}");
    }
}
