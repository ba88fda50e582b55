//! Plans a run without measuring: which entries, and how long they would take. Programs run only to
//! describe themselves.

use std::time::Duration;

use serde::Serialize;
use yamba_record::{Machine, Note, Parameters, Workers};

use super::child::Limits;
use super::job::{Job, UsageError};
use super::options::Options;
use super::points;
use super::scratch::Scratch;
use super::sizes;
use super::slot::{Slot, slots};
use super::stop::Stop;

/// The plan of a run.
#[derive(Debug, Serialize)]
pub struct DryRun {
    /// `yamba-plan/1`.
    pub schema: &'static str,
    /// The entries of the run.
    pub benchmarks: Vec<DryRunEntry>,
    /// Launches of all entries, at least.
    pub launches: u64,
    /// Estimated time of all launches.
    pub time_s: f64,
    /// Bytes that the benchmarks' files may have at any time.
    pub disk_room: u64,
}

/// An entry of the plan.
#[derive(Debug, Serialize)]
pub struct DryRunEntry {
    /// The class.
    pub name: String,
    /// The point.
    pub parameters: Parameters,
    /// Processes, and threads of each, at the same time.
    #[serde(flatten)]
    pub workers: Workers,
    /// Fresh processes, at least; 0 if the entry would not be measured.
    pub launches: u64,
    /// Estimated time of all its launches.
    pub time_s: f64,
    /// Why the entry would not be measured.
    pub skipped: Option<String>,
    /// Notes of the plan. The first says why an entry without launches is not measured.
    pub notes: Vec<String>,
}

/// Plans a run as `Measurement::run` does. `machine` has what earlier runs found on it.
///
/// # Errors
/// If the parameters are not understood.
pub fn dry_run(
    jobs: &[Job],
    options: &Options,
    stop: &Stop,
    machine: Option<&Machine>,
) -> Result<DryRun, UsageError> {
    let scratch = Scratch::new();
    let limits =
        Limits { sizes: sizes::variable(options, machine), ..Limits::new(options, stop, &scratch) };
    // The plan is the same on a busy machine, where programs describe themselves slowly.
    let (slots, _) = slots(jobs, options, &scratch, &limits, || Duration::ZERO)?;
    let benchmarks: Vec<DryRunEntry> = slots.iter().map(dry_run_entry).collect();
    Ok(DryRun {
        schema: "yamba-plan/1",
        launches: benchmarks.iter().map(|b| b.launches).sum(),
        time_s: benchmarks.iter().map(|b| b.time_s).sum(),
        disk_room: limits.room.all,
        benchmarks,
    })
}

fn dry_run_entry(slot: &Slot<'_>) -> DryRunEntry {
    match slot {
        Slot::Measured(launches, None) => {
            let entry = &launches.entry;
            DryRunEntry {
                name: entry.class.to_owned(),
                parameters: points::parameters(&entry.point.program),
                workers: entry.workers,
                launches: launches.left(),
                time_s: launches.time_left().as_secs_f64(),
                skipped: None,
                notes: launches.notes().collect(),
            }
        }
        Slot::Settled(entry) | Slot::Measured(_, Some(entry)) => {
            let benchmark = entry.as_ref();
            let workers = benchmark.workers();
            DryRunEntry {
                name: benchmark.name.clone(),
                parameters: benchmark.parameters.clone(),
                workers,
                launches: 0,
                time_s: 0.0,
                skipped: benchmark
                    .reason()
                    .filter(|_| benchmark.status.is_skipped())
                    .map(Note::to_string),
                notes: benchmark.notes.iter().map(Note::to_string).collect(),
            }
        }
    }
}
