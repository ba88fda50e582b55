//! How much slower one side's launches are than the other's.

use crate::distribution::{student_t_quantile, two_sided_t, upper_tail};
use crate::finite::{defined, finite};
use crate::moments::{mean, variance};
use crate::quantile::sorted;
use crate::rank_test::mann_whitney;

/// So many launches are needed before any is trimmed, and for every one of these one at each end: a quarter.
const QUARTER: usize = 4;
const FEWEST_TRIMMED: usize = 12;

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// What b is of a: 1.03 for 3 % more.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The two-sided p-value of the ratio being 1: less than 5 % where the interval of 95 % leaves out 1.
    pub p: f64,
    /// That of the launches' ranks (Mann-Whitney) where launches are trimmed; 0 where none are.
    pub p_of_ranks: f64,
}

impl Ratio {
    /// The p-value of a difference that both tests have to show: the greater of the two.
    pub fn p_of_both(&self) -> f64 {
        self.p.max(self.p_of_ranks)
    }
}

/// Where one side lies.
struct Level {
    /// The trimmed mean of the logarithms.
    mean: f64,
    /// The square of its standard error.
    squared_error: f64,
    degrees: f64,
}

/// The ratio b / a of the launches' medians: of their geometric means, of twelve and more without a quarter at each end, by Yuen's t interval of the difference of the trimmed means of
/// their natural logarithms, carried back with exp.
///
/// The logarithm makes a ratio a difference, equal in both directions, and the spread of times is nearer to constant in it. A launch that shared its core with
/// somebody takes half as long again: a few such on either side would hide a difference of some percent from Welch's test, whose means and variances
/// they decide. Yuen's trims g values at each end of n and takes the variance `s^2` of the values with the trimmed ones set to the nearest that stay; with `h = n - 2 g` a side's squared error is
/// `(n - 1) s^2 / (h (h - 1))`, and it has `h - 1` degrees of freedom. K. K. Yuen, "The Two-Sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974) 165-170. With fewer than twelve launches on either
/// side g is 0, and it is Welch's.
///
/// Where launches have two modes, a layout of memory that is lucky or not, trimming takes the rarer one away, and two sides that drew different ones seem to agree each within itself. So where any are
/// trimmed, there is the p-value of the Mann-Whitney test beside it, which holds for launches of any distribution.
///
/// `variance_floor` is the least variance that one launch's logarithm is held to have: 1e-6 for a standard deviation of 0.1 %. Without one (0), six launches
/// that agree by chance show differences that the next six do not. None with fewer than two launches a side, with a median that is not positive, or where
/// nothing spreads and no floor is given.
pub fn launch_ratio(a: &[f64], b: &[f64], confidence: f64, variance_floor: f64) -> Option<Ratio> {
    let is_variance = variance_floor >= 0.0 && variance_floor.is_finite();
    let is_trimmed = a.len().min(b.len()) >= FEWEST_TRIMMED;
    let p_of_ranks = match is_trimmed {
        true => mann_whitney(a, b)?.p,
        false => 0.0,
    };
    let level = |side: &[f64]| {
        let trimmed = if is_trimmed { trimmed(side.len()) } else { 0 };
        level(side, variance_floor, trimmed)
    };
    let (a, b) = (level(a)?, level(b)?);
    let squared_error = a.squared_error + b.squared_error;
    // Of shares, not of variances, since those squared may be too small for a number.
    let part = |side: &Level| (side.squared_error / squared_error).powi(2) / side.degrees;
    let degrees = (1.0 / (part(&a) + part(&b))).max(a.degrees.min(b.degrees));
    let (estimate, error) = (b.mean - a.mean, squared_error.sqrt());
    let half = student_t_quantile(upper_tail(confidence)?, degrees)? * error;
    let ratio = Ratio {
        ratio: defined(estimate.exp())?,
        low: (estimate - half).exp(),
        high: defined((estimate + half).exp())?,
        p: two_sided_t(estimate / error, degrees)?,
        p_of_ranks,
    };
    (is_variance && error > 0.0).then_some(ratio)
}

