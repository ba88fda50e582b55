//! Java programs: what calls of the class library cost, and what garbage collection costs.

pub mod gc;
mod input;
pub mod library;
pub mod run;
mod stop;

pub use input::Input;
pub use stop::{INTERRUPTED, StopFlag};

/// The sum of numbers, 0 if there are none: Rust's sum is then -0, which would be shown.
pub(crate) fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |all, number| all + number)
}
