//! Infers parameters of the hardware from curves that benchmark programs record. Pure: the same
//! curves give the same parameters.

mod caches;
mod points;

pub use caches::{CacheLevel, Caches, caches};
pub use points::{CurvePoint, points};

#[cfg(test)]
mod tests;
