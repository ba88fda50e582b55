//! Shows the level of a benchmark over many runs, and where it changed. Pure.

use serde::Serialize;
use yamba_record::{Benchmark, Run};
use yamba_stats::{change_points, launch_level, median};

use super::identity::differences;
use super::pairing::{Which, in_order, kind, no_figure, no_level, single_number};
use super::unit::{self, Medians};
use super::{LEAST_DEVIATION, spread};

/// The probability of a false change in each series.
const SIGNIFICANCE: f64 = 0.01;

/// The fewest runs in which a change can be shown. Of nine runs in two levels, 2 of C(9, 4) = 126
/// orders are as extreme as any other, which is more than `SIGNIFICANCE`; of ten, 2 of C(10, 5) =
/// 252.
pub const FEWEST_RUNS: usize = 10;

/// The beginning of the name of a folder for the working trees of `yamba ab`; the rest is random.
pub const WORKTREES: &str = "yamba-worktrees-";

/// Seed of the permutations: the same runs always give the same changes.
const SEED: u64 = 1;

/// A change is at least this many standard errors of a run's figure, estimated from its launches.
const ERRORS: f64 = 2.0;

/// Benchmarks over the runs of one machine, as `--json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct History {
    /// `yamba-history/1`.
    #[schemars(extend("const" = "yamba-history/1"))]
    pub schema: &'static str,
    /// The probability of a false change in each series.
    pub significance: f64,
    /// A series for each benchmark at each point with each number of processes and threads.
    pub benchmarks: Vec<Series>,
    /// Runs and figures that no series contains.
    pub left_out: Vec<LeftOut>,
}

/// One benchmark at one point.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Series {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// `less` of a latency, `more` of a bandwidth and a rate.
    pub better: Option<&'static str>,
    /// The unit of all values: the benchmark's own, or `cycles` if the launches agree better in
    /// cycles.
    pub unit: Option<String>,
    /// The least relative change that counts: 0.01 for 1 %.
    pub least: f64,
    /// The number of its points that are one number without launches. The error of such a point is
    /// not known.
    pub single_numbers: usize,
    /// The number of its points that another program measured, and `yamba import` stored.
    pub imported: usize,
    /// Points whose runs name no processor: they may be of other machines.
    pub unnamed_machines: usize,
    /// Its runs with a figure, in order of time. Runs that do not say when they began come first,
    /// in the order in which they were stored.
    pub points: Vec<Point>,
    /// Where the level changed.
    pub changes: Vec<Change>,
}

/// One run's figure.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Point {
    /// [`Run::id`].
    pub run: String,
    /// When it began, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// Tags of the run.
    pub tags: Vec<String>,
    /// The geometric mean of its launches' medians, without the lowest and the highest quarter;
    /// without launches, the one number.
    pub value: f64,
    /// Differences to the run before, other than the figure.
    pub differs: Vec<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Change {
    /// The first run after the change.
    pub run: String,
    /// The index of that run in `points`.
    pub index: usize,
    /// The level after the change divided by the level before; both are medians.
    pub ratio: f64,
    /// The p-value of the hypothesis that there is no change.
    pub p: f64,
    /// Differences of that run to the one before it, other than the figure.
    pub differs: Vec<String>,
}

/// A run that does not count, or its figure for one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// [`Run::id`].
    pub run: String,
    /// The benchmark; none if the whole run does not count.
    pub benchmark: Option<Which>,
    pub reason: String,
}

impl LeftOut {
    /// Leaves out a whole run.
    pub fn run(id: &str, reason: String) -> LeftOut {
        LeftOut { run: id.to_owned(), benchmark: None, reason }
    }

    fn figure(run: &Run, of: &Benchmark, reason: String) -> LeftOut {
        LeftOut { benchmark: Some(of.into()), ..LeftOut::run(&run.id, reason) }
    }

