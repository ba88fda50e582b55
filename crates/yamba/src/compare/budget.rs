//! What of much can be measured in a given time. Pure.

use yamba_record::Benchmark;
use yamba_stats::mean;

/// Why something is not measured anew.
pub const NO_TIME: &str = "there was no time for it, --at-most gives more";

/// One benchmark that should be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// How much slower it seems: 0.05 for 5 %.
    pub slowdown: f64,
    /// How long it takes, in seconds.
    pub seconds: f64,
}

/// How long a launch of a benchmark takes in the mean, in seconds, as far as its launches say it.
pub fn launch(of: &Benchmark) -> Option<f64> {
    let took = of.launches.iter().map(|l| l.took_ns);
    let known: Vec<f64> = took
        .filter(|ns| *ns > 0)
        .map(|ns| ns as f64 * 1e-9)
        .collect();
    mean(&known)
}

/// The same of the side of which they take longer: measured anew, both are as long as those of the longer plan. Of a side that does not say it, so many seconds that were planned.
pub fn slower_launch(a: &Benchmark, b: &Benchmark, planned: f64) -> f64 {
    let [a, b] = [a, b].map(|side| launch(side).unwrap_or(planned));
    a.max(b)
}

/// Of each whether it is measured, all in at most so many seconds: what seems slowest comes first, and what does not fit any more is left out.
pub fn within(wishes: &[Wish], seconds: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|i, j| wishes[*j].slowdown.total_cmp(&wishes[*i].slowdown));
    let mut left = seconds;
    let mut fits = vec![false; wishes.len()];
    for i in order {
        fits[i] = wishes[i].seconds <= left;
        if fits[i] {
            left -= wishes[i].seconds;
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::super::tests::benchmark;
    use super::*;

    #[test]
    fn the_side_with_longer_launches_counts() {
        let with = |took: [u64; 2]| {
            let mut made = benchmark("x", &[1.0, 1.0]);
            for (launch, ns) in made.launches.iter_mut().zip(took) {
                launch.took_ns = ns;
            }
            made
        };
        let (short, long) = (
            with([1_000_000_000; 2]),
            with([2_000_000_000, 4_000_000_000]),
        );
        assert_eq!(slower_launch(&short, &long, 9.0), 3.0);
        assert_eq!(slower_launch(&long, &short, 9.0), 3.0);
        // What does not say how long it took was not done in no time.
        assert_eq!(launch(&with([0, 2_000_000_000])), Some(2.0));
        assert_eq!(slower_launch(&with([0, 0]), &short, 0.5), 1.0);
        assert_eq!(slower_launch(&with([0, 0]), &short, 2.0), 2.0);
        assert_eq!(slower_launch(&with([0, 0]), &benchmark("x", &[]), 2.0), 2.0);
    }

    #[test]
    fn what_seems_slowest_comes_first() {
        let wish = |(slowdown, seconds): (f64, f64)| Wish { slowdown, seconds };
        let all = [(0.01, 2.0), (0.5, 3.0), (0.2, 9.0), (-0.1, 1.0)].map(wish);
        assert_eq!(within(&all, 5.5), [true, true, false, false]);
        assert_eq!(within(&all, 100.0), [true; 4]);
        assert_eq!(within(&all, 0.0), [false; 4]);
    }
}
