//! Second rung: programs in Yamba are built and run for every instruction set that the machine has a compiler for.

mod faults;
mod figures;
mod holes;
mod members;
mod memory;
mod runtime;
mod support;
mod terms;
