//! Two runs side by side, as `yamba compare` prints them. Pure.

use serde::Serialize;
use yamba_record::{Benchmark, Parameters, Run};
use yamba_stats::{Ratio, mean};

use super::gate::Gate;
use super::identity::{Differences, differences};
use super::pairing::{ONLY_IN_A, Paired, Side, fault, in_order, obstacle, ordered, paired};
use super::remeasure::{Remeasured, Stored};
use super::unit::{Choice, Unit};
use super::which::Which;
use super::{Compared, FAMILY, Pair, Verdict, compare_launches, confidence, has_figure};

/// The answer, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `yamba-compare/1`.
    #[cfg_attr(test, schemars(extend("const" = "yamba-compare/1")))]
    pub schema: &'static str,
    /// The first run; ratios are of the second to it.
    pub a: Told,
    /// The second run.
    pub b: Told,
    /// Where the machines differ.
    pub machine: Differences,
    /// The probability of any false suspicion in the whole comparison.
    pub family: f64,
    /// The least confidence of any interval, so that all of them hold at once but for `family`; none where nothing was compared.
    pub confidence: Option<f64>,
    /// What stands in both.
    pub benchmarks: Vec<Entry>,
    /// What stands in one only.
    pub alone: Vec<Alone>,
    /// Of each kind of figure, the geometric mean of the ratios.
    pub means: Vec<GeometricMean>,
    /// The re-measured runs; `None` if nothing was re-measured.
    pub remeasured: Option<Remeasured>,
    /// Whether it passes the limit, where one was given.
    pub gate: Option<Gate>,
}

/// What is told of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Told {
    /// [`Run::id`].
    pub id: String,
    /// When it began, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// Its names.
    pub tags: Vec<String>,
}

/// One benchmark of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// Its name, the parameters that tell it from others of its name, and several processes, as the table shows them.
    #[serde(skip)]
    pub label: String,
    /// `latency`, `bandwidth` or `value`.
    pub figure: Option<String>,
    /// Which ratio is the better one: of a latency `less`, of a bandwidth `more`, of a value none.
    pub better: Option<&'static str>,
    /// What b is of a.
    pub ratio: Option<f64>,
    /// Where that lies, with [`Comparison::confidence`].
    pub interval: Option<[f64; 2]>,
    /// The ratio by itself: its interval has 80 %, its p-value is not adjusted for the number of benchmarks.
    #[serde(skip)]
    pub alone: Option<Ratio>,
    /// Whether both sides are one program on one machine in one state: what then differs is noise.
    #[serde(skip)]
    pub is_one_program: bool,
    /// Whether a gate could judge side a if side b had a figure too: that has launches, and one direction is the better one.
    #[serde(skip)]
    pub is_owed: bool,
    /// The probability of such a ratio where there is no difference, adjusted for the number of benchmarks (Holm).
    pub p: Option<f64>,
    /// Launches of both sides that have a figure.
    pub launches: [usize; 2],
    /// The unit of `a` and `b`, and the one that was compared in: the benchmark's own, or `cycles`.
    pub unit: Option<String>,
    /// The figure of side a.
    pub a: Option<f64>,
    /// The figure of side b.
    pub b: Option<f64>,
    /// What is said of it.
    pub verdict: Word,
    /// Whether it differs as far as these launches tell, and nothing confirms it.
    pub suspect: bool,
    /// Why there is no ratio, or what must be known of the verdict.
    pub reason: Option<String>,
    /// The comparison of the two runs themselves, if figures, ratio and verdict are re-measured ones.
    pub stored: Option<Stored>,
}

/// A verdict on one benchmark. Only a re-measured benchmark is called slower or faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// No difference is shown.
    Same,
    /// Re-measured, b is better.
    Faster,
    /// Re-measured, b is worse.
    Slower,
    /// A difference that is not confirmed, or nothing to compare.
    Unknown,
}

/// What stands in one run only.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alone {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// `a` or `b`.
    pub side: &'static str,
    /// Why it has no partner.
    pub reason: &'static str,
    /// As [`Entry::is_owed`], of what B lacks.
    #[serde(skip)]
    pub is_owed: bool,
}

