//! What a run is: the machine, the parameters, every raw interval with its evidence, the summary and its validity.
//!
//! Three wire forms, each in a file of its own: [`program`] (what a built program says of itself), [`event`] (what it
//! says while it measures, one JSON object a line) and [`run`] (the document of a whole run). This crate computes
//! nothing but the sizes of units, and nothing that it writes is ever a NaN. [`system_error`] words the system's errors for
//! the crates above.

pub mod circles;
pub mod event;
pub mod machine;
pub mod number;
pub mod parameters;
pub mod program;
pub mod run;
pub mod system_error;
pub mod units;

pub use event::Event;
pub use machine::Machine;
pub use parameters::Parameters;
pub use program::Program;
pub use run::{Benchmark, Evidence, Interval, Run, Status};

#[cfg(test)]
mod published;
