//! `yamba predict --measure`: the application's own kernel time on this machine.

use std::time::Duration;

use yamba_compare::identity::differences;
use yamba_harness::Stop;
use yamba_jvm::library::live::Program;
use yamba_predict::{Prediction, Vector};
use yamba_record::Run;
use yamba_session::java::{self, JavaHere};
use yamba_toolchain::build::host;
use yamba_trace::live::{self, Enough, Measured, Pattern, TickBorder, Units, Workload};

use crate::cli::output::{self, StatusLine};
use crate::cli::trace::failure;
use crate::cli::{Failure, system_failure};

/// How long the application runs. Linux tells kernel from user time by samples, so short runs are
/// uncertain, most of all where the kernel has a small share.
const ENOUGH: Enough = Enough {
    least: Duration::from_secs(10),
    most: Duration::from_secs(30),
    half_width: 0.05,
    limit: Duration::from_secs(120),
};

/// Runs the application of the vector without a tracer.
pub(super) fn measured(vector: &Vector) -> Result<Measured, Failure> {
    let workload = workload(vector)?;
    let stop = Stop::on_signals().map_err(system_failure)?;
    let line = StatusLine::new(&format!(
        "running {} for up to {} s of its time",
        vector.application,
        ENOUGH.most.as_secs()
    ));
    let mut measured = live::measure(&workload, &ENOUGH, &|| stop.requested()).map_err(failure)?;
    let found = TickBorder::measure(&workload.command[0]).map_err(system_failure)?;
    measured.add_missed(found.border, vector.events());
    drop(line);
    if let Some(failure) = found.failure {
        output::note(&format!("warning: --measure: {failure}\n"));
    }
    let used = Duration::from_secs_f64((measured.user_ns + measured.kernel_ns) / 1e9);
    if used.is_zero() {
        return Err(Failure::new(format!(
            "--measure: {} used no processor time in {} s",
            vector.application,
            ENOUGH.limit.as_secs()
        ))
        .help("a vector needs a load that keeps the application busy"));
    }
    if let Some(status) = measured.failure {
        output::note(&format!(
            "warning: {}: {status}: the measured time is that of a command that failed\n",
            vector.application
        ));
    }
    if used < ENOUGH.least {
        output::note(&format!(
            "{} used only {:.1} s of processor time in {} s, so its measured time is uncertain\n",
            vector.application,
            used.as_secs_f64(),
            ENOUGH.limit.as_secs()
        ));
    }
    if measured.is_biased {
        output::note(
            "without a control group, the kernel's share of short processes is too low: run as root, where /proc/self/mounts lists a cgroup2\n",
        );
    }
    Ok(measured)
}

/// Samples the program of a Java vector in a virtual machine, and puts its class-library time
/// beside the prediction.
pub(super) fn of_java(
    vector: &Vector,
    here: &JavaHere,
    prediction: &mut Prediction,
) -> Result<(), Failure> {
    let program = Program { command: vector.command.clone(), hides_output: true };
    let units = vector.units_each().unwrap_or(1.0);
    let line = StatusLine::new(&format!("running {} for 10 s of its time", vector.application));
    let sampled = program.sample(&here.jvm, &here.jars).map_err(java::failure)?;
    drop(line);
    let all = f64::from(sampled.runs) * units;
    prediction.compare_with(
        sampled.in_library_ns() / all,
        sampled.interval_ns().map(|end| end / all),
        sampled.program_ns / all,
        all,
    );
    Ok(())
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
/// here.
pub(super) fn is_of_this_machine(reference: &str, run: &Run) -> Result<(), Failure> {
    let here = Run::new(yamba_session::machine(&host()));
    let found = differences(run, &here);
    if let Some(difference) = found.identity.first() {
        let told = difference.describe("there", "here");
        return Err(Failure::new(format!(
            "--measure: {reference} is a run of another machine: {told}"
        ))
        .help("measure the costs here: yamba run --only-tag primitive"));
    }
    for difference in found.state.iter().filter(|d| d.name == "kernel") {
        let told = difference.describe(&format!("in {reference}"), "here");
        output::note(&format!("warning: {told}\n"));
    }
    Ok(())
}
