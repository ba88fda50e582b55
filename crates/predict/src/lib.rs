//! Predicts the kernel time of an application on a machine: how often the application uses each
//! primitive, times what each primitive costs there.
//!
//! The method is that of HBench (Zhang, "Application-Specific Benchmarking", Harvard 2001, chapters
//! 3 and 6). Pure: no file, no process, no measuring.

mod blocked;
pub mod change;
mod clock;
pub mod contained;
pub mod context;
#[cfg(test)]
mod context_tests;
pub mod cost;
mod curve;
pub mod document;
pub mod file_time;
#[cfg(test)]
mod java_tests;
mod leaving;
mod machine;
mod may_wait;
#[cfg(test)]
mod mutant_tests;
pub mod needs;
mod own_cost;
pub mod page_fault;
mod plain;
pub mod prediction;
pub mod product;
mod rank;
pub mod ratio;
pub mod rounds;
mod scale;
#[cfg(test)]
mod tests;
mod traced;
mod unmeasured;
mod user_scale;
pub mod vector;
mod waits;

pub use blocked::{BLOCKED, WAITING};
pub use clock::READING;
pub use context::Context;
pub use cost::Costs;
pub use machine::machine_name;
pub use prediction::{Prediction, predict, predict_in_context};
pub use rank::{Place, Unclear, ranked};
pub use user_scale::{UserScale, user_scale};
pub use vector::Vector;

/// The primitive that stands for any system call without a primitive of its own.
pub const NULL_CALL: &str = "null";

/// The spelling of a primitive's name by which it is found: `connect(tcp)`, which can also be
/// written `tcp connect`.
pub fn canonical(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    match words[..] {
        [kind, call] if !name.contains('(') => format!("{call}({kind})"),
        _ => words.join(" ").replace(", ", ",").replace(" (", "("),
    }
}
