//! The ratio of two sides' launches, and the interval of a figure between launches.

use crate::distribution::{defined, finite, student_t_quantile, two_sided_t, upper_tail};
use crate::moments::{mean, variance};
use crate::quantile::{MedianInterval, median_interval, sorted};
use crate::rank_test::mann_whitney;

/// With at least `FEWEST_TRIMMED` launches, a quarter of them is trimmed at each end.
const QUARTER: usize = 4;
const FEWEST_TRIMMED: usize = 12;

/// A ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// b divided by a: 1.03 if b is 3 % greater.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The two-sided p-value of a ratio of 1: below 5 % exactly if the 95 % interval excludes 1.
    pub p: f64,
    /// The p-value of the Mann-Whitney test on the launches if launches are trimmed, else 0.
    pub p_of_ranks: f64,
}

impl Ratio {
    /// The p-value if both tests are required to show a difference: the greater of the two.
    pub fn p_of_both(&self) -> f64 {
        self.p.max(self.p_of_ranks)
    }
}

/// The location of one side.
pub(crate) struct Level {
    /// Trimmed mean of the logarithms.
    pub(crate) mean: f64,
    /// Squared standard error of the mean.
    pub(crate) squared_error: f64,
    pub(crate) degrees: f64,
}

/// The ratio b / a of the launches' medians. It is the ratio of their geometric means; with twelve
/// or more launches per side, a quarter is trimmed at each end. The interval is Yuen's t interval
/// of the difference of the trimmed means of the natural logarithms, transformed back with exp.
///
/// The logarithm turns a ratio into a symmetric difference, and makes the spread of times more
/// nearly constant. A launch that shared its core with another program takes half as long again. A
/// few such launches on either side would dominate means and variances in Welch's test and hide a
/// difference of a few percent. Yuen's test trims g of n values at each end. Its variance `s^2` is
/// that of the values with the trimmed ones replaced by the nearest remaining one. With `h = n - 2
/// g` the squared error of a side is `(n - 1) s^2 / (h (h - 1))`, with `h - 1` degrees of freedom.
/// K. K. Yuen, "The Two-Sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974)
/// 165-170. With fewer than twelve launches on either side g is 0, and the test is Welch's.
///
/// Launches may have two modes, for example because of memory layout. Trimming then removes the
/// rarer mode, and two sides that drew different modes each seem consistent. Therefore, if launches
/// are trimmed, the result has the p-value of the Mann-Whitney test too, which is valid for any
/// distribution of launches.
///
/// `variance_floor` is the minimum variance assumed for the logarithm of a launch: 1e-6 for a
/// standard deviation of 0.1 %. With a floor of 0, six launches that agree by chance show
/// differences that the next six do not. `None` for fewer than two launches on a side, for a median
/// that is not positive, and if nothing has any spread and the floor is 0.
pub fn launch_ratio(a: &[f64], b: &[f64], confidence: f64, variance_floor: f64) -> Option<Ratio> {
    let [a, b] = [a, b].map(|medians| BoundedLaunches { medians, bounds: None });
    bounded_launch_ratio(a, b, confidence, variance_floor)
}

/// The launches of a side, which something may have disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedLaunches<'a> {
    /// The medians of the launches.
    pub medians: &'a [f64],
    /// The lowest and the highest level that the side may have without the disturbance. `None` if
    /// nothing disturbed the launches.
    pub bounds: Option<[f64; 2]>,
}

