//! Plans the entries of a run: every benchmark at every point with every number of processes or
//! threads.

use std::time::Duration;

use yamba_record::number::number;
use yamba_record::program::Program as Description;
use yamba_record::run::Provenance;
use yamba_record::{Benchmark, Note, Status, Workers};

use super::child::Limits;
use super::job::{Job, NoProgram, Program, UsageError};
use super::options::Options;
use super::points::{self, Point, Refused};
use super::scratch::Scratch;
use super::{assemble, describe, subsample_sweep};

/// An entry to measure: a benchmark at one point with one number of processes or threads.
pub(super) struct PlannedEntry<'a> {
    pub class: &'a str,
    pub program: &'a Program,
    pub provenance: &'a Provenance,
    pub point: Point,
    pub workers: Workers,
    /// Time for all its launches.
    pub time: Duration,
    /// Notes of the planning step.
    pub notes: Vec<String>,
}

/// An entry to measure, or a result that is known without measuring.
pub(super) enum Planned<'a> {
    Settled(Box<Benchmark>),
    /// The class has an error, which the first note describes.
    Faulty(Box<Benchmark>),
    Measure(Box<PlannedEntry<'a>>),
}

impl Planned<'_> {
    /// Gives a known result the parameters of this point and the number of processes or threads.
    fn at_point(mut self, point: &Point, workers: Workers) -> Self {
        if let Planned::Settled(benchmark) | Planned::Faulty(benchmark) = &mut self {
            let named = assemble::not_started_point(&point.program, workers);
            benchmark.parameters = named.parameters;
            benchmark.declaration.swept = named.declaration.swept;
            benchmark.environment.processes = workers.processes;
            benchmark.environment.threads = workers.threads;
        }
        self
    }
}

/// Plans the entries of all jobs, each with its job's index. An error in a class costs its own
/// figures only; if every job has one, the result is an error.
pub(super) fn plan<'a>(
    jobs: &'a [Job],
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Vec<(usize, Planned<'a>)>, UsageError> {
    let mut all = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let planned = job_plan(job, &options.for_job(number), scratch, limits)?;
        all.extend(planned.into_iter().map(|p| (number, p)));
    }
    let fault = |planned: &(usize, Planned<'_>)| match &planned.1 {
        Planned::Faulty(benchmark) => benchmark.reason().map(Note::to_string),
        _ => None,
    };
    let faults: Option<Vec<String>> = all.iter().map(fault).collect();
    match faults {
        Some(mut faults) if !faults.is_empty() => {
            faults.dedup();
            Err(UsageError(faults.join("\n")))
        }
        _ => Ok(all),
    }
}

fn job_plan<'a>(
    job: &'a Job,
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Vec<Planned<'a>>, UsageError> {
    let Some(points) = options.points.get(&job.class) else {
        return swept(job, options, scratch, limits);
    };
    let mut all = Vec::new();
    for at in points {
        all.extend(swept(job, &options.at(at), scratch, limits)?);
    }
    Ok(all)
}

fn swept<'a>(
    job: &'a Job,
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Vec<Planned<'a>>, UsageError> {
    let program = match &job.program {
        Ok(program) => program,
        Err(NoProgram::Absent(reason)) => return Ok(vec![skipped(job, reason)]),
        Err(NoProgram::Unbuilt(reason)) => {
            return Ok(vec![Planned::Settled(crashed(job, vec![reason.clone()]))]);
        }
    };
    let folder = scratch.folder(&job.class);
    let describe = |settings: &[(String, String)], workers: Workers| {
        describe::describe(program, settings, workers, &folder, limits)
    };
    match points::expand(options, &|settings| describe(settings, Workers::ONE)) {
        Ok(points) => entries(job, program, options, points, &describe),
        Err(refused) => Ok(vec![unmeasured(job, refused)?]),
    }
}

fn skipped<'a>(job: &Job, reason: &str) -> Planned<'a> {
    Planned::Settled(Box::new(assemble::skipped(&job.class, reason)))
}

fn not_started<'a>(job: &Job) -> Planned<'a> {
    Planned::Settled(Box::new(assemble::not_started(&job.class)))
}

fn crashed(job: &Job, notes: Vec<String>) -> Box<Benchmark> {
    let notes = notes.into_iter().map(Note::Text).collect();
    Box::new(Benchmark::ended(&job.class, Status::Crashed, notes))
}

/// The result for a benchmark whose program gives no description.
fn unmeasured<'a>(job: &Job, refused: Refused) -> Result<Planned<'a>, UsageError> {
    Ok(match refused {
        Refused::Usage(text) => return Err(UsageError(text)),
        Refused::Skip(reason) => skipped(job, &reason),
        Refused::Stopped => not_started(job),
        Refused::Crash(notes) => Planned::Settled(crashed(job, notes)),
        Refused::Fault(text) => Planned::Faulty(crashed(job, vec![text])),
    })
}

