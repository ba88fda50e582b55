//! Types of a recorded run: the machine, the parameters, every timed batch with its evidence, the
//! summary and its validity.
//!
//! There are three serialised forms, each in its own module: [`program`] (the answer of a built
//! program to `--describe`), [`event`] (the lines that it prints while it measures, one JSON object
//! each) and [`run`] (the document of a whole run). The only computation here is the conversion of
//! units. No serialised number is NaN. [`system_error`] gives the text of a system error for the
//! crates above.

#![warn(missing_docs)]

pub mod batch;
pub mod circles;
mod columns;
pub mod command;
pub mod direction;
pub mod distribution;
pub mod document;
pub mod entry;
pub mod event;
mod flat;
pub mod hardware;
pub mod machine;
pub mod note;
pub mod number;
pub mod parameters;
pub mod program;
pub mod records;
pub mod run;
mod schema;
pub mod system_error;
pub mod units;
pub mod workers;

pub use batch::{Batch, Probes};
pub use event::Event;
pub use machine::Machine;
pub use note::Note;
pub use parameters::Parameters;
pub use program::Program;
pub use records::{LaunchRecords, Records};
pub use run::{Benchmark, Evidence, Run, RunHead, Status, named};
pub use workers::Workers;
