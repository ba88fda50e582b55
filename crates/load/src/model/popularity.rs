//! How often each object is requested: Zipf's law over a finite number of objects, or the counts
//! themselves.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::model::distribution::short;
use crate::model::goodness::{Chosen, Compared, fitted_or};

/// A distance with a p-value below this needs no simulation.
const HOPELESS: f64 = 1e-9;

/// Limits of the exponent.
const EXPONENTS: [f64; 2] = [0.0, 12.0];

/// The share of the requests that each object gets; objects are ordered by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "family", rename_all = "lowercase")]
pub enum Popularity {
    /// The object of rank r gets a share proportional to `r^-exponent`.
    Zipf {
        exponent: f64,
        /// Number of objects.
        objects: u64,
    },
    /// The counts of the log, since Zipf's law does not fit.
    Empirical {
        /// Number of requests for each object, descending.
        counts: Vec<u64>,
    },
}

impl Popularity {
    /// Number of objects.
    pub fn objects(&self) -> usize {
        match self {
            Popularity::Zipf { objects, .. } => *objects as usize,
            Popularity::Empirical { counts } => counts.len(),
        }
    }

    /// The name of the family.
    pub fn family(&self) -> &'static str {
        match self {
            Popularity::Zipf { .. } => "zipf",
            Popularity::Empirical { .. } => "empirical",
        }
    }

    /// The share of the requests that the objects up to each rank get.
    pub fn cumulative(&self) -> Vec<f64> {
        match self {
            Popularity::Zipf { exponent, objects } => zipf_cumulative(*exponent, *objects as usize),
            Popularity::Empirical { counts } => {
                let all: u64 = counts.iter().sum();
                cumulative(counts.iter().map(|c| *c as f64 / all as f64))
            }
        }
    }

    /// The number of requests for each object among `requests` ones: that of the log, or the
    /// expected one of Zipf's law, rounded at random to a number next to it.
    pub(crate) fn deal(&self, requests: u64, random: &mut Rng) -> Vec<u64> {
        match self {
            Popularity::Zipf { .. } => rounded_counts(&self.cumulative(), requests, random),
            Popularity::Empirical { counts } => counts.clone(),
        }
    }

    /// The family and its parameters as text.
    pub fn text(&self) -> String {
        match self {
            Popularity::Zipf { exponent, objects } => {
                format!("zipf, exponent {}, {objects} objects", short(*exponent))
            }
            Popularity::Empirical { counts } => format!("empirical, {} objects", counts.len()),
        }
    }

    /// Checks the parameters of a document. The error names the fault.
    pub fn check(&self) -> Result<(), String> {
        let is_valid = match self {
            Popularity::Zipf { exponent, objects } => {
                (EXPONENTS[0]..=EXPONENTS[1]).contains(exponent)
                    && (1..=100_000_000).contains(objects)
            }
            Popularity::Empirical { counts } => {
                let is_descending = counts.windows(2).all(|pair| pair[0] >= pair[1]);
                is_descending && counts.last().is_some_and(|least| *least > 0)
            }
        };
        if is_valid {
            Ok(())
        } else {
            Err(format!(
                "popularity: {} needs an exponent from 0 to 12 and an object, or descending counts above 0",
                self.family()
            ))
        }
    }
}

fn cumulative(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let add = |sum: &mut f64, share: f64| {
        *sum += share;
        Some(*sum)
    };
    shares.scan(0.0, add).collect()
}

fn zipf_cumulative(exponent: f64, objects: usize) -> Vec<f64> {
    let mut sums = cumulative((1..=objects).map(|r| (r as f64).powf(-exponent)));
    let all = sums.last().copied().unwrap_or(1.0);
    sums.iter_mut().for_each(|sum| *sum /= all);
    sums
}

