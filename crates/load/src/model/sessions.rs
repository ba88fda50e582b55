//! Sessions: the requests of one client without a pause of 30 minutes.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::model::distribution::short;
use crate::model::goodness::{Chosen, Compared, fitted_or};
use crate::model::log::Entry;

/// The pause that ends a session, in seconds: the convention of web analytics.
pub const PAUSE_S: f64 = 1800.0;

/// The number of requests of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "family", rename_all = "lowercase")]
pub enum SessionLength {
    /// After each request, the session goes on with the same probability.
    Geometric {
        /// Mean number of requests.
        mean: f64,
    },
    /// The numbers of the log, since no family fits.
    Empirical {
        /// Pairs of a number of requests and the number of sessions with it, ascending.
        counts: Vec<(u64, u64)>,
    },
}

impl SessionLength {
    /// The name of the family.
    pub fn family(&self) -> &'static str {
        match self {
            SessionLength::Geometric { .. } => "geometric",
            SessionLength::Empirical { .. } => "empirical",
        }
    }

    /// The probability of at most `requests` requests.
    pub fn cdf(&self, requests: u64) -> f64 {
        match self {
            SessionLength::Geometric { mean } => 1.0 - (1.0 - 1.0 / mean).powf(requests as f64),
            SessionLength::Empirical { counts } => {
                let all: u64 = counts.iter().map(|c| c.1).sum();
                let up_to = counts.iter().filter(|c| c.0 <= requests);
                up_to.map(|c| c.1).sum::<u64>() as f64 / all as f64
            }
        }
    }

    /// A random number of requests.
    pub fn sample(&self, random: &mut Rng) -> u64 {
        match self {
            SessionLength::Geometric { mean } if *mean <= 1.0 => 1,
            SessionLength::Geometric { mean } => {
                let logs = (-random.f64()).ln_1p() / (-1.0 / mean).ln_1p();
                (logs.ceil() as u64).max(1)
            }
            SessionLength::Empirical { counts } => {
                let all: u64 = counts.iter().map(|c| c.1).sum();
                let mut left = random.u64(0..all);
                for (requests, sessions) in counts {
                    if left < *sessions {
                        return *requests;
                    }
                    left -= sessions;
                }
                1
            }
        }
    }

    /// The family and its parameters as text.
    pub fn text(&self) -> String {
        match self {
            SessionLength::Geometric { mean } => format!("geometric, mean {}", short(*mean)),
            SessionLength::Empirical { counts } => format!("empirical, {} numbers", counts.len()),
        }
    }

    /// Checks the parameters of a document. The error names the fault.
    pub fn check(&self) -> Result<(), String> {
        let is_valid = match self {
            SessionLength::Geometric { mean } => *mean >= 1.0 && mean.is_finite(),
            SessionLength::Empirical { counts } => {
                !counts.is_empty() && counts.iter().all(|c| c.0 > 0 && c.1 > 0)
            }
        };
        if is_valid {
            Ok(())
        } else {
            Err("sessions.requests: it needs a mean of 1 or more, or counts above 0".to_owned())
        }
    }
}

/// The sessions of a log.
pub(crate) struct Found {
    /// Number of requests of each session.
    pub lengths: Vec<u64>,
    /// Times between the requests of a session, in seconds.
    pub think_s: Vec<f64>,
}

/// Divides the requests into sessions. `at_s` has the time of each entry.
pub(crate) fn find(entries: &[Entry], at_s: &[f64]) -> Found {
    let mut of_client: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
    let mut found = Found { lengths: Vec::new(), think_s: Vec::new() };
    for (entry, at) in entries.iter().zip(at_s) {
        let Some((last, requests)) = of_client.get_mut(&entry.client) else {
            of_client.insert(entry.client, (*at, 1));
            continue;
        };
        if at - *last >= PAUSE_S {
            found.lengths.push(*requests);
            *requests = 1;
        } else {
            found.think_s.push(at - *last);
            *requests += 1;
        }
        *last = *at;
    }
    found.lengths.extend(of_client.values().map(|open| open.1));
    found
}

