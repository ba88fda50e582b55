//! The ratio of two sides that were measured in the same rounds.

use crate::distribution::{
    defined, finite, normal_cdf, student_t_quantile, two_sided_t, upper_tail,
};
use crate::launch_ratio::{Ratio, trimmed_level};
use crate::quantile::sorted;

/// With at least this many rounds, a quarter of the differences is trimmed at each end, and the
/// signed-rank test must show the difference too. With fewer rounds, that test could not reach the
/// p-values that a comparison of many benchmarks needs.
const FEWEST_TRIMMED: usize = 30;

/// The ratio b / a over rounds with one launch of each side: exp of the mean difference of the
/// natural logarithms, with Student's t interval of the differences. A slow change, such as of the
/// machine's load, affects both launches of a round and cancels.
///
/// With thirty rounds or more the mean and its error are those of the trimmed differences: Yuen's
/// squared error of one sample (see [`launch_ratio`](crate::launch_ratio)), with `h - 1` degrees of
/// freedom where h differences remain (J. W. Tukey and D. H. McLaughlin, Sankhya A 25 (1963)
/// 331-352). `p_of_ranks` is then the p-value of Wilcoxon's signed-rank test, whose normal
/// approximation has corrections for continuity and ties (M. Hollander, D. A. Wolfe and E. Chicken,
/// *Nonparametric Statistical Methods*, 3rd ed. (2014), section 3.1); else it is 0.
///
/// `variance_floor` is the least variance assumed for the logarithm of a launch. `None` for sides
/// of unlike length, for fewer than two rounds, and for launches that are not positive.
pub fn paired_launch_ratio(
    a: &[f64],
    b: &[f64],
    confidence: f64,
    variance_floor: f64,
) -> Option<Ratio> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b.ln() - a.ln()).collect();
    if a.len() != b.len() || !finite(&differences) {
        return None;
    }
    let (n, is_trimmed) = (differences.len(), differences.len() >= FEWEST_TRIMMED);
    let g = if is_trimmed { n / 4 } else { 0 };
    // A difference has the variance of two launches.
    let level = trimmed_level(sorted(&differences), 2.0 * variance_floor, g)?;
    let (estimate, error, degrees) = (level.mean, level.squared_error.sqrt(), level.degrees);
    let half = student_t_quantile(upper_tail(confidence)?, degrees)? * error;
    let ratio = Ratio {
        ratio: defined(estimate.exp())?,
        low: (estimate - half).exp(),
        high: defined((estimate + half).exp())?,
        p: two_sided_t(estimate / error, degrees)?,
        p_of_ranks: if is_trimmed { signed_rank_p(&differences)? } else { 0.0 },
    };
    (error > 0.0).then_some(ratio)
}

/// The two-sided p-value of Wilcoxon's signed-rank test by the normal approximation. Differences of
/// 0 are left out.
fn signed_rank_p(differences: &[f64]) -> Option<f64> {
    let mut values: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    values.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
    let n = values.len() as f64;
    let (mut positive, mut ties, mut before) = (0.0, 0.0, 0.0);
    for group in values.chunk_by(|x, y| x.abs() == y.abs()) {
        let size = group.len() as f64;
        let rank = before + (size + 1.0) / 2.0;
        positive += rank * group.iter().filter(|d| **d > 0.0).count() as f64;
        ties += size * size * size - size;
        before += size;
    }
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0).sqrt();
    if deviation == 0.0 || values.is_empty() {
        return Some(1.0);
    }
    let distance = ((positive - n * (n + 1.0) / 4.0).abs() - 0.5).max(0.0);
    Some((2.0 * normal_cdf(-distance / deviation)?).min(1.0))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::{launch_ratio, normal_quantile};

    fn normal(random: &mut Rng) -> f64 {
        normal_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12)).unwrap()
    }

    /// Rounds in which both sides share a load that drifts by 20 %, and vary by 1 % alone.
    fn rounds(count: usize, level: f64, random: &mut Rng) -> [Vec<f64>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for _ in 0..count {
            let load = 0.2 * normal(random);
            for (side, level) in sides.iter_mut().zip([1.0, level]) {
                side.push(100.0 * level * (load + 0.01 * normal(random)).exp());
            }
        }
        sides
    }

    /// By hand: the differences of the logarithms are 0.1, 0.3 and 0.2: mean 0.2, deviation 0.1,
    /// error 0.1 / sqrt 3, and t is 3.464 with two degrees of freedom: p = 0.0742.
    #[test]
    fn few_rounds_use_students_test() {
        let b = [0.1, 0.3, 0.2].map(f64::exp);
        let got = paired_launch_ratio(&[1.0; 3], &b, 0.95, 0.0).unwrap();
        assert!((got.ratio.ln() - 0.2).abs() < 1e-12);
        assert!((got.p - 0.0742).abs() < 1e-4, "{}", got.p);
        let half = 4.302_653 * 0.1 / 3f64.sqrt();
        assert!((got.high.ln() - 0.2 - half).abs() < 1e-6);
    }

    #[test]
    fn shared_load_cancels() {
        let mut random = Rng::with_seed(3);
        for count in [8, 30] {
            let [a, b] = rounds(count, 1.03, &mut random);
            let paired = paired_launch_ratio(&a, &b, 0.99, 4e-6).unwrap();
            assert!(paired.low > 1.0 && paired.high < 1.06 && paired.p_of_both() < 0.01);
            assert!(launch_ratio(&a, &b, 0.99, 4e-6).unwrap().p > 0.2);
        }
    }

    /// At 1 %, 40 of 4000 are expected; 65 and more have a probability of 0.01 %.
    #[test]
    fn equal_sides_raise_few_alarms() {
        let mut random = Rng::with_seed(4);
        for count in [6, 12, 24, 60] {
            let alarms = (0..4000).filter(|_| {
                let [mut a, mut b] = rounds(count, 1.0, &mut random);
                for value in a.iter_mut().chain(&mut b) {
                    *value *= if random.f64() < 0.2 { 1.5 } else { 1.0 };
                }
                paired_launch_ratio(&a, &b, 0.99, 4e-6).unwrap().p_of_both() <= 0.01
            });
            let alarms = alarms.count();
            assert!(alarms < 65, "{alarms} of 4000 with {count} rounds");
        }
    }

    /// The ranks of 1, -2, 3, 4, 5 and 6 of the positive ones add up to 19 of 21. Without zeros and
    /// ties: mean 10.5, deviation sqrt(22.75), distance 8.
    #[test]
    fn signed_ranks_are_those_of_the_book() {
        let p = signed_rank_p(&[1.0, -2.0, 3.0, 4.0, 5.0, 6.0, 0.0]).unwrap();
        let expected = 2.0 * normal_cdf(-8.0 / 22.75f64.sqrt()).unwrap();
        assert!((p - expected).abs() < 1e-12);
        assert_eq!(signed_rank_p(&[0.0; 5]), Some(1.0));
    }

    #[test]
    fn sides_of_unlike_length_have_no_ratio() {
        assert_eq!(paired_launch_ratio(&[1.0, 2.0], &[1.0], 0.9, 0.0), None);
        assert_eq!(paired_launch_ratio(&[1.0], &[1.0], 0.9, 1.0), None);
        assert_eq!(paired_launch_ratio(&[1.0, -1.0], &[1.0, 1.0], 0.9, 0.0), None);
    }
}
