//! Plans a run without measuring: which entries, and how long they would take. Programs run only to describe themselves.

use std::time::Duration;

use serde::Serialize;
use yamba_record::{Parameters, Status};

use super::child::Limits;
use super::job::{Job, UsageError};
use super::launches::Launches;
use super::options::Options;
use super::plan::{self, Planned};
use super::points;
use super::scratch::Scratch;
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
    /// Processes at the same time.
    pub processes: u64,
    /// Fresh processes, at least; 0 if the entry would not be measured.
    pub launches: u64,
    /// Estimated time of all its launches.
    pub time_s: f64,
    /// Why the entry would not be measured.
    pub skipped: Option<String>,
    /// Further notes of the plan.
    pub notes: Vec<String>,
}

/// Plans a run as `Measurement::run` does.
///
/// # Errors
/// If the parameters are not understood.
pub fn dry_run(jobs: &[Job], options: &Options, stop: &Stop) -> Result<DryRun, UsageError> {
    let scratch = Scratch::new();
    let limits = Limits::of(options, stop, &scratch);
    let planned = plan::plan(jobs, options, &scratch, &limits)?;
    let each = planned.into_iter();
    let benchmarks: Vec<DryRunEntry> = each.map(|(_, p)| dry_run_entry(p, options)).collect();
    Ok(DryRun {
        schema: "yamba-plan/1",
        launches: benchmarks.iter().map(|b| b.launches).sum(),
        time_s: benchmarks.iter().map(|b| b.time_s).sum(),
        disk_room: limits.room.all,
        benchmarks,
    })
}

fn dry_run_entry(planned: Planned<'_>, options: &Options) -> DryRunEntry {
    match planned {
        Planned::Measure(entry) => {
            let notes = entry.notes.clone();
            let launches = Launches::new(*entry, options);
            let time: Duration = launches.time_left();
            let entry = &launches.entry;
            DryRunEntry {
                name: entry.class.to_owned(),
                parameters: points::parameters(&entry.point.program),
                processes: entry.processes,
                launches: launches.left(),
                time_s: time.as_secs_f64(),
                skipped: None,
                notes,
            }
        }
        Planned::Settled(benchmark) | Planned::Faulty(benchmark) => DryRunEntry {
            name: benchmark.name,
            parameters: benchmark.parameters,
            processes: benchmark.processes,
            launches: 0,
            time_s: 0.0,
            skipped: match benchmark.status {
                Status::Skipped => benchmark.notes.first().cloned(),
                _ => None,
            },
            notes: benchmark.notes,
        },
    }
}
