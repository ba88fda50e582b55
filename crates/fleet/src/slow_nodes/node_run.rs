//! The part of a run's document that a fleet's report needs.

use yamba_compare::identity::{Fingerprint, fingerprint};
use yamba_record::{Benchmark, Run, Status};
use yamba_stats::{median, variance};

/// The heading of figures whose document names no topic.
const NO_TOPIC: &str = "Other benchmarks";

#[derive(Clone, Debug, Default)]
pub struct NodeRun {
    /// The node's name.
    pub node: String,
    /// The fleet. `None` if the document names none.
    pub fleet: Option<String>,
    /// The job. `None` if the document names none.
    pub job: Option<String>,
    /// The run's id.
    pub id: String,
    /// Start of the run, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// The facts that divide machines into classes.
    pub fingerprint: Fingerprint,
    /// The figures that count.
    pub figures: Vec<FigureLevel>,
    /// Number of figures that do not count, by reason.
    pub left_out: LeftOut,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureLevel {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// The topic of the benchmark, such as `Memory`.
    pub resource: String,
    /// The natural logarithms of the launches' medians, ascending; with the opposite sign for a
    /// bandwidth, so that more is always slower. Not empty.
    pub launches: Vec<f64>,
}

impl FigureLevel {
    /// The median of the launches.
    pub fn slowness(&self) -> f64 {
        median(&self.launches).unwrap_or(f64::NAN)
    }

    /// Squared standard error of the mean of the launches. 0 for a single launch.
    pub fn squared_error(&self) -> f64 {
        variance(&self.launches).unwrap_or(0.0) / self.launches.len() as f64
    }
}

/// Figures that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Disturbed. Modes and slow nodes are found by single levels, and even within bounds the level
    /// of a disturbed figure could be anywhere.
    pub disturbed: usize,
    /// Invalid or crashed.
    pub invalid: usize,
    pub skipped: usize,
    /// Without a better direction, or without a positive launch.
    pub without_direction: usize,
}

impl NodeRun {
    /// The summary of a run. `node` is the name of the node if the document names none.
    pub fn new(run: &Run, node: &str) -> NodeRun {
        let member = run.fleet.as_ref();
        let mut summary = NodeRun {
            node: member.map_or(node, |member| &member.node).to_owned(),
            fleet: member.map(|member| member.name.clone()),
            job: member.and_then(|member| member.job.clone()),
            id: run.id.clone(),
            started_unix_s: run.started_unix_s,
            fingerprint: fingerprint(run),
            ..NodeRun::default()
        };
        for benchmark in &run.benchmarks {
            match level(benchmark) {
                Ok(level) => summary.figures.push(level),
                Err(count) => *count(&mut summary.left_out) += 1,
            }
        }
        summary
    }
}

/// Selects the counter of a reason.
type Reason = fn(&mut LeftOut) -> &mut usize;

fn level(of: &Benchmark) -> Result<FigureLevel, Reason> {
    match of.status {
        Status::Ok if of.interference.is_disturbed => return Err(|l| &mut l.disturbed),
        Status::Ok => {}
        Status::Skipped | Status::NotStarted => return Err(|l| &mut l.skipped),
        Status::Invalid | Status::Crashed => return Err(|l| &mut l.invalid),
    }
    let sign = match of.declaration.figure.as_deref() {
        Some("latency") => 1.0,
        Some("bandwidth" | "rate") => -1.0,
        _ => return Err(|l| &mut l.without_direction),
    };
    let launches = of.launches.iter().filter_map(|launch| launch.median);
    let mut logarithms: Vec<f64> = launches.map(|m| sign * m.ln()).collect();
    logarithms.sort_by(f64::total_cmp);
    if logarithms.is_empty() || !logarithms.iter().all(|l| l.is_finite()) {
        return Err(|l| &mut l.without_direction);
    }
    let topic = of.declaration.provenance.topic.as_deref().unwrap_or(NO_TOPIC);
    Ok(FigureLevel { key: of.label(), resource: topic.to_owned(), launches: logarithms })
}
