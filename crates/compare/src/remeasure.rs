//! Decides how suspected benchmarks are re-measured: which sides, with how many launches, and the
//! resulting verdicts. Pure.
//!
//! Two runs are of two moments, and no statistics of their launches shows the drift between them.
//! So only a re-measured benchmark is called *slower* or *faster*.

use yamba_record::Run;
use yamba_record::run::Plan;

use super::comparison::{geometric_means, reference};
use super::document::{ComparedEntry, Comparison, Remeasured, StoredComparison, Word};
use super::identity::{Difference, Differences};

/// Factor from the launches of a run to those of each side of a re-measurement: 18 a side for usual
/// runs.
///
/// The table shows the share of gates that found a slowdown of 5 % with a limit of 3 %. Its rows
/// are the launches' coefficients of variation, its columns the launches a side. The launches were
/// drawn from those of 80 benchmarks on a noisy virtual machine.
///
/// | | 12 | 18 | 24 | 36 |
/// | --- | --- | --- | --- | --- |
/// | 0.4 % to 2 % (30 benchmarks) | 0.85 | 0.99 | 0.99 | 1.00 |
/// | 2 % to 4.3 % (18 benchmarks) | 0.25 | 0.54 | 0.73 | 0.87 |
///
/// Of 100 gates without a slowdown none failed with any of these numbers. `gate/tests.rs` repeats
/// the gates of quiet benchmarks and those without a slowdown.
pub const LAUNCHES_FACTOR: u64 = 3;

/// Launches of a usual run, and the least number assumed for a re-measurement.
pub const USUAL_LAUNCHES: u64 = 6;

/// Launches of each side of a re-measurement of two runs with these plans.
pub fn launches(a: &Plan, b: &Plan) -> u64 {
    LAUNCHES_FACTOR * USUAL_LAUNCHES.max(a.launches).max(b.launches)
}

/// The sides that can be re-measured on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Both sides, interleaved.
    Both,
    /// Only b, for this reason: the machine state of a no longer exists.
    OnlyB(String),
    /// Neither, for this reason.
    Neither(String),
}

/// Decides which sides can be re-measured. `between` holds the differences between the machines of
/// a and b, `here` those between the machine of b and this one.
pub fn policy(between: &Differences, here: &Differences) -> Policy {
    if !here.identity.is_empty() {
        let other = describe_all(&here.identity, "in B", "here");
        return Policy::Neither(format!("B was measured on another machine: {other}"));
    }
    let changed: Vec<Difference> = between.identity.iter().chain(&between.state).cloned().collect();
    if changed.is_empty() {
        return Policy::Both;
    }
    let changed = describe_all(&changed, "in A", "in B");
    if here.state.is_empty() {
        return Policy::OnlyB(changed);
    }
    let since = describe_all(&here.state, "in B", "here");
    Policy::Neither(format!("{changed}, and since then {since}"))
}

fn describe_all(all: &[Difference], first: &str, second: &str) -> String {
    let each: Vec<String> = all.iter().map(|d| d.describe(first, second)).collect();
    each.join("; ")
}

/// How a benchmark was re-measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Both sides' programs, interleaved.
    Interleaved,
    /// Both sides' programs, interleaved, but they are one program.
    OneProgram,
    /// Only b's program, compared with the stored figures of a, for this reason.
    StoredA(String),
    /// Not re-measured, for this reason.
    Not(String),
}

/// The runs of a re-measurement.
pub struct Fresh<'a> {
    /// Side a; none if the stored run is used.
    pub a: Option<&'a Run>,
    /// Side b.
    pub b: &'a Run,
    /// The comparison of the two.
    pub compared: Comparison,
}

