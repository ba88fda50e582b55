//! Compares two runs, as `yamba compare` prints it. Pure.

use yamba_record::{Benchmark, Parameters, Run};
use yamba_stats::mean;

use super::document::{ComparedEntry, Comparison, GeometricMean, RunReference, Unmatched, Word};
use super::identity::differences;
use super::pairing::{ONLY_IN_A, Paired, Side, fault, obstacle, paired};
use super::unit::{Choice, Unit};
use super::{Compared, FAMILYWISE_ERROR, Pair, Verdict, compare_launches, confidence};

/// Compares two runs. `units` chooses the unit for comparing a pair.
pub fn comparison(
    a: &Run,
    b: &Run,
    units: &dyn Fn(&Benchmark, &Benchmark) -> Choice,
) -> Comparison {
    let machine = differences(a, b);
    // Different machines may need the same cycles, but different times.
    let by_time = !machine.identity.is_empty();
    let is_unchanged = machine.identity.is_empty() && machine.state.is_empty();
    let Paired { both, unmatched } = paired(&a.benchmarks, &b.benchmarks);
    let (mut benchmarks, mut pairs) = (Vec::new(), Vec::new());
    for (key, x, y) in &both {
        let choice = if by_time || obstacle(x, y).is_some() { Choice::OWN } else { units(x, y) };
        let pair = Pair::with_choice(key, x, y, choice);
        let launches = [pair.a.len(), pair.b.len()];
        let mut entry = entry([x, y], choice.unit, launches, label(x, &both));
        entry.is_one_program = is_unchanged && is_one_program(x, y);
        entry.has_sources = [(a, x), (b, y)].into_iter().all(|(run, of)| has_sources(run, of));
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
        a: reference(a),
        b: reference(b),
        machine,
        familywise_error: FAMILYWISE_ERROR,
        confidence: (!compared.is_empty()).then(|| confidence(compared.len())),
        geometric_means: geometric_means(&benchmarks),
        benchmarks,
        unmatched: unmatched.into_iter().map(without_partner).collect(),
        remeasured: None,
        gate: None,
        interleaved: None,
    }
}

pub(super) fn reference(run: &Run) -> RunReference {
    RunReference { id: run.id.clone(), started_unix_s: run.started_unix_s, tags: run.tags.clone() }
}

/// The entry of a pair before its comparison.
fn entry(
    [a, b]: [&Benchmark; 2],
    unit: Unit,
    launches: [usize; 2],
    label: String,
) -> ComparedEntry {
    let figure = |benchmark: &Benchmark| match unit {
        Unit::Cycles => benchmark.details.cycles.map(|c| c.median),
        Unit::Own => benchmark.median.filter(|_| benchmark.is_sound()),
    };
    ComparedEntry {
        of: a.into(),
        label,
        figure: a.declaration.figure.clone(),
        better: better(a),
        ratio: None,
        confidence_interval: None,
        unadjusted: None,
        is_one_program: false,
        has_sources: false,
        is_owed: is_owed(a),
        p: None,
        launches,
        unit: unit.name(a),
        a: figure(a),
        b: figure(b),
        disturbed: [a, b].map(|side| side.interference.is_disturbed),
        verdict: Word::Unknown,
        suspect: false,
        reason: obstacle(a, b),
        stored: None,
    }
}

fn is_one_program(a: &Benchmark, b: &Benchmark) -> bool {
    a.declaration.provenance.program.is_some()
        && a.declaration.provenance.program == b.declaration.provenance.program
}

/// Whether the run kept the sources of the benchmark. The file of an imported one is its results.
fn has_sources(run: &Run, of: &Benchmark) -> bool {
    !run.producer.is_of_another_program() && !of.declaration.provenance.files.is_empty()
}

fn is_owed(of_a: &Benchmark) -> bool {
    better(of_a).is_some() && fault(of_a).is_none()
}

