//! The number of page faults on a system whose pointers have another width than those of the trace.
//!
//! Narrower pointers put the same data on fewer pages: on Debian 12, `/bin/true` takes 50 page
//! faults as a 64-bit program, and 42 as a 32-bit one. The vector has the number of the traced
//! program. A benchmark that starts a program tells the number of the same start on both systems.
//! Their quotient is taken for all page faults. Applications differ: the quotient is 0.91 for `tar
//! --version`, and 0.56 for a file list of `rsync`, which is nearly all pointers. The interval
//! reaches to both bounds: the traced number, and one that changes as the width does.

use crate::cost::Costs;
use crate::page_fault::is_fault;
use crate::product::Product;

/// A start with fewer page faults has little data of a program: a program without a C library takes
/// three.
const LEAST_FAULTS: f64 = 20.0;

/// The number of page faults on a system for each on the system of the trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Faults {
    ratio: f64,
    /// The least and the largest ratio that the widths of pointers explain.
    bounds: [f64; 2],
    /// Where the ratio is from, for people. `None`: the number is that of the trace.
    pub line: Option<String>,
}

/// The same start of a program on both systems.
struct Start<'a> {
    /// The benchmark that starts it, with its parameters.
    benchmark: &'a str,
    /// Page faults of a start where the application was traced, and on the other system.
    numbers: [f64; 2],
}

impl Faults {
    /// Compares the system of the trace with another one.
    pub fn between(traced: &Costs, target: &Costs) -> Faults {
        let same = Faults { ratio: 1.0, bounds: [1.0; 2], line: None };
        match (traced.pointer_bytes, target.pointer_bytes) {
            (Some(from), Some(to)) if from != to => Faults::of_widths([from, to], largest(traced, target)),
            (Some(_), Some(_)) => same,
            _ if traced.isa == target.isa => same,
            _ => Faults {
                line: Some(
                    "page faults are those of the trace: the width of pointers is unknown in a run of an earlier version; measure again"
                        .to_owned(),
                ),
                ..same
            },
        }
    }

    fn of_widths([from, to]: [u64; 2], start: Option<Start>) -> Faults {
        let width = to as f64 / from as f64;
        let bounds = [width.min(1.0), width.max(1.0)];
        let pointers = format!("pointers of {to} instead of {from} bytes");
        let unknown = |reason: String| Faults {
            ratio: 1.0,
            bounds,
            line: Some(format!("page faults are those of the trace: {reason}")),
        };
        let Some(Start { benchmark, numbers: [faults, others] }) = start else {
            return unknown(format!(
                "their number with {pointers} is unknown without runs of default length on both systems"
            ));
        };
        let ratio = others / faults;
        if !(bounds[0]..=bounds[1]).contains(&ratio) {
            return unknown(format!(
                "a start in {benchmark} takes {others} instead of {faults}, which {pointers} do not explain"
            ));
        }
        Faults {
            ratio,
            bounds,
            line: Some(format!(
                "page faults: {ratio:.2} times the traced number, since a start in {benchmark} takes {others} instead of {faults} ({pointers})"
            )),
        }
    }

    /// The number of uses of a primitive for each traced one.
    pub fn ratio(&self, name: &str) -> f64 {
        if is_fault(name) { self.ratio } else { 1.0 }
    }

    /// Widens the interval of a term whose number of uses was multiplied by the ratio.
    pub fn widen(&self, product: &mut Product) {
        if is_fault(&product.name) {
            let [least, most] = self.bounds.map(|bound| bound / self.ratio);
            product.interval_ns = product.interval_ns.map(|[low, high]| [low * least, high * most]);
        }
    }
}

/// The start with the most page faults that both systems have.
fn largest<'a>(traced: &'a Costs, target: &Costs) -> Option<Start<'a>> {
    let both = traced.starts.iter().filter_map(|(benchmark, faults)| {
        let numbers = [*faults, *target.starts.get(benchmark)?];
        let has_enough = numbers.iter().all(|n| *n >= LEAST_FAULTS);
        has_enough.then_some(Start { benchmark, numbers })
    });
    both.max_by(|a, b| a.numbers[0].total_cmp(&b.numbers[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(pointer_bytes: Option<u64>, starts: &[(&str, f64)]) -> Costs {
        Costs {
            pointer_bytes,
            isa: format!("{pointer_bytes:?}"),
            starts: starts.iter().map(|(label, n)| ((*label).to_owned(), *n)).collect(),
            ..Costs::default()
        }
    }

    fn interval(faults: &Faults, name: &str) -> [f64; 2] {
        let mut product = Product {
            name: name.to_owned(),
            product_ns: 80.0,
            interval_ns: Some([80.0, 80.0]),
            ..Product::default()
        };
        faults.widen(&mut product);
        product.interval_ns.unwrap()
    }

    #[test]
    fn number_changes_as_that_of_the_largest_start_on_both_systems() {
        let wide = system(Some(8), &[("tiny", 2.5), ("true", 50.0), ("sh", 90.0)]);
        let narrow = system(Some(4), &[("tiny", 2.0), ("true", 42.0)]);
        let faults = Faults::between(&wide, &narrow);
        assert_eq!(faults.ratio("page_fault(copy)"), 0.84);
        assert_eq!(faults.ratio("page_faults"), 1.0);
        let line = faults.line.unwrap();
        assert!(line.contains("true takes 42 instead of 50"), "{line}");
        let back = Faults::between(&narrow, &wide);
        assert_eq!(back.ratio("page_fault"), 50.0 / 42.0);
        assert_eq!(Faults::between(&wide, &wide).line, None);
    }

    /// Under User-Mode Linux, each first touch of a page is a page fault, whatever the width of
    /// pointers.
    #[test]
    fn quotient_that_pointers_do_not_explain_is_not_taken() {
        let wide = system(Some(8), &[("true", 50.0)]);
        for other in [110.0, 24.0] {
            let faults = Faults::between(&wide, &system(Some(4), &[("true", other)]));
            assert_eq!(faults.ratio("page_fault"), 1.0);
            let line = faults.line.unwrap();
            assert!(line.contains("do not explain"), "{line}");
        }
        let few =
            Faults::between(&system(Some(8), &[("tiny", 3.0)]), &system(Some(4), &[("tiny", 2.0)]));
        assert_eq!(few.ratio("page_fault"), 1.0);
        assert_eq!(interval(&few, "page_fault"), [40.0, 80.0]);
        assert!(few.line.unwrap().contains("default length"));
    }

    #[test]
    fn interval_reaches_to_both_bounds() {
        let (wide, narrow) =
            (system(Some(8), &[("true", 50.0)]), system(Some(4), &[("true", 40.0)]));
        let fewer = Faults::between(&wide, &narrow);
        assert_eq!(interval(&fewer, "page_fault(zero)"), [50.0, 100.0]);
        assert_eq!(interval(&fewer, "stat"), [80.0, 80.0]);
        let more = Faults::between(&narrow, &wide);
        assert_eq!(interval(&more, "page_fault"), [64.0, 128.0]);
    }

    #[test]
    fn runs_without_the_width_are_named() {
        let (old, new) = (system(None, &[]), system(Some(8), &[]));
        let faults = Faults::between(&old, &new);
        assert!(faults.line.unwrap().contains("measure again"));
        assert_eq!(Faults::between(&old, &old).line, None);
    }
}
