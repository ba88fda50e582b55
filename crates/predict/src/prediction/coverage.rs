//! The share of the vector that has costs of its own.

use super::product::{Coverage, Product};
use super::traced::TracedTerms;
use crate::vector::{Use, Vector};

/// The covered part of a sum, and the whole.
struct Part {
    covered: f64,
    all: f64,
}

impl Part {
    /// The sums of pairs of a value and whether it is covered. `None`: a value is unknown.
    fn sum(values: impl Iterator<Item = (Option<f64>, bool)>) -> Option<Part> {
        let mut part = Part { covered: 0.0, all: 0.0 };
        for (value, is_covered) in values {
            part.all += value?;
            part.covered += value.filter(|_| is_covered).unwrap_or(0.0);
        }
        Some(part)
    }

    fn share(self) -> Option<f64> {
        (self.all > 0.0).then(|| self.covered / self.all)
    }
}

/// The coverage of a prediction from benchmarks alone. Uses within others are covered.
pub(crate) fn coverage(vector: &Vector, products: &[Product]) -> Coverage {
    let is_covered = |used: &Use| {
        let is_it = |p: &&Product| p.name == used.name && p.size == used.size;
        products.iter().find(is_it).is_none_or(|p| p.is_covered)
    };
    let uses = || vector.primitives.iter();
    let calls = Part::sum(uses().map(|used| (Some(used.count), is_covered(used))));
    let times = Part::sum(uses().map(|used| (used.time_ns, is_covered(used))));
    // The kernel's coarse clock can give less than the sum of the calls.
    let whole = |times: Part| Part {
        all: vector.kernel_ns.map_or(times.all, |ns| ns.max(times.all)),
        ..times
    };
    Coverage {
        calls: calls.and_then(Part::share),
        kernel_time: times.map(whole).and_then(Part::share),
    }
}

/// The coverage of a prediction from traced times.
pub(crate) fn traced_coverage(terms: &TracedTerms) -> Coverage {
    let products = || terms.products.iter().zip(&terms.traced_ns);
    let calls = Part::sum(products().map(|(p, _)| (Some(p.count), p.is_covered)));
    let times = Part::sum(products().map(|(p, ns)| (*ns, p.is_covered)));
    let within: f64 = terms.contained.iter().map(|c| c.count).sum();
    let outside = terms.other.map_or(0.0, |other| other.traced_ns);
    let with_contained =
        |calls: Part| Part { covered: calls.covered + within, all: calls.all + within };
    let with_other = |times: Part| Part { all: times.all + outside, ..times };
    Coverage {
        calls: calls.map(with_contained).and_then(Part::share),
        kernel_time: times.map(with_other).and_then(Part::share),
    }
}
