//! nanobench, a header of C++, whose programs print a table: <https://nanobench.ankerl.com>.

use super::super::adapter::{Adapter, Launch, Program, Start, holds};

/// An environment variable that each program of nanobench reads.
const VARIABLE: &[u8] = b"NANOBENCH_SUPPRESS_WARNINGS";

pub(super) struct Nanobench;

impl Adapter for Nanobench {
    fn name(&self) -> &'static str {
        "nanobench"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.file.as_ref().is_some_and(|file| holds(file, VARIABLE))
    }

    /// The program has no options: it measures all benchmarks for as long as it was written to.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        Start {
            words: program.words.clone(),
            environment: vec![("NANOBENCH_SUPPRESS_WARNINGS".to_owned(), "1".to_owned())],
            results: launch.output(),
        }
    }
}
