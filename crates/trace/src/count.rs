//! Counts uses by primitive and size.

use std::collections::BTreeMap;

use yamba_predict::vector::Use;

use crate::call::Used;

/// Uses of the same primitive with sizes within one power of two.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    count: u64,
    failed: u64,
    sizes: f64,
}

/// The counts of a trace.
#[derive(Debug, Default)]
pub struct Counts {
    buckets: BTreeMap<(String, Option<u64>), Bucket>,
}

impl Counts {
    pub fn add(&mut self, used: &Used) {
        let power = used.size.map(|size| {
            (size.max(0.0) as u64)
                .checked_ilog2()
                .map_or(0, |p| u64::from(p) + 1)
        });
        let bucket = self.buckets.entry((used.name.clone(), power)).or_default();
        bucket.count += 1;
        bucket.failed += u64::from(used.has_failed);
        bucket.sizes += used.size.unwrap_or_default();
    }

    /// The uses per unit of work. The size of a bucket is the mean of its sizes: where the cost is a straight line over the size, the sum of the costs stays
    /// the same.
    pub fn uses(&self, units: f64) -> Vec<Use> {
        let each = self.buckets.iter().map(|((name, power), bucket)| Use {
            name: name.clone(),
            size: power.map(|_| bucket.sizes / bucket.count as f64),
            count: bucket.count as f64 / units,
            errors: Some(bucket.failed as f64 / units),
            time_ns: None,
        });
        each.collect()
    }
}
