//! Builds and runs Yamba programs for every instruction set for which the machine has a compiler.

mod faults;
mod figures;
mod holes;
mod members;
mod memory;
mod runtime;
mod support;
mod terms;