    /// The benchmark's name, parameters, and numbers of processes and threads. None for a whole
    /// run.
    pub fn key(&self) -> Option<String> {
        Some(self.benchmark.as_ref()?.label())
    }
}

/// One benchmark in the runs where it has a figure, in order of time.
type Figures<'a> = Vec<(&'a Run, &'a Benchmark)>;

/// The history of all benchmarks of `runs`, which are in order of time. Only runs of the last run's
/// machine count. Runs that a comparison or `yamba selftest` measured are left out: their programs
/// may be old, and many are of the same moment. Invalid figures are left out, too, and disturbed
/// ones, even bounded: a change is found by single levels, and within its bounds a level could be
/// anywhere. Of programs of another harness only the latest counts.
pub fn history(runs: &[Run]) -> History {
    let mut left_out = Vec::new();
    let counted = keep_latest_machine(runs, &mut left_out);
    let mut series: Vec<(String, Figures<'_>)> = Vec::new();
    for (run, benchmark) in counted.iter().flat_map(|run| run.benchmarks.iter().map(|b| (*run, b)))
    {
        let mut leave_out = |reason: &str| {
            left_out.push(LeftOut::figure(run, benchmark, reason.to_owned()));
        };
        let disturbed = benchmark.interference.is_disturbed.then_some("disturbed");
        if let Some(reason) = no_figure(benchmark).or(disturbed).or_else(|| no_level(benchmark)) {
            leave_out(reason);
            continue;
        }
        let place = in_order(benchmark);
        match series.iter_mut().find(|(known, _)| *known == place) {
            Some((_, points)) if points.last().is_some_and(|(last, _)| last.id == run.id) => {
                leave_out("stands in the run again; the first counts");
            }
            Some((_, points)) => points.push((run, benchmark)),
            None => series.push((place, vec![(run, benchmark)])),
        }
    }
    let each = series.into_iter().map(|(_, of)| {
        let alike = keep_latest_kind(of, &mut left_out);
        keep_latest_program(alike, &mut left_out)
    });
    let alike: Vec<Figures<'_>> = each.collect();
    History {
        schema: "yamba-history/1",
        significance: SIGNIFICANCE,
        benchmarks: alike.iter().filter_map(|of| one(of)).collect(),
        left_out,
    }
}

/// The runs that `yamba run` measured on the machine of the latest such run.
fn keep_latest_machine<'a>(runs: &'a [Run], left_out: &mut Vec<LeftOut>) -> Vec<&'a Run> {
    let mut meant: Vec<&Run> = Vec::new();
    for run in runs {
        match run.producer.for_another_command() {
            Some(command) => {
                left_out.push(LeftOut::run(&run.id, format!("measured by `yamba {command}`")));
            }
            None => meant.push(run),
        }
    }
    let Some(last) = meant.last().copied() else {
        return meant;
    };
    meant.retain(|run| match differences(run, last).identity.first() {
        None => true,
        Some(difference) => {
            let other = difference.describe("in it", "in the latest");
            left_out.push(LeftOut::run(&run.id, format!("another machine: {other}")));
            false
        }
    });
    meant
}

/// The figures that have the kind and unit of the last one.
fn keep_latest_kind<'a>(mut of: Figures<'a>, left_out: &mut Vec<LeftOut>) -> Figures<'a> {
    let Some((_, last)) = of.last().copied() else {
        return of;
    };
    of.retain(|(run, benchmark)| {
        let is_alike = kind(benchmark) == kind(last);
        if !is_alike {
            let reason = format!("{} in it, {} in the latest", kind(benchmark), kind(last));
            left_out.push(LeftOut::figure(run, benchmark, reason));
        }
        is_alike
    });
    of
}

