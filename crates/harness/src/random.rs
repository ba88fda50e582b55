//! Seeds and identifiers from the system's randomness.

use std::hash::{BuildHasher, Hasher};

/// A fresh seed of 32 bits: short enough to type again, and exact in readers whose numbers are all
/// floating-point.
pub fn drawn_seed() -> u64 {
    system_random() >> 32
}

/// The identifier of a new run: sixteen hexadecimal digits. Among a million runs the chance of two
/// equal ones is one in 40 million.
pub fn drawn_id() -> String {
    format!("{:016x}", system_random())
}

/// 64 random bits: the key that the standard library draws for its hash tables from the system's
/// generator.
fn system_random() -> u64 {
    let state = std::collections::hash_map::RandomState::new();
    state.build_hasher().finish()
}
