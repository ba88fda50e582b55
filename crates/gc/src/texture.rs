//! How dear an application's objects are to copy. The copies of its profile show it.

use crate::demand::Demand;
use crate::fit::least_absolute;

/// Weight of the benchmark's costs as a prior, relative to that of all censuses.
const PRIOR: f64 = 0.1;
/// Weight of the prior of the fixed cost. Live sets that hardly change would be mistaken for it.
const PRIOR_FIXED: f64 = 2.0;
/// Cost of copying an object again, relative to that of its first copy, as a prior.
const AGED: f64 = 0.5;

/// Costs of copying this application's objects with Serial, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Of a collection that finds nothing alive: the roots of this application.
    pub fixed_ns: f64,
    /// A byte that is copied for the first time.
    pub fresh_ns_per_byte: f64,
    /// A byte that was copied shortly before: its neighbours in memory are those in the order of the copy, and it may be in a cache. An ordinary collection finds no such
    /// bytes, so predictions use the first copy for all.
    pub aged_ns_per_byte: f64,
}

/// The texture of an application.
pub fn texture(demand: &Demand) -> Texture {
    let serial = &demand.serial;
    let measured = &serial.profiled_ns_per_byte;
    let shapes = if measured.is_empty() {
        &serial.young_cpu.ns_per_byte
    } else {
        measured
    };
    let middle = shapes.values().sum::<f64>() / shapes.len().max(1) as f64;
    let (mut rows, mut ys) = (Vec::new(), Vec::new());
    for census in &demand.censuses {
        let fresh = census.live_bytes_by_age.first().copied().unwrap_or(0.0);
        if let Some(ns) = census.copy_ns {
            rows.push(vec![1.0, fresh, census.live_bytes() - fresh]);
            ys.push(ns);
        }
    }
    let count = rows.len();
    let mean = |column: usize| rows.iter().map(|r| r[column]).sum::<f64>() / count.max(1) as f64;
    let (fresh, aged) = (mean(1), mean(2));
    // Where the censuses do not tell, the costs are those of the benchmarks.
    rows.push(vec![1.0, 0.0, 0.0]);
    ys.push(demand.serial.young_cpu.fixed_ns);
    rows.push(vec![0.0, fresh, 0.0]);
    ys.push(fresh * middle);
    rows.push(vec![0.0, 0.0, aged]);
    ys.push(aged * middle * AGED);
    let mut weights = vec![1.0; count];
    let scale = (count as f64).sqrt();
    weights.extend([PRIOR_FIXED * scale, PRIOR * scale, PRIOR * scale]);
    let found = least_absolute(&rows, &ys, &weights);
    Texture {
        fixed_ns: found[0],
        fresh_ns_per_byte: found[1],
        aged_ns_per_byte: found[2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::{CollectorCosts, Terms};
    use crate::demand::tests::constant_lifetime;

    #[test]
    fn costs_of_copies_follow_from_censuses_of_different_size() {
        let mut demand = constant_lifetime(60, 9e6);
        for (i, census) in demand.censuses.iter_mut().enumerate() {
            // The live set differs between censuses.
            let factor = 0.2 + (i % 5) as f64 / 5.0;
            census
                .live_bytes_by_age
                .iter_mut()
                .for_each(|b| *b *= factor);
            census.copy_ns = Some(2e5 + 1.5 * census.live_bytes());
        }
        let young_cpu = Terms {
            fixed_ns: 1e5,
            ns_per_byte: [("list/24".to_owned(), 0.8)].into(),
        };
        demand.serial = CollectorCosts {
            young_cpu,
            ..CollectorCosts::default()
        };
        let found = texture(&demand);
        assert!(
            (found.fresh_ns_per_byte / 1.5 - 1.0).abs() < 0.1,
            "{found:?}"
        );
        assert!(found.fixed_ns < 3e5, "{found:?}");
    }
}