/// The ratio of two sides of which some are only known within bounds.
///
/// `ratio` is that of the launches, as in [`launch_ratio`]. The interval reaches further by the
/// distances from the launches' levels to the bounds. The p-values are those of the ratio that the
/// bounds allow and that is nearest to 1. `None` also for bounds that are not positive.
pub fn bounded_launch_ratio(
    a: BoundedLaunches<'_>,
    b: BoundedLaunches<'_>,
    confidence: f64,
    variance_floor: f64,
) -> Option<Ratio> {
    let is_variance = variance_floor >= 0.0 && variance_floor.is_finite();
    let is_trimmed = a.medians.len().min(b.medians.len()) >= FEWEST_TRIMMED;
    let level = |side: &[f64]| {
        let trimmed = if is_trimmed { trimmed(side.len()) } else { 0 };
        level(side, variance_floor, trimmed)
    };
    let (of_a, of_b) = (level(a.medians)?, level(b.medians)?);
    let squared_error = of_a.squared_error + of_b.squared_error;
    // Uses shares of the variances, because squared variances may underflow.
    let part = |side: &Level| (side.squared_error / squared_error).powi(2) / side.degrees;
    let degrees = (1.0 / (part(&of_a) + part(&of_b))).max(of_a.degrees.min(of_b.degrees));
    let (estimate, error) = (of_b.mean - of_a.mean, squared_error.sqrt());
    let half = student_t_quantile(upper_tail(confidence)?, degrees)? * error;
    let ([a_below, a_above], [b_below, b_above]) = (a.reach(&of_a)?, b.reach(&of_b)?);
    let (low, high) = (estimate - b_below - a_above, estimate + b_above + a_below);
    let nearest = 0.0_f64.clamp(low, high);
    let p_of_ranks = if is_trimmed {
        let moved = (nearest - estimate).exp();
        let moved: Vec<f64> = b.medians.iter().map(|median| median * moved).collect();
        mann_whitney(a.medians, &moved)?.p
    } else {
        0.0
    };
    let ratio = Ratio {
        ratio: defined(estimate.exp())?,
        low: (low - half).exp(),
        high: defined((high + half).exp())?,
        p: two_sided_t(nearest / error, degrees)?,
        p_of_ranks,
    };
    (is_variance && error > 0.0).then_some(ratio)
}

impl BoundedLaunches<'_> {
    /// How far the logarithm of the undisturbed level may lie below and above that of the launches.
    fn reach(&self, level: &Level) -> Option<[f64; 2]> {
        let Some([low, high]) = self.bounds else {
            return Some([0.0; 2]);
        };
        let (below, above) = (level.mean - low.ln(), high.ln() - level.mean);
        Some([defined(below)?.max(0.0), defined(above)?.max(0.0)])
    }
}

/// The mean of the launches' logarithms, with a quarter trimmed at each end from twelve launches
/// on. [`launch_ratio`] compares this value if both sides have twelve launches.
pub fn launch_level(medians: &[f64]) -> Option<f64> {
    let logarithms = logarithms(medians)?;
    let trimmed = trimmed(logarithms.len());
    mean(&logarithms[trimmed..logarithms.len() - trimmed])
}

/// Number of launches to trim at each end.
fn trimmed(launches: usize) -> usize {
    if launches < FEWEST_TRIMMED { 0 } else { launches / QUARTER }
}

/// Logarithms in ascending order.
fn logarithms(medians: &[f64]) -> Option<Vec<f64>> {
    let all: Vec<f64> = medians.iter().map(|x| x.ln()).collect();
    finite(&all).then(|| sorted(&all))
}

/// The location of a side, with `g` values trimmed at each end.
fn level(medians: &[f64], floor: f64, g: usize) -> Option<Level> {
    trimmed_level(logarithms(medians)?, floor, g)
}

/// The location of these values, in ascending order, with `g` of them trimmed at each end, and the
/// variance of one value at least `floor`.
pub(crate) fn trimmed_level(mut values: Vec<f64>, floor: f64, g: usize) -> Option<Level> {
    let n = values.len();
    let mean = mean(values.get(g..n.checked_sub(g)?)?)?;
    let (low, high) = (values[g], values[n - 1 - g]);
    values.iter_mut().for_each(|x| *x = x.clamp(low, high));
    let (of_all, of_rest) = (n as f64, (n - 2 * g) as f64);
    let own = (of_all - 1.0) * variance(&values)? / (of_rest * (of_rest - 1.0));
    Some(Level { mean, squared_error: own.max(floor / of_all), degrees: of_rest - 1.0 })
}

