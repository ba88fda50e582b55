//! Runs Java programs with a garbage collector and measures it: processor time of the collector's
//! threads from `/proc/PID/task/*/schedstat`, pauses from the log of the JVM. Each run is bounded
//! in time and memory. A JVM that crashes, hangs or runs out of memory costs only its own figure.

mod benchmarks;
mod characterise;
mod classes;
mod command;
mod jvm;
mod limits;
mod measure;
mod profile;
mod rounds;
mod watch;

pub use benchmarks::Effort;
pub use characterise::{Progress, SHORT_TIME, Wanted, characterise, costs_path};
pub use command::remove_varied;
pub use jvm::Jvm;
pub use limits::{LIMITS, Limits};
pub use measure::{Measured, measure};
pub use profile::{OTHERS, Stage, profile};
pub use rounds::Step;
