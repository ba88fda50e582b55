//! Chooses the distribution of times between events whose stamps have a step, such as whole
//! seconds.

use fastrand::Rng;
use yamba_stats::{kolmogorov_distance, kolmogorov_p_value, mean};

use crate::model::distribution::{Distribution, empirical, exponential, lognormal, weibull};
use crate::model::goodness::{Chosen, Compared, MOST_VALUES};

/// A family with a p-value below this, computed as if nothing had been fitted, needs no simulation:
/// fitting makes it smaller still.
const HOPELESS: f64 = 1e-4;

/// Fits a family to positive values.
type Fit = fn(&[f64]) -> Option<Distribution>;

/// Spreads each stamp evenly within its step, in order: within a step, nothing is known. `stamps`
/// are ascending.
pub(crate) fn spread(stamps: &mut [f64], step: f64, random: &mut Rng) {
    let mut begin = 0;
    while begin < stamps.len() {
        let stamp = stamps[begin];
        let same = stamps[begin..].partition_point(|s| *s == stamp);
        let of_step = &mut stamps[begin..begin + same];
        of_step.iter_mut().for_each(|s| *s = stamp + step * random.f64());
        of_step.sort_by(f64::total_cmp);
        begin += same;
    }
}

/// How the gaps of a log come from its stamps.
#[derive(Clone, Copy)]
pub(crate) enum Stamps {
    /// Each gap is between two successive stamps of one series.
    Series,
    /// Each gap has two stamps of its own.
    Pairs,
    /// Each gap itself is rounded down to a step.
    Rounded,
}

impl Stamps {
    /// Replaces each gap by the gap that a log with this step shows, with its stamps spread within
    /// their steps.
    fn seen(self, gaps: &mut Vec<f64>, step: f64, random: &mut Rng) {
        match self {
            Stamps::Series => {
                let mut at = step * random.f64();
                let mut stamps = vec![(at / step).floor() * step];
                for gap in &*gaps {
                    at += gap;
                    stamps.push((at / step).floor() * step);
                }
                spread(&mut stamps, step, random);
                *gaps = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
            }
            Stamps::Pairs => {
                for gap in gaps.iter_mut() {
                    let later = (random.f64() + *gap / step).floor() * step;
                    let mut pair = [0.0, later];
                    spread(&mut pair, step, random);
                    *gap = pair[1] - pair[0];
                }
            }
            Stamps::Rounded => {
                for gap in gaps.iter_mut() {
                    *gap = ((*gap / step).floor() + random.f64()) * step;
                }
            }
        }
        gaps.retain(|gap| *gap > 0.0);
    }
}

/// Chooses the exponential family if it passes, else the one with the least distance among those
/// that pass, else the values themselves. `None` for fewer than two values.
pub(crate) fn choose(
    values: &[f64],
    stamps: Stamps,
    step: f64,
    random: &mut Rng,
) -> Option<Chosen<Distribution>> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let families: [Fit; 3] = [exponential, lognormal, weibull];
    let mut candidates = Vec::new();
    let mut best: Option<(Distribution, Compared)> = None;
    for fit in families {
        let Some((distribution, compared)) = compare(&sorted, fit, stamps, step, random) else {
            continue;
        };
        // The exponential distribution comes first. A Weibull distribution is always at least as
        // close, and says no more.
        let is_simplest = |b: &Distribution| matches!(b, Distribution::Exponential { .. });
        let is_best =
            best.as_ref().is_none_or(|(d, b)| !is_simplest(d) && compared.distance < b.distance);
        candidates.push(compared.clone());
        if compared.passes() && is_best {
            best = Some((distribution, compared));
        }
    }
    let (distribution, compared) = match best {
        Some(best) => best,
        None => table(&sorted)?,
    };
    Some(Chosen { distribution, compared, candidates })
}

