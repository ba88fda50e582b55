//! Compares two builds of a program that has benchmarks of another harness, or two commands.
//!
//! The unit of observation is the process. Fresh processes of both sides alternate in random order,
//! and each prints a figure of each benchmark by its own harness. Measuring goes on until each
//! benchmark is decided, or the time is over.

mod adapter;
mod adapters;
mod alone;
mod git;
mod launcher;
mod own_options;
mod program;
mod rounds;
mod series;
mod worktrees;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use yamba_compare::sequential::judge;
use yamba_compare::{Comparison, Interleaved};
use yamba_harness::{RunSink, Stop, drawn_id, unix_s};
use yamba_lang::Target;
use yamba_record::run::{HarnessProgram, Plan as RunPlan, Producer};
use yamba_record::{Machine, Run, RunHead};
use yamba_store::without_password;

use super::commands::command_words;
use super::limits::Limit;
use super::store_sink::StoreSink;
use super::{Failure, Observer, StoreChoice, TemporaryFolder, neighbours, temporary_folder};
use adapter::Adapter;
pub use alone::{Alone, measure_alone};
use program::Side;
use rounds::{Ended, Rounds};
pub use worktrees::Worktrees;

/// Two programs to compare.
#[derive(Clone, Debug)]
pub struct Request {
    /// The base, and the head that is compared with it.
    pub sides: [Words; 2],
    /// The adapter that the user names. `None`: the programs are asked.
    pub adapter: Option<String>,
    /// How both are measured.
    pub plan: Plan,
    /// The arguments of this program, for the record.
    pub arguments: Vec<String>,
}

/// A program as a user writes it.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder that it runs in. `None`: the present one.
    pub folder: Option<PathBuf>,
}

impl Words {
    /// A program with its arguments, which quotes may hold together.
    ///
    /// # Errors
    /// If a quote is not closed.
    pub fn program(text: &str) -> Result<Words, Failure> {
        Ok(Words { words: command_words(text, false)?, folder: None })
    }

    /// A whole command. If it has something that only a shell understands, it is started by one.
    ///
    /// # Errors
    /// If it has no program, or one that is not found.
    pub fn command(text: &str) -> Result<Words, Failure> {
        Ok(Words { words: command_words(text, true)?, folder: None })
    }

    /// Two whole commands. If one needs a shell, both are started by it: its time is part of both.
    ///
    /// # Errors
    /// Those of [`command`](Words::command).
    pub fn commands(texts: [&str; 2]) -> Result<[Words; 2], Failure> {
        let [base, head] = [Words::command(texts[0])?, Words::command(texts[1])?];
        let is_by_shell = |side: &Words, text: &str| side.words[1..] == ["-c", text];
        let needs = [is_by_shell(&base, texts[0]), is_by_shell(&head, texts[1])];
        let by_shell = |words: Words, text: &str, needs: bool| {
            let shell = ["/bin/sh", "-c", text].map(str::to_owned);
            if needs { words } else { Words { words: shell.into(), folder: None } }
        };
        Ok(if needs[0] == needs[1] {
            [base, head]
        } else {
            [by_shell(base, texts[0], needs[0]), by_shell(head, texts[1], needs[1])]
        })
    }
}

/// How two programs are measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How each process is started.
    pub launch: LaunchPlan,
    /// The time after which measuring ends. Six rounds are always measured.
    pub time: Duration,
    /// The limits of a gate.
    pub limits: Vec<Limit>,
    /// Benchmarks without a limit are measured until their difference is known to be smaller than
    /// this, or to be one: 0.05 for 5 %.
    pub resolution: f64,
}

/// How the processes of a program are started.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// How long each process measures each benchmark, where its harness has an option for that.
    pub benchmark_time: Duration,
    /// The longest time of a process. `None`: no limit.
    pub timeout: Option<Duration>,
    /// The untimed command before each process.
    pub prepare: Option<Vec<String>>,
    /// Seed of the layouts, and of the order in each round.
    pub seed: u64,
}