/// The order-statistic interval of the launches' medians. `None` if they are too few for
/// `confidence`.
///
/// The unit of observation is the launch, not the timed batch. Address-space layout and page
/// placement are drawn once per process, so the values inside one are correlated; pooling them
/// would give an interval that is too narrow for the next run (T. Kalibera and R. Jones, "Rigorous
/// Benchmarking in Reasonable Time", ISMM 2013). So each launch counts once, with its median. An
/// order-statistic interval only requires independent launches: the range of six contains the true
/// median of medians in `1 - 2 / 2^6` = 96.9 % of cases, whatever the distribution. Five would give
/// 93.8 %, so six are the fewest for 95 %. The range of two would give 50 %.
pub fn launch_interval(medians: &[f64], confidence: f64) -> Option<MedianInterval> {
    median_interval(medians, confidence).filter(|interval| interval.coverage >= confidence)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::normal_quantile;

    /// Sample launches: normal with 1 % about 1000, and a share of them slowed by another program.
    fn launches(count: usize, shared: f64, random: &mut Rng) -> Vec<f64> {
        let mut draw = || {
            let z = normal_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12)).unwrap();
            let factor = if random.f64() < shared { 1.8 } else { 1.0 };
            1000.0 * (0.01 * z).exp() * factor
        };
        (0..count).map(|_| draw()).collect()
    }

    /// Computed by hand: of 1 .. 12 the mean of 4 .. 9, and of 4, 4, 4, 4, 5, 6, 7, 8, 9, 9, 9, 9
    /// the squares about 6.5 are 55, so 55 / (6 * 5).
    #[test]
    fn quarter_is_trimmed_at_each_end() {
        let exp: Vec<f64> = (1..=12).map(|x| f64::from(x).exp()).collect();
        let got = level(&exp, 0.0, 3).unwrap();
        assert!((got.mean - 6.5).abs() < 1e-12 && got.degrees == 5.0);
        assert!((got.squared_error - 55.0 / 30.0).abs() < 1e-12);
        assert!((level(&exp, 120.0, 3).unwrap().squared_error - 10.0).abs() < 1e-12);
        assert_eq!(launch_level(&exp), Some(got.mean));
        assert!(launch_level(&[1.0, -1.0]).is_none() && launch_level(&[]).is_none());
    }

    /// In 4000 comparisons of identical distributions 40 false alarms are expected at 1 %; 65 have
    /// a probability of less than 0.0001.
    #[test]
    fn identical_sides_rarely_differ_with_shared_cores() {
        let mut random = Rng::with_seed(1);
        for shared in [0.0, 0.1, 0.3] {
            let alarms = (0..4000).filter(|_| {
                let [a, b] = [0, 1].map(|_| launches(12, shared, &mut random));
                launch_ratio(&a, &b, 0.99, 4e-6).unwrap().p_of_both() <= 0.01
            });
            let alarms = alarms.count();
            assert!(alarms < 65, "{alarms} of 4000 where {shared} share");
        }
    }

    /// Each launch is in one of two modes that differ by 8 %: often the twelve of one side are
    /// mostly in one mode and those of the other in the other. 20 of 2000 are expected at 1 %; 38
    /// have a probability of less than 0.0002.
    #[test]
    fn identical_sides_with_two_modes_rarely_differ() {
        let mut random = Rng::with_seed(3);
        let alarms = (0..2000).filter(|_| {
            let mut draw = || {
                let lucky = if random.f64() < 0.5 { 1.0 } else { 1.08 };
                1000.0 * lucky * (1.0 + 0.001 * random.f64())
            };
            let [a, b] = [0, 1].map(|_| (0..12).map(|_| draw()).collect::<Vec<_>>());
            launch_ratio(&a, &b, 0.99, 4e-6).unwrap().p_of_both() <= 0.01
        });
        let alarms = alarms.count();
        assert!(alarms < 38, "{alarms} of 2000");
    }

    /// The launches of b took 25 % longer, of which the neighbour beside them may be the cause: it
    /// lengthens by up to 26 %.
    #[test]
    fn bounds_widen_interval_by_their_distance_from_the_launches() {
        let (a, seen) = ([100.0, 101.0, 99.0], [125.0, 126.0, 124.0]);
        let of = |medians, bounds| BoundedLaunches { medians, bounds };
        let quiet = launch_ratio(&a, &a, 0.95, 0.0).unwrap();
        let plain = launch_ratio(&a, &seen, 0.95, 0.0).unwrap();
        let ratio = |b, a_too: Option<[f64; 2]>| {
            bounded_launch_ratio(of(&a, a_too), of(&seen, b), 0.95, 0.0).unwrap()
        };
        let level = launch_level(&seen).unwrap().exp();
        let bounded = ratio(Some([level / 1.26, level]), None);
        assert_eq!((bounded.ratio, bounded.p), (plain.ratio, 1.0));
        assert!((bounded.low - plain.low / 1.26).abs() < 1e-9);
        assert!((bounded.high - plain.high).abs() < 1e-9 && quiet.p == 1.0);
        // Bounds that leave 10 %: p is that of launches 10 % above those of a.
        let near = ratio(Some([110.0, level]), None);
        let moved = seen.map(|x| x * 110.0 / level);
        let expected = launch_ratio(&a, &moved, 0.95, 0.0).unwrap();
        assert!(near.p < 0.01 && (near.p - expected.p).abs() < 1e-3 * expected.p);
        assert!((near.low - expected.low).abs() < 1e-9);
        // A disturbed side a may also have been faster.
        let level_a = launch_level(&a).unwrap().exp();
        let both = ratio(Some([110.0, level]), Some([80.0, level_a]));
        assert!(
            (both.high - plain.high * level_a / 80.0).abs() < 1e-6
                && (both.p - near.p).abs() < 1e-9
        );
        let zero = Some([0.0, 1.0]);
        assert_eq!(bounded_launch_ratio(of(&a, None), of(&seen, zero), 0.95, 0.0), None);
    }

    /// Side b is the same program beside a neighbour that takes up to half of the core. Its bounds
    /// hold the quiet level.
    #[test]
    fn disturbed_side_is_no_false_alarm() {
        let mut random = Rng::with_seed(6);
        for count in [6, 12] {
            let mut alarms = [0; 2];
            for _ in 0..1000 {
                let a = launches(count, 0.0, &mut random);
                let b = launches(count, 0.0, &mut random);
                let slowed = 1.0 + 0.5 * random.f64();
                let b: Vec<f64> =
                    b.iter().map(|x| x * slowed * (1.0 + 0.05 * random.f64())).collect();
                let seen = launch_level(&b).unwrap().exp();
                let bounds = [None, Some([seen / 1.6, seen])];
                for (alarms, bounds) in alarms.iter_mut().zip(bounds) {
                    let [a, b] = [(&a, None), (&b, bounds)]
                        .map(|(medians, bounds)| BoundedLaunches { medians, bounds });
                    let ratio = bounded_launch_ratio(a, b, 0.99, 4e-6).unwrap();
                    *alarms += usize::from(ratio.p_of_both() <= 0.01);
                }
            }
            assert!(alarms[0] > 800 && alarms[1] == 0, "{alarms:?} of 1000 with {count}");
        }
    }

    #[test]
    fn slowdown_is_found_with_shared_cores() {
        let mut random = Rng::with_seed(2);
        let found = (0..500).filter(|_| {
            let a = launches(12, 0.15, &mut random);
            let b: Vec<f64> = launches(12, 0.15, &mut random);
            let b: Vec<f64> = b.iter().map(|x| x * 1.05).collect();
            launch_ratio(&a, &b, 0.99, 4e-6).unwrap().p_of_both() <= 0.01
        });
        let found = found.count();
        assert!(found > 320, "{found} of 500");
    }

    #[test]
    fn six_launches_give_their_range() {
        let got = launch_interval(&[12.0, 10.0, 11.0, 15.0, 13.0, 14.0], 0.95).unwrap();
        assert_eq!((got.low, got.high, got.rank), (10.0, 15.0, 1));
        assert!((got.coverage - 0.96875).abs() < 1e-15);
    }

    #[test]
    fn fewer_launches_have_no_interval() {
        let five = [2.0, 1.0, 3.0, 4.0, 5.0];
        for few in [&five[..], &[2.0, 1.0], &[2.0], &[]] {
            assert_eq!(launch_interval(few, 0.95), None, "{few:?}");
        }
        let got = launch_interval(&five, 0.9).unwrap();
        assert!((got.coverage - 0.9375).abs() < 1e-15);
    }

    /// The checkpoints of a run: 9 and 12 launches exclude one and two at each end.
    #[test]
    fn more_launches_narrow_interval() {
        let medians: Vec<f64> = (1..=12).map(f64::from).collect();
        let nine = launch_interval(&medians[..9], 0.95).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
        let twelve = launch_interval(&medians, 0.95).unwrap();
        assert_eq!((twelve.low, twelve.high), (3.0, 10.0));
    }
}