/// A kind of figure as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GeometricMean {
    /// `latency`, `bandwidth`, or a value's unit.
    pub kind: String,
    /// The geometric mean of its benchmarks' ratios: each counts the same.
    pub ratio: f64,
    /// How many those are.
    pub benchmarks: usize,
    /// Whether they were all re-measured. Where only some were, since they seemed slow, the mean is of the ratios that the two runs themselves have: a mean of both
    /// would be of chosen ratios.
    pub is_remeasured: bool,
}

/// Compares two runs. `units` chooses the unit in which a pair is compared.
pub fn comparison(
    a: &Run,
    b: &Run,
    units: &dyn Fn(&Benchmark, &Benchmark) -> Choice,
) -> Comparison {
    let machine = differences(a, b);
    // Two machines may need the same cycles and not the same time.
    let by_time = !machine.must.is_empty();
    let is_unchanged = machine.must.is_empty() && machine.should.is_empty();
    let Paired { both, alone } = paired(&a.benchmarks, &b.benchmarks);
    let (mut benchmarks, mut pairs) = (Vec::new(), Vec::new());
    for (key, x, y) in &both {
        let choice = match by_time || obstacle(x, y).is_some() {
            true => Choice::OWN,
            false => units(x, y),
        };
        let pair = Pair::of(key, x, y, choice);
        let launches = [pair.a.len(), pair.b.len()];
        let mut entry = entry([x, y], choice.unit, launches, label(x, &both));
        entry.is_one_program = is_unchanged && is_one_program(x, y);
        if entry.reason.is_none() {
            pairs.push(pair);
        }
        benchmarks.push(entry);
    }
    let compared = compare_launches(&pairs);
    let comparable = benchmarks.iter_mut().filter(|e| e.reason.is_none());
    for (entry, compared) in comparable.zip(&compared) {
        judge(entry, compared);
    }
    Comparison {
        schema: "yamba-compare/1",
        a: told(a),
        b: told(b),
        machine,
        family: FAMILY,
        confidence: (!compared.is_empty()).then(|| confidence(compared.len())),
        means: means(&benchmarks),
        benchmarks,
        alone: alone.into_iter().map(without_partner).collect(),
        remeasured: None,
        gate: None,
    }
}

pub(super) fn told(run: &Run) -> Told {
    Told {
        id: run.id.clone(),
        started_unix_s: run.started_unix_s,
        tags: run.tags.clone(),
    }
}

/// A pair before anything is said of it.
fn entry([a, b]: [&Benchmark; 2], unit: Unit, launches: [usize; 2], label: String) -> Entry {
    let figure = |benchmark: &Benchmark| match unit {
        Unit::Cycles => benchmark.cycles.map(|c| c.median),
        Unit::Own => benchmark.median.filter(|_| has_figure(benchmark)),
    };
    Entry {
        of: a.into(),
        label,
        figure: a.figure.clone(),
        better: better(a),
        ratio: None,
        interval: None,
        alone: None,
        is_one_program: false,
        is_owed: is_owed(a),
        p: None,
        launches,
        unit: unit.name(a),
        a: figure(a),
        b: figure(b),
        verdict: Word::Unknown,
        suspect: false,
        reason: obstacle(a, b),
        stored: None,
    }
}

fn is_one_program(a: &Benchmark, b: &Benchmark) -> bool {
    a.about.program.is_some() && a.about.program == b.about.program
}

fn is_owed(of_a: &Benchmark) -> bool {
    better(of_a).is_some() && fault(of_a).is_none()
}

/// Which direction of its figure is the better one.
pub(super) fn better(benchmark: &Benchmark) -> Option<&'static str> {
    match benchmark.figure.as_deref() {
        Some("latency") => Some("less"),
        Some("bandwidth") => Some("more"),
        _ => None,
    }
}

fn judge(entry: &mut Entry, compared: &Compared) {
    let Some(ratio) = compared.ratio else {
        entry.reason = Some("too few launches, too far apart".to_owned());
        return;
    };
    entry.ratio = Some(ratio.ratio);
    entry.interval = Some([ratio.low, ratio.high]);
    entry.alone = compared.alone;
    entry.p = compared.p;
    entry.suspect = compared.verdict == Verdict::Suspect;
    if compared.verdict == Verdict::Same {
        entry.verdict = Word::Same;
    }
}

