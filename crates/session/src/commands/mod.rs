//! Times whole commands: expands parameters, chooses how each command is started, and computes the figures of a run.

mod expand;
mod figures;
mod words;

use yamba_harness::{CommandPlan, Stop, TimedCommand, drawn_id, time_commands, unix_s};
use yamba_lang::Target;
use yamba_record::run::{Plan, Producer};
use yamba_record::{Parameters, Run};

use super::Failure;
use super::neighbours::machine;
use expand::expanded;
use words::Start;

/// Commands to time, as a user writes them.
#[derive(Clone, Debug)]
pub struct Request {
    /// The commands.
    pub commands: Vec<String>,
    /// Names of the first commands.
    pub names: Vec<String>,
    /// Untimed commands before each run: none, one for all commands, or one for each.
    pub prepare: Vec<String>,
    /// Parameters with their values, which replace `{NAME}` in commands and preparations.
    pub parameters: Vec<(String, Vec<String>)>,
    /// How commands are started.
    pub shell: Shell,
    /// How they are timed. [`prepare_commands`] chooses the empty shell.
    pub plan: CommandPlan,
    /// The arguments of this program, for the record.
    pub arguments: Vec<String>,
}

/// How commands are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// By `/bin/sh` if the command has something that only a shell understands, else directly.
    Automatic,
    /// Directly.
    None,
    /// By this shell.
    Named(String),
}

/// A command with the values of its parameters.
#[derive(Clone, Debug, PartialEq)]
struct Expanded {
    name: String,
    command: String,
    prepare: Option<String>,
    parameters: Parameters,
}

/// Commands that are ready to be timed.
pub struct PreparedCommands {
    expanded: Vec<Expanded>,
    starts: Vec<Start>,
    timed: Vec<TimedCommand>,
    plan: CommandPlan,
    arguments: Vec<String>,
}

/// Expands the commands, and checks that each can be started.
///
/// # Errors
/// If a command, a name, a parameter or a file cannot be used.
pub fn prepare_commands(request: Request) -> Result<PreparedCommands, Failure> {
    let expanded = expanded(&request)?;
    if let Some(path) = &request.plan.input
        && let Err(e) = std::fs::File::open(path)
    {
        return Err(Failure::new(format!("--input {}: {e}", path.display()))
            .help("name a file that can be read"));
    }
    let starts = expanded
        .iter()
        .map(|e| words::start(&e.command, &request.shell));
    let starts: Vec<Start> = starts.collect::<Result<_, _>>()?;
    let preparation = |e: &Expanded| {
        let prepare = e.prepare.as_deref();
        let start = prepare.map(|p| words::start(p, &Shell::Named(words::SHELL.to_owned())));
        start.transpose()
    };
    let mut timed = Vec::new();
    for (expanded, start) in expanded.iter().zip(&starts) {
        timed.push(TimedCommand {
            words: start.words.clone(),
            prepare: preparation(expanded)?.map(|start| start.words),
        });
    }
    let shell = starts.iter().find_map(|start| start.shell.clone());
    Ok(PreparedCommands {
        plan: CommandPlan {
            empty_shell: shell.map(|shell| vec![shell, "-c".to_owned(), String::new()]),
            ..request.plan
        },
        expanded,
        starts,
        timed,
        arguments: request.arguments,
    })
}

impl PreparedCommands {
    /// Times the commands. `progress` gets the number of completed rounds and the expected number of all rounds.
    ///
    /// # Errors
    /// If there is no room for temporary files.
    pub fn measure(
        &self,
        target: &Target,
        stop: &Stop,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Run, Failure> {
        let mut run = Run::new(machine(target));
        run.id = drawn_id();
        run.started_unix_s = unix_s();
        let stolen = yamba_machine::processor_ticks();
        let timed = time_commands(&self.timed, &self.plan, stop, progress).map_err(|e| {
            Failure::new(format!("cannot make a temporary file: {e}"))
                .help("TMPDIR names another folder")
        })?;
        run.finished_unix_s = unix_s();
        run.interrupted = timed.interrupted;
        run.plan = Plan {
            seed: self.plan.seed,
            launches: self.plan.runs.unwrap_or(yamba_harness::FEWEST_RUNS),
            batches: 1,
            time_ns: self.plan.time.as_nanos() as u64,
            placement: "free".to_owned(),
            ..Plan::default()
        };
        run.producer = Producer {
            version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
            arguments: self.arguments.clone(),
            ..Producer::default()
        };
        let stolen = stolen.zip(yamba_machine::processor_ticks());
        let stolen = stolen.and_then(|(before, after)| after.stolen_since(before));
        run.benchmarks = figures::benchmarks(self, &timed, stolen);
        Ok(run)
    }
}
