//! Runs built programs, each point in a process of its own, and turns their raw records into a run.
//!
//! What is measured is read from a pipe as it is written, so nothing that a program does at its end can lose it. From
//! the records on everything is a pure function ([`summary`]), tested by replaying saved ones.

mod child;
mod crash;
mod describe;
mod outcome;
mod points;
mod progress;
mod reader;
mod scratch;
mod stop;
mod summary;
mod table;
mod units;
mod validity;

use std::path::PathBuf;
use std::time::Duration;

use yamba_lang::model::Target;
use yamba_record::machine::Scratch as ScratchFacts;
use yamba_record::{Benchmark, Run, Status};

use crate::machine;

pub use crash::Listing;
pub use progress::{Bar, Progress, Silent};
pub use stop::Stop;
pub use table::{Style, table};
pub use units::{number, scale};

use child::Limits;
use points::Point;
use scratch::Scratch;

/// A benchmark to measure.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its class.
    pub class: String,
    /// Its program, or why there is none here.
    pub program: Result<Program, NoProgram>,
}

/// Why a benchmark has no program. It is told where its figure would stand; the other benchmarks are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoProgram {
    /// It does not exist on this platform, or lacks a port.
    Absent(String),
    /// Its program could not be built.
    Unbuilt(String),
}

/// A built program and how it is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before it on the command line: an emulator, or nothing.
    pub runner: Vec<String>,
    /// Whether the runner stands in for another processor, so that no time means anything.
    pub emulated: bool,
}

/// What to measure of each benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Parameters with a value for the whole run.
    pub set: Vec<(String, String)>,
    /// Parameters with values to take in turn, instead of the class's own sweep.
    pub sweep: Vec<(String, Vec<String>)>,
    /// Whether the shorter sweep is taken where a class has one.
    pub quick: bool,
    /// At least so many intervals a point.
    pub intervals: u64,
    /// The time that a point is measured for.
    pub time: Duration,
    /// A program that says nothing for so long hangs.
    pub silence: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            set: Vec::new(),
            sweep: Vec::new(),
            quick: false,
            intervals: 11,
            time: Duration::from_secs(2),
            silence: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// A short look: shorter sweeps, 0.3 s a point.
    pub fn quick() -> Options {
        Options {
            quick: true,
            time: Duration::from_millis(300),
            ..Options::default()
        }
    }
}

/// The parameters were not understood: nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);

/// Measures every job. Points that crash, hang or cannot run cost their own figure only.
///
/// All parameters are checked before anything is measured. `listing` shows the code around a crash.
pub fn measure(
    jobs: &[Job],
    options: &Options,
    target: &Target,
    progress: &mut dyn Progress,
    stop: &Stop,
    listing: &Listing<'_>,
) -> Result<Run, UsageError> {
    let scratch = Scratch::new();
    let limits = Limits {
        silence: options.silence,
        stop: stop.clone(),
    };
    let mut run = Run::new(machine::probe(target));
    let mut planned = Vec::new();
    for job in jobs {
        planned.push((job, plan(job, options, &scratch, &limits)?));
    }
    progress.begin(planned.iter().map(|(_, p)| p.points.len()).sum());
    for (job, plan) in planned {
        run.benchmarks.extend(plan.settled);
        for point in &plan.points {
            if stop.requested() {
                break;
            }
            progress.point(&job.class, &point.parameters());
            let benchmark = measure_point(job, point, options, &scratch, &limits, listing);
            note_scratch(&mut run, &benchmark);
            run.benchmarks.push(benchmark);
        }
        scratch.clear(&job.class);
    }
    run.interrupted = stop.requested();
    progress.end(run.interrupted);
    Ok(run)
}

/// The points of a job, and what is known of it without measuring.
#[derive(Default)]
struct Plan {
    settled: Option<Benchmark>,
    points: Vec<Point>,
}

fn plan(
    job: &Job,
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Plan, UsageError> {
    let settled = |b| {
        Ok(Plan {
            settled: Some(b),
            points: Vec::new(),
        })
    };
    let program = match &job.program {
        Ok(program) => program,
        Err(NoProgram::Absent(reason)) => return settled(summary::skipped(&job.class, reason)),
        Err(NoProgram::Unbuilt(reason)) => {
            let notes = vec![reason.clone()];
            return settled(summary::ended(&job.class, Status::Crashed, notes));
        }
    };
    let describe = |settings: &[(String, String)]| {
        describe::describe(program, settings, &scratch.of(&job.class), limits)
    };
    match points::expand(options, &describe) {
        Ok(points) => Ok(Plan {
            settled: None,
            points,
        }),
        Err(points::Refused::Usage(text)) => Err(UsageError(text)),
        Err(points::Refused::Skip(reason)) => settled(summary::skipped(&job.class, &reason)),
        Err(points::Refused::Crash(notes)) => {
            settled(summary::ended(&job.class, Status::Crashed, notes))
        }
    }
}

fn measure_point(
    job: &Job,
    point: &Point,
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
    listing: &Listing<'_>,
) -> Benchmark {
    let Ok(program) = &job.program else {
        return summary::skipped(&job.class, "there is no program");
    };
    let mut arguments = vec!["--run".to_owned()];
    arguments.extend(points::settings(&point.settings));
    arguments.extend([
        "--intervals".to_owned(),
        options.intervals.to_string(),
        "--time-ns".to_owned(),
        options.time.as_nanos().to_string(),
    ]);
    let outcome = child::run(program, &arguments, &scratch.of(&job.class), limits);
    if program.emulated {
        return emulated(program, point, &outcome, listing);
    }
    summary::summarise(&point.program, &outcome, listing)
}

/// An emulator's time is nobody's: physics is not asked about it, and the entry says what it is.
fn emulated(
    program: &Program,
    point: &Point,
    outcome: &outcome::Outcome,
    listing: &Listing<'_>,
) -> Benchmark {
    let mut description = point.program.clone();
    let bounds = std::mem::take(&mut description.bounds);
    let mut benchmark = summary::summarise(&description, outcome, listing);
    benchmark.bounds = bounds;
    benchmark.cycles = None;
    let by = program.runner.first().map_or("an emulator", String::as_str);
    let isa = &description.isa;
    benchmark.notes.push(format!(
        "emulated by {by}: the figure says nothing of the speed of {isa}"
    ));
    benchmark
}

/// Every program sees the same disk; the first one to say so is believed.
fn note_scratch(run: &mut Run, benchmark: &Benchmark) {
    let Some(is_memory) = benchmark.platform.get("scratch_is_memory") else {
        return;
    };
    run.machine.scratch.get_or_insert(ScratchFacts {
        is_memory: is_memory.as_bool().unwrap_or(false),
        read_ahead: benchmark
            .platform
            .get("read_ahead")
            .and_then(serde_json::Value::as_u64),
    });
}

#[cfg(test)]
mod tests;
