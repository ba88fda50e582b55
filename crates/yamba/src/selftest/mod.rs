//! Can figures be trusted here? Measures what is known before it is measured, and compares.
//!
//! The benchmarks are those of `suite/selftest` and the suite's chains of instructions. What a figure has to be is in
//! [`documented`] and here; whether it is, is decided by the pure functions of [`verdict`].

mod documented;
mod hog;
mod verdict;

use std::time::Duration;

use yamba_lang::model::Target;
use yamba_record::{Benchmark, Machine};

use crate::run::{self, Job, Options, Placement, Progress, Stop, UsageError};
use hog::Hog;
pub use verdict::{Check, Outcome};

/// Cycles that the delay check adds.
const DELAYS: [u64; 3] = [1, 10, 100];

/// Cycles of the chain between two places where the delay is added; `apart` of `known_delay`.
const AROUND_A_DELAY: f64 = 12.0;

/// The benchmark that runs beside a competitor.
const BESIDE_A_HOG: &str = "lat_integer_add";

/// How one check's measurement is made, without what it does not need.
pub struct Means<'a> {
    /// Gives a class's program.
    pub job: &'a dyn Fn(&str) -> Job,
    /// What it is built for.
    pub target: &'a Target,
    /// Shows how far it is.
    pub progress: &'a mut dyn Progress,
    /// Ends it early.
    pub stop: &'a Stop,
}

/// All checks, in the order in which a reader wants them.
pub fn selftest(means: &mut Means<'_>, machine: &Machine) -> Result<Vec<Check>, UsageError> {
    let mut checks = Vec::new();
    for known in documented::documented(machine) {
        let figure = means.figure(known.class, &[], &options())?;
        let mut check = verdict::cycles(known.class, known.cycles, 0.0, &figure);
        check.note.get_or_insert(known.source.to_owned());
        keep(means, &mut checks, check);
    }
    for delay in DELAYS {
        let name = format!("an added delay of {delay} cycles");
        let figure = means.figure("known_delay", &[("delay", delay)], &options())?;
        let check = verdict::cycles(&name, delay as f64, AROUND_A_DELAY, &figure);
        keep(means, &mut checks, check);
    }
    let spin = means.figure("known_time", &[], &options())?;
    let check = verdict::same_time("100 us by another clock", 100_000.0, &spin);
    keep(means, &mut checks, check);
    let sleep = means.figure("known_sleep", &[], &options())?;
    let check = verdict::at_least("a sleep of 1 ms", 1_000_000.0, &sleep);
    keep(means, &mut checks, check);
    let fault = means.figure("known_fault", &[], &options())?;
    let check = verdict::caught("a page fault in every pass", &fault);
    keep(means, &mut checks, check);
    let check = competitor(means)?;
    keep(means, &mut checks, check);
    Ok(checks)
}

/// What was measured while the run was being stopped is no answer.
fn keep(means: &Means<'_>, checks: &mut Vec<Check>, check: Check) {
    if !means.stop.requested() {
        checks.push(check);
    }
}

/// The same benchmark alone and beside a process that competes for its processor.
fn competitor(means: &mut Means<'_>) -> Result<Check, UsageError> {
    let name = "a competing process on the same processor";
    let quiet = means.figure(BESIDE_A_HOG, &[], &options())?;
    let cpu = quiet.placement.as_ref().and_then(|p| p.cpu);
    let Some(hog) = cpu.and_then(|cpu| Some((cpu, Hog::on(cpu)?))) else {
        return Ok(verdict::unknown(
            name,
            "this system gives no way to keep two processes on one processor",
        ));
    };
    let beside = Options {
        placement: Placement::On(hog.0),
        ..options()
    };
    let figure = means.figure(BESIDE_A_HOG, &[], &beside)?;
    drop(hog);
    Ok(verdict::disturbed(name, &quiet, &figure))
}

/// Short, but with launches enough that the interval speaks of the next one.
fn options() -> Options {
    Options {
        time: Duration::from_millis(900),
        precision: 0.001,
        launches: Some(6),
        ..Options::default()
    }
}

impl Means<'_> {
    fn figure(
        &mut self,
        class: &str,
        set: &[(&str, u64)],
        options: &Options,
    ) -> Result<Benchmark, UsageError> {
        let each = set.iter();
        let options = Options {
            set: each
                .map(|(n, v)| ((*n).to_owned(), v.to_string()))
                .collect(),
            ..options.clone()
        };
        let jobs = [(self.job)(class)];
        let nothing = |_: &_, _| None;
        let measurement = run::Measurement {
            jobs: &jobs,
            options: &options,
            target: self.target,
            progress: &mut *self.progress,
            stop: self.stop,
            listing: &nothing,
        };
        let run = measurement.run()?;
        Ok(run
            .benchmarks
            .into_iter()
            .next()
            .unwrap_or_else(|| run::no_figure(class)))
    }
}
