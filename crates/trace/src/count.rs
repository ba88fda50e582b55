//! Counts uses by primitive and size.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use yamba_predict::vector::Use;

use crate::call::Kind;
use crate::primitive::Used;

/// Uses of the same primitive with sizes within one power of two.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    count: u64,
    failed: u64,
    sizes: f64,
    time_ns: f64,
}

/// A primitive, and the power of two of its sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    name: Cow<'static, str>,
    kind: Option<Kind>,
    power: Option<u32>,
}

/// The counts of a trace.
#[derive(Debug, Default)]
pub struct Counts {
    buckets: HashMap<Key, Bucket>,
}

impl Counts {
    /// Counts uses that took this kernel time together. Without times, that is 0.
    pub fn add(&mut self, used: Used, count: u64, time_ns: f64) {
        let power = used
            .size
            .map(|size| (size.max(0.0) as u64).checked_ilog2().map_or(0, |p| p + 1));
        let key = Key {
            name: used.name,
            kind: used.kind,
            power,
        };
        let bucket = self.buckets.entry(key).or_default();
        bucket.count += count;
        bucket.failed += if used.has_failed { count } else { 0 };
        bucket.sizes += used.size.unwrap_or_default() * count as f64;
        bucket.time_ns += time_ns;
    }

    /// The uses per unit of work. The size of a bucket is the mean of its sizes: where the cost is a straight line over the size, the sum of the costs stays
    /// the same.
    pub fn uses(&self, units: f64, has_times: bool) -> Vec<Use> {
        let sorted: BTreeMap<(String, Option<u32>), Bucket> = self
            .buckets
            .iter()
            .map(|(key, bucket)| ((key.label(), key.power), *bucket))
            .collect();
        let each = sorted.into_iter().map(|((name, power), bucket)| Use {
            name,
            size: power
                .filter(|_| bucket.count > 0)
                .map(|_| bucket.sizes / bucket.count as f64),
            count: bucket.count as f64 / units,
            errors: Some(bucket.failed as f64 / units),
            time_ns: has_times.then_some(bucket.time_ns.max(0.0) / units),
        });
        each.collect()
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
