//! Measures the rate of false alarms on this machine: measures the same benchmarks repeatedly and
//! compares each run with the next.

mod measure;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use yamba_lang::model::Target;
use yamba_record::{Benchmark, Run};
use yamba_stats::share_at_most;

use yamba_compare::remeasure::{LAUNCHES_FACTOR, USUAL_LAUNCHES};
use yamba_compare::unit::{self, Unit, chosen};
use yamba_compare::{self as compare, Comparison, Medians, Noise, comparison};
use yamba_harness::{Job, Measurement, Options, Progress, Stop};

use super::contention::Contention;

pub use measure::{Prepared, Request, prepare};

/// Number of comparisons of launches that are drawn at random from all runs.
const RESAMPLED: usize = 1000;

/// Confidence level of the upper bound on the rate of false alarms.
const CONFIDENCE: f64 = 0.95;

/// A plan of noise measurements.
pub struct NoisePlan<'a, E> {
    /// The benchmarks.
    pub jobs: &'a [Job],
    /// One run's options.
    pub options: Options,
    /// Number of comparisons; each takes two runs.
    pub comparisons: u64,
    /// Seed of the launch order and of the random draws.
    pub seed: u64,
    /// The target of the programs.
    pub target: &'a Target,
    /// Requests an early end. Completed comparisons count.
    pub stop: &'a Stop,
    /// Measures and stores runs.
    pub measure: &'a Measure<'a, E>,
}

/// Measures one run, or two: then the jobs before the given number form side A, whose launches are
/// interleaved with those of side B. Both are stored meanwhile.
pub type Measure<'a, E> = dyn Fn(Measurement<'_>, usize) -> Result<Vec<Run>, E> + 'a;

/// The answer, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Report {
    /// `yamba-noise/1`.
    #[schemars(extend("const" = "yamba-noise/1"))]
    pub schema: &'static str,
    /// Comparisons that were asked for.
    pub planned: u64,
    /// Whether it was stopped before they were made.
    pub interrupted: bool,
    /// Comparisons of a run with the next, in which something could be compared.
    pub comparisons: u64,
    /// Those in which no benchmark had a figure in both runs: they say nothing.
    pub empty: u64,
    /// Those in which a benchmark was suspected.
    pub suspected: u64,
    /// Those in which a suspicion was confirmed by measuring again: false alarms.
    pub alarms: u64,
    /// The share of all comparisons that raise a false alarm is at most this, with a confidence of
    /// 95 % (Clopper and Pearson); none without a comparison.
    pub alarms_at_most: Option<f64>,
    /// Pairs of all runs, whatever lies between them.
    pub pairs: u64,
    /// Those in which a benchmark was suspected.
    pub pairs_suspected: u64,
    /// Comparisons of launches drawn from all runs.
    pub resampled: u64,
    /// Those in which a benchmark was suspected.
    pub resampled_alarms: u64,
    /// The seed of the launch order and of the random draws.
    pub seed: u64,
    /// Launches a run.
    pub launches: u64,
    /// The share of the compared runs' time in which another hardware thread used the same core,
    /// from 0 to 1; none without probes.
    pub contended: Option<f64>,
    /// The run-to-run spread of each benchmark.
    pub benchmarks: Vec<Spread>,
}

/// One benchmark's noise.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Spread {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// Coefficient of variation of the launches' medians within a run.
    pub between_launches: Option<f64>,
    /// Coefficient of variation of the runs.
    pub between_runs: Option<f64>,
    /// Comparisons in which it was suspected.
    pub suspected: u64,
    /// Comparisons in which that was confirmed.
    pub alarms: u64,
}

