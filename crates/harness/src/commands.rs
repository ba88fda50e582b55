//! Times whole commands: a fresh process for each run, in rounds of one run of each command in
//! random order.

mod output;
mod process;
mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::stop::Stop;
pub use output::{CommandOutput, last_lines};
pub use process::{CommandEnd, CommandRun};
use process::{Starter, Watchdog};
pub use program::{ProgramRunner, ProgramStart};

/// A command to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The program and arguments of the untimed command before each run.
    pub prepare: Option<Vec<String>>,
}

/// How commands are timed.
#[derive(Clone, Debug)]
pub struct CommandPlan {
    /// Untimed rounds at the beginning.
    pub warmup: u64,
    /// Number of timed rounds. `None`: at least [`FEWEST_RUNS`], and until `time` is spent.
    pub runs: Option<u64>,
    /// Time for the timed runs of each command.
    pub time: Duration,
    /// Limit on each process, preparations included.
    pub timeout: Option<Duration>,
    /// Whether a run that fails counts like any other.
    pub ignores_failure: bool,
    /// The file that each command reads as standard input; `None` for an empty one.
    pub input: Option<PathBuf>,
    /// Where the standard output of the commands goes. That of preparations goes to `/dev/null`.
    pub output: CommandOutput,
    /// The empty shell, if commands need one: it is timed in each round.
    pub empty_shell: Option<Vec<String>>,
    /// Seed of the order of the commands in each round.
    pub seed: u64,
}

/// Fewest runs without a given number.
pub const FEWEST_RUNS: u64 = 10;

/// Most runs without a given number.
pub const MOST_RUNS: u64 = 1000;

/// The timed runs of one command.
#[derive(Clone, Debug, Default)]
pub struct TimedRuns {
    /// The runs by round.
    pub runs: BTreeMap<u64, CommandRun>,
    /// Why the command was given up.
    pub failure: Option<CommandFailure>,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandFailure {
    /// The program that failed: of the command, or of its preparation.
    pub is_preparation: bool,
    /// How it ended.
    pub end: CommandEnd,
    /// The last lines of its standard error.
    pub messages: String,
}

/// The results of [`time_commands`].
#[derive(Clone, Debug, Default)]
pub struct TimedCommands {
    /// The runs of each command, in the order of the commands.
    pub commands: Vec<TimedRuns>,
    /// The runs of the empty shell by round.
    pub shell: BTreeMap<u64, CommandRun>,
    /// Whether a stop was requested.
    pub interrupted: bool,
}

/// Times the commands. `progress` gets the number of completed rounds and the expected number of
/// all rounds.
pub fn time_commands(
    commands: &[TimedCommand],
    plan: &CommandPlan,
    stop: &Stop,
    progress: &mut dyn FnMut(u64, u64),
) -> TimedCommands {
    let starter = Starter::new(plan.input.clone(), plan.output.clone());
    let watchdog = Watchdog::new(stop.clone(), plan.timeout);
    let mut timing = Timing {
        commands,
        plan,
        starter,
        watchdog,
        random: Rng::with_seed(plan.seed),
        found: TimedCommands {
            commands: vec![TimedRuns::default(); commands.len()],
            ..TimedCommands::default()
        },
    };
    for _ in 0..plan.warmup {
        timing.round(None, stop);
    }
    let (mut rounds, begun) = (0, Instant::now());
    while !stop.requested() && timing.is_any_left() {
        let spent = begun.elapsed();
        let all = timing.expected_rounds(rounds, spent);
        progress(rounds, all);
        if rounds >= all {
            break;
        }
        timing.round(Some(rounds), stop);
        rounds += 1;
    }
    timing.found.interrupted = stop.requested();
    timing.found
}

struct Timing<'a> {
    commands: &'a [TimedCommand],
    plan: &'a CommandPlan,
    starter: Starter,
    watchdog: Watchdog,
    random: Rng,
    found: TimedCommands,
}

impl Timing<'_> {
    fn is_any_left(&self) -> bool {
        self.found.commands.iter().any(|c| c.failure.is_none())
    }

    /// The number of rounds that fit into the time, by the mean of those before.
    fn expected_rounds(&self, rounds: u64, spent: Duration) -> u64 {
        if let Some(runs) = self.plan.runs {
            return runs;
        }
        let all = self.plan.time.as_secs_f64() * self.commands.len() as f64;
        let mean = spent.as_secs_f64() / rounds as f64;
        let fitting = if rounds == 0 { FEWEST_RUNS } else { (all / mean) as u64 };
        fitting.clamp(FEWEST_RUNS, MOST_RUNS)
    }

    /// Runs each remaining command once, and the empty shell, in random order. Without a number the
    /// runs are not kept.
    fn round(&mut self, number: Option<u64>, stop: &Stop) {
        let shell = self.plan.empty_shell.as_ref().map(|_| self.commands.len());
        let commands = 0..self.commands.len();
        let left = commands.filter(|i| self.found.commands[*i].failure.is_none());
        let mut order: Vec<usize> = left.chain(shell).collect();
        self.random.shuffle(&mut order);
        for index in order {
            if stop.requested() {
                return;
            }
            match self.commands.get(index) {
                Some(command) => self.run(index, command, number, stop),
                None => self.run_shell(number, stop),
            }
        }
    }

    fn run(&mut self, index: usize, command: &TimedCommand, number: Option<u64>, stop: &Stop) {
        if let Some(prepare) = &command.prepare {
            let end = self.starter.prepare(prepare, None, &self.watchdog);
            if stop.requested() {
                return;
            }
            if !end.is_success() {
                return self.give_up(index, true, end);
            }
        }
        let run = self.starter.run(&command.words, &self.watchdog);
        if stop.requested() {
            return;
        }
        let is_failure =
            if self.plan.ignores_failure { !run.end.is_complete() } else { !run.end.is_success() };
        if is_failure {
            return self.give_up(index, false, run.end);
        }
        if let Some(number) = number {
            self.found.commands[index].runs.insert(number, run);
        }
    }

    fn run_shell(&mut self, number: Option<u64>, stop: &Stop) {
        let Some(words) = &self.plan.empty_shell else {
            return;
        };
        let run = self.starter.run_empty_shell(words, &self.watchdog);
        if let (Some(number), false) = (number, stop.requested()) {
            self.found.shell.insert(number, run);
        }
    }

    fn give_up(&mut self, index: usize, is_preparation: bool, end: CommandEnd) {
        self.found.commands[index].failure =
            Some(CommandFailure { is_preparation, end, messages: self.starter.messages() });
    }
}
