//! A whole command: its figure is the time from its start to its end.

use yamba_harness::{CommandOutput, CommandRun};
use yamba_record::{Benchmark, Run, Status};

use super::super::adapter::{Adapter, Launch, Program, Reading, Results, Start, as_line};

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

    fn start(&self, program: &Program, _launch: &Launch<'_>) -> Start {
        Start { words: program.words.clone(), ..Start::default() }
    }

    /// As `yamba time` does: the time of a file system is no part of it, nor does the command skip
    /// its work, as some do for `/dev/null`.
    fn output(&self, _launch: &Launch<'_>) -> CommandOutput {
        CommandOutput::Pipe
    }

    fn read(
        &self,
        _program: &Program,
        _start: &Start,
        ended: &CommandRun,
    ) -> Result<Results, String> {
        let mut entry = Benchmark::ended(NAME, Status::Ok, Vec::new());
        (entry.valid, entry.median, entry.unit) =
            (true, Some(ended.wall_ns), Some("ns".to_owned()));
        entry.declaration.figure = Some("latency".to_owned());
        let reading = Reading { command: Some(ended.clone()), ..Reading::new(entry) };
        Ok(Results { readings: vec![reading], ..Results::default() })
    }
}

/// The run of a command as it is stored. The comparison has one name for both sides; stored runs of
/// different commands must not look like one benchmark.
pub(in super::super) fn stored(run: &Run, line: &str, prepare: Option<&[String]>) -> Run {
    let mut run = run.clone();
    for entry in &mut run.benchmarks {
        line.clone_into(&mut entry.name);
        if let Some(command) = &mut entry.details.command {
            line.clone_into(&mut command.command);
            command.prepare = prepare.map(as_line);
            command.output = Some("pipe".to_owned());
        }
    }
    run
}
