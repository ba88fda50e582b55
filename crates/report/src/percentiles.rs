//! The distribution of single operations in one line.

use yamba_record::distribution::{Distribution, Percentile};
use yamba_record::number::number;

use crate::number::figure;

/// `each operation alone: p50 1.02 us, p90 1.05 us, ..., longest 85 us; 60000 operations,
/// interruptions included, less 25 ns for the clock`. Without a subtracted cost, they are the
/// requests of a load: `p50 1.02 ms, ..., longest 85 ms; 60000 requests`. A percentile that differs
/// from launch to launch by more than a tenth shows the range over the launches.
#[must_use]
pub fn percentiles(distribution: &Distribution) -> String {
    let each = distribution.percentiles.iter().map(percentile);
    let longest = format!("longest {}", figure(distribution.max_ns, "ns"));
    let all: Vec<String> = each.chain([longest]).collect();
    // The requests of a load: no clock is subtracted.
    if distribution.cost_ns == 0.0 {
        return format!("{}; {} requests", all.join(", "), distribution.count);
    }
    format!(
        "each operation alone: {}; {} operations, interruptions included, less {} ns for the clock",
        all.join(", "),
        distribution.count,
        number(distribution.cost_ns)
    )
}

fn percentile(of: &Percentile) -> String {
    let name = format!("p{} {}", of.percent, figure(of.ns, "ns"));
    match of.launches {
        Some([low, high]) if high - low > of.ns / 10.0 => {
            let [low, high] = [low, high].map(|ns| figure(ns, "ns"));
            format!("{name} ({low} to {high} in single launches)")
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_percentiles_count_and_cost() {
        let percentile = |percent, ns, launches| Percentile { percent, ns, launches };
        let distribution = Distribution {
            count: 60_000,
            cost_ns: 24.5,
            percentiles: vec![
                percentile(50.0, 1020.0, Some([1015.0, 1025.0])),
                percentile(99.9, 11_000.0, Some([9000.0, 45_000.0])),
            ],
            max_ns: 85_000.0,
            histogram: Vec::new(),
        };
        assert_eq!(
            percentiles(&distribution),
            "each operation alone: p50 1.02 us, p99.9 11 us (9 us to 45 us in single launches), longest 85 us; \
             60000 operations, interruptions included, less 24.5 ns for the clock"
        );
    }
}