fn compare(
    sorted: &[f64],
    fit: Fit,
    stamps: Stamps,
    step: f64,
    random: &mut Rng,
) -> Option<(Distribution, Compared)> {
    let spread = fit(sorted)?;
    let seen = Seen::fit(spread, fit, stamps, step, sorted.len(), random);
    let distribution = seen.distribution.clone();
    let distance = kolmogorov_distance(sorted, |x| seen.cdf(&distribution, x))?;
    let count = seen.count(sorted.len());
    let simulated = sorted.len().min(MOST_VALUES);
    let simulate = || {
        let draw = |_| distribution.sample(random);
        let mut values: Vec<f64> = (0..simulated).map(draw).collect();
        stamps.seen(&mut values, step, random);
        values.sort_by(f64::total_cmp);
        let fitted = distribution.moved(&seen.spread, &fit(&values)?)?;
        kolmogorov_distance(&values, |x| seen.cdf(&fitted, x))
    };
    let compared =
        Compared::test(distribution.family(), distance, HOPELESS, count, simulated, simulate)?;
    // Spreading keeps the mean of the gaps of a series only.
    let with_mean = if matches!(stamps, Stamps::Series) { &distribution } else { &seen.spread };
    let mean_ratio = Some(with_mean.mean() / mean(sorted)?);
    Some((distribution, Compared { mean_ratio, ..compared }))
}

/// A distribution of gaps, and how they look once their stamps are spread.
struct Seen {
    /// The distribution without spreading.
    distribution: Distribution,
    /// The family's fit to spread gaps.
    spread: Distribution,
    /// Simulated gaps. `None` where steps are far shorter than gaps: spreading then changes
    /// nothing.
    simulated: Option<Simulated>,
}

/// Simulated gaps.
struct Simulated {
    /// The distribution from which they were drawn.
    from: Distribution,
    /// The gaps once their stamps are spread, ascending.
    gaps: Vec<f64>,
}

impl Seen {
    /// Finds the distribution whose spread gaps have the parameters of `spread`. Spreading widens
    /// the distribution of gaps that are not much longer than a step. So simulated gaps are spread,
    /// too, and the change of their parameters is undone.
    fn fit(
        spread: Distribution,
        fit: Fit,
        stamps: Stamps,
        step: f64,
        count: usize,
        random: &mut Rng,
    ) -> Seen {
        const ROUNDS: usize = 5;
        let mut seen = Seen { distribution: spread.clone(), spread, simulated: None };
        if step < seen.spread.quantile(0.5) / 100.0 {
            return seen;
        }
        let values = (2 * count).clamp(100_000, 1_000_000);
        for _ in 0..ROUNDS {
            let from = seen.distribution.clone();
            let mut gaps: Vec<f64> = (0..values).map(|_| from.sample(random)).collect();
            stamps.seen(&mut gaps, step, random);
            let moved = fit(&gaps).and_then(|found| from.moved(&found, &seen.spread));
            let Some(next) = moved.filter(|next| next.check().is_ok()) else {
                break;
            };
            seen.distribution = next;
            seen.simulated = Some(Simulated { from, gaps });
        }
        if let Some(simulated) = &mut seen.simulated {
            simulated.gaps.sort_by(f64::total_cmp);
        }
        seen
    }

    /// The share of gaps up to `x` after spreading, if they have the distribution `of` before it.
    /// `of` must be near the distribution of the simulated gaps.
    fn cdf(&self, of: &Distribution, x: f64) -> f64 {
        let Some(simulated) = &self.simulated else {
            return of.cdf(x);
        };
        let same = simulated.from.quantile(of.cdf(x));
        let gaps = &simulated.gaps;
        gaps.partition_point(|gap| *gap <= same) as f64 / gaps.len() as f64
    }

    /// The number of values that decides how far apart the distributions may be.
    fn count(&self, values: usize) -> f64 {
        let n = values as f64;
        self.simulated.as_ref().map_or(n, |simulated| {
            let m = simulated.gaps.len() as f64;
            n * m / (n + m)
        })
    }
}

