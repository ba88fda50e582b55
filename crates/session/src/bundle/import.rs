//! Computes the runs that bundles recorded.

use std::time::Duration;

use yamba_fleet::bundle::{Archive, Capture, Plan, RecordedLaunch, RecordedPoint, captures};
use yamba_harness::replay::{self, Exit, Recording};
use yamba_harness::{Job, NoProgram, Options, Program};
use yamba_machine::{Answers, recorded};
use yamba_record::Run;

use crate::Failure;
use crate::jobs::listing;

/// A run that a bundle recorded.
#[derive(Debug)]
pub struct Imported {
    pub run: Run,
    /// The names of the captures that have parts of the run.
    pub files: Vec<String>,
    /// The missing parts of the captures, in words.
    pub lost: Vec<String>,
    /// The bundle, if its facts about the programs are missing: the capture of a serial line does
    /// not have them.
    pub lacks_bundle: Option<String>,
}

/// Computes the runs in captures, each with its name and content. The captures of one run are
/// merged. `bundle` has what a serial line does not carry.
///
/// # Errors
/// If a capture is damaged beyond use.
pub fn import(files: &[(&str, &[u8])], bundle: Option<&Archive>) -> Result<Vec<Imported>, Failure> {
    let found = captures(files).map_err(|(name, why)| {
        Failure::new(format!("{name}: {why}")).help("get the capture again, or the rest of it")
    })?;
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    if found.is_empty() {
        return Err(Failure::new(format!("{}: no frame has a right checksum", names.join(", ")))
            .help("check the rate of the line, its stop bits and its flow control"));
    }
    if let Some(archive) = bundle
        && let Some(other) = found.iter().find(|capture| !is_of(capture, archive))
    {
        let (run, own) = (&other.run, &other.bundle);
        let message = format!(
            "{}: the run {run} is of the bundle {own}, not of {}",
            other.files_of_run.join(", "),
            archive.id
        );
        return Err(
            Failure::new(message).help("--bundle names the bundle that printed the capture")
        );
    }
    found.into_iter().map(|capture| imported(capture, bundle)).collect()
}

fn imported(mut capture: Capture, bundle: Option<&Archive>) -> Result<Imported, Failure> {
    let own = bundle.filter(|archive| is_of(&capture, archive));
    if let Some(archive) = own {
        capture.plan = Some(archive.plan.clone());
        capture.sources.clone_from(&archive.sources);
    }
    let Some(plan) = capture.plan.take() else {
        let (run, names) = (&capture.run, capture.files_of_run.join(", "));
        return Err(Failure::new(format!("{names}: the run {run} has lost its plan"))
            .help("`yamba import --bundle FILE` takes the plan from the bundle itself"));
    };
    let has_facts = plan.programs.iter().any(|p| !p.provenance.files.is_empty());
    let lacks_bundle = (!has_facts).then(|| capture.bundle.clone());
    let lost = std::mem::take(&mut capture.lost);
    let files = std::mem::take(&mut capture.files_of_run);
    let (run, missing) = run(capture, &plan)?;
    Ok(Imported { run, files, lost: [lost, missing].concat(), lacks_bundle })
}

/// Whether a capture may be one of this bundle. A damaged one does not say of which it is.
fn is_of(capture: &Capture, archive: &Archive) -> bool {
    capture.bundle == archive.id || capture.bundle.is_empty()
}

/// The run of a capture, and its missing launches.
fn run(capture: Capture, plan: &Plan) -> Result<(Run, Vec<String>), Failure> {
    let answers = serde_json::from_value(capture.answers.clone());
    let answers: Answers = answers.unwrap_or_default();
    let jobs = jobs(plan, capture.emulator.as_deref());
    let is_known = |point: &&RecordedPoint| point.program < plan.programs.len();
    let (known, unknown): (Vec<_>, Vec<_>) = capture.points.iter().partition(is_known);
    let mut missing: Vec<String> = unknown.into_iter().map(unknown_program).collect();
    let mut points: Vec<replay::Point> = Vec::new();
    let mut entries: Vec<u64> = Vec::new();
    for point in known {
        let lost = missing_launches(&capture, plan, point);
        missing.extend(lost.iter().map(|note| {
            let class = &plan.programs[point.program].class;
            format!("{class}{}: {note}", set_text(&point.set))
        }));
        entries.push(point.entry);
        points.push(recorded_point(point, lost));
    }
    let absent = (plan.programs.len()..jobs.len()).map(absent_point);
    points.extend(absent);
    let launches = capture.launches.iter().filter_map(|launch| {
        let point = entries.iter().position(|entry| *entry == launch.entry)?;
        Some(recorded_launch(point, launch))
    });
    let mut run = replay::replay(Recording {
        jobs: &jobs,
        options: &options(plan, capture.seed),
        machine: recorded(&capture.files, answers, &plan.isa, &plan.system),
        points,
        probes: &capture.probes,
        launches: launches.collect(),
        listing: &listing,
    });
    run.id = capture.run;
    run.started_unix_s = (capture.started_unix_s > 0.0).then_some(capture.started_unix_s);
    run.finished_unix_s = capture.finished_unix_s;
    run.interrupted = capture.interrupted;
    run.fleet = capture.fleet;
    run.producer = plan.producer.clone();
    run.producer.from_document = true;
    run.sources = capture.sources;
    Ok((run, missing))
}

