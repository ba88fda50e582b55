//! Kernel time on another system of uses that a trace counts and does not time.
//!
//! **Clock readings.** Linux maps code into each process that reads clocks in user mode (vDSO).
//! Where no counter of the processor is usable as a clock, as under User-Mode Linux and in some
//! virtual machines, this code makes a system call. A trace has no event for readings in user mode:
//! `yamba trace` counts them in a run without this code. All are charged as readings of the
//! monotonic clock. That is too much for coarse clocks, which some of these systems still read in
//! user mode.
//!
//! **Avoided page faults.** At a page fault on a file that is in memory, Linux also maps the pages
//! around it (fault-around). User-Mode Linux does so in its own page tables, but each first touch
//! of these pages is still a fault. `yamba trace` counts them in a run without fault-around.
//!
//! **Calls of the dynamic linker.** On 32-bit x86, the linker enters the kernel by `int 0x80`, and
//! other code by a faster instruction. In a virtual machine, `int 0x80` may take 4 us. The tracer
//! does not time this path on any machine, since its event comes after it.

use crate::cost::{Cost, Costs};
use crate::product::Product;
use crate::vector::{Platform, Vector};
use crate::{NULL_CALL, canonical};

/// The primitive of a clock reading by the C library.
pub const READING: &str = "clock_reading";

/// The primitive of a null call of the dynamic linker.
pub const LOADER_CALL: &str = "loader_call";

/// The primitive of the first touch of a page after a fault on another page nearby.
pub const AVOIDED_FAULT: &str = "avoided_fault";

/// The primitive of a page fault on a file that is in memory.
const FAULT: &str = "page_fault(file)";

/// Some of the touches are page faults if their mean cost is at least this share of that of a page
/// fault. A touch without a fault costs less than a hundredth.
const OF_FAULT: f64 = 0.05;

/// A reading that costs at least this share of the null call enters the kernel. The benchmark of a
/// real system call for a clock requires the same of its figure.
const OF_NULL_CALL: f64 = 0.8;

/// The linker has an entry path of its own if its null call costs more than this multiple of other
/// null calls.
const OTHER_PATH: f64 = 1.5;

/// The primitives without a traced time whose cost a prediction needs. The cost of the linker's
/// calls matters on 32-bit x86 only, and is not required.
pub fn untraced_primitives(vector: &Vector) -> impl Iterator<Item = &'static str> {
    untraced_uses(vector).map(|(primitive, _)| primitive)
}

/// These primitives with their counts. The cost of a page fault only says whether touches of pages
/// near one fault.
pub(crate) fn untraced_uses(vector: &Vector) -> impl Iterator<Item = (&'static str, f64)> {
    let counts = [
        (vector.clock_reads, READING, 1.0),
        (vector.avoided_faults, AVOIDED_FAULT, 1.0),
        (vector.avoided_faults, FAULT, 0.0),
    ];
    let used = counts.into_iter();
    let used = used.filter_map(|(count, name, weight)| Some((name, count?, weight)));
    used.filter(|(_, count, _)| *count > 0.0).map(|(name, count, weight)| (name, count * weight))
}

/// The number per unit of a primitive of this module. `None`: it has another name.
pub(crate) fn number_of<'a>(vector: &'a mut Vector, name: &str) -> Option<&'a mut Option<f64>> {
    match name {
        READING => Some(&mut vector.clock_reads),
        LOADER_CALL => Some(&mut vector.loader_calls),
        AVOIDED_FAULT => Some(&mut vector.avoided_faults),
        _ => None,
    }
}

/// The numbers of uses per unit. `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Untraced {
    clock_reads: Option<f64>,
    loader_calls: Option<f64>,
    avoided_faults: Option<f64>,
}

impl Untraced {
    /// The numbers of a vector.
    pub fn of(vector: &Vector) -> Untraced {
        Untraced {
            clock_reads: vector.clock_reads,
            loader_calls: vector.loader_calls,
            avoided_faults: vector.avoided_faults,
        }
    }

