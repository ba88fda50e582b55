//! divan, a library of Rust: `cargo bench --no-run` builds the programs. <https://docs.rs/divan>

use super::super::adapter::{Adapter, Launch, Program, Start};

pub(super) struct Divan;

impl Adapter for Divan {
    fn name(&self) -> &'static str {
        "divan"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["DIVAN_SAMPLE_COUNT"])
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let time = launch.seconds();
        let arguments = ["--bench", "--color=never", "--min-time", &time, "--max-time", &time]
            .map(str::to_owned);
        // It selects by a part of a name, or exactly by whole ones.
        let names = launch.only.map(|names| {
            ["--exact".to_owned()].into_iter().chain(names.iter().cloned()).collect::<Vec<_>>()
        });
        let words = program.with(arguments.into_iter().chain(names.into_iter().flatten()));
        Start { words, results: launch.output(), ..Start::default() }
    }
}
