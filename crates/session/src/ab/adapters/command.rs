//! A whole command: its figure is the time from its start to its end.

use yamba_harness::CommandRun;
use yamba_record::{Benchmark, Status};

use super::super::adapter::{Adapter, Launch, Program, Reading, Results, Start};

/// The one benchmark of a command.
pub(in super::super) const NAME: &str = "command";

pub(super) struct WholeCommand;

impl Adapter for WholeCommand {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Any program is a command: only the user can say that it is meant as one.
    fn is_it(&self, _program: &Program) -> bool {
        false
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        Start { words: program.words.clone(), results: launch.output(), ..Start::default() }
    }

    fn read(&self, _start: &Start, ended: &CommandRun) -> Result<Results, String> {
        let mut entry = Benchmark::ended(NAME, Status::Ok, Vec::new());
        (entry.valid, entry.median, entry.unit) =
            (true, Some(ended.wall_ns), Some("ns".to_owned()));
        entry.declaration.figure = Some("latency".to_owned());
        Ok(Results { readings: vec![Reading { entry, processor: None }], ..Results::default() })
    }
}
