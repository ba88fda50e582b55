//! Times whole commands: a fresh process for each run, in rounds of one run of each command in
//! random order.

mod guard;
mod output;
mod process;
mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::stop::Stop;
pub use output::{CommandOutput, excerpt};
pub use process::{CommandEnd, CommandRun};
use process::{Starter, Watchdog};
pub use program::{ProgramRunner, ProgramStart};

/// A command to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The untimed commands around its runs: programs and arguments.
    pub around: Around<Option<Vec<String>>>,
}

/// The programs around the runs of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around<T> {
    /// Once before the first round of all commands.
    pub setup: T,
    /// Before each run.
    pub prepare: T,
    /// After each run.
    pub conclude: T,
    /// Once after the last round of all commands.
    pub cleanup: T,
}

impl<T> Around<T> {
    /// All four, converted.
    pub fn map<U>(self, mut convert: impl FnMut(T) -> U) -> Around<U> {
        Around {
            setup: convert(self.setup),
            prepare: convert(self.prepare),
            conclude: convert(self.conclude),
            cleanup: convert(self.cleanup),
        }
    }

    /// References to all of it.
    pub fn as_ref(&self) -> Around<&T> {
        Around {
            setup: &self.setup,
            prepare: &self.prepare,
            conclude: &self.conclude,
            cleanup: &self.cleanup,
        }
    }

    /// All four.
    pub fn into_array(self) -> [T; 4] {
        [self.setup, self.prepare, self.conclude, self.cleanup]
    }
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
    /// The failures of runs that count like successes.
    pub ignored: IgnoredFailures,
    /// The file that each command reads as standard input; `None` for an empty one.
    pub input: Option<PathBuf>,
    /// Where the standard output of the commands goes. That of preparations goes to `/dev/null`.
    pub output: CommandOutput,
    /// The empty shell, if commands need one: it is timed in each round.
    pub empty_shell: Option<Vec<String>>,
    /// Seed of the order of the commands in each round.
    pub seed: u64,
}

/// The failures of runs that count like successes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IgnoredFailures {
    /// None.
    #[default]
    None,
    /// Each exit status and each signal.
    All,
    /// These exit statuses.
    Statuses(Vec<i32>),
}

impl IgnoredFailures {
    /// Whether a run that ended in this way counts.
    #[must_use]
    pub fn counts(&self, end: &CommandEnd) -> bool {
        match (self, end) {
            (IgnoredFailures::All, end) => end.is_complete(),
            (IgnoredFailures::Statuses(statuses), CommandEnd::Exit(status)) => {
                *status == 0 || statuses.contains(status)
            }
            (_, end) => end.is_success(),
        }
    }
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
    /// The failure of the clean-up. The runs before it count.
    pub cleanup_failure: Option<CommandFailure>,
}

/// A program of a command, by the time at which it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStep {
    /// Once before all rounds.
    Setup,
    /// Before a run.
    Preparation,
    /// The timed run.
    Command,
    /// After a run.
    Conclusion,
    /// Once after all rounds.
    Cleanup,
}

/// A program that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandFailure {
    /// Which program failed.
    pub step: CommandStep,
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
    /// Number of complete timed rounds.
    pub rounds: u64,
    /// The runs of the empty shell by round.
    pub shell: BTreeMap<u64, CommandRun>,
    /// Whether a stop was requested.
    pub interrupted: bool,
}