/// The mean of the launches' logarithms, of twelve and more without a quarter at each end: what [`launch_ratio`] compares of two sides that have so many.
pub fn launch_level(medians: &[f64]) -> Option<f64> {
    let logarithms = logarithms(medians)?;
    let trimmed = trimmed(logarithms.len());
    mean(&logarithms[trimmed..logarithms.len() - trimmed])
}

/// How many are trimmed at each end.
fn trimmed(launches: usize) -> usize {
    match launches < FEWEST_TRIMMED {
        true => 0,
        false => launches / QUARTER,
    }
}

/// In ascending order.
fn logarithms(medians: &[f64]) -> Option<Vec<f64>> {
    let all: Vec<f64> = medians.iter().map(|x| x.ln()).collect();
    finite(&all).then(|| sorted(&all))
}

/// Without so many at each end.
fn level(medians: &[f64], floor: f64, g: usize) -> Option<Level> {
    let mut values = logarithms(medians)?;
    let n = values.len();
    let mean = mean(&values[g..n - g])?;
    let (low, high) = (values[g], values[n - 1 - g]);
    values.iter_mut().for_each(|x| *x = x.clamp(low, high));
    let (of_all, of_rest) = (n as f64, (n - 2 * g) as f64);
    let own = (of_all - 1.0) * variance(&values)? / (of_rest * (of_rest - 1.0));
    Some(Level {
        mean,
        squared_error: own.max(floor / of_all),
        degrees: of_rest - 1.0,
    })
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::normal_quantile;
    use crate::welch::welch_t;

    /// Nine launches in ten are normal with 1 % about 1000, the others have shared their core.
    fn launches(count: usize, shared: f64, random: &mut Rng) -> Vec<f64> {
        let mut draw = || {
            let z = normal_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12)).unwrap();
            let factor = if random.f64() < shared { 1.8 } else { 1.0 };
            1000.0 * (0.01 * z).exp() * factor
        };
        (0..count).map(|_| draw()).collect()
    }

    #[test]
    fn few_launches_are_compared_as_welch_does() {
        let (a, b) = ([100.0, 101.0, 99.5], [103.0, 105.0, 104.0, 104.5]);
        let got = launch_ratio(&a, &b, 0.95, 0.0).unwrap();
        let ln = |all: &[f64]| all.iter().map(|x| x.ln()).collect::<Vec<_>>();
        let welch = welch_t(&ln(&a), &ln(&b), 0.95).unwrap();
        assert!((got.ratio - welch.estimate.exp()).abs() < 1e-12);
        assert!((got.low - welch.low.exp()).abs() < 1e-12 && (got.p - welch.p).abs() < 1e-12);
    }

    /// By hand: of 1 .. 12 the mean of 4 .. 9, and of 4, 4, 4, 4, 5, 6, 7, 8, 9, 9, 9, 9 the squares about 6.5 are 55, so 55 / (6 * 5).
    #[test]
    fn a_quarter_is_trimmed_at_each_end() {
        let exp: Vec<f64> = (1..=12).map(|x| f64::from(x).exp()).collect();
        let got = level(&exp, 0.0, 3).unwrap();
        assert!((got.mean - 6.5).abs() < 1e-12 && got.degrees == 5.0);
        assert!((got.squared_error - 55.0 / 30.0).abs() < 1e-12);
        assert!((level(&exp, 120.0, 3).unwrap().squared_error - 10.0).abs() < 1e-12);
        assert_eq!(launch_level(&exp), Some(got.mean));
        assert!(launch_level(&[1.0, -1.0]).is_none() && launch_level(&[]).is_none());
    }

    /// In 4000 comparisons of a thing with itself 40 alarms are expected at 1 %; 65 have a probability of less than 0.0001.
    #[test]
    fn a_thing_is_seldom_different_from_itself_also_where_others_share_its_core() {
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

    /// Each launch is lucky or not, by 8 %: often the twelve of one side are mostly lucky and those of the other are mostly not. 20 of 2000 are expected at 1 %; 38 have a probability of less than 0.0002.
    #[test]
    fn a_thing_with_two_modes_is_seldom_different_from_itself() {
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

    #[test]
    fn a_slowdown_is_found_where_others_share_the_core() {
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
}
