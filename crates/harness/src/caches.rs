//! The caches of this machine, inferred from curves that benchmark programs record, and remembered
//! for later runs.

pub(crate) mod curve;
pub(crate) mod inferred;
mod levels;
pub(crate) mod measured;
mod points;

pub(crate) use levels::{Caches, caches};
pub(crate) use points::points;

#[cfg(test)]
mod tests;