/// The figures of the latest program, if it is one of another harness: base and head of `yamba ab`
/// have benchmarks of the same names.
fn keep_latest_program<'a>(mut of: Figures<'a>, left_out: &mut Vec<LeftOut>) -> Figures<'a> {
    let Some(last) = of.last().and_then(|(run, _)| program(run)) else {
        return of;
    };
    of.retain(|(run, benchmark)| {
        let other = program(run).filter(|program| *program != last);
        if let Some(other) = &other {
            let reason = format!("program {other}, that of the latest is {last}");
            left_out.push(LeftOut::figure(run, benchmark, reason));
        }
        other.is_none()
    });
    of
}

/// The program of another harness with its arguments and its folder. Working trees that `yamba ab`
/// made for one comparison differ in a random part of their path.
fn program(run: &Run) -> Option<String> {
    let harness = run.producer.harness.as_ref()?;
    let folder = harness.folder.iter().map(|folder| format!("(in {folder})"));
    let line = harness.words.iter().cloned().chain(folder).collect::<Vec<_>>().join(" ");
    let mut parts = line.split(WORKTREES);
    let mut lasting = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('/').unwrap_or(part.len());
        lasting += WORKTREES;
        lasting += &part[end..];
    }
    Some(lasting)
}

fn one(of: &[(&Run, &Benchmark)]) -> Option<Series> {
    let (_, last) = of.last()?;
    let medians: Vec<Medians> = of.iter().map(|(_, b)| levels(b)).collect();
    let unit = unit::common(medians.iter());
    let mut points: Vec<Point> = Vec::new();
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    let mut before: Option<(&Run, &Benchmark)> = None;
    for (&(run, benchmark), medians) in of.iter().zip(&medians) {
        let launches = medians.within(unit);
        let Some(value) = launch_level(launches) else {
            continue;
        };
        errors.extend(spread(launches).map(|v| v / launches.len() as f64));
        values.push(value);
        points.push(Point {
            run: run.id.clone(),
            started_unix_s: run.started_unix_s,
            tags: run.tags.clone(),
            value: value.exp(),
            differs: before.map_or_else(Vec::new, |before| differs(before, (run, benchmark))),
        });
        before = Some((run, benchmark));
    }
    let error = median(&errors).unwrap_or(0.0).sqrt();
    let least = LEAST_DEVIATION.max(ERRORS * error);
    let found = change_points(&values, SIGNIFICANCE, least, SEED)?;
    let change = |c: yamba_stats::ChangePoint| Change {
        run: points[c.index].run.clone(),
        index: c.index,
        ratio: (c.after - c.before).exp(),
        p: c.p,
        differs: points[c.index].differs.clone(),
    };
    Some(Series {
        of: Which::from(*last),
        better: super::comparison::better(last),
        unit: unit.name(last),
        least,
        single_numbers: of.iter().filter(|(_, b)| single_number(b).is_some()).count(),
        imported: of.iter().filter(|(run, _)| run.producer.imported.is_some()).count(),
        unnamed_machines: of.iter().filter(|(run, _)| run.machine.cpu.is_none()).count(),
        changes: found.into_iter().map(change).collect(),
        points,
    })
}

/// The medians of a run's launches, or the one number of a figure without launches.
fn levels(benchmark: &Benchmark) -> Medians {
    match single_number(benchmark) {
        Some(only) => Medians { own: vec![only], cycles: Vec::new() },
        None => Medians::new(benchmark),
    }
}

/// The program whose results were imported. `None`: Yamba measured.
fn origin(run: &Run) -> Option<&str> {
    run.producer.imported.as_ref()?;
    Some(&run.producer.version)
}

