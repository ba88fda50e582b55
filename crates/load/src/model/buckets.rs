//! The weights of the objects of an LRU stack by buckets of distances.

/// No object, or no bucket.
const NONE: u32 = u32::MAX;

/// The neighbours of an object in the stack, and its bucket.
#[derive(Clone, Copy)]
struct Place {
    newer: u32,
    older: u32,
    bucket: u32,
}

/// The sums of weights by bucket. The last object of each bucket has a marker: a request moves the
/// markers down to the object's bucket by one object (Y. H. Kim, M. D. Hill and D. A. Wood,
/// "Implementing stack simulation for highly-associative memories", Proceedings of ACM SIGMETRICS
/// 1991, 212-213).
pub(crate) struct Buckets {
    /// The most distance of each bucket. The bucket after the last one has no end.
    most: Vec<u64>,
    /// For each bucket and the one without an end, the sum of the weights.
    sums: Vec<u64>,
    /// The last object of each full bucket.
    markers: Vec<u32>,
    places: Vec<Place>,
    weights: Vec<u64>,
    newest: u32,
    oldest: u32,
    len: u64,
}

impl Buckets {
    /// An empty stack for objects with indices below `objects`, and buckets with ascending greatest
    /// distances.
    pub(crate) fn new(most: Vec<u64>, objects: usize) -> Buckets {
        let place = Place { newer: NONE, older: NONE, bucket: NONE };
        Buckets {
            sums: vec![0; most.len() + 1],
            markers: vec![NONE; most.len()],
            most,
            places: vec![place; objects],
            weights: vec![0; objects],
            newest: NONE,
            oldest: NONE,
            len: 0,
        }
    }

    /// For each bucket and the one without an end, the sum of the weights.
    pub(crate) fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// The least and the greatest distance of a bucket.
    pub(crate) fn bounds(&self, bucket: usize) -> [u64; 2] {
        let above = bucket.checked_sub(1).map_or(0, |above| self.most[above]);
        [above + 1, self.most.get(bucket).copied().unwrap_or(u64::MAX)]
    }

    /// Puts an object on top with this weight.
    pub(crate) fn request(&mut self, object: usize, weight: u64) {
        let bucket = self.places[object].bucket;
        if bucket == NONE {
            self.len += 1;
            self.link(object);
            let full = self.markers.iter().take_while(|m| **m != NONE).count();
            self.shift(full);
            if self.most.get(full) == Some(&self.len) {
                self.markers[full] = self.oldest;
            }
        } else {
            self.sums[bucket as usize] -= self.weights[object];
            if self.newest != object as u32 {
                self.unlink(object);
                self.link(object);
                self.shift(bucket as usize);
            }
        }
        self.places[object].bucket = 0;
        self.weights[object] = weight;
        self.sums[0] += weight;
    }

    fn unlink(&mut self, object: usize) {
        let Place { newer, older, bucket } = self.places[object];
        // The newest object stays where it is, so there is a newer one.
        self.places[newer as usize].older = older;
        if older == NONE {
            self.oldest = newer;
        } else {
            self.places[older as usize].newer = newer;
        }
        if let Some(marker) = self.markers.get_mut(bucket as usize)
            && *marker == object as u32
        {
            *marker = newer;
        }
    }

    fn link(&mut self, object: usize) {
        let top = object as u32;
        self.places[object].newer = NONE;
        self.places[object].older = self.newest;
        if self.newest == NONE {
            self.oldest = top;
        } else {
            self.places[self.newest as usize].newer = top;
        }
        self.newest = top;
    }

    /// Moves the last object of each bucket before `bucket` into the next bucket.
    fn shift(&mut self, bucket: usize) {
        for above in 0..bucket {
            let last = self.markers[above] as usize;
            let weight = self.weights[last];
            self.sums[above] -= weight;
            self.sums[above + 1] += weight;
            self.places[last].bucket = above as u32 + 1;
            self.markers[above] = self.places[last].newer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn sums_are_those_of_a_list() {
        let mut random = Rng::with_seed(6);
        for most in [vec![], vec![1, 2, 4, 7], vec![3, 5, 30], vec![1, 50]] {
            let mut buckets = Buckets::new(most.clone(), 40);
            let mut list: Vec<(usize, u64)> = Vec::new();
            for _ in 0..3000 {
                let object = random.usize(0..40).min(random.usize(0..40));
                let weight = random.u64(0..9);
                buckets.request(object, weight);
                list.retain(|(other, _)| *other != object);
                list.insert(0, (object, weight));
                let expected: Vec<u64> = (0..=most.len())
                    .map(|bucket| {
                        let [least, most] = buckets.bounds(bucket);
                        let within = (1..).zip(&list).filter(|(d, _)| (least..=most).contains(d));
                        within.map(|(_, (_, weight))| weight).sum()
                    })
                    .collect();
                assert_eq!(buckets.sums(), expected, "{most:?}");
            }
        }
    }
}
