//! Clock readings that need no system call where an application was traced, and may need one on another system.
//!
//! Linux maps code into each process that reads clocks in user mode (vDSO). Where no counter of the processor is usable as a clock, as under User-Mode Linux and in some virtual machines, this code makes
//! a system call. A trace has no event for readings in user mode: `yamba trace` counts them in a run without this code.

use crate::cost::Costs;
use crate::product::Product;
use crate::{NULL_CALL, canonical};

/// The primitive of a reading by the C library.
pub const READING: &str = "clock_gettime(vdso)";

/// A reading that costs at least this share of the null call enters the kernel. The benchmark of a real system call for a clock requires the same of its figure.
const OF_NULL_CALL: f64 = 0.8;

/// The kernel time of clock readings on a system. `None`: there are none, they do not enter the kernel there, or their cost is unknown.
pub(crate) fn product(readings: Option<f64>, costs: &Costs) -> Option<Product> {
    let count = readings.filter(|count| *count > 0.0)?;
    let at = costs.at(READING, None)?;
    let null = costs.at(&canonical(NULL_CALL), None)?;
    if at.cost.ns < OF_NULL_CALL * null.cost.ns {
        return None;
    }
    let product = at.cost.times(count);
    Some(Product {
        name: READING.to_owned(),
        count,
        cost_ns: Some(at.cost.ns),
        product_ns: product.ns,
        interval_ns: Some(product.interval_ns),
        is_covered: true,
        ..Product::default()
    })
}

/// The limit of a prediction for a system without a cost of readings. `None`: it has one, or there are no readings.
pub(crate) fn lacking(readings: Option<f64>, costs: &Costs) -> Option<String> {
    let is_unknown = readings > Some(0.0) && !costs.has(READING);
    is_unknown.then(|| format!("clock readings count as user time: no cost of {READING}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cost, costs};

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

    #[test]
    fn unknown_cost_is_named() {
        let without = of(&[(NULL_CALL, 80.0)]);
        assert_eq!(product(Some(2.0), &without), None);
        assert!(lacking(Some(2.0), &without).unwrap().contains(READING));
        assert_eq!(lacking(Some(0.0), &without), None);
    }
}
