//! Which entries a run has: every benchmark at every point with every number of processes.

use std::time::Duration;

use yamba_record::number::number;
use yamba_record::run::About;
use yamba_record::{Benchmark, Status};

use super::child::Limits;
use super::options::Options;
use super::points::{self, Point};
use super::scratch::Scratch;
use super::{Job, NoProgram, Program, UsageError, describe, recorded, thin};

/// One figure to measure.
pub(super) struct Entry<'a> {
    pub class: &'a str,
    pub program: &'a Program,
    pub about: &'a About,
    pub point: Point,
    pub processes: u64,
    /// For all its launches.
    pub time: Duration,
    /// What the plan itself has to say of it.
    pub notes: Vec<String>,
}

/// An entry, or what is known without measuring.
pub(super) enum Planned<'a> {
    Settled(Box<Benchmark>),
    Measure(Box<Entry<'a>>),
}

pub(super) fn plan<'a>(
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
        all.extend(swept(job, &options.of(at), scratch, limits)?);
    }
    Ok(all)
}

fn swept<'a>(
    job: &'a Job,
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
) -> Result<Vec<Planned<'a>>, UsageError> {
    let settled = |b| Ok(vec![Planned::Settled(Box::new(b))]);
    let program = match &job.program {
        Ok(program) => program,
        Err(NoProgram::Absent(reason)) => return settled(recorded::skipped(&job.class, reason)),
        Err(NoProgram::Unbuilt(reason)) => {
            let notes = vec![reason.clone()];
            return settled(Benchmark::ended(&job.class, Status::Crashed, notes));
        }
    };
    let describe = |settings: &[(String, String)]| {
        describe::describe(program, settings, &scratch.of(&job.class), limits)
    };
    match points::expand(options, &describe) {
        Ok(points) => Ok(entries(job, program, options, points)),
        Err(points::Refused::Usage(text)) => Err(UsageError(text)),
        Err(points::Refused::Skip(reason)) => settled(recorded::skipped(&job.class, &reason)),
        Err(points::Refused::Crash(notes)) => {
            settled(Benchmark::ended(&job.class, Status::Crashed, notes))
        }
    }
}

fn entries<'a>(
    job: &'a Job,
    program: &'a Program,
    options: &Options,
    mut points: Vec<Point>,
) -> Vec<Planned<'a>> {
    let mut time = options.time;
    let mut notes = Vec::new();
    let all = points.len();
    if let Some(whole) = options.benchmark_time {
        points = thinned(points, |values| {
            thin::thin(values, options.processes.len(), whole)
        });
        if points.len() < all {
            notes.push(format!(
                "{} of {all} points of its sweep: {} s are not enough for {} ms a point",
                points.len(),
                number(whole.as_secs_f64()),
                thin::LEAST.as_millis()
            ));
        }
        let shares = points.len() * options.processes.len();
        time = part(whole, shares);
    } else if options.whole && options.sweep.is_empty() {
        // A sweep that was asked for is measured as it was asked for.
        points = thinned(points, thin::few);
        if points.len() < all {
            notes.push(format!(
                "{} of {all} points: `yamba run {}` measures all",
                points.len(),
                job.class
            ));
        }
        time = time.min(part(options.whole_time(), points.len()));
    }
    let entry = |point: &Point, processes: &u64| {
        Planned::Measure(Box::new(Entry {
            class: &job.class,
            program,
            about: &job.about,
            point: point.clone(),
            processes: *processes,
            time,
            notes: notes.clone(),
        }))
    };
    let each = points.iter();
    each.flat_map(|point| options.processes.iter().map(move |p| entry(point, p)))
        .collect()
}

fn part(time: Duration, shares: usize) -> Duration {
    time / u32::try_from(shares.max(1)).unwrap_or(u32::MAX)
}

fn thinned(
    points: Vec<Point>,
    choose: impl Fn(&[&[(String, String)]]) -> Vec<usize>,
) -> Vec<Point> {
    let values: Vec<&[(String, String)]> = points.iter().map(|p| p.settings.as_slice()).collect();
    let kept = choose(&values);
    let each = points.into_iter().enumerate();
    each.filter(|(i, _)| kept.contains(i))
        .map(|(_, point)| point)
        .collect()
}
