//! The number of page faults on a system whose pointers have another width than those of the trace.
//!
//! Narrower pointers put the same data on fewer pages: on Debian 12, `/bin/true` takes 50 page faults as a 64-bit program, and 42 as a 32-bit one. The vector has the number of the traced program. A benchmark
//! that starts a program tells the number of the same start on both systems. Their quotient is taken for all page faults. Applications differ: the quotient is 0.91 for `tar`, and 0.56 for a file list of `rsync`,
//! which is nearly all pointers. The interval reaches to both bounds: the traced number, and one that changes as the width does.

use crate::cost::{Costs, PAGE_FAULT};
use crate::product::Product;

/// A start with fewer page faults has little data of a program: a program without a C library takes three.
const LEAST_FAULTS: f64 = 20.0;

/// Page faults of the same program on the system of the trace and on another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Faults {
    /// Their number is the same, as the pointers have the same width, or an unknown one.
    Same,
    /// The number changes as that of the start of a program.
    AsStarts {
        /// The benchmark that starts it, with its parameters.
        benchmark: String,
        /// Page faults of a start, there and here.
        numbers: [f64; 2],
        /// The widths of pointers, in bytes.
        bytes: [u64; 2],
    },
    /// The pointers have different widths, and no run of both systems tells how much the number changes.
    Unknown {
        /// The widths of pointers, in bytes.
        bytes: [u64; 2],
    },
}

impl Faults {
    /// Compares the system of the trace with another one.
    pub fn between(from: &Costs, to: &Costs) -> Faults {
        let (Some(there), Some(here)) = (from.pointer_bytes, to.pointer_bytes) else {
            return Faults::Same;
        };
        if there == here {
            return Faults::Same;
        }
        let bytes = [there, here];
        let both = from
            .starts
            .iter()
            .filter_map(|(label, n)| Some((label, [*n, *to.starts.get(label)?])));
        // Another quotient has other reasons than the width of pointers.
        let [least, most] = bounds(bytes);
        let is_evidence = |(_, [there, here]): &(&String, [f64; 2])| {
            there.min(*here) >= LEAST_FAULTS && (least..=most).contains(&(here / there))
        };
        let largest = both
            .filter(is_evidence)
            .max_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        match largest {
            Some((benchmark, numbers)) => Faults::AsStarts {
                benchmark: benchmark.clone(),
                numbers,
                bytes,
            },
            None => Faults::Unknown { bytes },
        }
    }

    /// The number of uses of a primitive there for each here.
    pub fn ratio(&self, name: &str) -> f64 {
        match self {
            Faults::AsStarts {
                numbers: [there, here],
                ..
            } if is_fault(name) => here / there,
            _ => 1.0,
        }
    }

    /// Widens the interval of a term whose number of uses was multiplied by the ratio.
    pub fn widen(&self, product: &mut Product) {
        let Faults::AsStarts { bytes, .. } = self else {
            return;
        };
        if !is_fault(&product.name) {
            return;
        }
        let ratio = self.ratio(&product.name);
        let [least, most] = bounds(*bytes);
        product.interval_ns = product
            .interval_ns
            .map(|[low, high]| [low * least / ratio, high * most / ratio]);
    }

    /// The line for a prediction with page faults.
    pub fn line(&self) -> Option<String> {
        match self {
            Faults::Same => None,
            Faults::AsStarts {
                benchmark,
                numbers: [there, here],
                bytes: [wide, narrow],
            } => Some(format!(
                "page faults count {:.2} times, as those of a start in {benchmark}: {here} instead of {there} (pointers of {narrow} instead of {wide} bytes)",
                here / there
            )),
            Faults::Unknown {
                bytes: [wide, narrow],
            } => Some(format!(
                "page faults are those of the trace, whose pointers have {wide} instead of {narrow} bytes: their number here is unknown without runs of default length on both systems"
            )),
        }
    }
}

/// The least and the most page faults for each there that the widths of pointers explain.
fn bounds([there, here]: [u64; 2]) -> [f64; 2] {
    let width = here as f64 / there as f64;
    [width.min(1.0), width.max(1.0)]
}

/// Whether a primitive is a page fault of any kind.
pub(crate) fn is_fault(name: &str) -> bool {
    name.strip_prefix(PAGE_FAULT)
        .is_some_and(|kind| kind.is_empty() || kind.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(pointer_bytes: u64, starts: &[(&str, f64)]) -> Costs {
        Costs {
            pointer_bytes: Some(pointer_bytes),
            starts: starts
                .iter()
                .map(|(label, n)| ((*label).to_owned(), *n))
                .collect(),
            ..Costs::default()
        }
    }

    #[test]
    fn numbers_change_as_those_of_a_start_of_the_same_program() {
        let wide = system(8, &[("tiny", 2.5), ("/bin/true", 50.0), ("/bin/sh", 90.0)]);
        let narrow = system(4, &[("tiny", 2.0), ("/bin/true", 42.0)]);
        let faults = Faults::between(&wide, &narrow);
        assert_eq!(faults.ratio("page_fault(copy)"), 0.84);
        assert_eq!(faults.ratio("page_faults"), 1.0);
        assert!(faults.line().unwrap().contains("/bin/true"));
        assert_eq!(
            Faults::between(&narrow, &wide).ratio("page_fault"),
            50.0 / 42.0
        );
        assert_eq!(Faults::between(&wide, &wide), Faults::Same);
    }

    /// Under User-Mode Linux, each first touch of a page is a page fault, whatever the width of pointers.
    #[test]
    fn numbers_that_pointers_do_not_explain_are_no_evidence() {
        let wide = system(8, &[("/bin/true", 50.0)]);
        for (here, why) in [(110.0, "more"), (24.0, "less than half")] {
            let faults = Faults::between(&wide, &system(4, &[("/bin/true", here)]));
            assert_eq!(faults, Faults::Unknown { bytes: [8, 4] }, "{why}");
            assert_eq!(faults.ratio("page_fault"), 1.0);
        }
        let few = Faults::between(&system(8, &[("tiny", 3.0)]), &system(4, &[("tiny", 2.0)]));
        assert!(few.line().unwrap().contains("unknown"));
    }

    #[test]
    fn interval_reaches_from_half_of_the_number_to_the_traced_one() {
        let faults = Faults::between(
            &system(8, &[("/bin/true", 50.0)]),
            &system(4, &[("/bin/true", 40.0)]),
        );
        let mut product = Product {
            name: "page_fault".to_owned(),
            product_ns: 80.0,
            interval_ns: Some([80.0, 80.0]),
            ..Product::default()
        };
        faults.widen(&mut product);
        assert_eq!(product.interval_ns, Some([50.0, 100.0]));
        let other = Product {
            name: "stat".to_owned(),
            ..product.clone()
        };
        let mut same = other.clone();
        faults.widen(&mut same);
        assert_eq!(same, other);
    }
}