    /// The kernel time of these uses on a system.
    pub fn products(self, costs: &Costs) -> Vec<Product> {
        let clock = product(READING, self.clock_reads, reading(costs));
        let path = path_of_loader(costs);
        let loader = product(LOADER_CALL, self.loader_calls, path);
        let fault = avoided_fault(costs);
        let fault = product(AVOIDED_FAULT, self.avoided_faults, fault);
        [clock, loader, fault].into_iter().flatten().collect()
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
fn null_ns(costs: &Costs) -> Option<f64> {
    Some(costs.measured(&canonical(NULL_CALL), None)?.cost.ns)
}

/// Whether clock readings enter the kernel on a system. `None`: the costs are unknown.
fn enters_kernel(costs: &Costs) -> Option<bool> {
    let reading = costs.measured(READING, None)?;
    Some(reading.cost.ns >= OF_NULL_CALL * null_ns(costs)?)
}

/// The kernel time of a clock reading. `None`: it does not enter the kernel, or its cost is
/// unknown.
fn reading(costs: &Costs) -> Option<Cost> {
    let at = costs.at(READING, None)?;
    enters_kernel(costs)?.then_some(at.cost)
}

/// Whether touches fault on a system although a fault nearby came first. `None`: the costs are
/// unknown.
fn faults_each(costs: &Costs) -> Option<bool> {
    let touch = costs.measured(AVOIDED_FAULT, None)?;
    let fault = costs.measured(FAULT, None)?;
    Some(touch.cost.ns >= OF_FAULT * fault.cost.ns)
}

/// The kernel time of a touch after a fault nearby. `None`: it does not fault, or its cost is
/// unknown.
fn avoided_fault(costs: &Costs) -> Option<Cost> {
    let at = costs.at(AVOIDED_FAULT, None)?;
    faults_each(costs)?.then_some(at.cost)
}

/// The cost by which the linker's entry path exceeds that of other calls. `None`: they have the
/// same path, or the costs are unknown.
fn path_of_loader(costs: &Costs) -> Option<Cost> {
    let (own, null_ns) = (costs.measured(LOADER_CALL, None)?.cost, null_ns(costs)?);
    let cost = costs.at(LOADER_CALL, None)?.cost;
    (own.ns > OTHER_PATH * null_ns).then(|| Cost {
        ns: (cost.ns - null_ns).max(0.0),
        interval_ns: cost.interval_ns.map(|end| (end - null_ns).max(0.0)),
    })
}

/// Why the kernel time on a system may lack clock readings and page faults.
pub(crate) fn lacking(vector: &Vector, costs: &Costs) -> Vec<String> {
    if vector.platform() != Platform::Kernel {
        return Vec::new();
    }
    let readings = line(
        vector.clock_reads,
        enters_kernel(costs),
        "clock readings enter the kernel there",
        &format!("clock readings count as user time: their cost there is unknown ({READING})"),
    );
    let faults = line(
        vector.avoided_faults,
        faults_each(costs),
        "touches of pages near a page fault are page faults there",
        &format!(
            "touches of pages near a page fault count as user time: their cost there is unknown ({AVOIDED_FAULT} and {FAULT})"
        ),
    );
    readings.into_iter().chain(faults).collect()
}

/// The line about uses that may cost kernel time: `costs` if they do and their number is unknown,
/// `without_cost` if only their cost is unknown.
fn line(
    count: Option<f64>,
    is_in_kernel: Option<bool>,
    costs: &str,
    without_cost: &str,
) -> Option<String> {
    match (count, is_in_kernel) {
        (None, Some(true)) => Some(format!(
            "{costs}, and their number is unknown: `yamba trace --rounds 2` counts them"
        )),
        (Some(1e-9..), None) => Some(without_cost.to_owned()),
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

    fn reads(count: f64, costs: &Costs) -> Option<Product> {
        let untraced = Untraced { clock_reads: Some(count), ..Untraced::default() };
        untraced.products(costs).pop()
    }

    /// The entry path is what the linker's null call costs more.
    #[test]
    fn calls_of_the_linker_count_where_they_have_another_entry_path() {
        let untraced = Untraced { loader_calls: Some(25.0), ..Untraced::default() };
        let same = of(&[(LOADER_CALL, 110.0), (NULL_CALL, 100.0)]);
        assert!(untraced.products(&same).is_empty());
        let other = of(&[(LOADER_CALL, 4100.0), (NULL_CALL, 100.0)]);
        let found = untraced.products(&other).pop().unwrap();
        assert!((found.product_ns - 25.0 * 4000.0).abs() < 1e-6, "{found:?}");
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
        assert!(lacking(&unknown, &in_kernel)[0].contains("--rounds"));
        unknown.clock_reads = Some(0.0);
        assert!(lacking(&unknown, &in_kernel).is_empty());
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
        let mut read = vector(vec![used("stat", None, 1.0)]);
        assert!(lacking(&read, &without).is_empty());
        read.clock_reads = Some(2.0);
        assert!(lacking(&read, &without)[0].contains(READING));
        read.clock_reads = Some(0.0);
        assert!(lacking(&read, &without).is_empty());
    }

    /// On the first system, a fault maps the pages around it. On the second one, each touch faults.
    #[test]
    fn avoided_faults_count_where_each_touch_faults() {
        let untraced = Untraced { avoided_faults: Some(80.0), ..Untraced::default() };
        let around = of(&[(AVOIDED_FAULT, 3.0), (FAULT, 900.0)]);
        assert!(untraced.products(&around).is_empty());
        let each = of(&[(AVOIDED_FAULT, 36_000.0), (FAULT, 37_000.0)]);
        let found = untraced.products(&each).pop().unwrap();
        assert_eq!((found.product_ns, found.name.as_str()), (80.0 * 36_000.0, AVOIDED_FAULT));
        let mut read = vector(vec![used("stat", None, 1.0)]);
        assert!(lacking(&read, &around).is_empty());
        assert!(lacking(&read, &each)[0].contains("--rounds"));
        read.avoided_faults = Some(80.0);
        assert!(lacking(&read, &each).is_empty());
        let without = of(&[(FAULT, 900.0)]);
        assert!(lacking(&read, &without)[0].contains(AVOIDED_FAULT));
    }

    /// `--replace` changes these numbers as those of other primitives.
    #[test]
    fn numbers_are_replaced() {
        let replaced = |text: &str, read: &mut Vector| Replacement::read(text).unwrap().apply(read);
        let mut read = vector(vec![used("stat", None, 1.0)]);
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

    /// The cost of a fault is not that of a kind of page fault that the trace does not tell apart.
    #[test]
    fn avoided_fault_is_no_kind_of_page_fault() {
        let costs = of(&[(AVOIDED_FAULT, 3.0)]);
        assert!(!costs.has("page_fault"));
    }
}
