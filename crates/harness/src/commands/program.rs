//! Runs programs of other harnesses.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::output::CommandOutput;
use super::process::{CommandEnd, CommandRun, Starter, Watchdog};
use crate::stop::Stop;

/// A program, and how it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStart {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder that it runs in. `None`: that of this process.
    pub folder: Option<PathBuf>,
    /// Environment variables that are added, or replaced.
    pub environment: Vec<(String, String)>,
    /// Where its standard output goes.
    pub output: CommandOutput,
}

/// Runs programs one after the other, each to its end. Processes that a program leaves in its
/// process group are killed.
pub struct ProgramRunner {
    starter: Starter,
    watchdog: Watchdog,
}

impl ProgramRunner {
    /// A program is killed if a stop is requested, or if it runs for longer than `timeout`.
    #[must_use]
    pub fn new(stop: &Stop, timeout: Option<Duration>) -> ProgramRunner {
        ProgramRunner {
            starter: Starter::new(None, CommandOutput::Null),
            watchdog: Watchdog::new(stop.clone(), timeout),
        }
    }

    /// Runs a program. Returns how it ended, and an excerpt of its standard error.
    pub fn run(&mut self, start: &ProgramStart) -> (CommandRun, String) {
        let mut command = Command::new(&start.words[0]);
        command.args(&start.words[1..]).envs(start.environment.iter().cloned());
        if let Some(folder) = &start.folder {
            command.current_dir(folder);
        }
        let run = self.starter.run_program(command, &start.output, &self.watchdog);
        self.starter.end_preparation();
        (run, self.starter.messages())
    }

    /// Runs the untimed command before a program, in this folder. A process that it starts in its
    /// process group, such as a server, stays until that program has ended. Returns how it ended,
    /// and an excerpt of its standard error.
    pub fn prepare(&mut self, words: &[String], folder: Option<&Path>) -> (CommandEnd, String) {
        let end = self.starter.prepare(words, folder, &self.watchdog);
        (end, self.starter.messages())
    }
}