/// The better direction of its figure.
pub(super) fn better(benchmark: &Benchmark) -> Option<&'static str> {
    match benchmark.declaration.figure.as_deref() {
        Some("latency") => Some("less"),
        Some("bandwidth" | "rate") => Some("more"),
        _ => None,
    }
}

fn judge(entry: &mut ComparedEntry, compared: &Compared) {
    let Some(ratio) = compared.ratio else {
        entry.reason = Some("too few launches, too far apart".to_owned());
        return;
    };
    entry.ratio = Some(ratio.ratio);
    entry.confidence_interval = Some([ratio.low, ratio.high]);
    entry.unadjusted = compared.unadjusted;
    entry.p = compared.p;
    entry.suspect = compared.verdict == Verdict::Suspect;
    if compared.verdict == Verdict::Same {
        entry.verdict = Word::Same;
    }
}

/// Its name, the parameters that were swept or distinguish it from others of that name, and the
/// number of processes or threads above one.
fn label(of: &Benchmark, both: &[(String, &Benchmark, &Benchmark)]) -> String {
    let differs = |name: &str| {
        let mut same_name = both.iter().filter(|(_, b, _)| b.name == of.name);
        same_name.any(|(_, b, _)| b.parameters.get(name) != of.parameters.get(name))
    };
    let parameters = of.parameters.0.iter();
    let shown = parameters.filter(|(name, _)| of.declaration.swept.contains(name) || differs(name));
    let shown = Parameters(shown.cloned().collect());
    yamba_record::named(&of.name, &shown, of.workers())
}

