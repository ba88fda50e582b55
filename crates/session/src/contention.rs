//! How much of the measured time another hardware thread used the same core.

use yamba_record::Benchmark;

/// The times of launches with width probes, in ns.
#[derive(Debug, Default)]
pub(super) struct Contention {
    contended: f64,
    total: f64,
}

impl Contention {
    pub fn add(&mut self, benchmarks: &[Benchmark]) {
        for launch in benchmarks.iter().flat_map(|b| &b.launches) {
            if let Some(share) = launch.contended {
                self.contended += share * launch.took_ns as f64;
                self.total += launch.took_ns as f64;
            }
        }
    }

    /// The share of the time in which another hardware thread used the same core. `None` without
    /// probes.
    pub fn share(&self) -> Option<f64> {
        (self.total > 0.0).then(|| self.contended / self.total)
    }
}