/// Plans one point by the answer of the program that was recorded at that point.
pub(super) fn recorded<'a>(
    job: &'a Job,
    options: &Options,
    settings: Vec<(String, String)>,
    answer: Result<Description, Refused>,
) -> Planned<'a> {
    let settled = |refused| match unmeasured(job, refused) {
        Ok(planned) => planned,
        Err(UsageError(text)) => Planned::Settled(crashed(job, vec![text])),
    };
    if let Err(NoProgram::Absent(reason) | NoProgram::Unbuilt(reason)) = &job.program {
        return skipped(job, reason);
    }
    let program = match (&job.program, answer) {
        (Ok(program), Ok(answer)) if answer.skip.is_none() => (program, answer),
        (_, Ok(answer)) => return settled(Refused::Skip(answer.skip.unwrap_or_default())),
        (_, Err(refused)) => return settled(refused),
    };
    let (program, description) = program;
    let point = Point { settings, program: description };
    let points = vec![point.clone()];
    let again = |_: &[(String, String)], _| Ok(point.program.clone());
    let entries = entries(job, program, options, points, &again);
    match entries.map(|mut all| all.pop()) {
        Ok(Some(planned)) => planned,
        _ => not_started(job),
    }
}

/// Asks a program for its description with these settings and this number of processes or threads.
type Describe<'a> = dyn Fn(&[(String, String)], Workers) -> Result<Description, Refused> + 'a;

fn entries<'a>(
    job: &'a Job,
    program: &'a Program,
    options: &Options,
    mut points: Vec<Point>,
    describe: &Describe<'_>,
) -> Result<Vec<Planned<'a>>, UsageError> {
    let mut time = options.time;
    let mut notes = Vec::new();
    let is_met = |point: &Point| point.program.unmet.is_none();
    let (met, unmet): (Vec<Point>, Vec<Point>) = points.into_iter().partition(is_met);
    points = met;
    let all = points.len();
    if let Some(whole) = options.benchmark_time {
        let loads = options.workers.len();
        points = subsampled(points, |values| subsample_sweep::subsample(values, loads, whole));
        let left = points.len();
        if left < all {
            notes.push(format!(
                "{left} of {all} points of its sweep: {} s are not enough for {} ms a point",
                number(whole.as_secs_f64()),
                subsample_sweep::LEAST.as_millis()
            ));
        }
        time = part(whole, left * loads);
    } else if options.whole && options.sweep.is_empty() {
        // A sweep that the user asked for is measured in full.
        points = subsampled(points, subsample_sweep::few);
        let (left, class) = (points.len(), &job.class);
        if left < all {
            notes.push(format!("{left} of {all} points: `yamba run {class}` measures all"));
        }
        time = time.min(part(options.whole_time(), left));
    }
    let entry = |point: &Point, workers: Workers| match under_load(point, workers, describe) {
        Ok(point) if point.program.unmet.is_some() => {
            Ok(skipped(job, &not_met(&point)).at_point(&point, workers))
        }
        Ok(point) if point.program.refused.is_some() => {
            let notes = point.program.refused.as_deref().map(without_option);
            let crashed = crashed(job, notes.into_iter().collect());
            Ok(Planned::Settled(crashed).at_point(&point, workers))
        }
        Ok(point) => Ok(Planned::Measure(Box::new(PlannedEntry {
            class: &job.class,
            program,
            provenance: &job.provenance,
            notes: notes.iter().chain(&point.program.notes).cloned().collect(),
            point,
            workers,
            time,
        }))),
        Err(refused) => Ok(unmeasured(job, refused)?.at_point(point, workers)),
    };
    let each = points.iter().chain(&unmet);
    each.flat_map(|point| options.workers.iter().map(move |p| (point, *p)))
        .map(|(point, workers)| entry(point, workers))
        .collect()
}

/// The reason of a point whose parameters do not fulfil a condition of the benchmark.
fn not_met(point: &Point) -> String {
    let condition = point.program.unmet.as_deref().unwrap_or_default();
    format!("not measured with these parameters: it requires {condition}")
}

/// The benchmark's refusal of values of its own, which no option gave.
fn without_option(refusal: &str) -> String {
    refusal.replace("--set ", "")
}

/// A copy of the point for this number of processes or threads. With several, the bounds of its
/// evidence are queried again, since they may depend on the number. Several threads are always
/// queried, since the program may skip them.
fn under_load(point: &Point, workers: Workers, describe: &Describe<'_>) -> Result<Point, Refused> {
    let mut evidence = point.program.evidence.iter();
    let mut point = point.clone();
    let may_depend = evidence.any(|e| e.expects.is_some());
    if workers.threads > 1 || (workers.are_several() && may_depend) {
        let described = describe(&point.settings, workers)?;
        // Some benchmarks run in several processes, but not in several threads.
        if let Some(reason) = described.skip {
            return Err(Refused::Skip(reason));
        }
        point.program.evidence = described.evidence;
    }
    Ok(point)
}

fn part(time: Duration, shares: usize) -> Duration {
    time / u32::try_from(shares.max(1)).unwrap_or(u32::MAX)
}

fn subsampled(
    points: Vec<Point>,
    choose: impl Fn(&[&[(String, String)]]) -> Vec<usize>,
) -> Vec<Point> {
    let values: Vec<&[(String, String)]> = points.iter().map(|p| p.settings.as_slice()).collect();
    let kept = choose(&values);
    let each = points.into_iter().enumerate();
    each.filter(|(i, _)| kept.contains(i)).map(|(_, point)| point).collect()
}
