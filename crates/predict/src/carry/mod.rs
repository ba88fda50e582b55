//! Carries traced times from the machine of the trace to another system.
//!
//! A benchmark repeats one call, which then finds its code and data in the processor's caches; an
//! application makes different calls. A trace with times has the true level on the machine where it
//! was taken. The costs of the benchmarks there and on another system carry it over, as a ratio.
//!
//! `factor` has how much longer calls take in the application than in benchmarks, `pair` the two
//! systems, `scale` the ratio of a primitive's costs on both, `own_cost` these costs without the
//! primitives that a benchmark contains, `misses` that of cache misses, `waits` the waits that
//! another kernel may add, `user_scale` the ratio for user time by one figure, `user_work` user
//! time by counts, `starts` the part of it at the start of programs, and `neighbours` how much
//! longer it takes beside other hardware threads.

pub(crate) mod factor;
pub(crate) mod misses;
pub(crate) mod neighbours;
mod own_cost;
pub(crate) mod pair;
pub(crate) mod scale;
pub(crate) mod starts;
pub mod user_scale;
pub(crate) mod user_work;
pub(crate) mod waits;

use crate::constants::ROUNDING;
use crate::costs::Costs;
use crate::vector::rounds::Uncertainty;
use crate::vector::{Use, Vector};
use factor::{Timed, TracedTimes};
use pair::Systems;

/// A trace with times, as a prediction for another system or of a changed application needs it.
#[derive(Clone, Debug)]
pub struct Context {
    /// The run with the costs of the machine where the vector was traced, as the user names it.
    pub traced_on: String,
    /// The times of the calls, with the costs on that machine.
    pub(crate) times: TracedTimes,
    /// The traced primitives, before changes.
    pub(crate) uses: Vec<Use>,
    /// Traced kernel time per unit outside of the primitives of the vector. `None`: the whole
    /// kernel time is unknown.
    pub(crate) outside_ns: Option<f64>,
    /// Traced clock readings per unit that needed no system call. `None`: unknown.
    clock_reads: Option<f64>,
    /// How far the traced times may be off. `None`: unknown.
    pub(crate) uncertainty: Option<Uncertainty>,
    /// Kernel time that a change removed from the vector before, as a share of the time that is
    /// left.
    pub(crate) removed: f64,
    /// The application whose calls the times are from. `None`: the vector's own.
    pub(crate) taken_from: Option<String>,
}

impl Context {
    /// Relates the times of a vector to the costs on the machine where it was traced. The error is
    /// the reason why that is impossible.
    pub fn new(vector: &Vector, traced_on: &str, costs: &Costs) -> Result<Context, String> {
        let times = TracedTimes::new(&vector.primitives, costs);
        if !times.each.iter().any(|t| t.time_ns > 0.0) {
            return Err("the vector has no times".to_owned());
        }
        let outside_ns = vector.kernel_ns.map(|kernel_ns| {
            let rest_ns = kernel_ns - times.listed_ns(&vector.primitives);
            // Scaled times add up to all kernel time but for rounding.
            if rest_ns > kernel_ns * ROUNDING { rest_ns } else { 0.0 }
        });
        Ok(Context {
            traced_on: traced_on.to_owned(),
            times,
            uses: vector.primitives.clone(),
            outside_ns,
            clock_reads: vector.clock_reads,
            uncertainty: vector.uncertainty(0.0),
            removed: 0.0,
            taken_from: None,
        })
    }

    /// Why the traced times cannot be carried to a system: no timed use has a cost, and the system
    /// is not the machine of the trace. `None`: they can.
    pub fn lacking_costs(&self, system: &Costs) -> Option<String> {
        let is_carried = self.times.overall.is_some() || self.systems(system).is_same();
        (!is_carried)
            .then(|| format!("{} has no cost of a primitive with a traced time", self.traced_on))
    }

    /// Notes that the traced application took `ns` more kernel time per unit, which `vector`, that
    /// of this context, lacks.
    #[must_use]
    pub fn with_removed(mut self, ns: f64, vector: &Vector) -> Context {
        self.uncertainty = vector.uncertainty(ns);
        let listed_ns: f64 = self.times.each.iter().map(|t| t.time_ns).sum();
        self.removed = ns / (listed_ns + self.outside_ns.unwrap_or_default());
        self
    }

    /// Whether the time of a use is an estimate from other uses.
    pub(crate) fn is_estimated(&self, used: &Use) -> bool {
        self.timed(used).is_none_or(|t| t.is_of_others)
    }

    /// Traced time of one use. `None`: the trace does not have it.
    pub(crate) fn each_ns(&self, used: &Use) -> Option<f64> {
        self.timed(used).map(|t| t.time_ns / t.count)
    }

    fn timed(&self, used: &Use) -> Option<&Timed> {
        self.times.find(&used.name, used.size)
    }

    /// Whether a vector has other uses than the traced ones.
    pub(crate) fn differs_from(&self, vector: &Vector) -> bool {
        vector.primitives != self.uses || vector.clock_reads != self.clock_reads
    }

    /// The figures of this machine that were not used, if the system is another one.
    pub(crate) fn notes(&self, system: &Costs) -> Vec<String> {
        let lines = self.times.costs.left_out.iter().filter(|_| !self.systems(system).is_same());
        lines.map(|line| format!("{}: {line}", self.traced_on)).collect()
    }

    /// This machine and another system.
    pub(crate) fn systems<'a>(&'a self, to: &'a Costs) -> Systems<'a> {
        Systems { from: &self.times.costs, to }
    }
}
