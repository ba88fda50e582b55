//! Kernel time on another system of which a trace has a number and no time.
//!
//! **Clock readings.** Linux maps code into each process that reads clocks in user mode (vDSO). Where no counter of the processor is usable as a clock, as under User-Mode Linux and in some virtual
//! machines, this code makes a system call. A trace has no event for readings in user mode: `yamba trace` counts them in a run without this code. All are charged as readings of the monotonic clock. That
//! is too much for coarse clocks, which some of these systems still read in user mode.
//!
//! **Calls of the dynamic linker.** On 32-bit x86, the linker enters the kernel by `int 0x80`, and other code by a faster instruction. In a virtual machine, `int 0x80` may take 4 us. The tracer has no time of
//! this way on any machine, since its event comes after it.

use crate::cost::{Cost, Costs};
use crate::product::Product;
use crate::vector::{Platform, Vector};
use crate::{NULL_CALL, canonical};

/// The primitive of a clock reading by the C library.
pub const READING: &str = "clock_reading";

/// The primitive of a null call of the dynamic linker.
pub const LOADER_CALL: &str = "loader_call";

/// A reading that costs at least this share of the null call enters the kernel. The benchmark of a real system call for a clock requires the same of its figure.
const OF_NULL_CALL: f64 = 0.8;

/// The linker has another way into the kernel if its null call costs at least so much more than that of others, as a share of the latter.
const OTHER_WAY: f64 = 0.5;

/// The primitives whose number a vector has apart from its list.
pub fn untraced_primitives(vector: &Vector) -> impl Iterator<Item = &'static str> {
    Untraced::of(vector).primitives()
}

/// The numbers of uses per unit. `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Untraced {
    clock_reads: Option<f64>,
    loader_calls: Option<f64>,
}

impl Untraced {
    /// Those of a vector.
    pub fn of(vector: &Vector) -> Untraced {
        Untraced {
            clock_reads: vector.clock_reads,
            loader_calls: vector.loader_calls,
        }
    }

    /// The primitives whose costs are needed.
    pub fn primitives(self) -> impl Iterator<Item = &'static str> {
        let each = [
            (READING, self.clock_reads),
            (LOADER_CALL, self.loader_calls),
        ];
        let used = each.into_iter().filter(|(_, count)| *count > Some(0.0));
        used.map(|(name, _)| name)
    }

    /// Their kernel time on a system.
    pub fn products(self, costs: &Costs) -> Vec<Product> {
        let clock = product(READING, self.clock_reads, reading(costs));
        let loader = product(LOADER_CALL, self.loader_calls, way_of_loader(costs));
        clock.into_iter().chain(loader).collect()
    }
}

fn product(name: &str, count: Option<f64>, cost: Option<Cost>) -> Option<Product> {
    let (count, cost) = (count.filter(|count| *count > 0.0)?, cost?);
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

/// The cost of a null call as measured.
fn null_ns(measured: &Costs) -> Option<f64> {
    Some(measured.at(&canonical(NULL_CALL), None)?.cost.ns)
}

/// Whether clock readings enter the kernel on a system. `None`: the costs are unknown.
fn enters_kernel(costs: &Costs) -> Option<bool> {
    let measured = costs.unchanged();
    let reading = measured.at(READING, None)?;
    Some(reading.cost.ns >= OF_NULL_CALL * null_ns(&measured)?)
}

/// The kernel time of a clock reading. `None`: it does not enter the kernel, or its cost is unknown.
fn reading(costs: &Costs) -> Option<Cost> {
    let at = costs.at(READING, None)?;
    enters_kernel(costs)?.then_some(at.cost)
}

/// The cost of the linker's way into the kernel. `None`: it is that of other calls, or unknown.
fn way_of_loader(costs: &Costs) -> Option<Cost> {
    let measured = costs.unchanged();
    let (own, null_ns) = (measured.at(LOADER_CALL, None)?.cost, null_ns(&measured)?);
    let share = 1.0 - null_ns / own.ns;
    let cost = costs.at(LOADER_CALL, None)?.cost;
    (own.ns > (1.0 + OTHER_WAY) * null_ns).then(|| cost.times(share))
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

    fn reads(count: f64, costs: &Costs) -> Option<Product> {
        let untraced = Untraced {
            clock_reads: Some(count),
            loader_calls: None,
        };
        untraced.products(costs).pop()
    }

    /// The way is what the linker's null call costs more.
    #[test]
    fn calls_of_the_linker_count_where_they_have_another_way() {
        let untraced = Untraced {
            clock_reads: None,
            loader_calls: Some(25.0),
        };
        let same = of(&[(LOADER_CALL, 110.0), (NULL_CALL, 100.0)]);
        assert!(untraced.products(&same).is_empty());
        let other = of(&[(LOADER_CALL, 4100.0), (NULL_CALL, 100.0)]);
        let found = untraced.products(&other).pop().unwrap();
        assert!((found.product_ns - 25.0 * 4000.0).abs() < 1e-6, "{found:?}");
        assert_eq!(untraced.primitives().collect::<Vec<_>>(), [LOADER_CALL]);
    }

    #[test]
    fn readings_count_where_they_enter_the_kernel() {
        let in_user_mode = of(&[(READING, 25.0), (NULL_CALL, 80.0)]);
        assert_eq!(reads(2.0, &in_user_mode), None);
        let in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let found = reads(2.0, &in_kernel).unwrap();
        assert_eq!((found.product_ns, found.cost_ns), (13000.0, Some(6500.0)));
        assert_eq!(reads(0.0, &in_kernel), None);
        assert!(Untraced::default().products(&in_kernel).is_empty());
    }

    /// A changed cost changes the time, and not whether readings enter the kernel.
    #[test]
    fn changed_cost_is_charged() {
        let mut in_kernel = of(&[(READING, 6500.0), (NULL_CALL, 6400.0)]);
        let change = CostChange::read(&format!("{READING}=0.5x")).unwrap();
        change.apply(&mut in_kernel).unwrap();
        assert_eq!(reads(2.0, &in_kernel).unwrap().product_ns, 6500.0);
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
        assert_eq!(reads(2.0, &without), None);
        let mut read = vector(vec![used("stat", None, 1.0)]);
        assert_eq!(lacking(&read, &without), None);
        read.clock_reads = Some(2.0);
        assert!(lacking(&read, &without).unwrap().contains(READING));
        read.clock_reads = Some(0.0);
        assert_eq!(lacking(&read, &without), None);
    }
}
