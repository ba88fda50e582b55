//! Builds and runs Yamba programs for every instruction set.

mod faults;
mod figures;
mod holes;
mod members;
mod memory;
mod support;
mod terms;
