//! Times whole commands: expands parameters, chooses how each command is started, and computes the
//! figures of a run.

mod expand;
mod figures;
mod words;

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use yamba_harness::{
    CommandOutput, CommandPlan, Stop, TimedCommand, drawn_id, time_commands, unix_s,
};
use yamba_lang::Target;
use yamba_record::run::{Plan, Producer};
use yamba_record::{Parameters, Run};

use super::Failure;
use super::neighbours::machine;
use expand::expanded;
use words::Start;
pub(crate) use words::{in_path, may_execute};

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

/// The program and the arguments of a command. If `may_need_shell`, a command with something that
/// only a shell understands is started by `/bin/sh`.
///
/// # Errors
/// If it has no program, or one that is not found.
pub(crate) fn command_words(command: &str, may_need_shell: bool) -> Result<Vec<String>, Failure> {
    if may_need_shell {
        return Ok(words::start(command, &Shell::Automatic)?.words);
    }
    words::split(command)
}

/// A command with the values of its parameters.
#[derive(Clone, Debug, PartialEq)]
struct Expanded {
    /// The position of its command in the request.
    index: usize,
    name: String,
    command: String,
    prepare: Option<String>,
    parameters: Parameters,
    /// The parameters as they were written.
    values: Vec<(String, String)>,
}

/// Commands that are ready to be timed.
pub struct PreparedCommands {
    expanded: Vec<Expanded>,
    starts: Vec<Start>,
    timed: Vec<TimedCommand>,
    plan: CommandPlan,
    output_is_null: bool,
    arguments: Vec<String>,
}

/// Expands the commands, and checks that each can be started.
///
/// # Errors
/// If a command, a name, a parameter or a file cannot be used.
pub fn prepare_commands(request: Request) -> Result<PreparedCommands, Failure> {
    let expanded = expanded(&request)?;
    let starts = expanded.iter().map(|e| words::start(&e.command, &request.shell));
    let starts: Vec<Start> = starts.collect::<Result<_, _>>()?;
    let preparation = |e: &Expanded| {
        let prepare = e.prepare.as_deref();
        let start = prepare.map(|p| words::by_shell(words::SHELL, p));
        start.transpose()
    };
    let mut timed = Vec::new();
    for (expanded, start) in expanded.iter().zip(&starts) {
        timed.push(TimedCommand {
            words: start.words.clone(),
            prepare: preparation(expanded)?.map(|start| start.words),
        });
    }
    check_files(&request.plan)?;
    let shell = starts.iter().find_map(|start| start.shell.as_deref());
    let empty_shell = shell.map(|shell| words::by_shell(shell, "")).transpose()?;
    Ok(PreparedCommands {
        output_is_null: request.plan.output.is_null(),
        plan: CommandPlan { empty_shell: empty_shell.map(|start| start.words), ..request.plan },
        expanded,
        starts,
        timed,
        arguments: request.arguments,
    })
}

/// Checks that input and output can be opened. Makes the file of the output empty.
fn check_files(plan: &CommandPlan) -> Result<(), Failure> {
    if let Some(path) = &plan.input
        && let Err(e) = File::open(path)
    {
        return Err(Failure::new(format!("--input {}: {e}", path.display()))
            .help("name a file that can be read"));
    }
    let CommandOutput::File(output) = &plan.output else {
        return Ok(());
    };
    let identity = |path: &Path| path.metadata().ok().map(|m| (m.dev(), m.ino()));
    if let Some(input) = &plan.input
        && identity(input).is_some_and(|input| Some(input) == identity(output))
    {
        let path = output.display();
        return Err(Failure::new(format!("--output {path}: it is the file of --input"))
            .help("name another file: each run makes it empty first"));
    }
    File::create(output).map(|_| ()).map_err(|e| {
        Failure::new(format!("--output {}: {e}", output.display()))
            .help("name a file that can be written, or pipe, null or inherit")
    })
}

impl PreparedCommands {
    /// Times the commands. `progress` gets the number of completed rounds and the expected number
    /// of all rounds.
    pub fn measure(&self, target: &Target, stop: &Stop, progress: &mut dyn FnMut(u64, u64)) -> Run {
        let mut run = Run::new(machine(target));
        run.id = drawn_id();
        run.started_unix_s = unix_s();
        let stolen = yamba_machine::processor_ticks();
        let timed = time_commands(&self.timed, &self.plan, stop, progress);
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
        run
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    pub fn message_of<T>(refused: Result<T, Failure>) -> String {
        match refused {
            Err(Failure::Sentence { message, .. }) => message,
            _ => panic!("it is not refused"),
        }
    }

    /// Commands without names, preparations and parameters.
    pub fn request(commands: &[&str]) -> Request {
        Request {
            commands: commands.iter().map(|c| (*c).to_owned()).collect(),
            names: Vec::new(),
            prepare: Vec::new(),
            parameters: Vec::new(),
            shell: Shell::Automatic,
            plan: CommandPlan {
                warmup: 0,
                runs: None,
                time: Duration::from_secs(1),
                timeout: None,
                ignores_failure: false,
                input: None,
                output: CommandOutput::Pipe,
                empty_shell: None,
                seed: 1,
            },
            arguments: Vec::new(),
        }
    }
}
