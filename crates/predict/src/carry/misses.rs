//! The time of cache misses on two machines.

use super::pair::Systems;

/// A load by the distance of its reuse, in bytes.
pub(crate) const LOAD: &str = "user(load)";

/// The size of data that are in the first cache of any processor.
pub(crate) const IN_FIRST_CACHE: f64 = 16384.0;

impl Systems<'_> {
    /// The ratio of loads that may miss the first cache: the geometric mean over the sizes that
    /// both machines measured, since nothing says how far the missed data are. `None`: there is no
    /// such size.
    pub fn ratio_of_misses(self) -> Option<f64> {
        let ratios =
            self.from.sizes(LOAD).filter(|size| *size > IN_FIRST_CACHE).filter_map(|size| {
                let loads = self.map(|costs| costs.at_knot(LOAD, Some(size))).both()?;
                let ratio = loads.to.ns / loads.from.ns;
                (ratio > 0.0 && ratio.is_finite()).then_some(ratio)
            });
        let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
        let count = logarithms.len() as f64;
        (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cost, costs};

    #[test]
    fn ratio_is_the_mean_of_sizes_that_both_have() {
        let loads = |each: &[(f64, f64)]| {
            let all: Vec<_> =
                each.iter().map(|(size, ns)| (LOAD, Some(*size), cost(*ns, 0.0))).collect();
            costs(&all)
        };
        let from = loads(&[(IN_FIRST_CACHE, 1.0), (65536.0, 4.0), (1e6, 10.0), (1e9, 100.0)]);
        let to = loads(&[(IN_FIRST_CACHE, 9.0), (65536.0, 8.0), (1e6, 20.0), (1e8, 50.0)]);
        let ratio = Systems { from: &from, to: &to }.ratio_of_misses().unwrap();
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
        let first = loads(&[(IN_FIRST_CACHE, 1.0)]);
        assert_eq!(Systems { from: &from, to: &first }.ratio_of_misses(), None);
    }
}
