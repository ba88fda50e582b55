//! Counts uses by primitive and size.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use yamba_predict::vector::{Started, Use};

use crate::call::Kind;
use crate::primitive::Used;

/// Uses of the same primitive with sizes within one power of two.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    count: u64,
    failed: u64,
    sizes: f64,
    time_ns: f64,
    waited_ns: f64,
}

/// All uses of a bucket, and those in started processes.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    all: Bucket,
    started: Bucket,
}

/// A primitive, and the power of two of its sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    name: Cow<'static, str>,
    kind: Option<Kind>,
    power: Option<u32>,
}

/// Times of uses, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// In the kernel.
    pub kernel_ns: f64,
    /// In which no thread of the application ran.
    pub waited_ns: f64,
}

impl From<f64> for Times {
    /// Kernel time without waiting.
    fn from(kernel_ns: f64) -> Times {
        Times { kernel_ns, waited_ns: 0.0 }
    }
}

/// The counts of a trace.
#[derive(Debug, Default)]
pub struct Counts {
    buckets: FxHashMap<Key, Uses>,
}

impl Counts {
    /// Counts uses that took this kernel time together. Without times, that is 0.
    pub fn add(&mut self, used: Used, count: u64, times: Times, is_in_started: bool) {
        let power =
            used.size.map(|size| (size.max(0.0) as u64).checked_ilog2().map_or(0, |p| p + 1));
        let key = Key { name: used.name, kind: used.kind, power };
        let Uses { all, started } = self.buckets.entry(key).or_default();
        let whole = [Some(all), is_in_started.then_some(started)];
        for bucket in whole.into_iter().flatten() {
            bucket.count += count;
            bucket.failed += if used.has_failed { count } else { 0 };
            bucket.sizes += used.size.unwrap_or_default() * count as f64;
            bucket.time_ns += times.kernel_ns;
            bucket.waited_ns += times.waited_ns;
        }
    }

    /// The uses per unit of work. The size of a bucket is the mean of its sizes: where the cost is
    /// a straight line over the size, the sum of the costs stays the same.
    pub fn uses(&self, units: f64, has_times: bool) -> Vec<Use> {
        let sorted: BTreeMap<(String, Option<u32>), Uses> =
            self.buckets.iter().map(|(key, uses)| ((key.label(), key.power), *uses)).collect();
        let each = sorted.into_iter().map(|((name, power), uses)| {
            let Uses { all, started } = uses;
            let time_ns = has_times.then_some(all.time_ns.max(0.0) / units);
            Use {
                name,
                size: all.size(power),
                count: all.count as f64 / units,
                errors: Some(all.failed as f64 / units),
                time_ns,
                waited_ns: Some(all.waited_ns / units).filter(|ns| *ns > 0.0),
                started: started.is_used().then(|| Started {
                    count: started.count as f64 / units,
                    size: started.size(power),
                    // The tracer's cost is subtracted from both, and one of them may be below 0.
                    time_ns: time_ns.map(|ns| (started.time_ns.max(0.0) / units).min(ns)),
                }),
            }
        });
        each.collect()
    }
}

impl Bucket {
    /// The mean size.
    fn size(&self, power: Option<u32>) -> Option<f64> {
        power.filter(|_| self.count > 0).map(|_| self.sizes / self.count as f64)
    }

    fn is_used(&self) -> bool {
        self.count > 0 || self.time_ns > 0.0
    }
}

impl Key {
    fn label(&self) -> String {
        match &self.kind {
            Some(kind) => format!("{}({kind})", self.name),
            None => self.name.to_string(),
        }
    }
}
