//! What to measure of each benchmark, and for how long.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use yamba_record::run::Producer;

/// Launches of an entry: with six, the range of their medians holds the true one in 96.9 % of cases.
const LAUNCHES: u64 = 6;
const QUICK_LAUNCHES: u64 = 2;

/// Timed intervals of a launch (lmbench3, section 3.3), and where each lasts as long as a load needs.
const INTERVALS: u64 = 11;
const LOADED_INTERVALS: u64 = 2;

/// How long a program runs before it times anything if it is told nothing else.
pub(super) const PROGRAMS_WARMUP: Duration = Duration::from_millis(20);

/// What to measure of each benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// Parameters with a value for the whole run.
    pub set: Vec<(String, String)>,
    /// Parameters with a value where a benchmark has such a parameter, and `set` and `sweep` do not say otherwise.
    pub preset: Vec<(String, String)>,
    /// Parameters with values to take in turn, instead of the class's own sweep.
    pub sweep: Vec<(String, Vec<String>)>,
    /// Whether the shorter sweep is taken where a class has one, fewer launches, and shorter intervals under load.
    pub quick: bool,
    /// Of each of these classes exactly these points, instead of its sweeps with `processes`.
    pub points: BTreeMap<String, Vec<At>>,
    /// Numbers of processes to measure with.
    pub processes: Vec<u64>,
    /// Exactly so many launches; without it as many as the kind of run takes, and more while that is worth it.
    pub launches: Option<u64>,
    /// At least so many intervals a launch.
    pub intervals: Option<u64>,
    /// Fewer launches and intervals for a point whose pass takes longer than a launch has time; without it as many as ever.
    pub slow: Option<Slow>,
    /// The time for one point with all its launches.
    pub time: Duration,
    /// The time for a whole benchmark with all its points, instead.
    pub benchmark_time: Option<Duration>,
    /// Whether this is a run of the whole suite, which is thinned: see [`super::thin::few`].
    pub whole: bool,
    /// The relative half width of the interval that is narrow enough.
    pub precision: f64,
    /// How long to run before anything is timed; without it as long as the program finds right.
    pub warmup: Option<Duration>,
    /// Decides the order of launches; without it one is drawn.
    pub seed: Option<u64>,
    /// Whether to ask for a real-time class.
    pub realtime: bool,
    /// On which processors.
    pub placement: Placement,
    /// Bytes that the benchmarks' files may have at any time.
    pub disk_limit: u64,
    /// Most processes and threads of a launch at any time; `None` for a default far above the needs of benchmarks.
    pub process_limit: Option<u64>,
    /// Longest duration of a launch, set-up included; `None`: a launch without output for `silence` is ended.
    pub timeout: Option<Duration>,
    /// A program that says nothing for so long hangs. Under load it is given longer.
    pub silence: Duration,
    /// What measures, for the record.
    pub origin: Origin,
    /// What single jobs are told besides, in their order; those that are not here, nothing.
    pub own: Vec<Own>,
}

/// How a point is measured if one pass takes longer than the time of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// Intervals a launch.
    pub intervals: u64,
    /// Launches at least; more as far as `time` goes.
    pub launches: u64,
    /// The time for all launches.
    pub time: Duration,
}

/// What one job is told besides what all are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Own {
    /// Parameters with a value.
    pub set: Vec<(String, String)>,
    /// Parameters with values to take in turn.
    pub sweep: Vec<(String, Vec<String>)>,
    /// The number of processes, instead of those of all.
    pub processes: Option<u64>,
}

/// One point of a benchmark, as an earlier run has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// All its parameters, as `--set` takes them.
    pub set: Vec<(String, String)>,
    /// Processes that run it at the same time.
    pub processes: u64,
}

/// What a run's document says of the program that made it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The program, and how it was called.
    pub producer: Producer,
    /// The texts of the benchmarks, under their hashes.
    pub sources: BTreeMap<String, String>,
}

/// On which processors a benchmark runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// On one that the program chooses; several processes on one each, as far as there are enough.
    #[default]
    Pinned,
    /// On this one.
    On(u64),
    /// Wherever the system puts it.
    Free,
}

impl Placement {
    /// Its name in a record.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Placement::Pinned | Placement::On(_) => "pinned",
            Placement::Free => "free",
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
            processes: vec![1],
            launches: None,
            intervals: None,
            slow: None,
            time: Duration::from_secs(2),
            benchmark_time: None,
            whole: false,
            precision: 0.01,
            warmup: None,
            seed: None,
            realtime: false,
            placement: Placement::Pinned,
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
    /// A short look: shorter sweeps, 0.3 s a point, two launches.
    pub fn quick() -> Options {
        Options {
            quick: true,
            time: Duration::from_millis(300),
            ..Options::default()
        }
    }

    /// The same for one point alone.
    pub(super) fn of(&self, at: &At) -> Options {
        Options {
            set: at.set.clone(),
            sweep: Vec::new(),
            points: BTreeMap::new(),
            processes: vec![at.processes],
            benchmark_time: None,
            whole: false,
            origin: Origin::default(),
            ..self.clone()
        }
    }

    /// A long one: 20 s a point.
    pub fn thorough() -> Options {
        Options {
            time: Duration::from_secs(20),
            ..Options::default()
        }
    }

    /// What the job at this place is told.
    pub(super) fn for_job(&self, job: usize) -> Cow<'_, Options> {
        let Some(own) = self.own.get(job) else {
            return Cow::Borrowed(self);
        };
        let mut all = Options {
            origin: Origin::default(),
            own: Vec::new(),
            ..self.clone()
        };
        all.set.extend_from_slice(&own.set);
        all.sweep.extend_from_slice(&own.sweep);
        if let Some(processes) = own.processes {
            all.processes = vec![processes];
        }
        Cow::Owned(all)
    }

    /// What a benchmark has in a run of the whole suite, with each number of processes: the time of two points.
    pub(super) fn whole_time(&self) -> Duration {
        2 * self.time
    }

    /// Launches that each entry has at least.
    pub(super) fn planned_launches(&self) -> u64 {
        let usual = if self.quick { QUICK_LAUNCHES } else { LAUNCHES };
        self.launches.unwrap_or(usual)
    }

    /// Whether an entry whose interval is still wide is launched more often than planned.
    pub(super) fn may_add_launches(&self) -> bool {
        self.launches.is_none() && !self.quick
    }

    /// Intervals that each launch has at least.
    pub(super) fn planned_intervals(&self, processes: u64) -> u64 {
        let usual = if processes > 1 {
            LOADED_INTERVALS
        } else {
            INTERVALS
        };
        self.intervals.unwrap_or(usual)
    }

    /// How long one interval lasts at least where several processes compete: longer than the slices that a scheduler gives.
    pub(super) fn loaded_interval(&self) -> Duration {
        Duration::from_millis(if self.quick { 100 } else { 1000 })
    }
}
