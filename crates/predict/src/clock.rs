//! Clock readings that need no system call where an application was traced, and may need one on another system.
//!
//! Linux maps code into each process that reads clocks in user mode (vDSO). Where no counter of the processor is usable as a clock, as under User-Mode Linux and in some virtual machines, this code makes
//! a system call. A trace has no event for readings in user mode: `yamba trace` counts them in a run without this code. All are charged as readings of the monotonic clock. That is too much for
//! coarse clocks, which some of these systems still read in user mode.

use crate::cost::Costs;
use crate::product::Product;
use crate::vector::{Platform, Vector};
use crate::{NULL_CALL, canonical};

/// The primitive of a reading by the C library.
pub const READING: &str = "clock_reading";

/// A reading that costs at least this share of the null call enters the kernel. The benchmark of a real system call for a clock requires the same of its figure.
const OF_NULL_CALL: f64 = 0.8;

/// Whether readings enter the kernel on a system. `None`: the costs are unknown.
fn enters_kernel(costs: &Costs) -> Option<bool> {
    let measured = costs.unchanged();
    let reading = measured.at(READING, None)?;
    let null = measured.at(&canonical(NULL_CALL), None)?;
    Some(reading.cost.ns >= OF_NULL_CALL * null.cost.ns)
}

/// The kernel time of clock readings on a system. `None`: there are none, they do not enter the kernel there, or their number or cost is unknown.
pub(crate) fn product(readings: Option<f64>, costs: &Costs) -> Option<Product> {
    let count = readings.filter(|count| *count > 0.0)?;
    let at = costs.at(READING, None)?;
    enters_kernel(costs)?.then(|| {
        let product = at.cost.times(count);
        Product {
            name: READING.to_owned(),
            count,
            cost_ns: Some(at.cost.ns),
            product_ns: product.ns,
            interval_ns: Some(product.interval_ns),
            is_covered: true,
            ..Product::default()
        }
    })
}

/// Why the kernel time on a system may lack clock readings. `None`: it does not.
pub(crate) fn lacking(vector: &Vector, costs: &Costs) -> Option<String> {
    if vector.platform() != Platform::Kernel {
        return None;
    }
    match (vector.clock_reads, enters_kernel(costs)) {
        (None, Some(true)) => Some(
            "clock readings enter the kernel there, and their number is unknown: `yamba trace --rounds 2` counts them".to_owned(),
        ),
        (Some(1e-9..), None) => Some(format!(
            "clock readings count as user time: their cost there is unknown ({READING})"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::CostChange;
    use crate::tests::{cost, costs, used, vector};

    fn of(each: &[(&str, f64)]) -> Costs {
        let each = each.iter().map(|(name, ns)| (*name, None, cost(*ns, 0.0)));
        costs(&each.collect::<Vec<_>>())
    }

    #[test]
    fn readings_count_where_they_enter_the_kernel() {
        let in_user_mode = of(&[(READING, 25.0), (NULL_CALL, 80.0)]);
        assert_eq!(product(Some(2.0), &in_user_mode), None);
        let in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let found = product(Some(2.0), &in_kernel).unwrap();
        assert_eq!((found.product_ns, found.cost_ns), (13000.0, Some(6500.0)));
        assert_eq!(product(Some(0.0), &in_kernel), None);
        assert_eq!(product(None, &in_kernel), None);
    }

    /// A changed cost changes the time, and not whether readings enter the kernel.
    #[test]
    fn changed_cost_is_charged() {
        let mut in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let change = CostChange::read(&format!("{READING}=0.5x")).unwrap();
        change.apply(&mut in_kernel).unwrap();
        assert_eq!(product(Some(2.0), &in_kernel).unwrap().product_ns, 6500.0);
        let mut unknown = vector(vec![used("stat", None, 1.0)]);
        assert!(lacking(&unknown, &in_kernel).unwrap().contains("--rounds"));
        unknown.clock_reads = Some(0.0);
        assert_eq!(lacking(&unknown, &in_kernel), None);
    }

    /// `clock_gettime` of a trace is a system call. It must not get the cost of a reading in user mode.
    #[test]
    fn system_call_for_a_clock_is_no_reading() {
        let costs = of(&[(READING, 25.0), (NULL_CALL, 80.0)]);
        assert!(!costs.has("clock_gettime"));
    }

    #[test]
    fn unknown_cost_is_named() {
        let without = of(&[(NULL_CALL, 80.0)]);
        assert_eq!(product(Some(2.0), &without), None);
        let mut read = vector(vec![used("stat", None, 1.0)]);
        assert_eq!(lacking(&read, &without), None);
        read.clock_reads = Some(2.0);
        assert!(lacking(&read, &without).unwrap().contains(READING));
        read.clock_reads = Some(0.0);
        assert_eq!(lacking(&read, &without), None);
    }
}