/// Replaces ratios and verdicts in `found` by the re-measured ones. `basis` returns how an entry
/// was re-measured, or `None` if it was not to be.
pub fn adopt(
    found: &mut Comparison,
    fresh: &Fresh<'_>,
    basis: &dyn Fn(&ComparedEntry) -> Option<Basis>,
) {
    let mut measured = 0;
    for entry in &mut found.benchmarks {
        let Some(basis) = basis(entry) else {
            continue;
        };
        let mut all = fresh.compared.benchmarks.iter();
        let of_entry = all.find(|f| f.place() == entry.place()).cloned();
        *entry = renewed(entry, of_entry, basis);
        measured += usize::from(entry.stored.is_some());
    }
    found.geometric_means = geometric_means(&found.benchmarks);
    found.remeasured = Some(Remeasured {
        a: fresh.a.map(reference),
        b: reference(fresh.b),
        confidence: fresh.compared.confidence,
        benchmarks: measured,
        interrupted: fresh.b.interrupted,
    });
}

/// Marks the entries for which `is_meant` is true as not re-measured, with the reason.
pub fn not_remeasured(
    found: &mut Comparison,
    reason: &str,
    is_meant: &dyn Fn(&ComparedEntry) -> bool,
) {
    for entry in found.benchmarks.iter_mut().filter(|e| is_meant(e)) {
        entry.reason = Some(format!("not re-measured: {reason}"));
        entry.verdict = Word::Unknown;
    }
}

/// The entry with its re-measured ratio and verdict.
fn renewed(before: &ComparedEntry, fresh: Option<ComparedEntry>, basis: Basis) -> ComparedEntry {
    let unknown = |reason: String| ComparedEntry {
        verdict: Word::Unknown,
        reason: Some(reason),
        ..before.clone()
    };
    if let Basis::Not(reason) = &basis {
        return unknown(format!("not re-measured: {reason}"));
    }
    let Some(fresh) = fresh else {
        return unknown("re-measured, it has no figure".to_owned());
    };
    if let Some(reason) = &fresh.reason {
        return unknown(format!("re-measured: {reason}"));
    }
    let is_one_program = basis == Basis::OneProgram;
    let (verdict, reason) = judged(before, &fresh, basis);
    let mut entry = ComparedEntry {
        label: before.label.clone(),
        suspect: fresh.suspect && verdict == Word::Unknown,
        is_one_program,
        verdict,
        reason,
        stored: Some(StoredComparison {
            ratio: before.ratio,
            confidence_interval: before.confidence_interval,
            p: before.p,
            launches: before.launches,
            suspect: before.suspect,
        }),
        ..fresh
    };
    entry.settle_one_program();
    entry
}

