//! Catch2, a library of C++: <https://github.com/catchorg/Catch2/blob/devel/docs/benchmarks.md>.

use super::super::adapter::{Adapter, Launch, Program, Start};

/// Samples of each benchmark in a process.
const SAMPLES: u32 = 20;

pub(super) struct Catch2;

impl Adapter for Catch2 {
    fn name(&self) -> &'static str {
        "catch2"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["--benchmark-samples", "--reporter"])
    }

    /// All benchmarks are measured each time: Catch2 selects tests, not the benchmarks in them.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.xml");
        let arguments = [
            "--reporter".to_owned(),
            "xml".to_owned(),
            "--out".to_owned(),
            results.display().to_string(),
            "--benchmark-samples".to_owned(),
            SAMPLES.to_string(),
            "--benchmark-warmup-time".to_owned(),
            launch.benchmark_time.as_millis().to_string(),
            "--benchmark-no-analysis".to_owned(),
        ];
        Start { words: program.with(arguments), results, ..Start::default() }
    }
}
