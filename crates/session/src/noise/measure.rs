//! Builds the benchmarks of a noise measurement, and stores the runs that it measures.

use std::time::Duration;

use yamba_lang::Target;

use super::super::jobs::{job, origin};
use super::super::select::{self, Names};
use super::super::sides::Sides;
use super::super::{Failure, Observer, StoreChoice, target};
use super::{NoisePlan, Report, noise};
use yamba_harness::random::drawn_seed;
use yamba_harness::{Job, Measurement, Options, Stop};

/// Launches of one run of a comparison; with `TIME` for all of them, each launch is short.
const LAUNCHES: u64 = 6;
const TIME: Duration = Duration::from_millis(600);

/// A request to compare benchmarks with themselves.
#[derive(Clone, Debug)]
pub struct Request {
    /// The benchmarks.
    pub names: Names,
    /// The target platform; by default this machine's.
    pub target: Option<String>,
    /// Number of comparisons.
    pub comparisons: u64,
    /// Measuring time of one point, with all its launches, in each run.
    pub time: Option<Duration>,
    /// Seed of the launch order and of the random draws; by default random.
    pub seed: Option<u64>,
    /// The command line or other origin of the request; the runs record it.
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

/// Reads and builds the benchmarks of a request.
///
/// # Errors
/// If a name or a file is invalid.
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
    Ok(Prepared { target, jobs, options, comparisons: request.comparisons, seed: request.seed })
}

impl Prepared {
    /// Measures pairs of runs, stores all runs, compares each pair and counts.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn measure(
        &self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Report, Failure> {
        // Fail before minutes of measuring rather than after them.
        drop(store.open()?);
        let measure = |measurement: Measurement<'_>, boundary: usize| {
            let sources = &self.options.origin.sources;
            let mut sides = Sides::open(store, boundary, sources, observer)?;
            let run = measurement.run_into(&mut sides)?;
            Ok::<_, Failure>(sides.finish(run).0)
        };
        let plan = NoisePlan {
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