/// Times the commands. `progress` gets the number of completed rounds and the expected number of
/// all rounds. `is_decided` gets the number of completed rounds and their results: timing ends
/// early if it returns true.
pub fn time_commands(
    commands: &[TimedCommand],
    plan: &CommandPlan,
    stop: &Stop,
    progress: &mut dyn FnMut(u64, u64),
    is_decided: &mut dyn FnMut(u64, &TimedCommands) -> bool,
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
    let begun = timing.set_up(stop);
    for _ in 0..plan.warmup {
        timing.round(None, stop);
    }
    timing.measure(stop, progress, is_decided);
    timing.clean_up(begun);
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
    fn measure(
        &mut self,
        stop: &Stop,
        progress: &mut dyn FnMut(u64, u64),
        is_decided: &mut dyn FnMut(u64, &TimedCommands) -> bool,
    ) {
        let (mut rounds, begun) = (0, Instant::now());
        while !stop.requested() && self.is_any_left() {
            let all = self.expected_rounds(rounds, begun.elapsed());
            progress(rounds, all);
            if rounds >= all {
                break;
            }
            self.round(Some(rounds), stop);
            rounds += 1;
            self.found.rounds += u64::from(!stop.requested());
            if !stop.requested() && is_decided(rounds, &self.found) {
                break;
            }
        }
    }

    /// Runs the set-up of each command. Returns the number of commands whose set-up has begun.
    fn set_up(&mut self, stop: &Stop) -> usize {
        for (index, command) in self.commands.iter().enumerate() {
            if stop.requested() {
                return index;
            }
            if let Some(words) = &command.around.setup {
                let end = self.starter.set_up(words, &self.watchdog);
                if !stop.requested() && !end.is_success() {
                    self.give_up(index, CommandStep::Setup, end);
                }
            }
        }
        self.commands.len()
    }

    /// Runs the clean-up of the first `count` commands, also after a request to stop.
    fn clean_up(&mut self, count: usize) {
        let watchdog = Watchdog::new(Stop::default(), self.plan.timeout);
        for (index, command) in self.commands.iter().enumerate().take(count) {
            let Some(words) = &command.around.cleanup else {
                continue;
            };
            let end = self.starter.set_up(words, &watchdog);
            if !end.is_success() {
                let failure = self.failure(CommandStep::Cleanup, end);
                self.found.commands[index].cleanup_failure = Some(failure);
            }
        }
        self.starter.end_set_up();
    }

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
        match self.prepared_run(command, stop) {
            Ok(run) if !stop.requested() => {
                if let Some(number) = number {
                    self.found.commands[index].runs.insert(number, run);
                }
            }
            Err((step, end)) if !stop.requested() => self.give_up(index, step, end),
            _ => {}
        }
        self.starter.end_preparation();
    }

    /// One run with its preparation and conclusion. Returns which of them failed, and how.
    fn prepared_run(
        &mut self,
        command: &TimedCommand,
        stop: &Stop,
    ) -> Result<CommandRun, (CommandStep, CommandEnd)> {
        if let Some(words) = &command.around.prepare {
            let end = self.starter.prepare(words, None, &self.watchdog);
            if stop.requested() || !end.is_success() {
                return Err((CommandStep::Preparation, end));
            }
        }
        let run = self.starter.run(&command.words, &self.watchdog);
        if stop.requested() || !self.plan.ignored.counts(&run.end) {
            return Err((CommandStep::Command, run.end));
        }
        if let Some(words) = &command.around.conclude {
            let end = self.starter.conclude(words, &self.watchdog);
            if !end.is_success() {
                return Err((CommandStep::Conclusion, end));
            }
        }
        Ok(run)
    }

    fn run_shell(&mut self, number: Option<u64>, stop: &Stop) {
        let Some(words) = &self.plan.empty_shell else {
            return;
        };
        let run = self.starter.run_empty_shell(words, &self.watchdog);
        self.starter.end_preparation();
        if let (Some(number), false) = (number, stop.requested()) {
            self.found.shell.insert(number, run);
        }
    }

    fn give_up(&mut self, index: usize, step: CommandStep, end: CommandEnd) {
        let failure = self.failure(step, end);
        self.found.commands[index].failure = Some(failure);
    }

    fn failure(&self, step: CommandStep, end: CommandEnd) -> CommandFailure {
        CommandFailure { step, end, messages: self.starter.messages() }
    }
}
