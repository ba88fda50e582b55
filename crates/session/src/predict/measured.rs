//! The application's own times on this machine.

use std::time::Duration;

use yamba_compare::identity::differences;
use yamba_jvm::library::live::Program;
use yamba_predict::Vector;
use yamba_predict::prediction::MeasuredTimes;
use yamba_record::Run;
use yamba_toolchain::build::host;
use yamba_trace::live::{
    self, Enough, Measured, Pattern, TickBorder, Units, Workload, unmeasured_calls,
};

use super::{Callbacks, Notice};
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
    let time = format!("up to {} s", ENOUGH.most.as_secs());
    let measured = running(application, &time, callbacks, || {
        let mut measured =
            live::measure(&workload, &ENOUGH, &|| stop.requested()).map_err(failure)?;
        let border = TickBorder::measure().map_err(system_failure)?;
        measured.add_missed(border, vector.events());
        Ok(measured)
    })?;
    let unmeasured = unmeasured_calls(&workload.command[0]);
    let warnings = warnings(application, &measured, unmeasured.as_deref())?;
    (callbacks.notice)(Notice::Lines(warnings));
    Ok(MeasuredTimes {
        kernel_ns: measured.kernel_ns_each(),
        by_ticks_ns: Some(measured.kernel_ns_by_ticks()),
        interval_ns: measured.interval_ns(),
        user_ns: measured.user_ns_each(),
        units: measured.units,
        error: None,
    })
}

/// Refuses a measurement without time, and names what makes it uncertain.
fn warnings(
    application: &str,
    measured: &Measured,
    unmeasured_calls: Option<&str>,
) -> Result<String, Failure> {
    let limit_s = ENOUGH.limit.as_secs();
    let used = Duration::from_secs_f64((measured.user_ns + measured.kernel_ns) / 1e9);
    if used.is_zero() {
        return Err(Failure::new(format!(
            "--measure: {application} used no processor time in {limit_s} s"
        ))
        .help("a vector needs a load that keeps the application busy"));
    }
    let mut text = String::new();
    if let Some(reason) = unmeasured_calls {
        text += &format!("warning: --measure: {reason}\n");
    }
    if let Some(end) = measured.failure {
        text += &format!(
            "warning: {application}: {end}: the measured time is that of a command that failed\n"
        );
    }
    if used < ENOUGH.least {
        text += &format!(
            "{application} used only {:.1} s of processor time in {limit_s} s, so its measured time is uncertain\n",
            used.as_secs_f64()
        );
    }
    if measured.is_biased {
        text += "without a control group, the kernel's share of short processes is too low: run as root, where /proc/self/mounts lists a cgroup2\n";
    }
    Ok(text)
}

/// Samples the program of a Java vector in a virtual machine.
pub(super) fn java_times(
    vector: &Vector,
    here: &JavaHere,
    callbacks: Callbacks,
) -> Result<MeasuredTimes, Failure> {
    let program = Program { command: vector.command.clone(), hides_output: true };
    let units = vector.units_each().unwrap_or(1.0);
    let sampled = running(&vector.application, "10 s", callbacks, || {
        program.sample(&here.jvm, &here.jars).map_err(java::failure)
    })?;
    let all = f64::from(sampled.runs) * units;
    Ok(MeasuredTimes {
        kernel_ns: sampled.in_library_ns() / all,
        by_ticks_ns: None,
        interval_ns: sampled.interval_ns().map(|end| end / all),
        user_ns: sampled.program_ns / all,
        units: all,
        error: None,
    })
}

/// Runs an application, and says so meanwhile.
fn running<T>(
    application: &str,
    time: &str,
    callbacks: Callbacks,
    run: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let line = format!("running {application} for {time} of its time");
    (callbacks.notice)(Notice::Running(line));
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
/// here. Returns a warning if the kernel is another one.
pub(super) fn check_machine(reference: &str, run: &Run) -> Result<String, Failure> {
    let here = Run::new(crate::machine(&host()));
    let found = differences(run, &here);
    if let Some(difference) = found.identity.first() {
        let difference = difference.describe("there", "here");
        return Err(Failure::new(format!(
            "--measure: {reference} is a run of another machine: {difference}"
        ))
        .help("measure the costs here: yamba run --only-tag primitive"));
    }
    let kernel = found.state.iter().filter(|d| d.name == "kernel");
    let there = format!("in {reference}");
    Ok(kernel.map(|d| format!("warning: {}\n", d.describe(&there, "here"))).collect())
}