/// A step of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Complete rounds.
    pub rounds: u64,
    /// The number of rounds at the next look.
    pub next: u64,
    /// Undecided benchmarks. `None` before the first look.
    pub undecided: Option<usize>,
    /// Time so far.
    pub spent: Duration,
    /// [`Plan::time`].
    pub time: Duration,
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The runs of base and head.
    pub runs: [Run; 2],
    /// Their comparison with its verdicts.
    pub found: Comparison,
    /// The ids of the runs that are stored.
    pub stored: Vec<String>,
    /// Why a program was given up before the end.
    pub given_up: Option<String>,
    /// The failed processes of programs that were not given up.
    pub failures: Vec<String>,
    /// Parts of the programs' results that were not understood.
    pub left_out: Vec<String>,
    /// Numbers of the programs' results that are not compared, each with the reason.
    pub not_compared: Vec<String>,
    /// The median share of their time that the processes were ready to run, while others had the
    /// processor. `None` where the kernel does not count it.
    pub waiting: Option<f64>,
    /// The number of benchmarks whose processor time is compared, because both sides wait for
    /// other things in about the same, small share of their time.
    pub by_processor: usize,
}

/// The runs of both sides without their entries.
#[derive(Clone, Debug)]
struct Heads([RunHead; 2]);

/// Two programs of one harness, ready to be measured.
pub struct Prepared {
    sides: [Side; 2],
    adapter: &'static dyn Adapter,
    request: Request,
    scratch: TemporaryFolder,
}

/// Finds the programs, and asks them which harness they were written for.
///
/// # Errors
/// If a program is not found, or the harness of the two is not known or not the same.
pub fn prepare(request: Request, stop: &Stop) -> Result<Prepared, Failure> {
    let adapter = request.adapter.as_deref().map(named).transpose()?;
    let scratch = temporary_folder("yamba-ab-")?;
    let [base, head] = request.sides.clone();
    let mut sides =
        [Side::new("base", base.words, base.folder)?, Side::new("head", head.words, head.folder)?];
    // An adapter may choose its options by the help of the program. A command is not asked: it
    // would run.
    if adapter.is_none_or(|adapter| adapter.name() != adapters::COMMAND) {
        sides.iter_mut().try_for_each(|side| side.ask(stop, scratch.path()))?;
    }
    let adapter = adapter.map_or_else(|| common(&sides), Ok)?;
    sides.iter().try_for_each(|side| own_options::check(side, adapter))?;
    Ok(Prepared { sides, adapter, request, scratch })
}

fn named(name: &str) -> Result<&'static dyn Adapter, Failure> {
    adapters::named(name).ok_or_else(|| {
        Failure::new(format!("--adapter: {name} is not known"))
            .help(format!("it is one of {}", adapters::names().join(", ")))
    })
}

fn common(sides: &[Side; 2]) -> Result<&'static dyn Adapter, Failure> {
    let [base, head] = [sides[0].adapter()?, sides[1].adapter()?];
    if base.name() == head.name() {
        return Ok(base);
    }
    let (base, head) = (base.name(), head.name());
    Err(Failure::new(format!("--base is a program of {base}, --head of {head}"))
        .help("both must be of one harness; --adapter names it, --command times whole commands"))
}

impl Prepared {
    /// The name of the adapter.
    pub fn adapter(&self) -> &'static str {
        self.adapter.name()
    }

    /// Measures both sides, and stores their runs. `step` hears of each round.
    ///
    /// # Errors
    /// If the first process of a side fails.
    pub fn measure(
        &self,
        target: &Target,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
        step: &mut dyn FnMut(&Step),
    ) -> Result<Outcome, Failure> {
        let heads = self.heads(target);
        let mut kept = Kept::open(store, observer)?;
        let plan = &self.request.plan;
        let sides = [&self.sides[0], &self.sides[1]];
        let rounds = Rounds::new(sides, self.adapter, plan, heads, self.scratch.path(), stop);
        let ended = rounds.measure(step, &mut |runs| kept.keep(&self.stored(runs)))?;
        let Ended {
            mut runs,
            mut found,
            rounds,
            failures,
            given_up,
            left_out,
            not_compared,
            waiting,
            by_processor,
        } = ended;
        let are_one = self.sides[0].is_like(&self.sides[1]);
        found.benchmarks.iter_mut().for_each(|entry| entry.is_one_program = are_one);
        let stopped = given_up.clone().or(stop.requested().then(|| "interrupted".to_owned()));
        let first_lines = failures.iter().filter_map(|failure| failure.lines().next());
        let short = first_lines.map(|line| line.trim_end_matches(':').to_owned()).collect();
        let interleaved = Interleaved { rounds, stopped, failures: short };
        judge(&mut found, interleaved, &|entry| plan.question(&entry.of.name));
        for run in &mut runs {
            run.finished_unix_s = unix_s();
            run.plan.launches = rounds;
        }
        let stored = kept.finish(&self.stored(&runs))?;
        Ok(Outcome {
            runs,
            found,
            stored,
            given_up,
            failures,
            left_out,
            not_compared: not_compared.into_iter().collect(),
            waiting,
            by_processor,
        })
    }

    /// The runs as the store has them.
    fn stored<'a>(&self, runs: &'a [Run; 2]) -> Cow<'a, [Run; 2]> {
        if self.adapter.name() != adapters::COMMAND {
            return Cow::Borrowed(runs);
        }
        let prepare = self.request.plan.launch.prepare.as_deref();
        Cow::Owned([0, 1].map(|side| {
            adapters::stored_command(&runs[side], &self.sides[side].program.line(), prepare)
        }))
    }

    fn heads(&self, target: &Target) -> Heads {
        let machine = neighbours::machine(target);
        let head = |side: &Side| {
            let adapter = self.adapter.name();
            let Request { plan, arguments, .. } = &self.request;
            let mut head = head(machine.clone(), adapter, side, &plan.launch, arguments);
            head.plan.time_ns = plan.time.as_nanos() as u64;
            head
        };
        Heads([head(&self.sides[0]), head(&self.sides[1])])
    }
}

