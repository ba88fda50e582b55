//! Predicts the garbage collections of a Java application. An application has a demand: its
//! allocation and the survival of objects by age, both in bytes allocated. A collector has costs,
//! measured by micro-benchmarks. A simulation of the collector's policy turns demand and heap size
//! into collections, and the costs turn these into time. No file, no process, no clock.

mod calibration;
pub mod collector;
mod correction;
pub mod costs;
mod dead;
pub mod demand;
pub mod fit;
pub mod log;
pub mod observation;
pub mod ordinary;
mod outcome;
pub mod policy;
pub mod predict;
mod price;
pub mod refinement;

pub use collector::{Collector, Role};
