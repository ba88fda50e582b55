//! Measures what collections cost on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::gc::Collector;
use crate::gc::costs::{CollectorCosts, Costs, SCHEMA, fit};
use crate::gc::observation::Observation;
use crate::gc::refinement::Refined;

use crate::run::benchmarks::{Benchmark, Effort, benchmarks};
use crate::run::classes::Classes;
use crate::run::jvm::Finished;
use crate::run::rounds::{Rounds, Step, in_rounds};
use crate::run::{Jvm, Limits};

/// Runs of each benchmark, of which that with the least time counts.
const ROUNDS: usize = 3;
/// Time of a short measurement of one collector, with some seconds for the compiler. It takes
/// longer only if half of the benchmarks do.
pub const SHORT_TIME: Duration = Duration::from_secs(60);
const COMPILER_TIME: Duration = Duration::from_secs(8);
const LIMITS: Limits = Limits { time: Duration::from_secs(60), resident_bytes: 2 << 30 };
/// Deviation of costs whose benchmarks ran once, as a share. The costs of some benchmarks were 1.5
/// times as high a few minutes later (docs/notes/java.md).
const DEVIATION_OF_ONE_RUN: f64 = 0.5;

/// The log of G1 with copied bytes and cards.
pub(crate) const G1_DETAILS: &str = "gc*,gc+phases=debug,gc+refine+stats=debug,safepoint";

/// Changes with the benchmarks, so that kept costs of other benchmarks are not used.
const REVISION: u32 = 7;

/// The file with the costs of a JVM, in a folder of this machine.
pub fn costs_path(folder: &Path, jvm: &Jvm) -> PathBuf {
    let version = jvm.version.replace('/', "-");
    folder.join(format!("costs-{REVISION}-{version}.json"))
}

/// Costs to measure.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub collectors: &'a [Collector],
    /// How exactly.
    pub effort: Effort,
    /// Whether kept costs are measured again.
    pub is_forced: bool,
}

impl Wanted<'_> {
    /// The collectors whose costs are missing among those of a file.
    fn missing(&self, known: &Costs) -> Vec<Collector> {
        let serves = |costs: &CollectorCosts| {
            let is_enough = self.effort == Effort::Short || costs.is_thorough;
            is_enough && !costs.lacks_pauses() && !self.is_forced
        };
        let is_known = |c: &Collector| known.collectors.get(c.name()).is_some_and(serves);
        let all = self.collectors.iter().copied();
        all.filter(|collector| !is_known(collector)).collect()
    }
}

/// The progress of a measurement.
pub trait Progress {
    /// The collectors that will be measured; none, if all costs are known.
    fn plan(&mut self, collectors: &[Collector]);
    /// A run of a benchmark begins.
    fn run(&mut self, collector: Collector, step: Step);
}

/// The costs of collectors, with those that the file at `path` has already.
pub fn characterise(
    jvm: &Jvm,
    wanted: Wanted<'_>,
    path: &Path,
    progress: &mut dyn Progress,
) -> Result<Costs, String> {
    let mut costs = read(path)
        .filter(|c| c.machine == yamba_machine::processor_summary())
        .unwrap_or_else(|| Costs {
            schema: SCHEMA.to_owned(),
            jvm: jvm.version.clone(),
            machine: yamba_machine::processor_summary(),
            collectors: BTreeMap::new(),
            skipped: BTreeMap::new(),
        });
    let missing = wanted.missing(&costs);
    progress.plan(&missing);
    for collector in missing {
        let name = collector.name().to_owned();
        let mut begin = |step| progress.run(collector, step);
        let found = one(jvm, collector, wanted.effort, &mut begin);
        // Costs of some of the benchmarks would be kept as if all had run.
        jvm.check_stop()?;
        match found {
            Ok(found) => {
                costs.skipped.remove(&name);
                costs.collectors.insert(name, found);
            }
            Err(reason) => {
                costs.skipped.insert(name, reason);
            }
        }
        write(path, &costs)?;
    }
    Ok(costs)
}

fn read(path: &Path) -> Option<Costs> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn write(path: &Path, costs: &Costs) -> Result<(), String> {
    let text = serde_json::to_string_pretty(costs).map_err(|e| e.to_string())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let stored = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    stored.map_err(|e| format!("{}: {e}", path.display()))
}

fn one(
    jvm: &Jvm,
    collector: Collector,
    effort: Effort,
    begin: &mut dyn FnMut(Step),
) -> Result<CollectorCosts, String> {
    jvm.has(collector)?;
    let classes = Classes::compile(jvm)?;
    let benchmarks = benchmarks(collector, effort);
    let rounds = Rounds {
        most: ROUNDS,
        time: (effort == Effort::Short).then_some(SHORT_TIME - COMPILER_TIME),
        least: benchmarks.len().div_ceil(2),
    };
    let all = in_rounds(rounds, &benchmarks, |benchmark, step| {
        begin(step);
        run(jvm, &classes, collector, benchmark, step)
            .map_err(|reason| format!("{}: {reason}", benchmark.name()))
    });
    let deviation = deviation(&all);
    let (mut observations, mut failures) = (Vec::new(), Vec::new());
    for (benchmark, (runs, failure)) in benchmarks.iter().zip(all) {
        match failure {
            None => observations.extend(observation(benchmark, runs)),
            Some(reason) => failures.push(reason),
        }
    }
    if failures.len() > observations.len() {
        return Err(failures.swap_remove(0));
    }
    if 2 * observations.len() < benchmarks.len() {
        let (some, all) = (observations.len(), benchmarks.len());
        return Err(format!(
            "only {some} of {all} benchmarks ran; `yamba gc characterise --thorough` runs all"
        ));
    }
    Ok(CollectorCosts {
        deviation,
        is_thorough: effort == Effort::Thorough,
        ..fit(&observations, collector)
    })
}

