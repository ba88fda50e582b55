//! Options of a measurement.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use yamba_record::Workers;
use yamba_record::run::Producer;

use super::units::saturated;

/// Launches of an entry. With six, the range of their medians holds the true one in 96.9 % of
/// cases.
const LAUNCHES: u64 = 6;
const QUICK_LAUNCHES: u64 = 2;

/// Time of a run of the whole suite, as a multiple of the time for one point.
const RUN: u32 = 360;
const QUICK_RUN: u32 = 300;

/// Bytes of fresh memory that a program fills in a second. Machines differ, but a parameter that
/// depended on a measured rate would differ from run to run.
const FILLED_PER_S: f64 = 2e9;

/// Timed batches of a launch (lmbench3, section 3.3), alone and under load, where batches are
/// longer.
const BATCHES: u64 = 11;
const LOADED_BATCHES: u64 = 2;

/// The program's warm-up before timing, unless an option sets another.
pub(super) const PROGRAMS_WARMUP: Duration = Duration::from_millis(20);

/// Options for all benchmarks of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Parameters with fixed values for the whole run.
    pub set: Vec<(String, String)>,
    /// Default values for benchmarks that have these parameters, unless `set` or `sweep` gives
    /// them.
    pub preset: Vec<(String, String)>,
    /// Parameters with the values to measure one after the other, instead of the class's own sweep.
    pub sweep: Vec<(String, Vec<String>)>,
    /// Whether to use shorter sweeps where a class has them, fewer launches, and shorter batches
    /// under load.
    pub quick: bool,
    /// Exact points to measure of these classes, instead of their sweeps with `workers`.
    pub points: BTreeMap<String, Vec<At>>,
    /// Numbers of processes or threads to measure with.
    pub workers: Vec<Workers>,
    /// Exact number of launches. `None`: the default number, and more while the interval is too
    /// wide.
    pub launches: Option<u64>,
    /// Fewest batches of a launch.
    pub batches: Option<u64>,
    /// Fewer launches and batches for a point whose pass takes longer than a launch should. `None`:
    /// no reduction.
    pub slow: Option<Slow>,
    /// The time for one point, with all its launches.
    pub time: Duration,
    /// The time for a whole benchmark with all its points, instead of `time`.
    pub benchmark_time: Option<Duration>,
    /// The longest time of the run: launches that do not fit are left out, and say so.
    pub run_limit: Option<Duration>,
    /// Whether this is a run of the whole suite, which measures fewer points: see
    /// [`super::subsample_sweep::few`].
    pub whole: bool,
    /// Target for the relative half width of the confidence interval.
    pub precision: f64,
    /// Whether to time single operations, too, after the batches of each launch.
    pub percentiles: bool,
    /// Warm-up before timing; `None` for the program's default.
    pub warmup: Option<Duration>,
    /// Seed for the order of launches; `None` draws one.
    pub seed: Option<u64>,
    /// Whether to ask for a real-time scheduling class.
    pub realtime: bool,
    /// The processors to run on.
    pub placement: Placement,
    /// Bytes that the benchmarks' files may have at any time.
    pub disk_limit: u64,
    /// Most processes and threads of a launch at any time; `None` for a default far above the needs
    /// of benchmarks.
    pub process_limit: Option<u64>,
    /// Longest duration of a launch, set-up included; `None`: only a launch without output for
    /// `silence` is killed.
    pub timeout: Option<Duration>,
    /// Longest time without output; longer under load.
    pub silence: Duration,
    /// The program that measures, for the record.
    pub origin: Origin,
    /// Further options of single jobs, in the order of the jobs. May be shorter than the list of
    /// jobs.
    pub own: Vec<Own>,
}

/// How a point is measured if one pass takes longer than the time of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// Batches of a launch.
    pub batches: u64,
    /// Fewest launches. There are more if `time` allows.
    pub launches: u64,
    /// The time for all launches.
    pub time: Duration,
}

/// Further options of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Own {
    /// Parameters with fixed values.
    pub set: Vec<(String, String)>,
    /// Default values, as for all jobs.
    pub preset: Vec<(String, String)>,
    /// Parameters with the values to measure one after the other.
    pub sweep: Vec<(String, Vec<String>)>,
    /// The number of processes or threads, instead of the common ones.
    pub workers: Option<Workers>,
}

/// One point of a benchmark in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// All its parameters, in the form of `--set`.
    pub set: Vec<(String, String)>,
    /// Number of concurrent processes or threads.
    pub workers: Workers,
}

/// The program that makes a run, for the run's document.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The program and its command line.
    pub producer: Producer,
    /// The texts of the benchmarks, by their hashes.
    pub sources: BTreeMap<String, String>,
    /// The names that the run has from its start.
    pub tags: Vec<String>,
}

/// The processors that a benchmark runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// As `Pinned`, but an entry whose own threads run while it is timed is launched once more as
    /// with `Free`.
    #[default]
    Automatic,
    /// A processor that the program chooses. Several processes or threads get one each as far as
    /// there are enough.
    Pinned,
    /// This processor.
    On(u64),
    /// Any processor: the system's scheduler decides.
    Free,
}