/// The run of one program without its entries.
fn head(
    machine: Machine,
    adapter: &str,
    side: &Side,
    plan: &LaunchPlan,
    arguments: &[String],
) -> RunHead {
    let mut head = RunHead::new(machine);
    head.id = drawn_id();
    head.started_unix_s = unix_s();
    head.plan =
        RunPlan { seed: plan.seed, batches: 1, placement: "free".to_owned(), ..RunPlan::default() };
    head.producer = Producer {
        version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
        arguments: arguments.iter().map(|a| without_password(a)).collect(),
        harness: Some(Box::new(HarnessProgram {
            adapter: adapter.to_owned(),
            version: String::new(),
            words: side.program.words.clone(),
            folder: side.program.folder.as_ref().map(|folder| folder.display().to_string()),
            ..HarnessProgram::default()
        })),
        ..Producer::default()
    };
    head
}

/// The stored runs of both sides.
struct Kept<'o> {
    sinks: [StoreSink<'o>; 2],
    has_begun: bool,
}

impl<'o> Kept<'o> {
    fn open(store: &StoreChoice, observer: &'o dyn Observer) -> Result<Kept<'o>, Failure> {
        let base = StoreSink::open(store, store.named().is_some(), observer)?;
        let head = base.another(store)?;
        Ok(Kept { sinks: [base, head], has_begun: false })
    }

    /// Keeps the runs as they are now.
    ///
    /// # Errors
    /// If the store that the user named takes no run.
    fn keep(&mut self, runs: &[Run; 2]) -> Result<(), Failure> {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        for (sink, run) in self.sinks.iter_mut().zip(runs) {
            if !has_begun {
                sink.begin(&run.head, &[])?;
            }
            let entries = run.benchmarks.iter().enumerate();
            entries.for_each(|(place, entry)| sink.entry(place, entry));
        }
        Ok(())
    }

    /// Ends the runs. Those without a complete round are not stored. Returns the ids of the runs
    /// that are stored completely.
    fn finish(mut self, runs: &[Run; 2]) -> Result<Vec<String>, Failure> {
        if !self.has_begun {
            return Ok(Vec::new());
        }
        self.keep(runs)?;
        let both = self.sinks.iter_mut().zip(runs);
        Ok(both.filter_map(|(sink, run)| sink.finish(run).then(|| run.id.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_commands_are_started_in_the_same_way() {
        let words = |base: &str, head: &str| {
            Words::commands([base, head]).unwrap().map(|side| side.words.join(" "))
        };
        assert_eq!(words("true", "true a"), ["true", "true a"]);
        assert_eq!(words("true", "true; true"), ["/bin/sh -c true", "/bin/sh -c true; true"]);
        assert_eq!(words("true | true", "true"), ["/bin/sh -c true | true", "/bin/sh -c true"]);
        let both = ["/bin/sh -c cd /; true", "/bin/sh -c true | true"];
        assert_eq!(words("cd /; true", "true | true"), both);
    }
}
