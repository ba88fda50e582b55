//! Infers parameters of a processor from raw curves of times, without counters and without the
//! system's description of the machine.
//!
//! A curve has a time for each of several points, in passes of several launches. [`PARAMETERS`] has
//! the parameters, and for each the curve and the [`Method`] that reads it. [`find`] gives the
//! value with its interval, or the reason why the curve does not show it.
//!
//! The crate is pure: no file, clock, environment, randomness or printing.

#![warn(missing_docs)]

mod curve;
mod find;
mod levels;
mod parameters;
mod partition;
mod steps;

pub use curve::{Curve, Pass};
pub use find::{Found, find, points};
pub use parameters::{Method, PARAMETERS, Parameter, parameter};

#[cfg(test)]
mod tests;
