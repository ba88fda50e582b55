//! Java programs: from the calls of the class library to an application's vector, and from JMH to
//! the costs of these calls.
//!
//! The agent in `java/agent` counts and samples; the benchmarks in `java/benchmarks` measure. This
//! crate runs both and reads their documents. It prints nothing.

mod command;
mod documents;
mod fault;
mod jars;
pub mod jmh;
mod jvm;
pub mod live;
pub mod vector;

pub use command::JavaCommand;
pub use fault::Fault;
pub use jars::Jars;
pub use jvm::Jvm;
