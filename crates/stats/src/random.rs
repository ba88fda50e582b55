//! Random numbers that are the same for a seed on every machine and in every version.

/// SplitMix64. A crate's generator may change what a seed gives from version to version, and with it intervals computed
/// from stored values.
///
/// G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`. By the high half of a product, whose bias of n in 2^64 shows in no sample that fits a
    /// memory.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number in `0.0..1.0`, of 53 random bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' C program gives for this seed.
    #[test]
    fn published_sequence() {
        let mut random = Random::new(1234567);
        let got: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            got,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423
            ]
        );
    }

    #[test]
    fn ranges() {
        let mut random = Random::new(1);
        let mut seen = [0usize; 6];
        for _ in 0..6000 {
            seen[random.below(6)] += 1;
            assert!((0.0..1.0).contains(&random.uniform()));
        }
        assert!(seen.iter().all(|&k| (850..1150).contains(&k)), "{seen:?}");
    }
}