/// The values themselves.
fn table(sorted: &[f64]) -> Option<(Distribution, Compared)> {
    let distribution = empirical(sorted).filter(|_| sorted.len() >= 2)?;
    let distance = kolmogorov_distance(sorted, |x| distribution.cdf(x))?;
    let p_value = kolmogorov_p_value(distance, sorted.len() as f64)?;
    let family = distribution.family().to_owned();
    let compared = Compared { family, distance, p_value, mean_ratio: None };
    Some((distribution, compared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goodness::LEVEL;

    /// The gaps between whole seconds of a process whose gaps `truth` draws.
    fn coarse(truth: &Distribution, count: usize, random: &mut Rng) -> Vec<f64> {
        let mut at = 0.0;
        let mut stamps = Vec::new();
        for _ in 0..count {
            at += truth.sample(random);
            stamps.push(f64::floor(at));
        }
        spread(&mut stamps, 1.0, random);
        stamps.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn family_is_found_in_whole_seconds() {
        let mut random = Rng::with_seed(11);
        for truth in [
            Distribution::Exponential { mean: 0.2 },
            Distribution::Lognormal { mu: 4.0, sigma: 1.0 },
            Distribution::Weibull { shape: 0.6, scale: 50.0 },
        ] {
            let gaps = coarse(&truth, 4000, &mut random);
            let chosen = choose(&gaps, Stamps::Series, 1.0, &mut random).unwrap();
            assert_eq!(chosen.distribution.family(), truth.family(), "{:?}", chosen.candidates);
            assert!(chosen.compared.passes());
            assert!((chosen.distribution.mean() / truth.mean() - 1.0).abs() < 0.1);
        }
    }

    /// Bursts of requests within a second, and ten minutes between them: the mean of the lognormal
    /// family that passes depends on gaps that no log of this length has.
    #[test]
    fn family_without_the_mean_of_the_log_is_rejected() {
        let mut random = Rng::with_seed(3);
        let mut stamps = Vec::new();
        let mut at = 0.0;
        for _ in 0..40 {
            at += Distribution::Exponential { mean: 600.0 }.sample(&mut random);
            let burst = 4 + random.usize(..8);
            stamps.extend((0..burst).map(|_| f64::floor(at + 0.8 * random.f64())));
        }
        stamps.sort_by(f64::total_cmp);
        spread(&mut stamps, 1.0, &mut random);
        let gaps: Vec<f64> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let chosen = choose(&gaps, Stamps::Series, 1.0, &mut random).unwrap();
        let ratio = chosen.distribution.mean() / mean(&gaps).unwrap();
        assert!((0.8..1.25).contains(&ratio), "{ratio}: {:?}", chosen.candidates);
        let by_mean = |c: &Compared| c.p_value >= LEVEL && !c.has_mean_of_log();
        assert!(chosen.candidates.iter().any(by_mean), "{:?}", chosen.candidates);
    }

    #[test]
    fn two_peaks_are_kept_as_they_are() {
        let mut random = Rng::with_seed(5);
        let peak = |random: &mut Rng| {
            if random.bool() { 1.0 + random.f64() } else { 50.0 + random.f64() }
        };
        let values: Vec<f64> = (0..5000).map(|_| peak(&mut random)).collect();
        let chosen = choose(&values, Stamps::Pairs, 1e-3, &mut random).unwrap();
        assert_eq!(chosen.distribution.family(), "empirical");
        assert!(chosen.compared.passes() && chosen.candidates.iter().all(|c| !c.passes()));
    }

    #[test]
    fn stamps_are_spread_within_their_step_in_order() {
        let mut random = Rng::with_seed(1);
        let mut stamps = [3.0, 3.0, 3.0, 4.0, 9.0];
        spread(&mut stamps, 1.0, &mut random);
        assert!(stamps.windows(2).all(|pair| pair[0] <= pair[1]), "{stamps:?}");
        let floors: Vec<f64> = stamps.iter().map(|s| s.floor()).collect();
        assert_eq!(floors, [3.0, 3.0, 3.0, 4.0, 9.0]);
    }
}
