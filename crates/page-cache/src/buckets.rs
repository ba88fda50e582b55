//! Buckets of distances: each distance below 2048 has its own, larger ones share theirs with
//! distances that differ by at most 1/1024.

/// Distances with a bucket of their own.
const OWN: u64 = 2048;
/// Buckets of each larger power of two.
const PER_POWER: u64 = OWN / 2;

pub fn bucket(distance: u64) -> usize {
    if distance < OWN {
        return distance as usize;
    }
    let power = u64::from(distance.ilog2());
    let shift = power - u64::from(PER_POWER.ilog2());
    let within = (distance >> shift) & (PER_POWER - 1);
    (OWN + (shift - 1) * PER_POWER + within) as usize
}

/// The smallest distance of a bucket.
pub fn first(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < OWN {
        return bucket;
    }
    let (power, within) = ((bucket - OWN) / PER_POWER, (bucket - OWN) % PER_POWER);
    (PER_POWER + within) << (power + 1)
}
