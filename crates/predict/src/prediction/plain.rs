//! The terms of a prediction from benchmarks alone: uses times costs.
//!
//! A trace has no event for clock readings in user mode: `yamba trace` counts them in a run without
//! the vDSO. All are charged as readings of the monotonic clock. That is too much for coarse
//! clocks, which some systems without a usable counter still read in user mode.

use super::product::{Marks, Product};
use crate::costs::contained::{Within, without_contained};
use crate::costs::{At, Costs};
use crate::vector::names::{CLOCK_READING, NULL_CALL};
use crate::vector::{Platform, Use, Vector};

/// The terms and the uses within others. A primitive without a cost is charged as a null call,
/// unless it may wait or was not measured yet: then its term is unknown. The error lists the
/// primitives without a cost, if no term is covered or the null call has no cost.
pub(crate) fn products(
    uses: &[Use],
    costs: &Costs,
) -> Result<(Vec<Product>, Vec<Within>), Vec<String>> {
    let mut rest = uses.to_vec();
    let contained = without_contained(&mut rest, costs, |_| true);
    let null = costs.at(NULL_CALL, None);
    let (mut missing, mut needs_null) = (Vec::new(), false);
    let mut products = Vec::new();
    for used in rest.iter().filter(|used| used.count > 0.0) {
        let own = costs.at(&used.name, used.size);
        if own.is_none() {
            missing.push(costs.label_without_cost(used));
            if costs.is_unknown(used) {
                products.push(unknown(used, costs));
                continue;
            }
            needs_null = true;
        }
        products.extend(own.or(null).map(|at| product(used, at, own.is_some(), costs)));
    }
    if products.iter().any(|p| p.is_covered) && (!needs_null || null.is_some()) {
        Ok((products, contained))
    } else {
        Err(missing)
    }
}

/// The term of a use of which nothing is known: its time is not in the sum.
pub(crate) fn unknown(used: &Use, costs: &Costs) -> Product {
    Product {
        interval_ns: Some([0.0, f64::INFINITY]),
        is_unknown: true,
        marks: Marks {
            lacks_size: costs.primitives.contains_key(&used.name),
            is_unmeasured: costs.lacks_measurement(used),
            ..Marks::default()
        },
        ..Product::new(used)
    }
}

/// The term of a use with this cost, which is that of a null call unless it `is_covered`.
fn product(used: &Use, at: At, is_covered: bool, costs: &Costs) -> Product {
    let product = at.cost.times(used.count);
    Product {
        cost_ns: Some(at.cost.ns),
        product_ns: product.ns,
        interval_ns: Some(product.interval_ns),
        is_covered,
        marks: Marks {
            lacks_size: !is_covered && costs.primitives.contains_key(&used.name),
            is_extrapolated: at.is_extrapolated,
            is_of_any_kind: is_covered && at.is_of_any_kind,
            ..Marks::default()
        },
        ..Product::new(used)
    }
}

/// The kernel time of clock readings on a system. `None`: the vector has no readings, they do not
/// enter the kernel, or their cost is unknown.
pub(crate) fn clock_readings(vector: &Vector, costs: &Costs) -> Option<Product> {
    let (readings, cost) = (vector.clock_readings()?, costs.clock_reading()?);
    let product = cost.times(readings.count);
    Some(Product {
        cost_ns: Some(cost.ns),
        product_ns: product.ns,
        interval_ns: Some(product.interval_ns),
        is_covered: true,
        ..Product::new(&readings)
    })
}

/// Why the kernel time on a system may lack clock readings. `None`: it has all.
pub(crate) fn lacking_clock_readings(vector: &Vector, costs: &Costs) -> Option<String> {
    if vector.platform() != Platform::Kernel {
        return None;
    }
    match costs.clock_readings_enter_kernel() {
        Some(true) if vector.clock_reads.is_none() => Some(
            "clock readings enter the kernel there, and their number is unknown: `yamba trace --rounds 2` counts them"
                .to_owned(),
        ),
        None if vector.clock_readings().is_some() => Some(format!(
            "clock readings count as user time: their cost there is unknown ({CLOCK_READING})"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{CostChange, Replacement};
    use crate::tests::{cost, costs, used, vector};

    fn exact(each: &[(&str, f64)]) -> Costs {
        let each = each.iter().map(|(name, ns)| (*name, None, cost(*ns, 0.0)));
        costs(&each.collect::<Vec<_>>())
    }

    fn with_reads(count: Option<f64>) -> Vector {
        Vector { clock_reads: count, ..vector(vec![used("stat", None, 1.0)]) }
    }

    fn reads(count: f64, costs: &Costs) -> Option<Product> {
        clock_readings(&with_reads(Some(count)), costs)
    }

    #[test]
    fn readings_count_where_they_enter_the_kernel() {
        let in_user_mode = exact(&[(CLOCK_READING, 25.0), (NULL_CALL, 80.0)]);
        assert_eq!(reads(2.0, &in_user_mode), None);
        let in_kernel = exact(&[(CLOCK_READING, 6500.0), (NULL_CALL, 6400.0)]);
        let found = reads(2.0, &in_kernel).unwrap();
        assert_eq!((found.product_ns, found.cost_ns), (13000.0, Some(6500.0)));
        assert_eq!(reads(0.0, &in_kernel), None);
        assert_eq!(clock_readings(&with_reads(None), &in_kernel), None);
    }

    /// A changed cost changes the time, and not whether readings enter the kernel.
    #[test]
    fn changed_cost_is_charged() {
        let mut in_kernel = exact(&[(CLOCK_READING, 6500.0), (NULL_CALL, 6400.0)]);
        let change = CostChange::read(&format!("{CLOCK_READING}=0.5x")).unwrap();
        change.apply(&mut in_kernel).unwrap();
        assert_eq!(reads(2.0, &in_kernel).unwrap().product_ns, 6500.0);
        assert!(
            lacking_clock_readings(&with_reads(None), &in_kernel).unwrap().contains("--rounds")
        );
        assert_eq!(lacking_clock_readings(&with_reads(Some(0.0)), &in_kernel), None);
    }

    /// `clock_gettime` of a trace is a system call. It must not get the cost of a reading in user
    /// mode.
    #[test]
    fn system_call_for_a_clock_is_no_reading() {
        let costs = exact(&[(CLOCK_READING, 25.0), (NULL_CALL, 80.0)]);
        assert!(!costs.has("clock_gettime"));
    }

    #[test]
    fn unknown_cost_is_named() {
        let without = exact(&[(NULL_CALL, 80.0)]);
        assert_eq!(reads(2.0, &without), None);
        assert_eq!(lacking_clock_readings(&with_reads(None), &without), None);
        assert!(
            lacking_clock_readings(&with_reads(Some(2.0)), &without)
                .unwrap()
                .contains(CLOCK_READING)
        );
        assert_eq!(lacking_clock_readings(&with_reads(Some(0.0)), &without), None);
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
