//! Building what is compared with itself, and measuring it with the runs stored.

use std::time::Duration;

use yamba_lang::Target;

use super::super::jobs::{job, origin};
use super::super::select::{self, Names};
use super::super::sides::Sides;
use super::super::{Failure, Observer, StoreChoice, target};
use super::{Plan, Report, noise};
use yamba_harness::random::drawn_seed;
use yamba_harness::{Job, Measurement, Options, Stop, UsageError};

/// A run of everything six times, each launch short: what a comparison is made from.
const LAUNCHES: u64 = 6;
const TIME: Duration = Duration::from_millis(600);

/// What to compare with itself, and how often.
#[derive(Clone, Debug)]
pub struct Request {
    /// The benchmarks.
    pub names: Names,
    /// The platform; this machine's without it.
    pub target: Option<String>,
    /// Comparisons to make.
    pub comparisons: u64,
    /// Time for one point with all its launches, in each run.
    pub time: Option<Duration>,
    /// Decides the order of launches and what is drawn; drawn itself without it.
    pub seed: Option<u64>,
    /// The command line or the like that asked for it, which the runs record.
    pub arguments: Vec<String>,
}

/// Built benchmarks, ready to be compared with themselves.
pub struct Prepared {
    target: Target,
    jobs: Vec<Job>,
    options: Options,
    comparisons: u64,
    seed: Option<u64>,
}

/// Reads and builds what a request names.
///
/// # Errors
/// When a name or a file is wrong.
pub fn prepare(request: &Request, observer: &dyn Observer) -> Result<Prepared, Failure> {
    let selection = select::select(&request.names, observer)?;
    let analysis = &selection.analysis;
    let target = target(request.target.as_deref(), analysis)?;
    let mut jobs = Vec::new();
    for class in selection.benchmarks()? {
        jobs.push(job(analysis, class, &target, observer)?);
    }
    let options = Options {
        launches: Some(LAUNCHES),
        time: request.time.unwrap_or(TIME),
        origin: origin(analysis, &jobs, &target, &request.arguments),
        ..Options::quick()
    };
    Ok(Prepared {
        target,
        jobs,
        options,
        comparisons: request.comparisons,
        seed: request.seed,
    })
}

impl Prepared {
    /// Measures, stores all runs, compares each with the next and counts.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn measure(
        &self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Report, Failure> {
        // Better reported before minutes of measuring than after them.
        drop(store.open()?);
        let measure = |measurement: Measurement<'_>, boundary: usize| {
            let sources = &self.options.origin.sources;
            let mut sides = Sides::open(store, boundary, sources, observer)?;
            let run = measurement.packed(&mut sides);
            let run = run.map_err(|UsageError(text)| Failure::whole(text))?;
            Ok::<_, Failure>(sides.finish(run).0)
        };
        let plan = Plan {
            jobs: &self.jobs,
            options: self.options.clone(),
            comparisons: self.comparisons,
            seed: self.seed.unwrap_or_else(drawn_seed),
            target: &self.target,
            stop,
            measure: &measure,
        };
        noise(&plan, observer.progress().as_mut())
    }
}