fn without_partner((side, benchmark, reason): (Side, &Benchmark, &'static str)) -> Unmatched {
    Unmatched {
        of: benchmark.into(),
        side: match side {
            Side::A => "a",
            Side::B => "b",
        },
        reason,
        is_owed: reason == ONLY_IN_A && is_owed(benchmark),
    }
}

/// The geometric mean of each kind, in the order of the kinds' first benchmarks.
pub(super) fn geometric_means(benchmarks: &[ComparedEntry]) -> Vec<GeometricMean> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in benchmarks.iter().map(ComparedEntry::kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of = |kind: String| {
        let same = benchmarks.iter().filter(|b| b.kind() == kind);
        let same: Vec<&ComparedEntry> = same.filter(|b| b.ratio.is_some()).collect();
        let is_remeasured = same.iter().all(|b| b.stored.is_some());
        let ratio = |b: &&ComparedEntry| match &b.stored {
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
        Run { benchmarks, ..Run::new(Machine::default()) }
    }

    pub fn compared(a: &Run, b: &Run) -> Comparison {
        comparison(a, b, &super::super::unit::choose_unit)
    }

    pub fn scaled(name: &str, factor: f64) -> Benchmark {
        let mut made = benchmark(name, &SIX.map(|x| x * factor));
        made.median = Some(100.0 * factor);
        made
    }

    #[test]
    fn difference_of_stored_runs_is_only_suspect() {
        let a = run(vec![scaled("x", 1.0), scaled("y", 1.0), scaled("z", 1.0)]);
        let b = run(vec![scaled("x", 1.2), scaled("y", 1.0), benchmark("z", &[1.0])]);
        let found = compared(&a, &b);
        let [x, y, z] = &found.benchmarks[..] else { panic!() };
        assert_eq!((x.verdict, x.suspect, x.better), (Word::Unknown, true, Some("less")));
        assert!((x.ratio.unwrap() - 1.2).abs() < 1e-9 && x.confidence_interval.unwrap()[0] > 1.1);
        assert_eq!((y.verdict, y.suspect, y.ratio), (Word::Same, false, Some(1.0)));
        assert_eq!((z.verdict, z.suspect, z.ratio), (Word::Unknown, false, None));
        assert_eq!(z.reason.as_deref(), Some("one launch in B"));
        // A benchmark that cannot be compared does not lower the confidence of other intervals.
        assert_eq!(found.confidence, Some(1.0 - FAMILYWISE_ERROR / 2.0));
        let [mean] = &found.geometric_means[..] else { panic!() };
        assert!((mean.ratio - 1.2f64.sqrt()).abs() < 1e-9 && mean.benchmarks == 2);
    }

    /// A run beside a neighbour: times up to half as long again, with an interval that holds the
    /// quiet ones.
    fn beside_a_neighbour(quiet: f64, slowed: f64) -> Run {
        let mut made = scaled("x", quiet * slowed);
        let seen = made.median.unwrap();
        made.confidence_interval = Some([seen / 1.5, seen * 1.01]);
        (made.interference.is_disturbed, made.interference.is_bounded) = (true, true);
        run(vec![made])
    }

    #[test]
    fn disturbed_figure_differs_only_beyond_its_interval() {
        let quiet = run(vec![scaled("x", 1.0)]);
        for slowed in [1.0, 1.2, 1.4] {
            for (a, b) in [
                (quiet.clone(), beside_a_neighbour(1.0, slowed)),
                (beside_a_neighbour(1.0, slowed), quiet.clone()),
                (beside_a_neighbour(1.0, slowed), beside_a_neighbour(1.0, 1.1)),
            ] {
                let found = compared(&a, &b);
                let x = &found.benchmarks[0];
                assert_eq!((x.verdict, x.p, x.is_disturbed()), (Word::Same, Some(1.0), true));
                let [low, high] = x.confidence_interval.unwrap();
                assert!(low < 1.0 && 1.0 < high, "{low} {high}");
            }
        }
        let found = compared(&quiet, &beside_a_neighbour(2.0, 1.2));
        let x = &found.benchmarks[0];
        assert_eq!((x.suspect, x.disturbed), (true, [false, true]));
        let [low, high] = x.confidence_interval.unwrap();
        assert!(1.0 < low && low < 2.0 && 2.0 < high, "{low} {high}");
        let found = compared(&beside_a_neighbour(2.0, 1.2), &quiet);
        assert!(found.benchmarks[0].suspect);
    }

    #[test]
    fn unlike_machines_are_compared_in_time_only() {
        let with_cycles = |factor: f64| {
            let mut made = scaled("x", factor);
            made.details.cycles = Some(Cycles { median: 7.0, confidence_interval: [7.0; 2] });
            for launch in &mut made.launches {
                launch.cycles = Some(7.0);
            }
            run(vec![made])
        };
        let (a, mut b) = (with_cycles(1.0), with_cycles(2.0));
        let found = compared(&a, &b);
        let x = &found.benchmarks[0];
        assert_eq!((x.unit.as_deref(), x.a, x.ratio), (Some("cycles"), Some(7.0), Some(1.0)));
        b.machine.isa = "riscv64".to_owned();
        let mut a = a;
        a.machine.isa = "x86_64".to_owned();
        let found = compared(&a, &b);
        let x = &found.benchmarks[0];
        assert_eq!((x.unit.as_deref(), x.b, x.suspect), (Some("ns"), Some(200.0), true));
    }

    #[test]
    fn each_kind_of_figure_has_its_own_mean_and_direction() {
        let mut more = scaled("bw", 1.0);
        more.declaration.figure = Some("bandwidth".to_owned());
        let mut rate = scaled("rate", 1.0);
        (rate.declaration.figure, rate.unit) = (Some("rate".to_owned()), Some("ops/s".to_owned()));
        let mut value = scaled("v", 1.0);
        (value.declaration.figure, value.unit) =
            (Some("value".to_owned()), Some("pages".to_owned()));
        let all = run(vec![scaled("x", 1.0), more, rate, value]);
        let found = compared(&all, &all);
        let kinds: Vec<&str> = found.geometric_means.iter().map(|m| m.kind.as_str()).collect();
        assert_eq!(kinds, ["latency", "bandwidth", "rate", "value in pages"]);
        let better: Vec<_> = found.benchmarks.iter().map(|b| b.better).collect();
        assert_eq!(better, [Some("less"), Some("more"), Some("more"), None]);
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("label"), "{text}");
    }
}