/// Measures pairs of runs, compares them, and counts suspects and false alarms.
///
/// # Errors
/// Any error of measuring; also an error if the number of runs is wrong.
pub fn noise<E: From<String>>(
    plan: &NoisePlan<'_, E>,
    progress: &mut dyn Progress,
) -> Result<Report, E> {
    let mut seen: BTreeMap<String, Counted> = BTreeMap::new();
    let mut contention = Contention::default();
    let mut report = Report {
        schema: "yamba-noise/1",
        planned: plan.comparisons,
        seed: plan.seed,
        launches: plan.options.launches.unwrap_or(USUAL_LAUNCHES),
        ..Report::default()
    };
    for i in 0..plan.comparisons {
        let Some([a, b]) = two_runs(plan, i, progress)? else {
            break;
        };
        contention.add(&a.benchmarks);
        contention.add(&b.benchmarks);
        let found = comparison(&a, &b, &unit::choose_unit);
        if found.confidence.is_none() {
            report.empty += 1;
            continue;
        }
        let suspects = suspects(found);
        let confirmed = confirm(plan, i, &a, &suspects, progress)?;
        // If the user stops during a confirmation, the outcome is open. The comparison is not
        // counted: "no alarm" would be a claim.
        let Some(confirmed) = confirmed else {
            break;
        };
        for (run, number) in [a, b].iter().zip(2 * report.comparisons as usize..) {
            remember(&mut seen, number, &run.benchmarks);
        }
        report.comparisons += 1;
        report.suspected += u64::from(!suspects.is_empty());
        report.alarms += u64::from(!confirmed.is_empty());
        for key in suspects.keys() {
            seen.entry(key.clone()).or_default().suspected += 1;
        }
        for key in confirmed.keys() {
            seen.entry(key.clone()).or_default().alarms += 1;
        }
    }
    report.interrupted = report.comparisons + report.empty < plan.comparisons;
    report.contended = contention.share();
    report.add_spreads(seen);
    Ok(report)
}

/// Measures the two runs of one comparison; `None` if stopped.
fn two_runs<E: From<String>>(
    plan: &NoisePlan<'_, E>,
    comparison: u64,
    progress: &mut dyn Progress,
) -> Result<Option<[Run; 2]>, E> {
    let mut runs = Vec::new();
    for number in [2 * comparison, 2 * comparison + 1] {
        if !plan.stop.requested() {
            let (jobs, options) = (plan.jobs, &plan.options);
            runs.extend(measure(plan, jobs, 0, number, options, progress)?);
        }
    }
    if plan.stop.requested() {
        return Ok(None);
    }
    let wrong = |all: Vec<Run>| E::from(format!("measuring two runs gave {}", all.len()));
    runs.try_into().map(Some).map_err(wrong)
}

#[derive(Default)]
struct Counted {
    /// The medians of each run that has a figure, by run number.
    runs: BTreeMap<usize, Medians>,
    suspected: u64,
    alarms: u64,
}

impl Counted {
    /// Noise over `runs` runs, in the unit that a comparison would choose.
    fn noise(&self, key: &str, runs: usize) -> Noise {
        let unit = unit::common(self.runs.values());
        let of = |run| self.runs.get(&run);
        let launches = |run| of(run).map_or(Vec::new(), |m| m.within(unit).to_vec());
        Noise { key: key.to_owned(), runs: (0..runs).map(launches).collect() }
    }
}

/// Adds the launches of a run's figures. Those of disturbed figures are left out: their noise is
/// that of the disturbance.
fn remember(seen: &mut BTreeMap<String, Counted>, number: usize, benchmarks: &[Benchmark]) {
    for benchmark in benchmarks.iter().filter(|b| compare::has_figure(b)) {
        let counted = seen.entry(benchmark.label()).or_default();
        counted.runs.insert(number, Medians::new(benchmark));
    }
}

