//! The order of the requests for objects with known counts: the locality of the log.

use fastrand::Rng;

use crate::model::buckets::Buckets;
use crate::model::locality::{Locality, share};
use crate::model::lru_stack::LruStack;

/// The requests of one deal: each object as often as its count says.
pub(crate) struct Deal {
    /// Draws an object within a range of distances. [`Distances::buckets`] holds the same objects
    /// with the sum of each bucket. These sums decide on the range.
    stack: LruStack,
    /// For each object, its number of requests still to come.
    left: Vec<u64>,
    /// Number of requests so far, and of all.
    done: u64,
    requests: u64,
    firsts: Firsts,
    distances: Distances,
}

impl Deal {
    /// The requests of objects with these counts.
    pub(crate) fn new(locality: &Locality, counts: Vec<u64>, random: &mut Rng) -> Deal {
        let requests = counts.iter().sum();
        let firsts = Firsts::new(locality, &counts, random);
        Deal {
            stack: LruStack::new(counts.len()),
            done: 0,
            requests,
            distances: Distances::new(locality, requests - firsts.count, counts.len()),
            firsts,
            left: counts,
        }
    }

    /// The object of the next request. `None` after the last one.
    pub(crate) fn next(&mut self, random: &mut Rng) -> Option<usize> {
        if self.done == self.requests {
            return None;
        }
        let has_repeats = self.stack.weight() > 0;
        let object = if has_repeats && !self.firsts.is_due(self.done, random) {
            self.distances.draw(&self.stack, random)
        } else {
            self.firsts.next()
        }?;
        self.done += 1;
        self.left[object] -= 1;
        self.stack.request(object, self.left[object]);
        self.distances.buckets.request(object, self.left[object]);
        Some(object)
    }
}

/// The first requests for the objects.
struct Firsts {
    /// The objects in the reverse order of their first requests.
    objects: Vec<u32>,
    count: u64,
    /// [`Locality::first_requests`].
    reached: Vec<u64>,
    /// The step in `reached` that is to be reached next.
    step: usize,
}

impl Firsts {
    fn new(locality: &Locality, counts: &[u64], random: &mut Rng) -> Firsts {
        let objects = in_order(counts, locality.first_exponent, random);
        Firsts {
            count: objects.len() as u64,
            objects,
            reached: locality.first_requests.clone(),
            step: 1,
        }
    }

    /// Whether the request after `done` ones is the first for its object. At random, so that the
    /// number of first requests is as in the log at each step.
    fn is_due(&mut self, done: u64, random: &mut Rng) -> bool {
        let steps = self.reached.len() - 1;
        while self.step < steps && self.reached[self.step] <= done {
            self.step += 1;
        }
        let so_far = self.count - self.objects.len() as u64;
        let due = share(self.count, self.step, steps).saturating_sub(so_far);
        let requests = self.reached[self.step].saturating_sub(done);
        due > 0 && (due >= requests || random.u64(0..requests) < due)
    }

    fn next(&mut self) -> Option<usize> {
        self.objects.pop().map(|object| object as usize)
    }
}

/// The objects with requests in the reverse of a random order, drawn with the weights
/// `count^exponent`: P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling with a
/// reservoir", Information Processing Letters 97 (2006) 181-185.
fn in_order(counts: &[u64], exponent: f64, random: &mut Rng) -> Vec<u32> {
    let requested = (0..counts.len()).filter(|object| counts[*object] > 0);
    let mut keyed: Vec<(f64, u32)> = requested
        .map(|object| {
            let weight = (counts[object] as f64).powf(exponent);
            (-(-random.f64()).ln_1p() / weight, object as u32)
        })
        .collect();
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0));
    keyed.into_iter().map(|(_, object)| object).collect()
}

/// The power of the correction: a bucket that has had 1 % too few of its requests gets about 8 %
/// more of the next ones.
const CORRECTION: i32 = 8;

/// The stack distances of the requests that are not the first for their object.
struct Distances {
    /// [`Locality::factors`].
    factors: Vec<f64>,
    /// Number of requests of each bucket.
    all: Vec<u64>,
    /// Number of requests of each bucket still to come.
    left: Vec<u64>,
    /// Number of requests of all buckets, and of those still to come.
    repeats: u64,
    repeats_left: u64,
    /// The requests still to come for the objects in each bucket.
    buckets: Buckets,
    /// For each bucket, the chance of the buckets up to it, up to a common factor.
    chances: Vec<f64>,
}

impl Distances {
    /// The histogram of the log, scaled to this number of requests.
    fn new(locality: &Locality, repeats: u64, objects: usize) -> Distances {
        let all = scaled(&locality.distances, repeats);
        let most = locality.distances.iter().map(|(most, _)| *most).collect();
        Distances {
            factors: locality.factors.clone(),
            left: all.clone(),
            chances: vec![0.0; all.len()],
            all,
            repeats,
            repeats_left: repeats,
            buckets: Buckets::new(most, objects),
        }
    }

    /// An object with requests still to come. Within a bucket, each is drawn by the number of its
    /// requests still to come.
    fn draw(&mut self, stack: &LruStack, random: &mut Rng) -> Option<usize> {
        let bucket = self.bucket(random);
        self.repeats_left = self.repeats_left.saturating_sub(1);
        let Some(bucket) = bucket else {
            return stack.draw(1, u64::MAX, random);
        };
        self.left[bucket] -= 1;
        let [least, most] = self.buckets.bounds(bucket);
        stack.draw(least, most, random)
    }

    /// A random bucket. `None`: no object within the distances still to come has requests still to
    /// come.
    fn bucket(&mut self, random: &mut Rng) -> Option<usize> {
        let expected_left = self.repeats_left as f64 / self.repeats as f64;
        let mut sum = 0.0;
        for (bucket, weight) in self.buckets.sums().iter().take(self.all.len()).enumerate() {
            let left = self.left[bucket];
            if left > 0 && *weight > 0 {
                let ahead = left as f64 / (self.all[bucket] as f64 * expected_left);
                sum += *weight as f64 * self.factors[bucket] * ahead.powi(CORRECTION);
            }
            self.chances[bucket] = sum;
        }
        let chance = sum * random.f64();
        (sum > 0.0).then(|| self.chances.partition_point(|up_to| *up_to <= chance))
    }
}

/// A histogram with the sum `requests`.
fn scaled(histogram: &[(u64, u64)], requests: u64) -> Vec<u64> {
    let all: u64 = histogram.iter().map(|(_, requests)| requests).sum();
    let share =
        |up_to: u64| (u128::from(up_to) * u128::from(requests) / u128::from(all.max(1))) as u64;
    let mut up_to = 0;
    let bucket = |(_, requests): &(u64, u64)| {
        up_to += requests;
        share(up_to) - share(up_to - requests)
    };
    histogram.iter().map(bucket).collect()
}
