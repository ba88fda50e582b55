//! The self-test: measures quantities that are known in advance, and compares the figures with
//! them.
//!
//! The benchmarks are those of `suite/selftest` and the suite's chains of instructions. The
//! expected figures are in [`documented`] and here; the pure functions of [`verdict`] decide
//! whether the measured ones agree.

mod documented;
mod measure;
mod verdict;

use std::time::Duration;

use yamba_lang::model::Target;
use yamba_record::{Benchmark, Machine};

use super::contention::Contention;
use measure::Hog;
pub use measure::{Answered, Prepared, prepare};
use verdict::Attempt;
pub use verdict::{Answer, Check, Outcome, Trust, answer};
use yamba_harness::{self as run, Job, Options, Placement, Progress, Stop, UsageError};

/// Cycles that the delay check adds.
const DELAYS: [u64; 3] = [1, 10, 100];

/// Cycles of the dependency chain around the added delay; parameter `apart` of `known_delay`.
const AROUND_A_DELAY: f64 = 12.0;

/// The benchmark that is measured beside a competing process.
const BESIDE_A_HOG: &str = "lat_integer_add";

/// The dependencies of a measurement of one check.
pub struct Means<'a> {
    /// Builds the program of a class.
    pub job: &'a dyn Fn(&str) -> Job,
    /// The target of the programs.
    pub target: &'a Target,
    /// Receives the progress.
    pub progress: &'a mut dyn Progress,
    /// Requests an early end.
    pub stop: &'a Stop,
    /// Whether any benchmark had a figure.
    pub has_figure: bool,
    /// The share of the time in which another hardware thread used the same core.
    contention: Contention,
}

/// The completed checks, with a note.
pub struct Checked {
    /// In the order of presentation.
    pub checks: Vec<Check>,
    /// Why some documented latencies are not compared.
    pub note: Option<String>,
    /// The share of the time in which another hardware thread used the same core, from 0 to 1.
    /// `None` without probes.
    pub contended: Option<f64>,
}

/// The file in `benches/data` with the published latencies and throughputs of this machine's
/// instructions. `cpuinfo` is the text of `/proc/cpuinfo`.
///
/// # Errors
/// If the core is unknown or has no such file, with the reason.
pub fn published_table(machine: &Machine, cpuinfo: &str) -> Result<&'static str, String> {
    documented::table(&documented::Identity::new(machine, cpuinfo))
}

/// Makes all checks.
pub fn selftest(means: &mut Means<'_>, machine: &Machine) -> Result<Checked, UsageError> {
    let identity = documented::Identity::new(machine, &yamba_machine::cpuinfo());
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
    Ok(Checked { checks, note: documented.note, contended: means.contention.share() })
}

/// Measures a benchmark alone, and beside a process that competes for its processor.
fn competitor(means: &mut Means<'_>, options: &Options) -> Result<Attempt, UsageError> {
    let name = "a competing process on the same processor";
    let quiet = means.figure(BESIDE_A_HOG, &[], options)?;
    let undisturbed = |check| Attempt { check, disturbance: None };
    if quiet.median.is_none() {
        return Ok(undisturbed(verdict::disturbed(name, &quiet, &quiet)));
    }
    let latest = quiet.launches.last();
    let cpu = latest.and_then(|launch| launch.placement.as_ref()?.cpu);
    let Some(hog) = cpu.and_then(|cpu| Some((cpu, Hog::on(cpu)?))) else {
        let why = "this system gives no way to keep two processes on one processor";
        return Ok(undisturbed(verdict::skipped(name, why)));
    };
    let beside = Options { placement: Placement::On(hog.0), ..options.clone() };
    let figure = means.figure(BESIDE_A_HOG, &[], &beside)?;
    drop(hog);
    Ok(Attempt {
        check: verdict::disturbed(name, &quiet, &figure),
        disturbance: verdict::disturbance(&quiet, yamba_machine::others_running()),
    })
}

/// Options of the first measurement: short, but with enough launches for an interval that covers
/// the next launch.
fn options() -> Options {
    Options {
        time: Duration::from_millis(900),
        precision: 0.001,
        launches: Some(6),
        ..Options::default()
    }
}

/// Options of the second measurement: twice as long, with enough launches that the interval may
/// exclude the slowest and the fastest.
fn longer() -> Options {
    Options { time: 2 * options().time, launches: Some(9), ..options() }
}

/// Measures a check once with the given options.
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

    /// Measures a check, and re-measures it if it does not pass. A check that the user stops is not
    /// recorded.
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
        let again = !is_settled && !self.stop.requested();
        let second = again.then(|| measure(self, &longer())).transpose()?;
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
        let set = set.iter().map(|(n, v)| ((*n).to_owned(), v.to_string()));
        let options = Options { set: set.collect(), ..options.clone() };
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
            neighbours: crate::neighbours::neighbours(),
        };
        let run = measurement.run()?;
        self.contention.add(&run.benchmarks);
        let first = run.benchmarks.into_iter().next();
        let figure = first.unwrap_or_else(|| run::not_started(class));
        self.has_figure |= figure.median.is_some();
        Ok(figure)
    }
}
