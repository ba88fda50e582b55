//! The harnesses whose programs are compared.

mod catch2;
mod command;
mod criterion;
mod divan;
mod go;
mod google;
mod jmh;
mod nanobench;
mod pyperf;
mod pytest;

use super::adapter::{Adapter, Program};

pub(super) use pytest::STORAGE;

/// The name of the adapter of whole commands.
pub(super) use command::NAME as COMMAND;
pub(super) use command::stored as stored_command;

/// All adapters, in the order in which a program is checked.
static ALL: [&dyn Adapter; 10] = [
    &google::GoogleBenchmark,
    &catch2::Catch2,
    &divan::Divan,
    &go::Go,
    &jmh::Jmh,
    &pytest::PytestBenchmark,
    &pyperf::Pyperf,
    &nanobench::Nanobench,
    &criterion::Criterion,
    &command::WholeCommand,
];

/// The names of all adapters.
pub(super) fn names() -> Vec<&'static str> {
    ALL.iter().map(|adapter| adapter.name()).collect()
}

/// The adapter with this name.
pub(super) fn named(name: &str) -> Option<&'static dyn Adapter> {
    ALL.iter().copied().find(|adapter| adapter.name() == name)
}

/// Whether it is a program of JMH, which is recognised without its help.
pub(super) fn is_of_jmh(program: &Program) -> bool {
    jmh::Jmh.is_it(program)
}

/// The adapter of the harness that the program belongs to.
pub(super) fn recognised(program: &Program) -> Option<&'static dyn Adapter> {
    ALL.iter().copied().find(|adapter| adapter.is_it(program))
}