/// The programs of the plan, then the benchmarks without one.
fn jobs(plan: &Plan, emulator: Option<&str>) -> Vec<Job> {
    let program = || Program {
        path: std::path::PathBuf::new(),
        runner: emulator.map(str::to_owned).into_iter().collect(),
        emulated: emulator.is_some(),
    };
    let built = plan.programs.iter().map(|planned| Job {
        class: planned.class.clone(),
        program: Ok(program()),
        provenance: planned.provenance.clone(),
        texts: std::collections::BTreeMap::new(),
    });
    let absent = plan.absent.iter().map(|(class, reason)| Job {
        class: class.clone(),
        program: Err(NoProgram::Absent(reason.clone())),
        provenance: yamba_record::run::Provenance::default(),
        texts: std::collections::BTreeMap::new(),
    });
    built.chain(absent).collect()
}

/// The options with which the bundle measured.
fn options(plan: &Plan, seed: u64) -> Options {
    let usual = if plan.quick { Options::quick() } else { Options::default() };
    Options {
        time: Duration::from_nanos(plan.time_ns),
        launches: Some(plan.launches),
        precision: plan.precision,
        seed: Some(seed),
        ..usual
    }
}

/// The message about a point of an unknown program.
fn unknown_program(point: &RecordedPoint) -> String {
    let RecordedPoint { entry, program, .. } = point;
    format!("the benchmark of entry {entry}, and so its figure: the plan has no program {program}")
}

/// Notes about launches of this entry that the capture does not have. An entry that ended early has
/// no further launches.
fn missing_launches(capture: &Capture, plan: &Plan, point: &RecordedPoint) -> Vec<String> {
    let own = capture.launches.iter().filter(|l| l.entry == point.entry);
    let last = own.clone().map(|l| l.round).max();
    let has_failed = own.clone().any(|l| l.exit != "exited" || l.number != 0);
    let is_measured = point
        .description
        .as_ref()
        .is_some_and(|d| d.skip.is_none() && d.unmet.is_none() && d.refused.is_none());
    if !is_measured {
        return Vec::new();
    }
    let end = match capture.missing_items {
        // All launches that there were are here.
        Some(0) => 0,
        Some(_) if !capture.interrupted && !has_failed => plan.launches,
        _ => last.unwrap_or(0),
    };
    let lost = capture.missing_rounds(point.entry, end).into_iter();
    lost.map(|round| format!("launch {round} is lost in the capture")).collect()
}

fn set_text(set: &[(String, String)]) -> String {
    set.iter().map(|(name, value)| format!(" {name}={value}")).collect()
}

fn recorded_point(point: &RecordedPoint, lost: Vec<String>) -> replay::Point {
    replay::Point {
        job: point.program,
        settings: point.set.clone(),
        status: point.status,
        description: point.description.clone(),
        messages: point.messages.clone(),
        lost,
    }
}

/// The point of a benchmark without a program.
fn absent_point(job: usize) -> replay::Point {
    replay::Point {
        job,
        settings: Vec::new(),
        status: 4,
        description: None,
        messages: String::new(),
        lost: Vec::new(),
    }
}

fn recorded_launch(point: usize, launch: &RecordedLaunch) -> replay::Launch {
    replay::Launch {
        point,
        round: launch.round,
        quiet_width: launch.quiet_width,
        batch_ns: launch.batch_ns,
        started: Duration::from_nanos(launch.started_ns),
        took: Duration::from_nanos(launch.took_ns),
        batches_took: Duration::from_nanos(launch.batches_took_ns),
        exit: match launch.exit.as_str() {
            "signalled" => Exit::Signalled(launch.number),
            "hung" => Exit::Hung,
            "timed_out" => Exit::TimedOut,
            "flooded" => Exit::Flooded,
            "not_started" => Exit::NotStarted,
            _ => Exit::Exited(launch.number),
        },
        messages: launch.messages.clone(),
        orphans: launch.orphans.clone(),
        records: launch.records.clone(),
    }
}