/// Measures one run, or two if `boundary` > 0: jobs before `boundary` are those of side A.
fn measure<E>(
    plan: &NoisePlan<'_, E>,
    jobs: &[Job],
    boundary: usize,
    number: u64,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Run>, E> {
    let options = Options { seed: Some(plan.seed.wrapping_add(number)), ..options.clone() };
    let measurement = Measurement {
        jobs,
        options: &options,
        isa: &plan.target.isa,
        system: &plan.target.system,
        progress,
        stop: plan.stop,
        listing: &|_, _| None,
        neighbours: super::neighbours::neighbours(),
    };
    (plan.measure)(measurement, boundary)
}

/// The suspects of a comparison: their keys and the units of the comparison.
fn suspects(found: Comparison) -> BTreeMap<String, Unit> {
    let suspects = found.benchmarks.into_iter().filter(|entry| entry.suspect);
    let suspects = suspects.map(|entry| (entry.of.label(), entry.compared_in()));
    suspects.collect()
}

/// Re-measures the suspects like `compare --remeasure`: both sides, interleaved, with more
/// launches. Returns the suspects that differ again, which are the alarms; `None` if stopped.
fn confirm<E: From<String>>(
    plan: &NoisePlan<'_, E>,
    number: u64,
    a: &Run,
    suspects: &BTreeMap<String, Unit>,
    progress: &mut dyn Progress,
) -> Result<Option<BTreeMap<String, Unit>>, E> {
    let suspected = a.benchmarks.iter();
    let suspected = suspected.filter(|x| suspects.contains_key(&x.label()));
    let classes: BTreeSet<&str> = suspected.map(|x| x.declaration.class.as_str()).collect();
    let meant = plan.jobs.iter();
    let meant = meant.filter(|j| classes.contains(j.class.as_str()));
    let side: Vec<Job> = meant.cloned().collect();
    if side.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let options = Options {
        launches: Some(LAUNCHES_FACTOR * plan.options.launches.unwrap_or(USUAL_LAUNCHES)),
        time: plan.options.time * LAUNCHES_FACTOR as u32,
        ..plan.options.clone()
    };
    let both = [&side[..], &side[..]].concat();
    let number = 1_000_000 + number;
    let runs = measure(plan, &both, side.len(), number, &options, progress)?;
    if plan.stop.requested() {
        return Ok(None);
    }
    let [a, b] = &runs[..] else {
        let text = format!("re-measuring both sides gave {} runs, not two", runs.len());
        return Err(E::from(text));
    };
    let units = |x: &Benchmark, y: &Benchmark| {
        let before = suspects.get(&x.label()).copied();
        chosen(before.unwrap_or(Unit::Own), x, y)
    };
    let mut confirmed = self::suspects(comparison(a, b, &units));
    confirmed.retain(|key, _| suspects.contains_key(key));
    Ok(Some(confirmed))
}

impl Report {
    /// Adds the noise of each benchmark, and what follows from it.
    fn add_spreads(&mut self, seen: BTreeMap<String, Counted>) {
        let runs = 2 * self.comparisons as usize;
        let spread = |(key, counted): (String, Counted)| {
            let noise = counted.noise(&key, runs);
            let spread = Spread {
                key,
                between_launches: noise.between_launches(),
                between_runs: noise.between_runs(),
                suspected: counted.suspected,
                alarms: counted.alarms,
            };
            (noise, spread)
        };
        let noises: Vec<Noise>;
        (noises, self.benchmarks) = seen.into_iter().map(spread).unzip();
        let (pairs_suspected, pairs) = compare::pairs_with_a_suspect(&noises);
        (self.pairs_suspected, self.pairs) = (pairs_suspected as u64, pairs as u64);
        let launches = self.launches as usize;
        let alarms = compare::resampled_alarms(&noises, launches, RESAMPLED, self.seed);
        (self.resampled_alarms, self.resampled) = (alarms as u64, RESAMPLED as u64);
        self.alarms_at_most = share_at_most(self.alarms, self.comparisons, CONFIDENCE);
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::run::Launch;
    use yamba_record::{Machine, Status};

    use super::*;
    use yamba_harness::{NoProgram, Silent, not_started};

    /// A run in which `x` takes about `ns` nanoseconds.
    fn measured(ns: f64) -> Run {
        let launch = |by: f64| Launch { median: Some(ns + by), ..Launch::default() };
        let mut benchmark = Benchmark {
            status: Status::Ok,
            unit: Some("ns".to_owned()),
            median: Some(ns),
            launches: [0.0, 1.0, -1.0, 0.5, -0.5, 0.0].map(launch).into(),
            ..not_started("x")
        };
        benchmark.declaration.figure = Some("latency".to_owned());
        Run { benchmarks: vec![benchmark], ..Run::new(Machine::default()) }
    }

    /// The counts of a report in which `again` re-measures the suspects.
    fn looked_into(
        again: impl Fn(&Stop) -> Vec<Run>,
        comparisons: u64,
    ) -> Result<[u64; 3], String> {
        let first = std::cell::Cell::new(true);
        let stop = Stop::default();
        let measure = |_: Measurement<'_>, boundary: usize| match boundary {
            0 if first.replace(!first.get()) => Ok(vec![measured(100.0)]),
            0 => Ok(vec![measured(120.0)]),
            _ => Ok::<_, String>(again(&stop)),
        };
        let report = reported(&stop, comparisons, &measure)?;
        Ok([report.comparisons, report.suspected, report.alarms])
    }

    fn reported(
        stop: &Stop,
        comparisons: u64,
        measure: &Measure<'_, String>,
    ) -> Result<Report, String> {
        let jobs = [Job {
            class: "x".to_owned(),
            program: Err(NoProgram::Absent("not needed".to_owned())),
            provenance: Default::default(),
            texts: Default::default(),
        }];
        let target = Target { isa: "x86_64".to_owned(), system: "linux".to_owned() };
        let plan = NoisePlan {
            jobs: &jobs,
            options: Options::quick(),
            comparisons,
            seed: 1,
            target: &target,
            stop,
            measure,
        };
        noise(&plan, &mut Silent)
    }

    #[test]
    fn noise_without_comparisons_has_no_rate() {
        let stop = Stop::default();
        let without_figure = |_: Measurement<'_>, _: usize| {
            let mut run = measured(100.0);
            run.benchmarks[0].status = Status::Invalid;
            Ok(vec![run])
        };
        let report = reported(&stop, 3, &without_figure).unwrap();
        assert_eq!((report.comparisons, report.empty), (0, 3));
        assert_eq!((report.planned, report.interrupted), (3, false));
        assert!(report.alarms_at_most.is_none() && report.benchmarks.is_empty());
        let none = |_: Measurement<'_>, _: usize| Ok(Vec::new());
        let error = reported(&stop, 1, &none).unwrap_err();
        assert!(error.contains("gave 0"), "{error}");
    }

    #[test]
    fn contended_time_of_all_compared_runs_is_reported() {
        let stop = Stop::default();
        let measure = |contended: Option<f64>| {
            let took = std::cell::Cell::new(0);
            let measure = move |_: Measurement<'_>, _: usize| {
                took.set(took.get() + 1_000_000);
                let mut run = measured(100.0);
                let launch = &mut run.benchmarks[0].launches[0];
                (launch.took_ns, launch.contended) = (took.get(), contended);
                Ok(vec![run])
            };
            reported(&stop, 2, &measure).unwrap().contended
        };
        assert_eq!(measure(Some(0.25)), Some(0.25));
        assert_eq!(measure(None), None);
    }

    #[test]
    fn stopped_noise_reports_fewer_comparisons() {
        let stop = Stop::default();
        let runs = std::cell::Cell::new(0);
        let measure = |_: Measurement<'_>, _: usize| {
            runs.set(runs.get() + 1);
            if runs.get() == 3 {
                stop.request();
            }
            Ok(vec![measured(100.0)])
        };
        let report = reported(&stop, 5, &measure).unwrap();
        let counts = (report.comparisons, report.planned, report.interrupted);
        assert_eq!(counts, (1, 5, true));
        // A single comparison without an alarm excludes only rates above 0.95.
        assert!((report.alarms_at_most.unwrap() - 0.95).abs() < 1e-9);
    }

    #[test]
    fn comparison_stopped_during_remeasuring_does_not_count() {
        let [same, differ] = [100.0, 120.0].map(|ns| move || vec![measured(100.0), measured(ns)]);
        assert_eq!(looked_into(|_| same(), 2), Ok([2, 2, 0]));
        assert_eq!(looked_into(|_| differ(), 2), Ok([2, 2, 2]));
        let stopped = |stop: &Stop| {
            stop.request();
            same()
        };
        assert_eq!(looked_into(stopped, 2), Ok([0, 0, 0]));
        let error = looked_into(|_| vec![measured(100.0)], 1).unwrap_err();
        assert!(error.contains("not two"), "{error}");
    }

    #[test]
    fn spread_between_runs_is_separate_from_spread_between_launches() {
        let runs = vec![vec![100.0, 100.2, 99.8], vec![104.0, 104.2, 103.8]];
        let medians = runs.into_iter().map(|own| Medians { own, cycles: vec![7.0, 9.0, 8.0] });
        let counted = Counted { runs: medians.enumerate().collect(), suspected: 1, alarms: 0 };
        let seen = BTreeMap::from([("x".to_owned(), counted)]);
        let mut report = Report { comparisons: 1, launches: 3, ..Report::default() };
        report.add_spreads(seen);
        let spread = &report.benchmarks[0];
        assert!((spread.between_runs.unwrap() - 0.0277).abs() < 1e-3);
        assert!((spread.between_launches.unwrap() - 0.002).abs() < 1e-4);
    }
}
