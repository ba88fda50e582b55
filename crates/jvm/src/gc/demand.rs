//! The demand of an application, `yamba-gc-profile/1`: what it allocates and how long objects live.
//! Ages are in bytes allocated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::gc::Collector;
use crate::gc::costs::{self, CollectorCosts};
use crate::gc::ordinary::OrdinaryRun;
use crate::gc::refinement::Cards;

/// The schema of the document.
pub const SCHEMA: &str = "yamba-gc-profile/1";

/// One copy of all live objects while the application was profiled.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Census {
    /// Bytes allocated since the start.
    pub allocated_bytes: f64,
    /// Live bytes by age in censuses; index 0 was allocated since the census before, the last one
    /// is older than all others.
    pub live_bytes_by_age: Vec<f64>,
    /// Bytes of class metadata.
    pub metaspace_bytes: f64,
}

impl Census {
    pub fn live_bytes(&self) -> f64 {
        self.live_bytes_by_age.iter().sum()
    }
}

/// Ordinary runs of an application with one collector, and the costs of that collector on the same
/// machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PricedRuns {
    /// The collections of the runs, each with another size of the heap, in rising order.
    pub runs: Vec<OrdinaryRun>,
    /// Costs by the micro-benchmarks.
    pub costs: CollectorCosts,
}

/// The demand of one application.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Demand {
    /// Always `yamba-gc-profile/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The application's name.
    pub application: String,
    /// The command that was profiled.
    pub command: Vec<String>,
    /// Version of the JVM.
    pub jvm: String,
    /// Bytes allocated by the whole run.
    pub allocated_bytes: f64,
    /// Wall-clock time of the run without its collections, in ns. Only the policies of concurrent
    /// collectors use it.
    pub mutator_ns: f64,
    /// Ordinary runs with Serial, on the machine of the profile.
    pub serial: PricedRuns,
    /// Ordinary runs with other collectors than Serial, by name. Without them, predictions for
    /// Parallel and G1 follow from the runs with Serial, and those for Shenandoah and Z are not
    /// corrected.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, PricedRuns>,
    /// Cards in the runs with G1. Missing in profiles of JVMs without G1: no refinement is
    /// predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cards: Option<Cards>,
    /// In the order of time.
    pub censuses: Vec<Census>,
    /// Properties of the application that the profile lacks.
    pub not_measured: Vec<String>,
}

impl Demand {
    /// Checks the censuses. The error names the fault.
    pub fn check(&self) -> Result<(), String> {
        if self.censuses.is_empty() {
            return Err("censuses: without one it is unknown what is alive".to_owned());
        }
        if !self.censuses.is_sorted_by_key(|census| census.allocated_bytes) {
            return Err("censuses: they are not in the order of time".to_owned());
        }
        Ok(())
    }

    /// Live bytes of the census with most of them.
    pub fn largest_live_bytes(&self) -> f64 {
        let live = self.censuses.iter().map(Census::live_bytes);
        live.fold(0.0, f64::max)
    }

    /// The smallest heap of the ordinary runs with Serial, in bytes.
    pub fn least_heap_bytes(&self) -> Option<f64> {
        Some(self.serial.runs.first()?.heap_bytes)
    }

    /// The first number of the version of the JVM of the profile.
    pub fn jvm_major(&self) -> u32 {
        costs::jvm_major(&self.jvm)
    }

    /// The ordinary runs with another collector than Serial, if there are any with young
    /// collections.
    pub fn other(&self, collector: Collector) -> Option<&PricedRuns> {
        let found = self.others.get(collector.name());
        found.filter(|priced| priced.runs.iter().any(|run| run.young.bytes > 0.0))
    }
}

/// Ages that a census tells apart; the last one holds all older objects.
pub const AGES: usize = 15;

/// Bytes that survive, at any moment and for any age. It interpolates between the censuses of a
/// demand.
pub struct Survival<'a> {
    censuses: &'a [Census],
    /// Logarithm of the share of old objects that is still alive, accumulated over the censuses.
    decay: Vec<f64>,
}

impl<'a> Survival<'a> {
    pub fn new(demand: &'a Demand) -> Self {
        let censuses = &demand.censuses;
        let mut decay = vec![0.0];
        for pair in censuses.windows(2) {
            let before = age(&pair[0], AGES - 1) + age(&pair[0], AGES - 2);
            let after = age(&pair[1], AGES - 1);
            let kept: f64 = if before > 0.0 { (after / before).clamp(1e-6, 1.0) } else { 1.0 };
            decay.push(decay.last().unwrap_or(&0.0) + kept.ln());
        }
        Self { censuses, decay }
    }

    /// Bytes alive at `now` that were allocated after `since`; both in bytes allocated since the
    /// start.
    pub fn alive(&self, now: f64, since: f64) -> f64 {
        let reach = now - since.max(0.0);
        if reach <= 0.0 || self.censuses.is_empty() {
            return 0.0;
        }
        let after = self.censuses.partition_point(|c| c.allocated_bytes < now);
        let last = self.censuses.len() - 1;
        let high = after.min(last);
        let low = after.saturating_sub(1).min(last);
        let (from, to) = (&self.censuses[low], &self.censuses[high]);
        let span = to.allocated_bytes - from.allocated_bytes;
        let share =
            if span > 0.0 { ((now - from.allocated_bytes) / span).clamp(0.0, 1.0) } else { 0.0 };
        (1.0 - share) * self.at_census(low, reach) + share * self.at_census(high, reach)
    }

