//! Half-widths of intervals, by their sources.
//!
//! Times with a common source are off together: their half-widths are added. Different sources are
//! independent: their half-widths are added in quadrature, each side of the interval for itself. A
//! source that raises one time and lowers another, such as the border between user and kernel time,
//! has half-widths below 0 in the latter.

use std::collections::BTreeMap;

/// The half-widths below and above a time, by source, in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Widths(BTreeMap<String, [f64; 2]>);

impl Widths {
    /// Adds half-widths of a source.
    pub(crate) fn add(&mut self, source: &str, [below, above]: [f64; 2]) {
        let widths = self.0.entry(source.to_owned()).or_default();
        widths[0] += below;
        widths[1] += above;
    }

    /// Those of one source.
    pub(crate) fn from_source(source: &str, widths: [f64; 2]) -> Widths {
        let mut all = Widths::default();
        all.add(source, widths);
        all
    }

    /// Adds those of another time, multiplied by a factor.
    pub(crate) fn add_scaled(&mut self, others: &Widths, factor: f64) {
        for (source, widths) in &others.0 {
            self.add(source, widths.map(|width| width * factor));
        }
    }

    /// The interval of a time.
    pub(crate) fn interval(&self, ns: f64) -> [f64; 2] {
        let side = |i: usize| self.0.values().map(|w| w[i] * w[i]).sum::<f64>().sqrt();
        [(ns - side(0)).max(0.0), ns + side(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_one_source_are_added_and_others_in_quadrature() {
        let mut widths = Widths::from_source("read", [1.0, 2.0]);
        widths.add("read", [2.0, 2.0]);
        widths.add("stat", [4.0, 3.0]);
        assert_eq!(widths.interval(100.0), [95.0, 105.0]);
        assert_eq!(widths.interval(4.0), [0.0, 9.0]);
    }

    #[test]
    fn border_between_two_times_is_none_of_their_sum() {
        let mut sum = Widths::from_source("border", [3.0; 2]);
        assert_eq!(sum.interval(10.0), [7.0, 13.0]);
        sum.add_scaled(&Widths::from_source("border", [-6.0; 2]), 0.5);
        assert_eq!(sum.interval(10.0), [10.0; 2]);
    }
}
