//! Java programs: what calls of the class library cost, and what garbage collection costs.

pub mod gc;
mod input;
pub mod library;
pub mod run;
mod stop;

pub use input::Input;
pub use stop::{INTERRUPTED, StopFlag};