    /// The share of the old objects allocated between `begin` and `end`, and alive at `then`, that
    /// is alive at `now`.
    pub fn kept(&self, begin: f64, end: f64, then: f64, now: f64) -> f64 {
        // Beyond the ages that a census tells apart, births are known by census only.
        let is_old = now - begin > (AGES - 2) as f64 * self.step();
        let least = if is_old { self.step() } else { 0.0 };
        let half = ((end - begin) / 2.0).max(least);
        let middle = (begin + end) / 2.0;
        let alive = |at: f64| {
            let youngest = self.alive(at, middle + half);
            self.alive(at, middle - half) - youngest
        };
        let before = alive(then);
        if before > 0.0 {
            (alive(now) / before).clamp(0.0, 1.0)
        } else if now > then {
            0.0
        } else {
            1.0
        }
    }

    /// Bytes allocated between two censuses, on average.
    fn step(&self) -> f64 {
        let all = self.censuses.last().map_or(0.0, |c| c.allocated_bytes);
        all / self.censuses.len().max(1) as f64
    }

    /// The moments of the censuses after `from` and until `to`.
    pub fn moments(&self, from: f64, to: f64) -> Vec<f64> {
        let moments = self.censuses.iter().map(|c| c.allocated_bytes);
        moments.filter(|at| *at > from && *at <= to).collect()
    }

    /// Bytes of class metadata at a moment.
    pub fn metaspace_bytes(&self, now: f64) -> f64 {
        let at = self.censuses.partition_point(|c| c.allocated_bytes <= now);
        let census = self.censuses.get(at.min(self.censuses.len().saturating_sub(1)));
        census.map_or(0.0, |c| c.metaspace_bytes)
    }

    /// Live bytes that are younger than `reach` at a census.
    fn at_census(&self, index: usize, reach: f64) -> f64 {
        let census = &self.censuses[index];
        let now = census.allocated_bytes;
        let (mut sum, mut young_end) = (0.0, 0.0);
        for k in 0..(AGES - 1).min(index + 1) {
            let begin = if k == index { 0.0 } else { self.censuses[index - k - 1].allocated_bytes };
            let (end, bytes) = (now - begin, age(census, k));
            if reach < end {
                return sum + bytes * within(k, (reach - young_end) / (end - young_end));
            }
            sum += bytes;
            young_end = end;
        }
        sum + age(census, AGES - 1) - self.old_before(index, now - reach)
    }

    /// Live bytes at a census that were allocated before `birth`. The census has no separate age
    /// for them, so all old objects are assumed to die at one rate.
    fn old_before(&self, index: usize, birth: f64) -> f64 {
        let passed = self.censuses.partition_point(|c| c.allocated_bytes <= birth);
        if passed == 0 {
            return 0.0;
        }
        // At this census, all objects of the last age were allocated before `birth`.
        let then = (passed - 1 + AGES - 1).min(index);
        let kept = (self.decay[index] - self.decay[then]).exp();
        (age(&self.censuses[then], AGES - 1) * kept).min(age(&self.censuses[index], AGES - 1))
    }
}

fn age(census: &Census, index: usize) -> f64 {
    census.live_bytes_by_age.get(index).copied().unwrap_or(0.0)
}

/// Estimates the part of a cohort's live bytes that lies in the youngest `share` of the cohort. In
/// cohort 0, which was allocated since the last census, newer objects are more often alive.
fn within(cohort: usize, share: f64) -> f64 {
    if cohort == 0 { share.sqrt() } else { share }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A demand of `steps` censuses of a megabyte. Objects live for `lifetime` bytes.
    pub(crate) fn constant_lifetime(steps: usize, lifetime: f64) -> Demand {
        let step = 1e6;
        let census = |i: usize| {
            let now = (i + 1) as f64 * step;
            let cohort = |k: usize| (lifetime - k as f64 * step).clamp(0.0, step);
            let live = lifetime.min(now);
            let mut ages: Vec<f64> =
                (0..AGES - 1).map(|k| if k <= i { cohort(k) } else { 0.0 }).collect();
            ages.push((live - ages.iter().sum::<f64>()).max(0.0));
            Census { allocated_bytes: now, live_bytes_by_age: ages, metaspace_bytes: 1e6 }
        };
        Demand {
            schema: SCHEMA.to_owned(),
            application: "constant".to_owned(),
            command: Vec::new(),
            jvm: "17".to_owned(),
            allocated_bytes: steps as f64 * step,
            mutator_ns: 1e9,
            serial: PricedRuns::default(),
            others: BTreeMap::new(),
            cards: None,
            censuses: (0..steps).map(census).collect(),
            not_measured: Vec::new(),
        }
    }

    #[test]
    fn objects_that_live_for_five_megabytes_survive_that_long() {
        let demand = constant_lifetime(100, 5e6);
        let survival = Survival::new(&demand);
        assert_eq!(survival.alive(50e6, 47e6), 3e6);
        assert_eq!(survival.alive(50e6, 40e6), 5e6);
        assert_eq!(survival.alive(50e6, 0.0), 5e6);
        assert_eq!(survival.alive(3e6, 0.0), 3e6);
    }

    #[test]
    fn permanent_objects_beyond_the_last_age_keep_their_birth() {
        let demand = constant_lifetime(100, 1e12);
        let survival = Survival::new(&demand);
        for since in [0.0, 10e6, 40e6, 70e6] {
            let alive = survival.alive(80e6, since);
            assert!((alive - (80e6 - since)).abs() < 1.5e6, "{since} {alive}");
        }
    }
}