/// How much the processor time of a benchmark differs between its runs: the median of the
/// logarithms of the longest to the shortest.
fn deviation(all: &[(Vec<Finished>, Option<String>)]) -> f64 {
    let of_benchmark = |(runs, _): &(Vec<Finished>, Option<String>)| {
        let times = runs.iter().map(Finished::cpu_ns);
        let least = times.clone().fold(f64::INFINITY, f64::min);
        let most = times.fold(0.0, f64::max);
        (runs.len() > 1 && least > 0.0).then(|| (most / least).ln())
    };
    let mut deviations: Vec<f64> = all.iter().filter_map(of_benchmark).collect();
    deviations.sort_by(f64::total_cmp);
    let median = deviations.get(deviations.len() / 2);
    median.copied().unwrap_or(DEVIATION_OF_ONE_RUN)
}

fn run(
    jvm: &Jvm,
    classes: &Classes,
    collector: Collector,
    benchmark: &Benchmark,
    step: Step,
) -> Result<Finished, String> {
    let [options, program] = benchmark.arguments(collector);
    let class_path = ["-cp".to_owned(), classes.jar().display().to_string()];
    let arguments = [&options[..], &class_path, &program].concat();
    // Details cost time, and only those of G1 are read.
    let logged = match collector {
        Collector::G1 => G1_DETAILS,
        _ => "gc*,safepoint",
    };
    let limits =
        Limits { time: step.left.map_or(LIMITS.time, |left| left.min(LIMITS.time)), ..LIMITS };
    jvm.run(collector, &arguments, logged, limits)
}

/// The run with the least time, with the refinement in all `runs`. `None`: `runs` is empty.
fn observation(of: &Benchmark, runs: Vec<Finished>) -> Option<Observation> {
    let refined: Vec<_> =
        runs.iter().map(|run| (run.collections.clone(), run.cpu.refining_ns)).collect();
    let least = Finished::least(runs)?;
    Some(Observation {
        shape: of.name(),
        live_bytes: of.live_bytes(),
        gc_cpu_ns: least.cpu.collecting_ns,
        marking_cpu_ns: least.cpu.marking_ns,
        refined: Refined::measure(&refined),
        collections: least.collections,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::watch::CpuTime;

    fn costs(is_thorough: bool, pause_ns: f64) -> CollectorCosts {
        let mut costs = CollectorCosts { is_thorough, ..CollectorCosts::default() };
        costs.young_cpu.fixed_ns = 1e5;
        costs.young_pause.fixed_ns = pause_ns;
        costs
    }

    #[test]
    fn kept_costs_serve_if_they_have_pauses_and_are_exact_enough() {
        let missing = |costs: CollectorCosts, effort, is_forced| {
            let known = Costs {
                schema: SCHEMA.to_owned(),
                jvm: "17".to_owned(),
                machine: String::new(),
                collectors: [("serial".to_owned(), costs)].into(),
                skipped: BTreeMap::new(),
            };
            let wanted =
                Wanted { collectors: &[Collector::Serial, Collector::Z], effort, is_forced };
            wanted.missing(&known)
        };
        let only_z = [Collector::Z];
        assert_eq!(missing(costs(false, 1e5), Effort::Short, false), only_z);
        assert_eq!(missing(costs(true, 1e5), Effort::Thorough, false), only_z);
        assert_eq!(missing(costs(false, 1e5), Effort::Thorough, false).len(), 2);
        assert_eq!(missing(costs(true, 0.0), Effort::Short, false).len(), 2);
        assert_eq!(missing(costs(true, 1e5), Effort::Short, true).len(), 2);
    }

    #[test]
    fn deviation_is_that_of_the_median_benchmark() {
        let runs = |times_ns: &[f64]| {
            let run = |time_ns: &f64| Finished {
                cpu: CpuTime { collecting_ns: *time_ns, ..CpuTime::default() },
                ..Finished::default()
            };
            (times_ns.iter().map(run).collect::<Vec<_>>(), None)
        };
        let all = [runs(&[1.0, 1.1, 1.2]), runs(&[1.0, 9.0]), runs(&[2.0, 2.0]), runs(&[1.0])];
        assert!((deviation(&all) - 1.2f64.ln()).abs() < 1e-9);
        assert_eq!(deviation(&all[3..]), DEVIATION_OF_ONE_RUN);
    }
}