/// The exponent with the greatest likelihood: that of which the expected logarithm of the rank
/// equals the mean of the log.
fn zipf_exponent(counts: &[u64]) -> Option<f64> {
    let logs: Vec<f64> = (1..=counts.len()).map(|r| (r as f64).ln()).collect();
    let all: u64 = counts.iter().sum();
    let weighted = counts.iter().zip(&logs).map(|(count, log)| *count as f64 * log);
    let observed = weighted.sum::<f64>() / all as f64;
    let expected = |exponent: f64| {
        let (mut sum, mut norm) = (0.0, 0.0);
        for log in &logs {
            let weight = (-exponent * log).exp();
            sum += weight * log;
            norm += weight;
        }
        sum / norm
    };
    let [mut low, mut high] = EXPONENTS;
    if counts.len() < 2 || all == 0 || expected(low) < observed * (1.0 - 1e-9) {
        return None;
    }
    for _ in 0..45 {
        let middle = f64::midpoint(low, high);
        if expected(middle) > observed {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// The greatest distance between the shares of the ranks in descending `counts` and `cumulative`.
fn rank_distance(counts: &[u64], cumulative: &[f64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let mut so_far = 0;
    let apart = counts.iter().zip(cumulative).map(|(count, expected)| {
        so_far += count;
        (so_far as f64 / all as f64 - expected).abs()
    });
    apart.fold(0.0, f64::max)
}

/// The index of the first sum above a random share.
fn draw(cumulative: &[f64], random: &mut Rng) -> usize {
    let share = random.f64();
    let index = cumulative.partition_point(|sum| *sum <= share);
    index.min(cumulative.len() - 1)
}

/// Counts with the sum `requests`, by systematic sampling: each differs by less than 1 from its
/// share of the requests.
fn rounded_counts(cumulative: &[f64], requests: u64, random: &mut Rng) -> Vec<u64> {
    let start = random.f64();
    let mut so_far = 0;
    let mut count = |share: &f64| {
        let up_to = ((share * requests as f64 + start) as u64).min(requests);
        let count = up_to - so_far;
        so_far = up_to;
        count
    };
    cumulative.iter().map(&mut count).collect()
}

/// The counts of a log with this popularity, by rank in that log.
fn simulated_counts(cumulative: &[f64], requests: u64, random: &mut Rng) -> Vec<u64> {
    let mut counts = vec![0; cumulative.len()];
    for _ in 0..requests {
        counts[draw(cumulative, random)] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.retain(|count| *count > 0);
    counts
}

/// Fits Zipf's law to descending counts, or keeps the counts if it does not pass.
pub(crate) fn choose(counts: &[u64], random: &mut Rng) -> Chosen<Popularity> {
    let requests: u64 = counts.iter().sum();
    fitted_or(compare(counts, requests, random), || Popularity::Empirical {
        counts: counts.to_vec(),
    })
}

fn compare(counts: &[u64], requests: u64, random: &mut Rng) -> Option<(Popularity, Compared)> {
    let exponent = zipf_exponent(counts)?;
    let fitted = zipf_cumulative(exponent, counts.len());
    let distance = rank_distance(counts, &fitted);
    let popularity = Popularity::Zipf { exponent, objects: counts.len() as u64 };
    let simulate = || {
        // The ranks of a log are those of its own counts, which the simulation repeats.
        let counts = simulated_counts(&fitted, requests, random);
        let exponent = zipf_exponent(&counts)?;
        let refitted = zipf_cumulative(exponent, counts.len());
        Some(rank_distance(&counts, &refitted))
    };
    let compared = Compared::test(
        popularity.family(),
        distance,
        HOPELESS,
        requests as f64,
        requests as usize,
        simulate,
    )?;
    Some((popularity, compared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponent_is_recovered() {
        let mut random = Rng::with_seed(2);
        for exponent in [0.6, 0.9, 1.2] {
            let counts = simulated_counts(&zipf_cumulative(exponent, 500), 60_000, &mut random);
            let Chosen { distribution, compared, .. } = choose(&counts, &mut random);
            let Popularity::Zipf { exponent: found, objects } = distribution else {
                panic!("{exponent}: {compared:?}");
            };
            assert!((found / exponent - 1.0).abs() < 0.03, "{exponent}: {found}");
            assert!(objects >= 495, "{objects}");
        }
    }

    #[test]
    fn deal_by_zipfs_law_has_the_expected_counts() {
        let zipf = Popularity::Zipf { exponent: 1.0, objects: 4 };
        // The shares of 1, 1/2, 1/3 and 1/4 of their sum 25/12.
        let counts = zipf.deal(1000, &mut Rng::with_seed(1));
        assert_eq!(counts.iter().sum::<u64>(), 1000);
        for (count, expected) in counts.iter().zip([480.0, 240.0, 160.0, 120.0]) {
            assert!((*count as f64 - expected).abs() <= 1.0, "{counts:?}");
        }
    }

    #[test]
    fn counts_that_follow_no_law_are_kept() {
        let counts: Vec<u64> = [vec![500; 40], vec![1; 4000]].concat();
        let Chosen { distribution, compared, candidates } = choose(&counts, &mut Rng::with_seed(2));
        assert_eq!(distribution, Popularity::Empirical { counts });
        assert!(compared.passes() && !candidates[0].passes());
    }

    #[test]
    fn one_object_has_no_exponent() {
        assert_eq!(zipf_exponent(&[7]), None);
        let equal = zipf_exponent(&[5, 5, 5]).unwrap();
        assert!(equal < 1e-6, "{equal}");
    }
}