fn judged(before: &ComparedEntry, fresh: &ComparedEntry, basis: Basis) -> (Word, Option<String>) {
    let why_stored = match &basis {
        Basis::StoredA(reason) => Some(format!(
            "A cannot be re-measured ({reason}): stored A against re-measured B, not interleaved"
        )),
        _ => None,
    };
    if !fresh.suspect {
        return (Word::Same, why_stored);
    }
    // Against a stored side one difference is no confirmation: both comparisons must show it.
    let is_shown_twice = before.suspect && before.is_above_one() == fresh.is_above_one();
    if why_stored.is_some() && !is_shown_twice {
        return (Word::Unknown, why_stored);
    }
    match fresh.direction() {
        Some(word) => (word, why_stored),
        None => {
            let reason = "it differs again; of a value neither direction is the better one";
            (Word::Unknown, Some(reason.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Benchmark, Status};

    use super::super::comparison::tests::{compared, run, scaled};
    use super::super::document::Gate;
    use super::super::gate::tests::general;
    use super::super::gate::{apparent, is_candidate};
    use super::*;

    fn differences(identity: &[&str], state: &[&str]) -> Differences {
        let all = |names: &[&str]| {
            let each = names.iter().map(|name| Difference {
                name: (*name).to_owned(),
                a: Some("old".to_owned()),
                b: Some("new".to_owned()),
            });
            each.collect()
        };
        Differences { identity: all(identity), state: all(state), informative: Vec::new() }
    }

    #[test]
    fn only_unchanged_machine_state_is_remeasured() {
        let none = differences(&[], &[]);
        let kernel = differences(&[], &["kernel"]);
        let cpu = differences(&["cpu"], &[]);
        let text = "kernel is old in A, new in B";
        assert_eq!(policy(&none, &none), Policy::Both);
        // The present state of the machine is equally suitable for both sides, which were measured
        // in the same state.
        assert_eq!(policy(&none, &kernel), Policy::Both);
        assert_eq!(policy(&kernel, &none), Policy::OnlyB(text.to_owned()));
        assert!(matches!(policy(&cpu, &none), Policy::OnlyB(_)));
        for here in [&kernel, &cpu] {
            assert!(matches!(policy(&kernel, here), Policy::Neither(_)));
        }
        assert!(matches!(policy(&none, &cpu), Policy::Neither(_)));
    }

    /// Compares runs whose side b is slower by these factors, in the stored and in the re-measured
    /// runs.
    fn after(stored: f64, remeasured: f64, basis: &Basis) -> Comparison {
        let all = |factor: f64| {
            let mut bandwidth = scaled("bw", 1.0 / factor);
            bandwidth.declaration.figure = Some("bandwidth".to_owned());
            let mut value = scaled("v", factor);
            value.declaration.figure = Some("value".to_owned());
            run(vec![scaled("lat", factor), bandwidth, value])
        };
        let mut found = compared(&all(1.0), &all(stored));
        let (a, b) = (all(1.0), all(remeasured));
        let fresh = Fresh { a: Some(&a), b: &b, compared: compared(&a, &b) };
        adopt(&mut found, &fresh, &|_| Some(basis.clone()));
        found
    }

    fn gate(found: &Comparison, limit: f64) -> Gate {
        super::super::gate::gate(found, &general(limit, false))
    }

    fn verdicts(found: &Comparison) -> Vec<Word> {
        found.benchmarks.iter().map(|e| e.verdict).collect()
    }

    #[test]
    fn remeasured_ratio_decides_verdict() {
        use Word::{Faster, Same, Slower, Unknown};
        let interleaved = Basis::Interleaved;
        assert_eq!(verdicts(&after(1.2, 1.2, &interleaved)), [Slower, Slower, Unknown]);
        assert_eq!(verdicts(&after(0.8, 0.8, &interleaved)), [Faster, Faster, Unknown]);
        assert_eq!(verdicts(&after(1.2, 1.0, &interleaved)), [Same; 3]);
        assert_eq!(verdicts(&after(1.0, 1.2, &interleaved)), [Slower, Slower, Unknown]);
        // The stored runs are of two moments: the direction of their difference does not matter.
        assert_eq!(verdicts(&after(0.8, 1.2, &interleaved)), [Slower, Slower, Unknown]);
        let found = after(1.2, 1.3, &interleaved);
        let lat = &found.benchmarks[0];
        assert!((lat.ratio.unwrap() - 1.3).abs() < 1e-9);
        let stored = lat.stored.as_ref().unwrap();
        assert!(stored.suspect && (stored.ratio.unwrap() - 1.2).abs() < 1e-9);
        assert!(!lat.suspect && lat.reason.is_none());
    }

    #[test]
    fn mean_is_of_stored_ratios_unless_all_are_remeasured() {
        let both = |x: f64| run(vec![scaled("x", x), scaled("y", 1.0)]);
        let stored = || compared(&both(1.0), &both(1.44));
        let (a, b) = (both(1.0), both(1.0));
        let fresh = || Fresh { a: Some(&a), b: &b, compared: compared(&a, &b) };
        let mean = |is_measured: &dyn Fn(&ComparedEntry) -> bool| {
            let mut found = stored();
            adopt(&mut found, &fresh(), &|entry| is_measured(entry).then_some(Basis::Interleaved));
            (found.geometric_means[0].is_remeasured, found.geometric_means[0].ratio)
        };
        // Only the suspected benchmark was re-measured, and is not slow: the mean is still that of
        // the stored ratios.
        let (is_remeasured, ratio) = mean(&|entry| entry.of.name == "x");
        assert!(!is_remeasured && (ratio - 1.2).abs() < 1e-9, "{ratio}");
        let (is_remeasured, ratio) = mean(&|_| true);
        assert!(is_remeasured && (ratio - 1.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn unchanged_program_is_not_called_slower() {
        let found = after(1.2, 1.2, &Basis::OneProgram);
        assert_eq!(verdicts(&found), [Word::Same; 3]);
        assert!(found.benchmarks.iter().all(|e| !e.suspect && e.differs_in_one_program()));
        let reason = found.benchmarks[0].reason.as_deref();
        let expected = "the program is the same: the machine differs, or it is noise";
        assert_eq!(reason, Some(expected));
        assert!(gate(&found, 0.05).passed);
        assert_eq!(verdicts(&after(1.2, 1.0, &Basis::OneProgram)), [Word::Same; 3]);
    }

    #[test]
    fn difference_to_stored_side_needs_both_comparisons() {
        let stored = Basis::StoredA("kernel is old in A, new in B".to_owned());
        let found = after(1.2, 1.2, &stored);
        assert_eq!(found.benchmarks[0].verdict, Word::Slower);
        let reason = found.benchmarks[0].reason.as_ref().unwrap();
        assert!(reason.contains("kernel is old in A"), "{reason}");
        let found = after(1.0, 1.2, &stored);
        assert_eq!(found.benchmarks[0].verdict, Word::Unknown);
    }

    #[test]
    fn unmeasured_benchmarks_have_a_reason() {
        let found = after(1.2, 1.2, &Basis::Not("no sources".to_owned()));
        let lat = &found.benchmarks[0];
        assert_eq!((lat.verdict, lat.suspect), (Word::Unknown, true));
        assert_eq!(lat.reason.as_deref(), Some("not re-measured: no sources"));
        assert!(lat.stored.is_none() && (lat.ratio.unwrap() - 1.2).abs() < 1e-9);
        assert_eq!(found.remeasured.as_ref().unwrap().benchmarks, 0);
    }

    /// One launch that shared its core makes side a slower than side b in the mean of six, but not
    /// in the figure.
    #[test]
    fn slowdown_of_figures_makes_a_candidate() {
        let (mut a, b) = (scaled("x", 1.0), scaled("x", 1.06));
        a.launches[0].median = Some(180.0);
        let found = compared(&run(vec![a]), &run(vec![b]));
        let x = &found.benchmarks[0];
        assert!(x.slowdown().unwrap() < 0.0 && !x.suspect);
        assert!((apparent(x).unwrap() - 0.06).abs() < 1e-9 && is_candidate(x, 0.05));
        // The interval of the launches reaches beyond this limit, too.
        assert!(is_candidate(x, 0.07) && !is_candidate(x, 0.5));
    }

    /// Re-measured beside a neighbour that makes times up to 1.5 times as long, b takes `seen`
    /// times as long as a.
    fn disturbed_gate(seen: f64, limit: f64) -> Gate {
        let quiet = run(vec![scaled("x", 1.0)]);
        let mut slow = scaled("x", seen);
        slow.confidence_interval = Some([seen * 100.0 / 1.5, seen * 100.0]);
        (slow.interference.is_disturbed, slow.interference.is_bounded) = (true, true);
        let slow = run(vec![slow]);
        let mut found = compared(&quiet, &slow);
        let fresh = Fresh { a: Some(&quiet), b: &slow, compared: compared(&quiet, &slow) };
        adopt(&mut found, &fresh, &|_| Some(Basis::Interleaved));
        gate(&found, limit)
    }

    #[test]
    fn gate_decides_disturbed_benchmark_only_beyond_its_interval() {
        let counts = |judged: &Gate| (judged.slower.len(), judged.undecided, judged.passed);
        // At least 1.67 times as long without the neighbour.
        assert_eq!(counts(&disturbed_gate(2.5, 0.5)), (1, 0, false));
        // At least 1.13 times: slower, but by the limit only if the neighbour did nothing.
        let slower = disturbed_gate(1.7, 0.5);
        assert_eq!(counts(&slower), (0, 1, true));
        assert!(slower.unconfirmed[0].reason.starts_with("disturbed"), "{slower:?}");
        assert_eq!(counts(&disturbed_gate(1.2, 0.1)), (0, 1, true));
        // At most as long as before.
        assert_eq!(counts(&disturbed_gate(0.9, 0.1)), (0, 0, true));
    }

    #[test]
    fn gate_fails_only_beyond_its_limit() {
        let found = after(1.2, 1.2, &Basis::Interleaved);
        let judged = gate(&found, 0.1);
        let mut names: Vec<&str> = judged.slower.iter().map(|s| s.of.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!((judged.passed, names), (false, vec!["bw", "lat"]));
        assert!(judged.slower.iter().all(|s| (s.slowdown - 0.2).abs() < 1e-9));
        assert_eq!(judged.not_gated[0].of.name, "v");
        assert!(gate(&found, 0.3).passed);
        assert!(gate(&after(0.8, 0.8, &Basis::Interleaved), 0.01).passed);
        // An unconfirmed suspicion fails no gate that is not strict.
        let mut found = after(1.2, 1.2, &Basis::Not("no sources".to_owned()));
        let judged = gate(&found, 0.1);
        assert_eq!((judged.passed, judged.judged, judged.undecided), (true, 0, 2));
        assert!(judged.slower.is_empty());
        // Nor does it if another benchmark was judged.
        (found.benchmarks[0].verdict, found.benchmarks[0].ratio) = (Word::Same, Some(1.0));
        let judged = gate(&found, 0.1);
        assert_eq!((judged.passed, judged.judged, judged.undecided), (true, 1, 1));
        // A re-measured ratio beyond the limit that is not significant is not judged.
        let mut found = after(1.2, 1.2, &Basis::Interleaved);
        found.benchmarks[0].verdict = Word::Same;
        let judged = gate(&found, 0.1);
        assert_eq!((judged.judged, judged.slower.len()), (1, 1));
        assert_eq!(judged.unconfirmed[0].of.name, "lat");
        // A re-measured benchmark that is not slower by more than the limit is decided.
        let judged = gate(&after(1.2, 1.0, &Basis::Interleaved), 0.1);
        assert_eq!((judged.passed, judged.judged, judged.undecided), (true, 2, 0));
    }

    #[test]
    fn gate_fails_if_remeasuring_was_stopped() {
        let mut found = after(1.0, 1.0, &Basis::Interleaved);
        assert!(gate(&found, 0.1).passed);
        found.remeasured.as_mut().unwrap().interrupted = true;
        let judged = gate(&found, 0.1);
        assert!(!judged.passed && judged.slower.is_empty());
    }

    #[test]
    fn strict_gate_fails_for_undecided_benchmarks() {
        let strict = |found: &Comparison| super::super::gate::gate(found, &general(0.1, true));
        assert!(strict(&after(1.0, 1.0, &Basis::Interleaved)).passed);
        let mut found = after(1.2, 1.2, &Basis::Not("no sources".to_owned()));
        (found.benchmarks[0].verdict, found.benchmarks[0].ratio) = (Word::Same, Some(1.0));
        assert!(!strict(&found).passed && gate(&found, 0.1).passed);
        // One program is not slower than itself, whatever its launches show.
        found.benchmarks[1].is_one_program = true;
        assert!(strict(&found).passed);
        let both = |a: Vec<Benchmark>, b: Vec<Benchmark>| compared(&run(a), &run(b));
        let (x, y) = (scaled("x", 1.0), scaled("y", 1.0));
        let mut invalid = y.clone();
        invalid.status = Status::Invalid;
        let of_lost = |found: &Comparison| {
            let judged = strict(found);
            assert!(gate(found, 0.1).passed);
            (judged.passed, judged.lost.len(), judged.not_gated.len())
        };
        let all = || vec![x.clone(), y.clone()];
        assert_eq!(of_lost(&both(all(), vec![x.clone()])), (false, 1, 0));
        let fails = vec![x.clone(), invalid.clone()];
        assert_eq!(of_lost(&both(all(), fails.clone())), (false, 1, 0));
        // Benchmarks without a figure in A, and new benchmarks in B, are not lost.
        assert_eq!(of_lost(&both(fails.clone(), fails.clone())), (true, 0, 1));
        assert_eq!(of_lost(&both(fails, vec![x.clone()])), (true, 0, 1));
        assert_eq!(of_lost(&both(vec![x.clone()], all())), (true, 0, 1));
    }
}