/// Name, the parameters that tell it from others of its name or were swept, and several processes.
fn label(of: &Benchmark, both: &[(String, &Benchmark, &Benchmark)]) -> String {
    let differs = |name: &str| {
        let mut same_name = both.iter().filter(|(_, b, _)| b.name == of.name);
        same_name.any(|(_, b, _)| b.parameters.get(name) != of.parameters.get(name))
    };
    let parameters = of.parameters.0.iter();
    let shown = parameters.filter(|(name, _)| of.swept.contains(name) || differs(name));
    let shown = Parameters(shown.cloned().collect());
    super::named(&of.name, &shown, of.processes)
}

fn without_partner((side, benchmark, reason): (Side, &Benchmark, &'static str)) -> Alone {
    Alone {
        of: benchmark.into(),
        side: match side {
            Side::A => "a",
            Side::B => "b",
        },
        reason,
        is_owed: reason == ONLY_IN_A && is_owed(benchmark),
    }
}

impl Comparison {
    /// Whether re-measuring was stopped before it was done.
    pub fn is_stopped(&self) -> bool {
        self.remeasured.as_ref().is_some_and(|r| r.interrupted)
    }
}

impl Entry {
    /// How much slower b is: 0.05 for 5 % more of a latency, or for a bandwidth of 1 / 1.05. None without a ratio, and of a value, which has no better direction.
    pub fn slowdown(&self) -> Option<f64> {
        self.slower_by(self.ratio?)
    }

    /// The same of the two figures. None too where no ratio is told.
    pub fn slowdown_of_figures(&self) -> Option<f64> {
        self.ratio?;
        self.slower_by(self.b? / self.a?)
    }

    /// The interval of [`slowdown`](Entry::slowdown), its lower end first.
    pub fn slowdowns(&self) -> Option<[f64; 2]> {
        self.within(self.interval?)
    }

    /// The same for this benchmark by itself: the truth is beyond either end in one of ten.
    pub fn slowdowns_alone(&self) -> Option<[f64; 2]> {
        self.within(self.alone.map(|r| [r.low, r.high])?)
    }

    fn within(&self, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
        let (x, y) = (self.slower_by(low)?, self.slower_by(high)?);
        Some([x.min(y), x.max(y)])
    }

    fn slower_by(&self, ratio: f64) -> Option<f64> {
        match self.better? {
            "less" => Some(ratio - 1.0),
            _ => Some(1.0 / ratio - 1.0),
        }
    }

    /// Whether it is of this benchmark at this point; a class may declare its parameters in another order now.
    pub fn is_of(&self, benchmark: &Benchmark) -> bool {
        self.place() == in_order(benchmark)
    }

    /// What tells it from all others.
    pub fn place(&self) -> String {
        ordered(&self.of.name, &self.of.parameters, self.of.processes)
    }

    /// The unit that its launches were compared in.
    pub fn compared_in(&self) -> Unit {
        match self.unit.as_deref() {
            Some("cycles") => Unit::Cycles,
            _ => Unit::Own,
        }
    }

    /// Whether b is more than a.
    pub fn is_above_one(&self) -> bool {
        self.ratio.is_some_and(|r| r > 1.0)
    }

    /// Ratios of one kind mean the same: less of a latency, more of a bandwidth, or another value in one unit.
    pub fn kind(&self) -> String {
        match self.figure.as_deref() {
            Some(figure @ ("latency" | "bandwidth")) => figure.to_owned(),
            _ => format!("value in {}", self.unit.as_deref().unwrap_or("no unit")),
        }
    }
}

/// In the order in which the kinds come first.
pub(super) fn means(benchmarks: &[Entry]) -> Vec<GeometricMean> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in benchmarks.iter().map(Entry::kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of = |kind: String| {
        let same = benchmarks.iter().filter(|b| b.kind() == kind);
        let same: Vec<&Entry> = same.filter(|b| b.ratio.is_some()).collect();
        let is_remeasured = same.iter().all(|b| b.stored.is_some());
        let ratio = |b: &&Entry| match &b.stored {
            Some(stored) if !is_remeasured => stored.ratio,
            _ => b.ratio,
        };
        let logarithms: Vec<f64> = same.iter().filter_map(ratio).map(f64::ln).collect();
        Some(GeometricMean {
            ratio: mean(&logarithms)?.exp(),
            benchmarks: logarithms.len(),
            is_remeasured,
            kind,
        })
    };
    kinds.into_iter().filter_map(of).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use yamba_record::Machine;
    use yamba_record::run::Cycles;

    use super::super::tests::benchmark;
    use super::*;

    const SIX: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0];

    pub fn run(benchmarks: Vec<Benchmark>) -> Run {
        Run {
            benchmarks,
            ..Run::new(Machine::default())
        }
    }

    pub fn compared(a: &Run, b: &Run) -> Comparison {
        comparison(a, b, &super::super::unit::of_pair)
    }

    pub fn scaled(name: &str, factor: f64) -> Benchmark {
        let mut made = benchmark(name, &SIX.map(|x| x * factor));
        made.median = Some(100.0 * factor);
        made
    }

    #[test]
    fn a_difference_is_suspect_and_no_more_than_that() {
        let a = run(vec![scaled("x", 1.0), scaled("y", 1.0), scaled("z", 1.0)]);
        let b = run(vec![
            scaled("x", 1.2),
            scaled("y", 1.0),
            benchmark("z", &[1.0]),
        ]);
        let found = compared(&a, &b);
        let [x, y, z] = &found.benchmarks[..] else {
            panic!()
        };
        assert_eq!(
            (x.verdict, x.suspect, x.better),
            (Word::Unknown, true, Some("less"))
        );
        assert!((x.ratio.unwrap() - 1.2).abs() < 1e-9 && x.interval.unwrap()[0] > 1.1);
        assert_eq!(
            (y.verdict, y.suspect, y.ratio),
            (Word::Same, false, Some(1.0))
        );
        assert_eq!(
            (z.verdict, z.suspect, z.ratio),
            (Word::Unknown, false, None)
        );
        assert_eq!(z.reason.as_deref(), Some("one launch in B"));
        // What cannot be compared takes nothing from the others' intervals.
        assert_eq!(found.confidence, Some(1.0 - FAMILY / 2.0));
        let [mean] = &found.means[..] else { panic!() };
        assert!((mean.ratio - 1.2f64.sqrt()).abs() < 1e-9 && mean.benchmarks == 2);
    }

    #[test]
    fn unlike_machines_are_compared_in_time_only() {
        let with_cycles = |factor: f64| {
            let mut made = scaled("x", factor);
            made.cycles = Some(Cycles {
                median: 7.0,
                interval: [7.0; 2],
            });
            for launch in &mut made.launches {
                launch.cycles = Some(7.0);
            }
            run(vec![made])
        };
        let (a, mut b) = (with_cycles(1.0), with_cycles(2.0));
        let found = compared(&a, &b);
        let x = &found.benchmarks[0];
        assert_eq!(
            (x.unit.as_deref(), x.a, x.ratio),
            (Some("cycles"), Some(7.0), Some(1.0))
        );
        b.machine.isa = "riscv64".to_owned();
        let mut a = a;
        a.machine.isa = "x86_64".to_owned();
        let found = compared(&a, &b);
        let x = &found.benchmarks[0];
        assert_eq!(
            (x.unit.as_deref(), x.b, x.suspect),
            (Some("ns"), Some(200.0), true)
        );
    }

    #[test]
    fn kinds_of_figures_have_their_own_mean_and_direction() {
        let mut more = scaled("bw", 1.0);
        more.figure = Some("bandwidth".to_owned());
        let mut value = scaled("v", 1.0);
        (value.figure, value.unit) = (Some("value".to_owned()), Some("pages".to_owned()));
        let all = run(vec![scaled("x", 1.0), more, value]);
        let found = compared(&all, &all);
        let kinds: Vec<&str> = found.means.iter().map(|m| m.kind.as_str()).collect();
        assert_eq!(kinds, ["latency", "bandwidth", "value in pages"]);
        let better: Vec<_> = found.benchmarks.iter().map(|b| b.better).collect();
        assert_eq!(better, [Some("less"), Some("more"), None]);
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("label"), "{text}");
    }
}
