//! Can figures be trusted here? Measures what is known before it is measured, and compares.
//!
//! The benchmarks are those of `suite/selftest` and the suite's chains of instructions. What a figure has to be is in
//! [`documented`] and here; whether it is, is decided by the pure functions of [`verdict`].

mod documented;
mod hog;
mod measure;
mod verdict;

use std::time::Duration;

use yamba_lang::model::Target;
use yamba_record::{Benchmark, Machine};

use hog::Hog;
pub use measure::{Answered, Prepared, prepare};
use verdict::Attempt;
pub use verdict::{Answer, Check, Outcome, Trust, answer};
use yamba_harness::{self as run, Job, Options, Placement, Progress, Stop, UsageError};

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
    /// Whether any benchmark had a figure.
    pub has_figure: bool,
}

/// The checks that were made, and what a reader must know of them.
pub struct Checked {
    /// In the order in which a reader wants them.
    pub checks: Vec<Check>,
    /// Why fewer documented latencies are compared than there are.
    pub note: Option<String>,
}

/// Makes all checks.
pub fn selftest(means: &mut Means<'_>, machine: &Machine) -> Result<Checked, UsageError> {
    let identity = documented::Identity::of(machine, &yamba_machine::cpuinfo());
    let documented = documented::documented(&identity);
    let mut checks = Vec::new();
    for known in &documented.known {
        let judge = |figure: &Benchmark| {
            let mut check = verdict::cycles(known.class, known.cycles, 0.0, figure);
            check.note.get_or_insert(known.source.to_owned());
            check
        };
        means.check(&mut checks, known.class, &[], &judge)?;
    }
    for delay in DELAYS {
        let name = format!("an added delay of {delay} cycles");
        let judge =
            |figure: &Benchmark| verdict::cycles(&name, delay as f64, AROUND_A_DELAY, figure);
        means.check(&mut checks, "known_delay", &[("delay", delay)], &judge)?;
    }
    means.check(&mut checks, "known_time", &[], &|figure| {
        verdict::same_time("100 us by another clock", 100_000.0, figure)
    })?;
    means.check(&mut checks, "known_sleep", &[], &|figure| {
        verdict::at_least("a sleep of 1 ms", 1_000_000.0, figure)
    })?;
    means.check(&mut checks, "known_fault", &[], &|figure| {
        verdict::caught("a page fault in every pass", figure)
    })?;
    means.settled(&mut checks, &mut competitor)?;
    Ok(Checked {
        checks,
        note: documented.note,
    })
}

/// The same benchmark alone and beside a process that competes for its processor.
fn competitor(means: &mut Means<'_>, options: &Options) -> Result<Attempt, UsageError> {
    let name = "a competing process on the same processor";
    let quiet = means.figure(BESIDE_A_HOG, &[], options)?;
    if quiet.median.is_none() {
        return Ok(Attempt {
            check: verdict::disturbed(name, &quiet, &quiet),
            disturbance: None,
        });
    }
    let cpu = quiet.placement.as_ref().and_then(|p| p.cpu);
    let Some(hog) = cpu.and_then(|cpu| Some((cpu, Hog::on(cpu)?))) else {
        let why = "this system gives no way to keep two processes on one processor";
        return Ok(Attempt {
            check: verdict::skipped(name, why),
            disturbance: None,
        });
    };
    let beside = Options {
        placement: Placement::On(hog.0),
        ..options.clone()
    };
    let figure = means.figure(BESIDE_A_HOG, &[], &beside)?;
    drop(hog);
    Ok(Attempt {
        check: verdict::disturbed(name, &quiet, &figure),
        disturbance: verdict::disturbance(&quiet, yamba_machine::others_running()),
    })
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

/// A second measurement takes twice as long and has more launches, of which the slowest and the fastest may be left out.
fn longer() -> Options {
    Options {
        time: 2 * options().time,
        launches: Some(9),
        ..options()
    }
}

/// Measures a check once, in this way.
type Measure<'a> = dyn FnMut(&mut Means<'_>, &Options) -> Result<Attempt, UsageError> + 'a;

impl Means<'_> {
    /// Makes a check of one benchmark.
    fn check(
        &mut self,
        checks: &mut Vec<Check>,
        class: &str,
        set: &[(&str, u64)],
        judge: &dyn Fn(&Benchmark) -> Check,
    ) -> Result<(), UsageError> {
        self.settled(checks, &mut |means, options| {
            let figure = means.figure(class, set, options)?;
            Ok(Attempt {
                check: judge(&figure),
                disturbance: verdict::disturbance(&figure, yamba_machine::others_running()),
            })
        })
    }

    /// Measures a check, and again if it has not passed. A measurement that the user stops is no answer.
    fn settled(
        &mut self,
        checks: &mut Vec<Check>,
        measure: &mut Measure<'_>,
    ) -> Result<(), UsageError> {
        if self.stop.requested() {
            return Ok(());
        }
        let first = measure(self, &options())?;
        let is_settled = matches!(first.check.outcome, Outcome::Passed | Outcome::Skipped);
        let second = match is_settled || self.stop.requested() {
            true => None,
            false => Some(measure(self, &longer())?),
        };
        if !self.stop.requested() {
            checks.push(verdict::settle(first, second));
        }
        Ok(())
    }

    fn figure(
        &mut self,
        class: &str,
        set: &[(&str, u64)],
        options: &Options,
    ) -> Result<Benchmark, UsageError> {
        let options = Options {
            set: set
                .iter()
                .map(|(n, v)| ((*n).to_owned(), v.to_string()))
                .collect(),
            ..options.clone()
        };
        let jobs = [(self.job)(class)];
        let nothing = |_: &_, _| None;
        let measurement = run::Measurement {
            jobs: &jobs,
            options: &options,
            isa: &self.target.isa,
            system: &self.target.system,
            progress: &mut *self.progress,
            stop: self.stop,
            listing: &nothing,
        };
        let run = measurement.run()?;
        let first = run.benchmarks.into_iter().next();
        let figure = first.unwrap_or_else(|| run::no_figure(class));
        self.has_figure |= figure.median.is_some();
        Ok(figure)
    }
}
