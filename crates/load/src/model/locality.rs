//! Temporal locality: when objects are requested for the first time, and how soon again.

use serde::{Deserialize, Serialize};

use crate::model::buckets::Buckets;
use crate::model::lru_stack::LruStack;

/// The most steps of [`Locality::first_requests`].
const MOST_STEPS: usize = 64;

/// Buckets of distances for each factor of 2.
const BUCKETS_PER_OCTAVE: u64 = 4;

/// Steps of the iteration for [`Locality::factors`].
const FACTOR_STEPS: usize = 8;

/// Limits of [`Locality::first_exponent`].
const EXPONENTS: [f64; 2] = [0.0, 4.0];

/// The order of the requests in a log, by LRU stack distances: R. L. Mattson, J. Gecsei, D. R.
/// Slutz and I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal 9
/// (1970) 78-117.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Locality {
    /// For equal shares of the objects from 0 to 1, the number of requests by which this share was
    /// requested for the first time.
    pub first_requests: Vec<u64>,
    /// Objects with n requests get their first requests in random order with a weight of
    /// `n^first_exponent`. 0: independent of their popularity.
    pub first_exponent: f64,
    /// Pairs of a stack distance and a number of requests, ascending: the requests whose distance
    /// is at most the first number and above that of the pair before. The stack distance is the
    /// number of different objects since the last request for the object, itself included. First
    /// requests have none.
    pub distances: Vec<(u64, u64)>,
    /// For each pair of `distances`, the factor by which an object at such a distance is more
    /// likely to be requested than its requests still to come say.
    pub factors: Vec<f64>,
}

impl Locality {
    /// The number of distances as text.
    pub fn text(&self) -> String {
        format!("empirical, {} stack distances", self.distances.len())
    }

    /// Checks the numbers of a document. The error names the fault.
    pub fn check(&self) -> Result<(), String> {
        let firsts = &self.first_requests;
        if firsts.len() < 2 || !firsts.is_sorted() {
            return Err("first_requests: they must be two or more ascending numbers".to_owned());
        }
        if !(EXPONENTS[0]..=EXPONENTS[1]).contains(&self.first_exponent) {
            return Err(format!(
                "first_exponent: it must be from 0 to 4, not {}",
                self.first_exponent
            ));
        }
        let is_ascending = self.distances.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !is_ascending || self.distances.first().is_some_and(|first| first.0 == 0) {
            return Err("distances: they must be ascending and above 0".to_owned());
        }
        let is_factor = |factor: &f64| *factor >= 0.0 && factor.is_finite();
        if self.factors.len() != self.distances.len() || !self.factors.iter().all(is_factor) {
            return Err("factors: each of the distances must have one of 0 or more".to_owned());
        }
        Ok(())
    }
}

/// The stack distance of each request for one of `objects` objects. `None`: the first request for
/// an object.
pub(crate) fn distances(requests: &[u32], objects: usize) -> Vec<Option<u64>> {
    let mut stack = LruStack::new(objects);
    let mut distance = |object: &u32| {
        let distance = stack.distance(*object as usize);
        stack.request(*object as usize, 0);
        distance
    };
    requests.iter().map(&mut distance).collect()
}

/// The locality of requests with these distances. `counts` has the number of requests of each
/// object.
pub(crate) fn measure(requests: &[u32], distances: &[Option<u64>], counts: &[u64]) -> Locality {
    let firsts: Vec<usize> = (0..requests.len()).filter(|i| distances[*i].is_none()).collect();
    let by_first: Vec<u64> = firsts.iter().map(|i| counts[requests[*i] as usize]).collect();
    let histogram = histogram(distances.iter().copied().flatten());
    Locality {
        factors: factors(requests, distances, counts, &histogram),
        first_requests: first_requests(&firsts),
        first_exponent: first_exponent(&by_first),
        distances: histogram,
    }
}

/// The number of requests by which each of some equal shares of the objects was requested.
fn first_requests(firsts: &[usize]) -> Vec<u64> {
    let steps = firsts.len().clamp(1, MOST_STEPS);
    let reached = |step: usize| {
        let objects = share(firsts.len() as u64, step, steps) as usize;
        objects.checked_sub(1).map_or(0, |last| firsts[last] + 1)
    };
    (0..=steps).map(|step| reached(step) as u64).collect()
}

/// The whole number of `objects` at this step of `steps`.
pub(crate) fn share(objects: u64, step: usize, steps: usize) -> u64 {
    (objects * step as u64).div_ceil(steps as u64)
}

fn histogram(distances: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for distance in distances {
        while buckets.last().is_none_or(|last| last.0 < distance) {
            let last = buckets.last().map_or(0, |last| last.0);
            let octave = (last + 1).next_power_of_two() / 2;
            buckets.push((last + (octave / BUCKETS_PER_OCTAVE).max(1), 0));
        }
        let bucket = buckets.partition_point(|bucket| bucket.0 < distance);
        buckets[bucket].1 += 1;
    }
    buckets
}

