//! Measures costs for a prediction: all of them, or within a minute those that decide it.

use std::time::{Duration, Instant};

use yamba_harness::{Options, Stop};
use yamba_predict::Costs;
use yamba_predict::needs::Needs;

use super::{Known, Wanted};
use crate::measure::{Prepared, Request, prepare, prepare_while};
use crate::select::Names;
use crate::{Failure, Observer, StoreChoice};

/// The tag of the benchmarks that stand for a primitive.
const TAG: &str = "primitive";

/// The time of a prediction, from its beginning, with all that it builds and measures.
pub const TIME: Duration = Duration::from_secs(60);

/// The part of this time that is kept for the end of the last launch, the store and the prediction.
const RESERVE: Duration = Duration::from_secs(3);

/// Expected time to measure a benchmark quickly, with neighbours: two points of 0.3 s with the
/// starts of their programs.
const QUICK: Duration = Duration::from_millis(1200);

/// Expected time to measure a benchmark longer, with at least six launches for each of two points.
const LONG: Duration = Duration::from_secs(5);

/// A request for costs.
pub struct CostRequest<'a> {
    /// The needs of the predictions, from the costs so far.
    pub needs: &'a dyn Fn(&Costs) -> Needs,
    /// The end of the time.
    pub until: Instant,
    /// The user's stop.
    pub stop: &'a Stop,
    /// Where the figures are stored.
    pub store: &'a StoreChoice,
    /// The command line, which the runs record.
    pub arguments: Vec<String>,
}

/// How long benchmarks are measured.
#[derive(Clone, Copy, PartialEq)]
enum Effort {
    Quick,
    Long,
}

impl Effort {
    fn expected(self) -> Duration {
        match self {
            Effort::Quick => QUICK,
            Effort::Long => LONG,
        }
    }

    fn options(self) -> Options {
        let options = match self {
            Effort::Quick => Options::quick(),
            Effort::Long => Options { time: Duration::from_secs(1), ..Options::default() },
        };
        Options { whole: true, ..options }
    }
}

impl Known {
    /// Measures the costs that predictions need, those that decide the most first: quickly what was
    /// not measured yet, and then longer what makes the interval wide. Ends if nothing is wanted,
    /// if the time is over, or if the user stops. The figures that were measured are stored and
    /// known then.
    ///
    /// # Errors
    /// If the suite cannot be read, or a store that the user named cannot be opened.
    pub fn measure(
        &mut self,
        wanted: &CostRequest,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        let mut tried: Vec<(Effort, String)> = Vec::new();
        loop {
            let Wanted { unmeasured, imprecise } = self.wanted(&(wanted.needs)(&self.costs()));
            let left = |benchmarks: Vec<String>, effort| -> Vec<String> {
                let is_left = |name: &String| !tried.iter().any(|(e, n)| *e == effort && n == name);
                benchmarks.into_iter().filter(is_left).collect()
            };
            let quick = left(unmeasured, Effort::Quick);
            let (benchmarks, effort) = match quick.is_empty() {
                false => (quick, Effort::Quick),
                true => (left(imprecise, Effort::Long), Effort::Long),
            };
            let time = wanted.until.saturating_duration_since(Instant::now());
            let time = time.saturating_sub(RESERVE);
            let fitting = (time.as_secs_f64() / effort.expected().as_secs_f64()) as usize;
            if benchmarks.is_empty() || fitting == 0 || wanted.stop.requested() {
                return Ok(());
            }
            let benchmarks = benchmarks[..fitting.min(benchmarks.len())].to_vec();
            self.measure_these(&benchmarks, effort, wanted, observer)?;
            tried.extend(benchmarks.into_iter().map(|name| (effort, name)));
        }
    }

    /// Builds as many of these benchmarks as can be measured in time, and measures them.
    fn measure_these(
        &mut self,
        benchmarks: &[String],
        effort: Effort,
        wanted: &CostRequest,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        let until = wanted.until.checked_sub(RESERVE).unwrap_or(wanted.until);
        let may_begin = |begun: usize| {
            let measuring = effort.expected() * (begun as u32 + 1);
            !wanted.stop.requested() && Instant::now() + measuring < until
        };
        let request = Request {
            names: Names { names: benchmarks.to_vec(), ..Names::default() },
            options: effort.options(),
            arguments: wanted.arguments.clone(),
            ..Request::default()
        };
        let prepared = prepare_while(request, &may_begin, observer)?;
        // Ctrl-C ends the compilers, too: their programs were not built for no other reason.
        if prepared.count() == 0 || wanted.stop.requested() {
            return Ok(());
        }
        let measured = prepared.measure(&wanted.stop.until(until), wanted.store, observer)?;
        self.merged.add_latest(measured.run);
        Ok(())
    }

    /// Measures the costs of all primitives and stores the run.
    ///
    /// # Errors
    /// If nothing could be built, or a store that the user named cannot be opened.
    pub fn measure_all(
        &mut self,
        prepared: Prepared,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        let measured = prepared.measure(stop, store, observer)?;
        if measured.is_in_vain {
            return Err(Failure::Shown);
        }
        self.merged.add_latest(measured.run);
        Ok(())
    }
}

/// Builds the benchmarks of all primitives, so that they can be measured as `yamba run --only-tag
/// primitive` does.
///
/// # Errors
/// If the suite cannot be read.
pub fn prepared(arguments: Vec<String>, observer: &dyn Observer) -> Result<Prepared, Failure> {
    let options = Options { whole: true, ..Options::default() };
    let request = Request { tags: vec![TAG.to_owned()], options, arguments, ..Request::default() };
    prepare(request, observer)
}
