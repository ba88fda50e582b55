//! The use cases of Yamba. A caller fills in a request and gets data back. An [`Observer`], or a
//! callback for the events of the use case, receives progress and warnings meanwhile.
//!
//! - [`measure`] builds and measures benchmarks, or plans a run; [`remote`] does so between two
//!   machines, [`time`] for statements and instructions, and [`commands`] for whole commands.
//!   [`bundle`] makes a file that measures elsewhere, and [`fleet`] runs it on many nodes;
//!   [`fleet_report`] reads their runs.
//! - [`ab`] compares two programs of another harness, and [`protocol_program`] measures a program
//!   that follows the protocol. [`remeasure`] measures both sides of a comparison again. [`noise`]
//!   measures the rate of false alarms, [`hardware`] finds the parameters of the processor,
//!   [`selftest`] checks whether figures of this machine can be trusted, and [`study`] compares
//!   predictions that the user wrote with figures.
//! - [`trace`] makes the vector of an application, [`predict`] predicts it, and [`page_cache`] has
//!   its file accesses. [`gc`] predicts garbage collection. [`load`] sends a load to a server.
//!
//! The other modules serve several of these.
//!
//! Nothing here parses a command line, prints, or depends on the layout of a page.
//! The crate may use every crate below it, but not `report`.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod ab;
pub mod bundle;
pub mod clock;
pub mod commands;
mod contention;
pub mod costs;
pub mod document_file;
mod failure;
pub mod fleet;
pub mod fleet_report;
pub mod gc;
pub mod hardware;
pub mod java;
pub mod jobs;
mod limits;
pub mod load;
pub mod measure;
mod neighbours;
pub mod noise;
mod observer;
pub mod page_cache;
mod prebuilt;
pub mod predict;
pub mod processors;
pub mod protocol_program;
pub mod remeasure;
pub mod remote;
mod rescue;
pub mod run_ref;
pub mod select;
pub mod selftest;
mod sides;
mod spool;
pub mod standing;
mod store;
mod store_sink;
pub mod study;
mod target;
mod temporary;
pub mod time;
pub mod trace;
pub mod vectors;

pub use failure::{ErrorMessage, Failure, home_failure, system_failure};
pub use neighbours::{check_neighbours, machine};
pub use observer::{NoUsualCompiler, Observer, Warning};
pub use store::{StoreChoice, usual_store};
pub use target::target;
use temporary::{TemporaryFolder, temporary_folder};
