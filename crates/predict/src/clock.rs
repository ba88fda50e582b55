//! Clock readings on a system where they enter the kernel.
//!
//! Linux maps code into each process that reads clocks in user mode (vDSO). Where no counter of the
//! processor is usable as a clock, as in some virtual machines, this code makes a system call. A
//! trace has no event for readings in user mode: `yamba trace` counts them in a run without this
//! code. All are charged as readings of the monotonic clock. That is too much for coarse clocks,
//! which some of these systems still read in user mode.

use crate::cost::{Cost, Costs};
use crate::product::Product;
use crate::vector::{Platform, Vector};
use crate::{NULL_CALL, canonical};

/// The primitive of a clock reading by the C library.
pub const READING: &str = "clock_reading";

/// A reading that costs at least this share of the null call enters the kernel. The benchmark of a
/// real system call for a clock requires the same of its figure.
const OF_NULL_CALL: f64 = 0.8;

/// The number of clock readings of a vector, if it has some, with their primitive.
pub(crate) fn readings(vector: &Vector) -> Option<(&'static str, f64)> {
    let count = vector.clock_reads.filter(|count| *count > 0.0)?;
    Some((READING, count))
}

/// The kernel time of clock readings on a system. `None`: there are none, they do not enter the
/// kernel, or their cost is unknown.
pub(crate) fn product(vector: &Vector, costs: &Costs) -> Option<Product> {
    let ((name, count), cost) = (readings(vector)?, cost(costs)?);
    let product = cost.times(count);
    Some(Product {
        name: name.to_owned(),
        count,
        cost_ns: Some(cost.ns),
        product_ns: product.ns,
        interval_ns: Some(product.interval_ns),
        is_covered: true,
        ..Product::default()
    })
}

/// Whether clock readings enter the kernel on a system. `None`: the costs are unknown.
fn enters_kernel(costs: &Costs) -> Option<bool> {
    let reading = costs.measured(READING, None)?;
    let null = costs.measured(&canonical(NULL_CALL), None)?;
    Some(reading.cost.ns >= OF_NULL_CALL * null.cost.ns)
}

/// The kernel time of a clock reading. `None`: it does not enter the kernel, or its cost is
/// unknown.
fn cost(costs: &Costs) -> Option<Cost> {
    let at = costs.at(READING, None)?;
    enters_kernel(costs)?.then_some(at.cost)
}

/// Why the kernel time on a system may lack clock readings. `None`: it has all.
pub(crate) fn lacking(vector: &Vector, costs: &Costs) -> Option<String> {
    if vector.platform() != Platform::Kernel {
        return None;
    }
    match (vector.clock_reads, enters_kernel(costs)) {
        (None, Some(true)) => Some(
            "clock readings enter the kernel there, and their number is unknown: `yamba trace --rounds 2` counts them"
                .to_owned(),
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
    use crate::change::{CostChange, Replacement};
    use crate::tests::{cost, costs, used, vector};

    fn of(each: &[(&str, f64)]) -> Costs {
        let each = each.iter().map(|(name, ns)| (*name, None, cost(*ns, 0.0)));
        costs(&each.collect::<Vec<_>>())
    }

    fn with_reads(count: Option<f64>) -> Vector {
        Vector { clock_reads: count, ..vector(vec![used("stat", None, 1.0)]) }
    }

    fn reads(count: f64, costs: &Costs) -> Option<Product> {
        product(&with_reads(Some(count)), costs)
    }

    #[test]
    fn readings_count_where_they_enter_the_kernel() {
        let in_user_mode = of(&[(READING, 25.0), (NULL_CALL, 80.0)]);
        assert_eq!(reads(2.0, &in_user_mode), None);
        let in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let found = reads(2.0, &in_kernel).unwrap();
        assert_eq!((found.product_ns, found.cost_ns), (13000.0, Some(6500.0)));
        assert_eq!(reads(0.0, &in_kernel), None);
        assert_eq!(product(&with_reads(None), &in_kernel), None);
    }

    /// A changed cost changes the time, and not whether readings enter the kernel.
    #[test]
    fn changed_cost_is_charged() {
        let mut in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let change = CostChange::read(&format!("{READING}=0.5x")).unwrap();
        change.apply(&mut in_kernel).unwrap();
        assert_eq!(reads(2.0, &in_kernel).unwrap().product_ns, 6500.0);
        assert!(lacking(&with_reads(None), &in_kernel).unwrap().contains("--rounds"));
        assert_eq!(lacking(&with_reads(Some(0.0)), &in_kernel), None);
    }

    /// `clock_gettime` of a trace is a system call. It must not get the cost of a reading in user
    /// mode.
    #[test]
    fn system_call_for_a_clock_is_no_reading() {
        let costs = of(&[(READING, 25.0), (NULL_CALL, 80.0)]);
        assert!(!costs.has("clock_gettime"));
    }

    #[test]
    fn unknown_cost_is_named() {
        let without = of(&[(NULL_CALL, 80.0)]);
        assert_eq!(reads(2.0, &without), None);
        assert_eq!(lacking(&with_reads(None), &without), None);
        assert!(lacking(&with_reads(Some(2.0)), &without).unwrap().contains(READING));
        assert_eq!(lacking(&with_reads(Some(0.0)), &without), None);
    }

    /// `--replace` changes their number as that of other primitives.
    #[test]
    fn numbers_are_replaced() {
        let replaced = |text: &str, read: &mut Vector| Replacement::read(text).unwrap().apply(read);
        let mut read = with_reads(None);
        let unknown = replaced("clock_reading=", &mut read).unwrap_err();
        assert!(unknown.contains("unknown"), "{unknown}");
        read.clock_reads = Some(6.0);
        replaced("clock_reading*3=stat", &mut read).unwrap();
        assert_eq!((read.clock_reads, read.primitives[0].count), (Some(0.0), 3.0));
        let none = replaced("clock_reading=stat", &mut read).unwrap_err();
        assert!(none.contains("has no clock_reading"), "{none}");
        replaced("=clock_reading*2", &mut read).unwrap();
        assert_eq!(read.clock_reads, Some(2.0));
        assert!(replaced("clock_reading@4K=", &mut read).is_err());
    }
}
