//! The modes of a distribution: levels that many values share, with a gap between them.

use crate::distribution::finite;
use crate::quantile::sorted;

/// Factor from the interquartile range to the standard deviation of normal values.
const QUARTILE_SCALE: f64 = 0.741_301_109_252_801;

/// Which modes count.
#[derive(Clone, Copy, Debug)]
pub struct ModeRule {
    /// The fewest values of a mode.
    pub fewest: usize,
    /// The least distance of two neighbouring modes in units of their standard deviation, which is
    /// Ashman's D.
    pub separation: f64,
    /// The least standard deviation that a mode is assumed to have, in the unit of the values.
    pub least_deviation: f64,
}

/// Divides `values` into modes, and returns the ascending cuts between these: none for a single
/// mode.
///
/// Of all divisions in two parts with enough values, the one with the greatest distance counts: the
/// difference of the parts' medians by the root mean square of their standard deviations, which are
/// taken from their interquartile ranges. The parts are divided further. The distance is that of K.
/// M. Ashman, C. M. Bird and S. E. Zepf, "Detecting Bimodality in Astronomical Datasets", The
/// Astronomical Journal 108 (1994) 2348-2361, with robust estimates, so that an outlier is no mode
/// and hides none. One normal distribution has a greatest distance of 2.6 in large samples. A cut
/// divides the way between the medians of two modes in proportion to their deviations. Three modes
/// of similar shares may count as one, since a part of two modes has a wide interquartile range.
/// `None` for non-finite values.
pub fn modes(values: &[f64], rule: ModeRule) -> Option<Vec<f64>> {
    let mut cuts = Vec::new();
    if !values.is_empty() && !finite(values) {
        return None;
    }
    let values = sorted(values);
    divide(&values, rule, &mut cuts);
    Some(balanced(&values, &cuts, rule.least_deviation))
}

/// Moves each cut to the balance of the two modes beside it, so that an outlier between them
/// belongs to the nearer one.
fn balanced(values: &[f64], cuts: &[f64], least_deviation: f64) -> Vec<f64> {
    let edge = |cut: &f64| values.partition_point(|x| x < cut);
    let inner = cuts.iter().map(edge);
    let edges: Vec<usize> = [0].into_iter().chain(inner).chain([values.len()]).collect();
    let triples = edges.windows(3);
    let balance = |e: &[usize]| {
        let both = &values[e[0]..e[2]];
        Division::at(both, e[1] - e[0], least_deviation).balance
    };
    triples.map(balance).collect()
}

fn divide(values: &[f64], rule: ModeRule, cuts: &mut Vec<f64>) {
    let fewest = rule.fewest.max(1);
    let places = fewest..(values.len() + 1).saturating_sub(fewest);
    let division = |at: usize| Division::at(values, at, rule.least_deviation);
    let best = places.clone().map(division).max_by(|a, b| a.distance.total_cmp(&b.distance));
    let Some(best) = best.filter(|best| best.distance >= rule.separation) else {
        return;
    };
    // Fewer values beyond the balance of the two medians are outliers, not a mode.
    if places.contains(&values.partition_point(|x| *x < best.balance)) {
        let at = widest_gap(values, best.at, &places);
        divide(&values[..at], rule, cuts);
        cuts.push(f64::midpoint(values[at - 1], values[at]));
        divide(&values[at..], rule, cuts);
    }
}

/// The place of the widest gap between the medians of the two parts. The greatest distance may be
/// found within a mode, since quartiles do not see its edge.
fn widest_gap(values: &[f64], at: usize, places: &std::ops::Range<usize>) -> usize {
    let medians = at / 2 + 1..usize::midpoint(at, values.len());
    let gap = |i: &usize| values[*i] - values[i - 1];
    let between = medians.filter(|i| places.contains(i));
    let widest = between.max_by(|i, j| gap(i).total_cmp(&gap(j)));
    widest.unwrap_or(at)
}

struct Division {
    /// The first index of the upper part.
    at: usize,
    distance: f64,
    /// The value that divides the way between the medians in proportion to the deviations.
    balance: f64,
}

impl Division {
    fn at(values: &[f64], at: usize, least_deviation: f64) -> Division {
        let (low, high) = values.split_at(at);
        let [below, above] = [low, high].map(|part| {
            let range = at_share(part, 0.75) - at_share(part, 0.25);
            (at_share(part, 0.5), (QUARTILE_SCALE * range).max(least_deviation))
        });
        let deviation = (0.5 * (below.1 * below.1 + above.1 * above.1)).sqrt();
        Division {
            at,
            distance: (above.0 - below.0) / deviation,
            balance: (below.0 * above.1 + above.0 * below.1) / (below.1 + above.1),
        }
    }
}

/// A quantile of ascending values.
fn at_share(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::normal_quantile;

    /// Each mode has a tenth of the values.
    fn rule(count: usize) -> ModeRule {
        ModeRule { fewest: (count / 10).max(8), separation: 6.0, least_deviation: 0.0 }
    }

    fn found(values: &[f64]) -> Vec<f64> {
        modes(values, rule(values.len())).unwrap()
    }

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
    fn modes_nine_deviations_apart_are_found_beside_outliers() {
        let mut random = Rng::with_seed(1);
        for _ in 0..200 {
            let parts = [(0.8, 0.0), (0.1, 9.0), (0.1, 19.0)];
            let mut values = mixture(&mut random, 1000, &parts);
            values[..3].copy_from_slice(&[40.0, 90.0, 1e6]);
            let rule = ModeRule { fewest: 50, ..rule(1000) };
            let cuts = modes(&values, rule).unwrap();
            let [first, second] = cuts[..] else { panic!("{cuts:?}") };
            assert!((2.0..7.0).contains(&first) && (11.0..17.0).contains(&second), "{cuts:?}");
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
                let is_divided = |values: &[f64]| !found(values).is_empty();
                divided += usize::from(is_divided(&normal)) + usize::from(is_divided(&skew));
            }
        }
        // Nearly all of these are exponential.
        assert!(divided <= 60, "{divided} of 4000");
    }

    #[test]
    fn few_slow_values_are_no_mode() {
        let mut random = Rng::with_seed(3);
        let mut values = mixture(&mut random, 100, &[(1.0, 0.0)]);
        values[..9].iter_mut().for_each(|x| *x += 20.0);
        assert_eq!(found(&values), [0.0; 0]);
        values[9] += 20.0;
        assert_eq!(found(&values).len(), 1);
        assert_eq!(found(&[]), [0.0; 0]);
        assert_eq!(modes(&[f64::NAN], rule(1)), None);
    }
}