impl Placement {
    /// Its name in a record.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Placement::Automatic | Placement::Pinned | Placement::On(_) => "pinned",
            Placement::Free => "free",
        }
    }

    /// The arguments of a program for this placement.
    pub(super) fn arguments(self) -> Vec<String> {
        match self {
            Placement::Automatic => Vec::new(),
            Placement::Pinned => vec!["--pinned".to_owned()],
            Placement::On(cpu) => vec!["--cpu".to_owned(), cpu.to_string()],
            Placement::Free => vec!["--free".to_owned()],
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            set: Vec::new(),
            preset: Vec::new(),
            sweep: Vec::new(),
            points: BTreeMap::new(),
            quick: false,
            workers: vec![Workers::ONE],
            launches: None,
            batches: None,
            slow: None,
            time: Duration::from_secs(2),
            benchmark_time: None,
            run_limit: None,
            whole: false,
            precision: 0.01,
            percentiles: false,
            warmup: None,
            seed: None,
            realtime: false,
            placement: Placement::Automatic,
            disk_limit: 1 << 30,
            process_limit: None,
            timeout: None,
            silence: Duration::from_secs(60),
            origin: Origin::default(),
            own: Vec::new(),
        }
    }
}

impl Options {
    /// Options for a quick run: shorter sweeps, 0.3 s a point, two launches.
    pub fn quick() -> Options {
        Options { quick: true, time: Duration::from_millis(300), ..Options::default() }
    }

    /// These options for one point only.
    pub(super) fn at(&self, at: &At) -> Options {
        Options {
            set: at.set.clone(),
            sweep: Vec::new(),
            points: BTreeMap::new(),
            workers: vec![at.workers],
            benchmark_time: None,
            whole: false,
            origin: Origin::default(),
            ..self.clone()
        }
    }

    /// Options for a long run: 20 s a point.
    pub fn thorough() -> Options {
        Options { time: Duration::from_secs(20), ..Options::default() }
    }

    /// The options of the job at this index.
    pub(super) fn for_job(&self, job: usize) -> Cow<'_, Options> {
        let Some(own) = self.own.get(job) else {
            return Cow::Borrowed(self);
        };
        let mut all = Options { origin: Origin::default(), own: Vec::new(), ..self.clone() };
        all.set.extend_from_slice(&own.set);
        all.preset.extend_from_slice(&own.preset);
        all.sweep.extend_from_slice(&own.sweep);
        if let Some(workers) = own.workers {
            all.workers = vec![workers];
        }
        Cow::Owned(all)
    }

    /// Whether the user gave this parameter a value or several.
    pub(super) fn gives(&self, name: &str) -> bool {
        let (mut set, mut sweep) = (self.set.iter(), self.sweep.iter());
        set.any(|(n, _)| n == name) || sweep.any(|(n, _)| n == name)
    }

    /// The longest time of this run. `None` without a limit.
    pub(super) fn run_time(&self) -> Option<Duration> {
        self.run_limit.or(self.whole_run_time())
    }

    /// The time for a run of the whole suite with the usual time per point: 90 s if quick, 12 min
    /// otherwise. `None` for other runs, and if the time of a benchmark or the number of launches
    /// is given.
    fn whole_run_time(&self) -> Option<Duration> {
        let points = if self.quick { QUICK_RUN } else { RUN };
        let loads = saturated(self.workers.len() as u64);
        let limited = self.whole && self.benchmark_time.is_none() && self.launches.is_none();
        limited.then(|| (self.time * points).saturating_mul(loads))
    }

    /// Bytes of memory that a launch has time to fill in a run of the whole suite, if it may take
    /// as long as its batches.
    pub(super) fn buffer_room(&self) -> Option<u64> {
        let time = self.time / saturated(self.planned_launches());
        let bytes = time.as_secs_f64() * FILLED_PER_S;
        self.whole_run_time().map(|_| bytes as u64)
    }

    /// Time of a benchmark in a run of the whole suite, per number of processes or threads: that of
    /// two points.
    pub(super) fn whole_time(&self) -> Duration {
        2 * self.time
    }

    /// Fewest launches of an entry.
    pub(super) fn planned_launches(&self) -> u64 {
        let usual = if self.quick { QUICK_LAUNCHES } else { LAUNCHES };
        self.launches.unwrap_or(usual)
    }

    /// Whether entries with a wide confidence interval get more launches than planned.
    pub(super) fn may_add_launches(&self) -> bool {
        self.launches.is_none() && !self.quick
    }

    /// Fewest batches of a launch.
    pub(super) fn planned_batches(&self, workers: Workers) -> u64 {
        let usual = if workers.are_several() { LOADED_BATCHES } else { BATCHES };
        self.batches.unwrap_or(usual)
    }

    /// Shortest batch under load: longer than a scheduler's time slices.
    pub(super) fn loaded_batch(&self) -> Duration {
        Duration::from_millis(if self.quick { 100 } else { 1000 })
    }
}
