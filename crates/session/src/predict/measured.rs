//! The application's own times on this machine.

use std::time::Duration;

use yamba_compare::identity::{Difference, differences};
use yamba_jvm::Input;
use yamba_jvm::library::live::{Program, SAMPLED};
use yamba_predict::Vector;
use yamba_predict::prediction::MeasuredTimes;
use yamba_record::{Machine, Run};
use yamba_trace::live::{
    self, Enough, Fault, Measured, Pattern, TickBorder, Units, Workload, unmeasured_calls,
};

use super::Callbacks;
use super::notice::{Doubt, Notice};
use crate::java::{self, JavaHere};
use crate::trace::failure;
use crate::{Failure, system_failure};

/// How long the application runs. Linux tells kernel from user time by samples, so short runs are
/// uncertain, most of all where the kernel has a small share.
const ENOUGH: Enough = Enough {
    least: Duration::from_secs(10),
    most: Duration::from_secs(30),
    half_width: 0.05,
    limit: Duration::from_secs(120),
};

/// Runs the application of the vector without a tracer.
pub(super) fn kernel_times(
    vector: &Vector,
    callbacks: Callbacks,
) -> Result<MeasuredTimes, Failure> {
    let workload = workload(vector)?;
    let stop = (callbacks.stop)()?;
    let application = vector.application.as_str();
    let begin = Notice::Running { application, time: ENOUGH.most, is_most: true };
    let has_failed = vector.traced.as_ref().is_some_and(|traced| traced.failure.is_some());
    let measured = running(begin, callbacks, || {
        let mut measured =
            live::measure(&workload, &ENOUGH, has_failed, &|| stop.requested()).map_err(fault)?;
        if let Some(end) = measured.failure.filter(|_| !has_failed) {
            let text = format!(
                "--measure: the command of {application} failed, and did not in its trace: {end}"
            );
            return Err(Failure::new(text).help("run it where it was traced, with the same files"));
        }
        let border = TickBorder::measure().map_err(system_failure)?;
        measured.add_missed(border, vector.events());
        Ok(measured)
    })?;
    let used = check_used(application, &measured)?;
    let unmeasured = unmeasured_calls(&workload.command[0]);
    for doubt in &doubts(&measured, used, unmeasured) {
        (callbacks.notice)(Notice::Doubtful { application, doubt });
    }
    Ok(MeasuredTimes {
        kernel_ns: measured.kernel_ns_each(),
        by_ticks_ns: Some(measured.kernel_ns_by_ticks()),
        interval_ns: measured.interval_ns(),
        user_ns: measured.user_ns_each(),
        elapsed_ns: measured.elapsed_ns.map(|ns| ns / measured.units),
        units: measured.units,
        error: None,
    })
}

/// Why the application was not measured.
fn fault(fault: Fault) -> Failure {
    match fault {
        Fault::Stopped => Failure::new("--measure: stopped before the application was measured")
            .help("without `--measure`, nothing runs"),
        Fault::NotStarted(program, e) => Failure::new(format!("--measure: {program}: {e}"))
            .help("the vector names it in `command`"),
        other => failure(other),
    }
}

/// The processor time of the application.
///
/// # Errors
/// If it is 0.
fn check_used(application: &str, measured: &Measured) -> Result<Duration, Failure> {
    let used = Duration::from_secs_f64((measured.user_ns + measured.kernel_ns) / 1e9);
    if !used.is_zero() {
        return Ok(used);
    }
    let limit_s = ENOUGH.limit.as_secs();
    let failure =
        Failure::new(format!("--measure: {application} used no processor time in {limit_s} s"));
    Err(match measured.failure {
        Some(end) => failure.help(format!("its command ended with {end}: run it by itself first")),
        None => failure.help("a vector needs a load that keeps the application busy"),
    })
}

/// The reasons to doubt the measured times.
fn doubts(measured: &Measured, used: Duration, unmeasured_calls: Option<String>) -> Vec<Doubt> {
    let is_short = used < ENOUGH.least;
    let all = [
        unmeasured_calls.map(Doubt::UnmeasuredCalls),
        measured.failure.map(Doubt::Failed),
        is_short.then_some(Doubt::Short { used, within: ENOUGH.limit }),
        measured.is_biased.then_some(Doubt::WithoutControlGroup),
    ];
    all.into_iter().flatten().collect()
}

/// Samples the program of a Java vector in a virtual machine.
pub(super) fn java_times(
    vector: &Vector,
    here: &JavaHere,
    callbacks: Callbacks,
) -> Result<MeasuredTimes, Failure> {
    let stop = (callbacks.stop)()?;
    let program = Program {
        command: vector.command.clone(),
        hides_output: true,
        input: Input::of_process().map_err(system_failure)?,
        stop: stop.flag().into(),
    };
    let units = vector.units_each().unwrap_or(1.0);
    let begin = Notice::Running { application: &vector.application, time: SAMPLED, is_most: false };
    let sampled =
        running(begin, callbacks, || program.sample(&here.jvm, &here.jars).map_err(java::failure))?;
    let all = f64::from(sampled.runs) * units;
    Ok(MeasuredTimes {
        kernel_ns: sampled.in_library_ns() / all,
        by_ticks_ns: None,
        interval_ns: sampled.interval_ns().map(|end| end / all),
        user_ns: sampled.program_ns / all,
        elapsed_ns: None,
        units: all,
        error: None,
    })
}

/// Runs an application. `begin` is the notice meanwhile.
fn running<T>(
    begin: Notice,
    callbacks: Callbacks,
    run: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    (callbacks.notice)(begin);
    let found = run();
    (callbacks.notice)(Notice::RunEnded);
    found
}

fn workload(vector: &Vector) -> Result<Workload, Failure> {
    let fault = |text: String| {
        Failure::new(format!("--measure: {}: {text}", vector.application))
            .help("`yamba trace` writes a vector with a command, a load and a number of units")
    };
    if vector.command.is_empty() {
        return Err(fault("its vector has no `command`".to_owned()));
    }
    let units = match (&vector.units_from, vector.units_each()) {
        (Some(text), _) => {
            let pattern = text.parse::<Pattern>();
            Units::From(pattern.map_err(|e| fault(format!("`units_from`: {e}")))?)
        }
        (None, Some(units)) if units > 0.0 => Units::Number(units),
        _ => return Err(fault("its vector has no number of `units`".to_owned())),
    };
    Ok(Workload {
        command: vector.command.clone(),
        load: vector.load.clone(),
        runs: 1,
        rounds: 1,
        bare: Vec::new(),
        units,
        hides_output: true,
    })
}

/// Refuses a run of another machine: its prediction cannot be compared with times that are measured
/// on this one. Returns the difference if the kernel is another one.
pub(super) fn check_machine(
    reference: &str,
    run: &Run,
    here: &Machine,
) -> Result<Option<Difference>, Failure> {
    let found = differences(run, &Run::new(here.clone()));
    if let Some(difference) = found.identity.first() {
        let difference = difference.describe("there", "here");
        return Err(Failure::new(format!(
            "--measure: {reference} is a run of another machine: {difference}"
        ))
        .help("measure the costs here: yamba run --only-tag primitive"));
    }
    Ok(found.state.into_iter().find(|difference| difference.name == "kernel"))
}
