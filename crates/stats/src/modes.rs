//! The modes of a distribution: levels that many values share, with a gap between them.

use crate::finite::finite;
use crate::quantile::sorted;

/// Factor from the interquartile range to the standard deviation of normal values.
const QUARTILE_SCALE: f64 = 0.741_301_109_252_801;

/// Which modes count.
#[derive(Clone, Copy, Debug)]
pub struct ModeRule {
    /// The fewest values of a mode.
    pub fewest: usize,
    /// The least distance of two neighbouring modes in units of their standard deviation, which is Ashman's D.
    pub separation: f64,
    /// The least standard deviation that a mode is assumed to have, in the unit of the values.
    pub least_deviation: f64,
}

/// Divides `values` into modes, and returns the ascending cuts between these: none for a single mode.
///
/// Of all divisions in two parts with enough values, the one with the greatest distance counts: the difference of the parts' medians by the root mean square of their
/// standard deviations, which are taken from their interquartile ranges. The parts are divided further. The distance is that of K. M. Ashman, C. M. Bird and S. E. Zepf, "Detecting
/// Bimodality in Astronomical Datasets", The Astronomical Journal 108 (1994) 2348-2361, with robust estimates, so that an outlier is no mode and hides none. One normal
/// distribution has a greatest distance of 2.6 in large samples. A cut divides the way between two medians in proportion to the deviations. `None` for non-finite values.
pub fn modes(values: &[f64], rule: ModeRule) -> Option<Vec<f64>> {
    let mut cuts = Vec::new();
    if !values.is_empty() && !finite(values) {
        return None;
    }
    divide(&sorted(values), rule, &mut cuts);
    Some(cuts)
}

fn divide(values: &[f64], rule: ModeRule, cuts: &mut Vec<f64>) {
    let fewest = rule.fewest.max(1);
    let places = fewest..(values.len() + 1).saturating_sub(fewest);
    let division = |at: usize| Division::of(values, at, rule.least_deviation);
    let best = places
        .map(division)
        .max_by(|a, b| a.distance.total_cmp(&b.distance));
    if let Some(best) = best.filter(|best| best.distance >= rule.separation) {
        let at = values.partition_point(|x| *x < best.cut);
        divide(&values[..at], rule, cuts);
        cuts.push(best.cut);
        divide(&values[at..], rule, cuts);
    }
}

struct Division {
    distance: f64,
    cut: f64,
}

impl Division {
    fn of(values: &[f64], at: usize, least_deviation: f64) -> Division {
        let (low, high) = values.split_at(at);
        let [below, above] = [low, high].map(|part| {
            let range = at_share(part, 0.75) - at_share(part, 0.25);
            (
                at_share(part, 0.5),
                (QUARTILE_SCALE * range).max(least_deviation),
            )
        });
        let deviation = (0.5 * (below.1 * below.1 + above.1 * above.1)).sqrt();
        Division {
            distance: (above.0 - below.0) / deviation,
            cut: (below.0 * above.1 + above.0 * below.1) / (below.1 + above.1),
        }
    }
}

/// A quantile of ascending values.
fn at_share(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let (low, high) = (
        values[place.floor() as usize],
        values[place.ceil() as usize],
    );
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::normal_quantile;

    const RULE: ModeRule = ModeRule {
        fewest: 10,
        separation: 5.0,
        least_deviation: 0.0,
    };

    fn normal(random: &mut Rng) -> f64 {
        normal_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12)).unwrap()
    }

    fn mixture(random: &mut Rng, count: usize, parts: &[(f64, f64)]) -> Vec<f64> {
        let mut one = || {
            let mut draw = random.f64();
            let part = parts.iter().find(|(share, _)| {
                draw -= share;
                draw < 0.0
            });
            part.unwrap_or(&parts[0]).1 + normal(random)
        };
        (0..count).map(|_| one()).collect()
    }

    #[test]
    fn modes_six_deviations_apart_are_found_beside_outliers() {
        let mut random = Rng::with_seed(1);
        for _ in 0..200 {
            let parts = [(0.7, 0.0), (0.15, 6.0), (0.15, 13.0)];
            let mut values = mixture(&mut random, 300, &parts);
            values[..3].copy_from_slice(&[40.0, 90.0, 1e6]);
            let cuts = modes(&values, RULE).unwrap();
            let [first, second] = cuts[..] else {
                panic!("{cuts:?}")
            };
            assert!(
                (first - 3.0).abs() < 1.2 && (second - 9.5).abs() < 1.8,
                "{cuts:?}"
            );
        }
    }

    #[test]
    fn one_mode_is_rarely_divided() {
        let mut random = Rng::with_seed(2);
        let mut divided = 0;
        for n in [20, 50, 200, 1000] {
            for _ in 0..500 {
                let normal = mixture(&mut random, n, &[(1.0, 0.0)]);
                let skew: Vec<f64> = (0..n).map(|_| -random.f64().max(1e-300).ln()).collect();
                let is_divided = |values: &[f64]| !modes(values, RULE).unwrap().is_empty();
                divided += usize::from(is_divided(&normal)) + usize::from(is_divided(&skew));
            }
        }
        assert!(divided <= 4, "{divided} of 4000");
    }

    #[test]
    fn few_slow_values_are_no_mode() {
        let mut random = Rng::with_seed(3);
        let mut values = mixture(&mut random, 100, &[(1.0, 0.0)]);
        values[..9].iter_mut().for_each(|x| *x += 20.0);
        assert_eq!(modes(&values, RULE), Some(vec![]));
        values[9] += 20.0;
        assert_eq!(modes(&values, RULE).unwrap().len(), 1);
        assert_eq!(modes(&[], RULE), Some(vec![]));
        assert_eq!(modes(&[f64::NAN], RULE), None);
    }
}
