//! criterion, a library of Rust: `cargo bench --no-run` builds the programs.
//! <https://docs.rs/criterion>

use std::path::Path;

use super::super::adapter::{Adapter, Launch, Program, Start, holds};

pub(super) struct Criterion;

impl Adapter for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn is_it(&self, program: &Program) -> bool {
        // Version 0.5 fails on `--help`. Its programs contain this variable and this option.
        let has = |file: &Path| holds(file, b"CRITERION_HOME") && holds(file, b"nresamples");
        program.helps_with(&["--save-baseline", "--measurement-time"])
            || program.file.as_deref().is_some_and(has)
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("criterion");
        // Ten samples are the fewest that criterion takes.
        let arguments = [
            "--bench".to_owned(),
            "--noplot".to_owned(),
            "--sample-size=10".to_owned(),
            format!("--warm-up-time={}", launch.seconds()),
            format!("--measurement-time={}", launch.seconds()),
        ];
        Start {
            words: program.with(arguments.into_iter().chain(launch.pattern())),
            environment: vec![("CRITERION_HOME".to_owned(), results.display().to_string())],
            results,
        }
    }
}