/// The most likely exponent of weights `count^exponent` by which objects with these counts, in the
/// order of their first requests, were drawn without replacement: R. L. Plackett, "The Analysis of
/// Permutations", Applied Statistics 24 (1975) 193-202.
fn first_exponent(counts: &[u64]) -> f64 {
    let logs: Vec<f64> = counts.iter().map(|count| (*count as f64).ln()).collect();
    // The derivative of the logarithm of the likelihood, which falls with the exponent.
    let slope = |exponent: f64| {
        let (mut weights, mut weighted, mut slope) = (0.0, 0.0, 0.0);
        for log in logs.iter().rev() {
            let weight = (exponent * log).exp();
            weights += weight;
            weighted += weight * log;
            slope += log - weighted / weights;
        }
        slope
    };
    let [mut low, mut high] = EXPONENTS;
    if slope(low) <= 0.0 {
        return low;
    }
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The most likely factors: those with which the expected number of requests at each distance is
/// that of the log. Each step multiplies them by the ratio of the two.
fn factors(
    requests: &[u32],
    distances: &[Option<u64>],
    counts: &[u64],
    histogram: &[(u64, u64)],
) -> Vec<f64> {
    let mut factors = vec![1.0; histogram.len()];
    for _ in 0..FACTOR_STEPS {
        let expected = expected(requests, distances, counts, histogram, &factors);
        for ((factor, (_, found)), expected) in factors.iter_mut().zip(histogram).zip(expected) {
            *factor *= *found as f64 / f64::max(expected, f64::MIN_POSITIVE);
        }
    }
    factors
}

/// The expected number of requests at each distance, with the stack of the log before each of its
/// requests.
fn expected(
    requests: &[u32],
    distances: &[Option<u64>],
    counts: &[u64],
    histogram: &[(u64, u64)],
    factors: &[f64],
) -> Vec<f64> {
    let mut left = counts.to_vec();
    let most = histogram.iter().map(|(most, _)| *most).collect();
    let mut buckets = Buckets::new(most, counts.len());
    let mut expected = vec![0.0; factors.len()];
    for (object, distance) in requests.iter().zip(distances) {
        if distance.is_some() {
            let chances = || factors.iter().zip(buckets.sums()).map(|(f, s)| f * *s as f64);
            let all: f64 = chances().sum();
            for (expected, chance) in expected.iter_mut().zip(chances()) {
                *expected += chance / all;
            }
        }
        left[*object as usize] -= 1;
        buckets.request(*object as usize, left[*object as usize]);
    }
    expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_has_four_buckets_for_each_factor_of_two() {
        let buckets = histogram([1, 3, 3, 10, 9, 17].into_iter());
        let most: Vec<u64> = buckets.iter().map(|bucket| bucket.0).collect();
        assert_eq!(most, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20]);
        let requests: Vec<u64> = buckets.iter().map(|bucket| bucket.1).collect();
        assert_eq!(requests, [1, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn locality_of_a_short_sequence() {
        let requests = [0, 1, 0, 0, 2, 1];
        let distances = distances(&requests, 3);
        assert_eq!(distances, [None, None, Some(2), Some(1), None, Some(3)]);
        let locality = measure(&requests, &distances, &[3, 2, 1]);
        assert_eq!(locality.first_requests, [0, 1, 2, 5]);
        assert_eq!(locality.distances, [(1, 1), (2, 1), (3, 1)]);
        locality.check().unwrap();
    }

    #[test]
    fn order_of_first_requests_has_its_exponent() {
        assert_eq!(first_exponent(&[1, 2, 4, 8, 16]), 0.0);
        assert!(first_exponent(&[5, 5, 5]) < 1e-6);
        let exponent = first_exponent(&[9, 3, 5, 4, 2, 3, 1, 2, 1, 1]);
        assert!((0.5..3.0).contains(&exponent), "{exponent}");
    }

    #[test]
    fn wrong_numbers_of_a_document_are_refused() {
        let valid = Locality {
            first_requests: vec![0, 1],
            first_exponent: 1.0,
            distances: vec![(1, 5)],
            factors: vec![1.0],
        };
        valid.check().unwrap();
        let fault = |change: fn(&mut Locality)| {
            let mut wrong = valid.clone();
            change(&mut wrong);
            wrong.check().unwrap_err()
        };
        assert!(fault(|l| l.first_requests = vec![3, 1]).starts_with("first_requests"));
        assert!(fault(|l| l.first_exponent = f64::NAN).starts_with("first_exponent"));
        assert!(fault(|l| l.distances = vec![(0, 5)]).starts_with("distances"));
        assert!(fault(|l| l.factors = vec![]).starts_with("factors"));
    }
}