/// Number of sessions by number of requests.
pub(crate) fn counted(lengths: &[u64]) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for length in lengths {
        *counts.entry(*length).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// The greatest distance between the lengths and a distribution of whole numbers.
fn distance(counts: &[(u64, u64)], of: &SessionLength) -> f64 {
    let all: u64 = counts.iter().map(|c| c.1).sum();
    let mut up_to = 0;
    let mut greatest = 0.0_f64;
    for (length, sessions) in counts {
        // Between two lengths of the log, the distribution grows and the log does not.
        greatest = greatest.max((up_to as f64 / all as f64 - of.cdf(length - 1)).abs());
        up_to += sessions;
        greatest = greatest.max((up_to as f64 / all as f64 - of.cdf(*length)).abs());
    }
    greatest
}

/// Fits a geometric distribution to the lengths, or keeps them if it does not pass.
pub(crate) fn choose(lengths: &[u64], random: &mut Rng) -> Chosen<SessionLength> {
    let counts = counted(lengths);
    let fitted = compare(&counts, lengths.len(), random);
    fitted_or(fitted, || SessionLength::Empirical { counts })
}

fn geometric(counts: &[(u64, u64)]) -> Option<SessionLength> {
    let all: u64 = counts.iter().map(|c| c.1).sum();
    let requests: u64 = counts.iter().map(|c| c.0 * c.1).sum();
    (all > 0).then(|| SessionLength::Geometric { mean: requests as f64 / all as f64 })
}

fn compare(
    counts: &[(u64, u64)],
    sessions: usize,
    random: &mut Rng,
) -> Option<(SessionLength, Compared)> {
    let fitted = geometric(counts)?;
    let apart = distance(counts, &fitted);
    let simulate = || {
        let lengths: Vec<u64> = (0..sessions).map(|_| fitted.sample(random)).collect();
        let counts = counted(&lengths);
        Some(distance(&counts, &geometric(&counts)?))
    };
    let compared = Compared::test(
        fitted.family(),
        apart,
        f64::MIN_POSITIVE,
        sessions as f64,
        sessions,
        simulate,
    )?;
    Some((fitted, compared))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(client: u32) -> Entry {
        Entry { client, path: 0, method: 0, at_s: 0.0, status: 200, bytes: 1, took_s: None }
    }

    #[test]
    fn pause_of_thirty_minutes_ends_a_session() {
        let entries: Vec<Entry> = [0, 1, 0, 0, 1].into_iter().map(entry).collect();
        let found = find(&entries, &[0.0, 10.0, 1799.0, 3599.0, 20.0]);
        let mut lengths = found.lengths;
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 2, 2]);
        assert_eq!(found.think_s, [1799.0, 10.0]);
    }

    #[test]
    fn geometric_lengths_are_recognised() {
        let mut random = Rng::with_seed(9);
        let truth = SessionLength::Geometric { mean: 6.0 };
        let lengths: Vec<u64> = (0..20_000).map(|_| truth.sample(&mut random)).collect();
        // P(1) = 1 / mean.
        let ones = lengths.iter().filter(|l| **l == 1).count() as f64 / 20_000.0;
        assert!((ones - 1.0 / 6.0).abs() < 0.01, "{ones}");
        let Chosen { distribution: found, compared, .. } = choose(&lengths, &mut random);
        let SessionLength::Geometric { mean } = found else { panic!("{compared:?}") };
        assert!((mean / 6.0 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn other_lengths_are_kept() {
        let lengths: Vec<u64> = (0..2000).map(|i| if i % 2 == 0 { 1 } else { 40 }).collect();
        let Chosen { distribution: found, compared, candidates } =
            choose(&lengths, &mut Rng::with_seed(9));
        assert_eq!(found, SessionLength::Empirical { counts: vec![(1, 1000), (40, 1000)] });
        assert!(compared.passes() && !candidates[0].passes());
        assert_eq!(
            (found.cdf(0), found.cdf(1), found.cdf(39), found.cdf(40)),
            (0.0, 0.5, 0.5, 1.0)
        );
        let mut random = Rng::with_seed(1);
        let mean = (0..4000).map(|_| found.sample(&mut random)).sum::<u64>() as f64 / 4000.0;
        assert!((mean / 20.5 - 1.0).abs() < 0.05, "{mean}");
    }
}
