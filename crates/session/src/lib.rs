//! The use cases of Yamba: find benchmarks, build and measure them, plan a run without measuring,
//! re-measure stored runs, compare a study's predictions with figures, time a statement, predict an
//! application, measure the noise of this machine, and check whether its figures can be trusted.
//!
//! A caller fills in a request and gets data back. An [`Observer`] receives progress and warnings
//! meanwhile.
//!
//! Nothing here parses a command line, prints, or depends on the layout of a page.
//! The crate may use every crate below it, but not `report`.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod bundle;
pub mod commands;
mod contention;
pub mod costs;
pub mod document_file;
mod failure;
pub mod fleet;
pub mod fleet_report;
pub mod gc;
mod here;
pub mod java;
pub mod jobs;
pub mod load;
pub mod measure;
mod neighbours;
pub mod noise;
mod observer;
pub mod page_cache;
pub mod predict;
pub mod processors;
pub mod remeasure;
pub mod remote;
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
pub mod time;
pub mod trace;
pub mod vectors;

pub use failure::{ErrorMessage, Failure, home_failure, system_failure};
pub use neighbours::{check_neighbours, machine};
pub use observer::{Observer, Warning};
pub use store::{StoreChoice, usual_store};
pub use target::target;
