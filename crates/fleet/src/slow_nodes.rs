//! Finds slow nodes in the runs of many machines. Pure: takes runs, and returns classes of nodes,
//! the nodes that are slower than their class, and the smallest slowdown that could have been
//! found. Reads no file, starts no process and prints nothing.
//!
//! 1. [`NodeRun`] has the part of a run's document that counts: the level of each figure with its
//!    error, and the facts of the machine.
//! 2. [`classes`] divides the nodes by the facts of their machines.
//! 3. [`column`] finds the modes of a value within a class, and each node's distance from its mode.
//! 4. [`job`] combines the figures of a resource, and tests nodes against their class.
//! 5. [`report`] orders the jobs, and follows each node through them. [`document`] is its result.

pub mod classes;
mod column;
mod document;
pub mod job;
mod node_run;
mod report;
mod resource;
mod significance;

pub use classes::Class;
pub use document::{
    ClassOfNodes, DetectableSlowdown, Document, Failed, FigureOfNode, SlowNode, document, letter,
};
pub use job::{Detectable, Finding, Job, SlowFigure, State};
pub use node_run::{FigureLevel, LeftOut, NodeRun};
pub use report::{JobOfFleet, Report, report};

/// The most false alarms that are expected in the report of a job with few nodes: about one report
/// in twenty has one.
pub const FALSE_ALARMS: f64 = 0.05;

/// The most false alarms that are expected for each node of a large job.
pub const FALSE_ALARMS_PER_NODE: f64 = 2e-4;

/// The most nodes that a report is expected to name although they are not slow, with this number of
/// nodes that can be tested.
pub fn false_alarms(nodes: usize) -> f64 {
    FALSE_ALARMS.max(FALSE_ALARMS_PER_NODE * nodes as f64)
}

/// The probability with which [`Detectable::slowdown`] is found.
pub const POWER: f64 = 0.95;

/// The fewest nodes of a class in which a node can be slow.
pub const FEWEST_NODES: usize = 5;

/// The least share of nodes that makes a class or a mode of its own. Fewer nodes are outliers.
pub const LEAST_SHARE: f64 = 0.1;

/// The fewest of `count` nodes that make a class or a mode of their own.
fn fewest(count: usize) -> usize {
    FEWEST_NODES.max((LEAST_SHARE * count as f64).ceil() as usize)
}