fn differs((run, benchmark): (&Run, &Benchmark), (next, after): (&Run, &Benchmark)) -> Vec<String> {
    let between = differences(run, next).state.into_iter();
    let mut all: Vec<String> = between.map(|d| d.describe("before", "then")).collect();
    if benchmark.declaration.provenance.program != after.declaration.provenance.program {
        all.insert(0, "another program".to_owned());
    }
    let [was, is] = [run, next].map(|run| origin(run).unwrap_or("Yamba"));
    if was != is {
        all.insert(0, format!("measured by {was} before, by {is} then"));
    }
    all
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;

    use super::super::comparison::tests::{run, scaled};
    use super::*;

    /// Runs of one benchmark in order of time, scaled by these factors.
    fn runs(factors: &[f64]) -> Vec<Run> {
        let each = factors.iter().enumerate();
        each.map(|(i, factor)| {
            let mut made = run(vec![scaled("x", *factor)]);
            made.id = format!("{i:02}");
            made.machine.kernel = if i < 6 { "6.1" } else { "6.2" }.to_owned();
            made
        })
        .collect()
    }

    const STEADY: [f64; 12] =
        [1.0, 1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999, 1.0, 1.002, 0.998, 1.0];

    fn changes(factors: &[f64]) -> Vec<Change> {
        history(&runs(factors)).benchmarks.remove(0).changes
    }

    #[test]
    fn change_lists_other_differences_of_the_run() {
        let mut slower = STEADY;
        slower[6..].iter_mut().for_each(|f| *f *= 1.1);
        let [change] = &changes(&slower)[..] else { panic!() };
        assert_eq!((change.index, change.run.as_str()), (6, "06"));
        assert!((change.ratio - 1.1).abs() < 0.01 && change.p <= 0.01);
        assert_eq!(change.differs, ["kernel is 6.1 before, 6.2 then"]);
    }

    #[test]
    fn fewer_runs_than_the_fewest_show_no_change() {
        for count in 2..FEWEST_RUNS {
            for step in 1..count {
                let level = |i| if i < step { 1.0 } else { 2.0 };
                let factors: Vec<f64> = (0..count).map(level).collect();
                assert_eq!(changes(&factors), [], "{step} of {count}");
            }
        }
        let fewest: Vec<f64> = (0..FEWEST_RUNS).map(|i| [1.0, 2.0][i / 5]).collect();
        assert_eq!(changes(&fewest).len(), 1);
    }

    #[test]
    fn noise_outlier_and_small_difference_are_no_change() {
        assert_eq!(changes(&STEADY), []);
        let mut outlier = STEADY;
        outlier[8] = 3.0;
        assert_eq!(changes(&outlier), []);
        // The launches of a run differ by 0.7 %, so the error of its figure is 0.3 %.
        let mut small = STEADY;
        small[6..].iter_mut().for_each(|f| *f *= 1.005);
        assert_eq!(changes(&small), []);
    }

    /// A run of another program: one number for each benchmark.
    fn single(index: usize, value: f64) -> Run {
        let mut made = run(vec![scaled("x", value)]);
        made.id = format!("{index:02}");
        made.benchmarks[0].launches = Vec::new();
        made
    }

    #[test]
    fn spread_between_runs_decides_on_single_numbers() {
        let series = |factors: &[f64]| {
            let runs = factors.iter().enumerate().map(|(i, f)| single(i, *f));
            history(&runs.collect::<Vec<_>>()).benchmarks.remove(0)
        };
        let steady = series(&STEADY);
        assert_eq!((steady.changes, steady.single_numbers), (vec![], 12));
        // A parameter by the curves of all launches: none of these has a figure alone.
        let mut curve = run(vec![scaled("x", 2.0)]);
        curve.benchmarks[0].launches.iter_mut().for_each(|launch| launch.median = None);
        let curve = history(&[curve]).benchmarks.remove(0);
        assert_eq!((curve.points.len(), curve.single_numbers), (1, 1));
        let mut runs = [single(0, 1.0), single(1, 1.0)];
        runs[0].machine.cpu = Some("Z80".to_owned());
        runs[1].machine.cpu = None;
        assert_eq!(history(&runs).benchmarks[0].unnamed_machines, 1);
        let mut slower = STEADY;
        slower[6..].iter_mut().for_each(|f| *f *= 1.1);
        let slower = series(&slower);
        let [change] = &slower.changes[..] else { panic!() };
        assert_eq!(change.index, 6);
        assert!((change.ratio - 1.1).abs() < 0.01);
        // A step of this size within the spread of the runs is no change.
        let noisy = [1.0, 1.3, 0.8, 1.2, 0.9, 1.1, 1.2, 0.9, 1.4, 1.1, 1.0, 1.3];
        assert_eq!(series(&noisy).changes, []);
    }

    #[test]
    fn single_number_is_not_mixed_with_cycles() {
        use yamba_record::run::Cycles;
        let mut all = runs(&STEADY);
        for benchmark in all.iter_mut().flat_map(|run| &mut run.benchmarks) {
            benchmark.details.cycles = Some(Cycles { median: 7.0, confidence_interval: [7.0; 2] });
            benchmark.launches.iter_mut().for_each(|l| l.cycles = Some(7.0));
        }
        assert_eq!(history(&all).benchmarks[0].unit.as_deref(), Some("cycles"));
        all.push(single(12, 1.0));
        let found = history(&all).benchmarks.remove(0);
        assert_eq!((found.unit.as_deref(), found.single_numbers), (Some("ns"), 1));
        assert!((found.points[12].value - 100.0).abs() < 1e-9);
    }

    #[test]
    fn other_tool_is_a_difference() {
        let mut all = runs(&STEADY);
        all.truncate(2);
        all[1].producer.version = "JMH 1.37".to_owned();
        all[1].producer.imported = Some(yamba_record::run::Imported::default());
        let points = history(&all).benchmarks.remove(0).points;
        assert_eq!(points[1].differs, ["measured by Yamba before, by JMH 1.37 then"]);
    }

    /// Base and head of a comparison, and heads that were built in other working trees.
    #[test]
    fn programs_of_other_harnesses_are_told_apart() {
        let mut all = runs(&STEADY);
        for (n, run) in all.iter_mut().enumerate() {
            let side = ["base", "head"][n % 2];
            let words = vec![format!("/tmp/yamba-worktrees-{n}Xy/{side}/bench"), "-v".to_owned()];
            let harness = yamba_record::run::HarnessProgram { words, ..Default::default() };
            run.producer.harness = Some(Box::new(harness));
        }
        let found = history(&all);
        assert_eq!(found.benchmarks[0].points.len(), 6);
        let reason = "program /tmp/yamba-worktrees-/base/bench -v, that of the latest is \
            /tmp/yamba-worktrees-/head/bench -v";
        assert_eq!(found.left_out[0].reason, reason);
        assert_eq!(found.left_out.len(), 6);
    }

    #[test]
    fn excluded_runs_are_listed_with_reasons() {
        let mut all = runs(&STEADY);
        all[3].producer.arguments = vec!["selftest".to_owned()];
        all[4].machine.cpu = Some("Z80".to_owned());
        all[11].machine.cpu = Some("6502".to_owned());
        let disturbed = &mut all[5].benchmarks[0];
        (disturbed.interference.is_disturbed, disturbed.interference.is_bounded) = (true, true);
        disturbed.confidence_interval = Some([90.0, 100.0]);
        all[6].benchmarks[0].status = Status::Invalid;
        all[7].benchmarks[0].unit = Some("us".to_owned());
        let found = history(&all);
        let shown: Vec<(&str, Option<String>, &str)> =
            found.left_out.iter().map(|l| (l.run.as_str(), l.key(), l.reason.as_str())).collect();
        let other = "another machine: cpu is Z80 in it, 6502 in the latest";
        let x = Some("x".to_owned());
        assert_eq!(
            shown,
            [
                ("03", None, "measured by `yamba selftest`"),
                ("04", None, other),
                ("05", x.clone(), "disturbed"),
                ("06", x.clone(), "invalid"),
                ("07", x, "latency in us in it, latency in ns in the latest"),
            ]
        );
        assert_eq!(found.benchmarks[0].points.len(), 7);
    }
}
