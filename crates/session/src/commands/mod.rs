//! Times whole commands: expands parameters, chooses how each command is started, and computes the
//! figures of a run.

mod expand;
mod figures;
mod looks;
mod words;

use std::fs::File;

use yamba_compare::Comparison;
use yamba_harness::{
    Around, CommandOutput, CommandPlan, RunSink, Stop, TimedCommand, TimedCommands, drawn_id,
    time_commands, unix_s,
};
use yamba_lang::Target;
use yamba_record::run::{Plan, Producer};
use yamba_record::{Parameters, Run, RunHead};
use yamba_store::{inputs, without_password};

use super::limits::Limit;
use super::neighbours::machine;
use super::store_sink::StoreSink;
use super::{Failure, Observer, StoreChoice};
use expand::expanded;
pub(crate) use figures::counts;
use looks::Looks;
use words::Start;
pub(crate) use words::{in_path, may_execute};

/// Commands to time, as a user writes them.
#[derive(Clone, Debug)]
pub struct Request {
    pub commands: Vec<String>,
    /// Names of the first commands.
    pub names: Vec<String>,
    /// The command that the others are compared with, and its name. It is measured first in the
    /// list, and has no parameters. `None`: the fastest, or with a gate the first command.
    pub reference: Option<(String, Option<String>)>,
    /// Untimed commands: none, one for all commands, or one for each. The reference is the first.
    pub around: Around<Vec<String>>,
    /// Parameters with their values, which replace `{NAME}` in commands and preparations.
    pub parameters: Vec<(String, Vec<String>)>,
    /// How commands are started.
    pub shell: Shell,
    /// The limits of a gate: the slowdowns to the reference at which timing may end.
    pub limits: Vec<Limit>,
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
    around: Around<Option<String>>,
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
    limits: Vec<Limit>,
    /// Whether the first command is the one that the others are compared with.
    is_first_reference: bool,
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
    let by_shell = |text: &String| [words::SHELL, "-c", text].map(str::to_owned).to_vec();
    let timed = expanded.iter().zip(&starts).map(|(expanded, start)| TimedCommand {
        words: start.words.clone(),
        around: expanded.around.as_ref().map(|text| text.as_ref().map(by_shell)),
    });
    let timed = timed.collect();
    check_files(&request.plan)?;
    let shell = starts.iter().find_map(|start| start.shell.as_deref());
    let empty_shell = shell.map(|shell| words::by_shell(shell, "")).transpose()?;
    Ok(PreparedCommands {
        output_is_null: request.plan.output.is_null(),
        is_first_reference: request.reference.is_some() || !request.limits.is_empty(),
        limits: request.limits,
        plan: CommandPlan { empty_shell: empty_shell.map(|start| start.words), ..request.plan },
        expanded,
        starts,
        timed,
        arguments: request.arguments,
    })
}

/// Checks that input and output can be opened. Makes the file of the output empty.
fn check_files(plan: &CommandPlan) -> Result<(), Failure> {
    if let Some(path) = &plan.input {
        inputs::add(path);
        File::open(path).map_err(|e| {
            Failure::new(format!("--input {}: {e}", path.display()))
                .help("name a file that can be read")
        })?;
    }
    let CommandOutput::File(output) = &plan.output else {
        return Ok(());
    };
    let path = output.display();
    if let Some(what) = inputs::irreplaceable(output) {
        return Err(Failure::new(format!("--output {path}: it is {what}"))
            .help("name another file: each run makes it empty first"));
    }
    File::create(output).map(|_| ()).map_err(|e| {
        Failure::new(format!("--output {path}: {e}"))
            .help("name a file that can be written, or pipe, null or inherit")
    })
}

/// Timed commands.
#[derive(Clone, Debug)]
pub struct Timed {
    pub run: Run,
    /// The commands compared with the reference, with verdicts. `None` without a gate.
    pub found: Option<Comparison>,
    /// Whether the store has the complete run.
    pub is_stored: bool,
}

impl PreparedCommands {
    /// Times the commands, and stores their run. `progress` gets the number of completed rounds and
    /// the expected number of all rounds.
    ///
    /// # Errors
    /// If the store that the user named takes no run.
    pub fn measure(
        &self,
        target: &Target,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Timed, Failure> {
        let mut run = Run::from(self.head(target));
        let mut sink = StoreSink::open(store, store.named().is_some(), observer)?;
        sink.begin(&run.head, &[])?;
        let before = yamba_machine::processor_ticks();
        let stolen = || before.zip(yamba_machine::processor_ticks());
        let stolen = || stolen().and_then(|(before, after)| after.stolen_since(before));
        let mut looks = Looks::new(self.plan.runs.is_some());
        let mut is_decided = |rounds: u64, timed: &TimedCommands| {
            if !looks.is_next(rounds) {
                return false;
            }
            let benchmarks = figures::benchmarks(self, timed, stolen());
            for (place, entry) in benchmarks.iter().enumerate() {
                sink.entry(place, entry);
            }
            looks.is_decided(rounds, &benchmarks, &self.limits)
        };
        let timed = time_commands(&self.timed, &self.plan, stop, progress, &mut is_decided);
        run.finished_unix_s = unix_s();
        run.interrupted = timed.interrupted;
        run.plan.launches = timed.rounds;
        run.benchmarks = figures::benchmarks(self, &timed, stolen());
        for (place, entry) in run.benchmarks.iter().enumerate() {
            sink.entry(place, entry);
        }
        let is_stored = sink.finish(&run);
        let is_gated = !self.limits.is_empty();
        let found = is_gated.then(|| looks.judged(&run, timed.rounds, &self.limits));
        Ok(Timed { run, found, is_stored })
    }

    fn head(&self, target: &Target) -> RunHead {
        let mut head = RunHead::new(machine(target));
        head.id = drawn_id();
        head.started_unix_s = unix_s();
        head.plan = Plan {
            seed: self.plan.seed,
            launches: self.plan.runs.unwrap_or(yamba_harness::FEWEST_RUNS),
            batches: 1,
            time_ns: self.plan.time.as_nanos() as u64,
            placement: "free".to_owned(),
            ..Plan::default()
        };
        head.producer = Producer {
            version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
            arguments: self.arguments.iter().map(|a| without_password(a)).collect(),
            ..Producer::default()
        };
        head
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
            reference: None,
            around: Around::default(),
            parameters: Vec::new(),
            limits: Vec::new(),
            shell: Shell::Automatic,
            plan: CommandPlan {
                warmup: 0,
                runs: None,
                time: Duration::from_secs(1),
                timeout: None,
                ignored: Default::default(),
                input: None,
                output: CommandOutput::Pipe,
                empty_shell: None,
                seed: 1,
            },
            arguments: Vec::new(),
        }
    }
}
