//! The sizes of objects: a lognormal body with a Pareto tail, or the sizes themselves.

mod body_tail;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use yamba_stats::kolmogorov_distance;

pub use body_tail::BodyTail;

use crate::model::distribution::short;
use crate::model::goodness::{Chosen, Compared, MOST_VALUES, fitted_or};

/// A distance with a p-value below this needs no simulation.
const HOPELESS: f64 = 1e-4;

/// The sizes of the objects' bodies, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub enum Sizes {
    /// Lognormal up to the cut, Pareto above it. Independent of the popularity.
    LognormalPareto(BodyTail),
    /// The sizes of the log, since no family fits.
    Empirical {
        /// The size of each object, in the order of popularity.
        bytes: Vec<u64>,
    },
}

impl Sizes {
    /// The name of the family.
    pub fn family(&self) -> &'static str {
        match self {
            Sizes::LognormalPareto(fitted) if fitted.body_share >= 1.0 => "lognormal",
            Sizes::LognormalPareto(_) => "lognormal-pareto",
            Sizes::Empirical { .. } => "empirical",
        }
    }

    /// The family and its parameters as text.
    pub fn text(&self) -> String {
        match self {
            Sizes::LognormalPareto(fitted) => {
                let body = format!("mu {}, sigma {}", short(fitted.mu), short(fitted.sigma));
                let tail = match (fitted.cut_bytes, fitted.tail_exponent) {
                    (Some(cut), Some(exponent)) => format!(
                        ", above {cut:.0} bytes ({} %) pareto {}",
                        short(100.0 * (1.0 - fitted.body_share)),
                        short(exponent)
                    ),
                    _ => String::new(),
                };
                format!("lognormal, {body}{tail}")
            }
            Sizes::Empirical { bytes } => format!("empirical, {} objects", bytes.len()),
        }
    }

    /// Checks the parameters of a document with `objects` objects. The error names the fault.
    pub fn check(&self, objects: usize) -> Result<(), String> {
        match self {
            Sizes::LognormalPareto(fitted) => fitted.check(),
            Sizes::Empirical { bytes } if bytes.len() == objects => Ok(()),
            Sizes::Empirical { bytes } => {
                Err(format!("sizes: {} of them for {objects} objects", bytes.len()))
            }
        }
    }

    /// The size of each of `objects` objects, in the order of popularity. Fitted sizes are evenly
    /// spaced quantiles in random order, so that few objects have the distribution, too.
    pub fn draw_object_sizes(&self, objects: usize, random: &mut Rng) -> Vec<u64> {
        match self {
            Sizes::Empirical { bytes } => bytes.clone(),
            Sizes::LognormalPareto(fitted) => {
                let middle = |i: usize| (i as f64 + 0.5) / objects as f64;
                let size = |i| fitted.quantile(middle(i)).round() as u64;
                let mut sizes: Vec<u64> = (0..objects).map(size).collect();
                random.shuffle(&mut sizes);
                sizes
            }
        }
    }
}

/// Chooses a family for the sizes of objects, which are in the order of popularity. Objects without
/// a body do not count.
pub(crate) fn choose(bytes: &[u64], random: &mut Rng) -> Chosen<Sizes> {
    let mut sorted: Vec<f64> = bytes.iter().filter(|b| **b > 0).map(|b| *b as f64).collect();
    sorted.sort_by(f64::total_cmp);
    let fitted = compare(&sorted, random).map(|(f, c)| (Sizes::LognormalPareto(f), c));
    let values = || Sizes::Empirical { bytes: bytes.to_vec() };
    let mut chosen = fitted_or(fitted, values);
    if sorted.len() < bytes.len() {
        (chosen.distribution, chosen.compared) = (values(), Compared::empirical());
    }
    chosen
}

fn compare(sorted: &[f64], random: &mut Rng) -> Option<(BodyTail, Compared)> {
    let fitted = BodyTail::fit(sorted)?;
    let distance = kolmogorov_distance(sorted, |x| fitted.cdf(x))?;
    let simulated = sorted.len().min(MOST_VALUES);
    let simulate = || {
        let draw = |_| fitted.quantile(random.f64()).round().max(1.0);
        let mut values: Vec<f64> = (0..simulated).map(draw).collect();
        values.sort_by(f64::total_cmp);
        let refitted = BodyTail::fit(&values)?;
        kolmogorov_distance(&values, |x| refitted.cdf(x))
    };
    let compared = Compared::test(
        Sizes::LognormalPareto(fitted.clone()).family(),
        distance,
        HOPELESS,
        sorted.len() as f64,
        simulated,
        simulate,
    )?;
    Some((fitted, compared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_and_tail_are_chosen_and_spread_over_few_objects() {
        let truth = BodyTail {
            mu: 9.0,
            sigma: 1.0,
            body_share: 0.8,
            cut_bytes: Some(20_000.0),
            tail_exponent: Some(1.3),
        };
        let mut random = Rng::with_seed(4);
        let bytes: Vec<u64> =
            (0..20_000).map(|_| truth.quantile(random.f64()).round() as u64).collect();
        let Chosen { distribution: sizes, compared, .. } = choose(&bytes, &mut random);
        assert!(compared.passes(), "{compared:?}");
        assert_eq!(sizes.family(), "lognormal-pareto");
        let mut few = sizes.draw_object_sizes(100, &mut random);
        few.sort_unstable();
        assert!((few[49] as f64 / truth.quantile(0.495) - 1.0).abs() < 0.1, "{}", few[49]);
    }

    #[test]
    fn sizes_of_an_odd_form_are_kept_in_their_order() {
        let bytes: Vec<u64> = (0..3000).map(|i| if i % 3 == 0 { 0 } else { 1000 }).collect();
        let Chosen { distribution: sizes, compared, .. } = choose(&bytes, &mut Rng::with_seed(4));
        assert!(compared.passes());
        assert_eq!(sizes, Sizes::Empirical { bytes });
        assert!(sizes.check(3000).is_ok() && sizes.check(2999).is_err());
    }
}
