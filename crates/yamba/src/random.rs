//! Random order that can be repeated from its seed, on any machine and with any later version.

use std::hash::{BuildHasher, Hasher};

/// SplitMix64: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0, each as likely as any other: what would favour the small ones is drawn again.
    pub fn below(&mut self, bound: u64) -> u64 {
        let most = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.next();
            if drawn < most {
                return drawn % bound;
            }
        }
    }

    /// Puts the items in an order that is as likely as any other (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// A seed that nobody chose. Short enough for a reader whose numbers are all floating-point, and for a person to repeat.
pub fn drawn_seed() -> u64 {
    // The system's own randomness is what keys the standard library's hash tables.
    let state = std::collections::hash_map::RandomState::new();
    state.build_hasher().finish() >> 32
}

/// Sixteen hexadecimal digits that no other run has: with a million runs, two alike have a chance of one in 40 million.
pub fn drawn_id() -> String {
    let state = std::collections::hash_map::RandomState::new();
    format!("{:016x}", state.build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first values of the reference implementation (S. Vigna, splitmix64.c) for this seed.
    #[test]
    fn numbers_of_the_reference() {
        let mut random = Random::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = Random::new(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        // Six standard deviations of B(6000, 1/6).
        assert!(seen.values().all(|n| (827..=1173).contains(n)), "{seen:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }
}
