//! Predicts the kernel time of an application on a machine: how often the application uses each
//! primitive, times what each primitive costs there.
//!
//! The method is that of HBench (Zhang, "Application-Specific Benchmarking", Harvard 2001, chapters
//! 3 and 6). Pure: no file, no process, no measuring.
//!
//! Five layers, of which each uses only those before it: `vector` (the application's demand),
//! `costs` (of a system), `carry` (traced times to another system), `change` (of the application or
//! of costs), and `prediction`, whose head has the formula and the file of each term.

pub mod carry;
pub mod change;
mod constants;
#[cfg(test)]
mod context_tests;
pub mod costs;
#[cfg(test)]
mod java_tests;
#[cfg(test)]
mod mutant_tests;
pub mod prediction;
#[cfg(test)]
mod tests;
pub mod vector;

pub use carry::Context;
pub use carry::user_scale::{UserScale, user_scale};
pub use costs::{Costs, needs};
pub use prediction::several::{Place, Predictions, Unclear, ranked};
pub use prediction::{Prediction, file_time, predict, predict_in_context};
pub use vector::names::{BLOCKED, NULL_CALL, WAITING, canonical, machine_name, stands_for};
pub use vector::{Vector, names, rounds};
