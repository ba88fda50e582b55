//! What measuring anew says of a comparison: what can be measured, and the verdicts. Pure.
//!
//! Two runs are of two moments, and no statistics of their launches shows what drifted between them. So *slower* and *faster* are said only of what was measured
//! anew.

use serde::Serialize;
use yamba_record::Run;

use super::comparison::{Comparison, Entry, Told, Word, means, told};
use super::identity::{Difference, Differences};

/// What can be measured anew here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Both sides, in turn.
    Both,
    /// Only b: what a was measured on is no more, for this reason.
    OnlyB(String),
    /// Neither, for this reason.
    Neither(String),
}

/// Decides it. `between` is how the machine of a differs from that of b, `here` how that of b differs from the one that would measure.
pub fn policy(between: &Differences, here: &Differences) -> Policy {
    if !here.must.is_empty() {
        let other = told_all(&here.must, "in B", "here");
        return Policy::Neither(format!("B was measured on another machine: {other}"));
    }
    let changed: Vec<Difference> = between
        .must
        .iter()
        .chain(&between.should)
        .cloned()
        .collect();
    if changed.is_empty() {
        return Policy::Both;
    }
    let changed = told_all(&changed, "in A", "in B");
    if here.should.is_empty() {
        return Policy::OnlyB(changed);
    }
    let since = told_all(&here.should, "in B", "here");
    Policy::Neither(format!("{changed}, and since then {since}"))
}

fn told_all(all: &[Difference], first: &str, second: &str) -> String {
    let each: Vec<String> = all.iter().map(|d| d.told(first, second)).collect();
    each.join("; ")
}

/// How a benchmark was measured anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Both sides' programs, in turn.
    Interleaved,
    /// The same, and they are one program: whatever differs is noise.
    OneProgram,
    /// Only b's program; it stands against the stored figures of a, for this reason.
    StoredA(String),
    /// Not at all, for this reason.
    Not(String),
}

/// What was measured for a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Again {
    /// The run of a's programs; none where only b's were measured.
    pub a: Option<Told>,
    /// The run of b's programs.
    pub b: Told,
    /// The least confidence of any interval of what was measured anew, so that all of them hold at once but for [`Comparison::family`].
    pub confidence: Option<f64>,
    /// So many times it was to be looked at, with more launches each time of what was still undecided; each p-value counts so.
    pub looks: usize,
    /// Benchmarks with a ratio of what was measured anew.
    pub benchmarks: usize,
    /// Whether it was stopped before it was done.
    pub interrupted: bool,
}

/// What the two runs themselves said of a benchmark that was then measured anew.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stored {
    /// What b was of a.
    pub ratio: Option<f64>,
    /// Where that lay.
    pub interval: Option<[f64; 2]>,
    /// The adjusted p-value.
    pub p: Option<f64>,
    /// Launches of both sides.
    pub launches: [usize; 2],
    /// Whether it differed as far as those launches told.
    pub suspect: bool,
}

/// The two runs measured anew, of which a may be the stored one.
pub struct Anew<'a> {
    /// Side a; none where it is the stored one.
    pub a: Option<&'a Run>,
    /// Side b.
    pub b: &'a Run,
    /// The comparison of the two.
    pub compared: Comparison,
    /// [`Again::looks`].
    pub looks: usize,
}

/// Takes ratio and verdict of what was measured anew over into `found`. `basis` tells of an entry how that was done; none: it was not meant to be.
pub fn adopt(found: &mut Comparison, anew: &Anew<'_>, basis: &dyn Fn(&Entry) -> Option<Basis>) {
    let mut measured = 0;
    for entry in &mut found.benchmarks {
        let Some(basis) = basis(entry) else {
            continue;
        };
        let fresh = anew.compared.benchmarks.iter();
        let fresh = fresh
            .into_iter()
            .find(|f| f.place() == entry.place())
            .cloned();
        *entry = renewed(entry, fresh, basis);
        measured += usize::from(entry.stored.is_some());
    }
    found.means = means(&found.benchmarks);
    found.again = Some(Again {
        a: anew.a.map(told),
        b: told(anew.b),
        confidence: anew.compared.confidence,
        looks: anew.looks,
        benchmarks: measured,
        interrupted: anew.b.interrupted,
    });
}

/// Says of what was to be measured anew, and could not be, why.
pub fn not_measured(found: &mut Comparison, reason: &str, is_meant: &dyn Fn(&Entry) -> bool) {
    for entry in found.benchmarks.iter_mut().filter(|e| is_meant(e)) {
        entry.reason = Some(format!("not measured anew: {reason}"));
        entry.verdict = Word::Unknown;
    }
}

/// The entry as what was measured anew has it.
fn renewed(before: &Entry, fresh: Option<Entry>, basis: Basis) -> Entry {
    let unknown = |reason: String| Entry {
        verdict: Word::Unknown,
        reason: Some(reason),
        ..before.clone()
    };
    if let Basis::Not(reason) = &basis {
        return unknown(format!("not measured anew: {reason}"));
    }
    let Some(fresh) = fresh else {
        return unknown("measured anew, it has no figure".to_owned());
    };
    if let Some(reason) = &fresh.reason {
        return unknown(format!("measured anew: {reason}"));
    }
    let is_one_program = basis == Basis::OneProgram;
    let (verdict, reason) = judged(before, &fresh, basis);
    Entry {
        label: before.label.clone(),
        suspect: fresh.suspect && verdict == Word::Unknown,
        is_open: fresh.is_open && !is_one_program,
        is_one_program,
        verdict,
        reason,
        stored: Some(Stored {
            ratio: before.ratio,
            interval: before.interval,
            p: before.p,
            launches: before.launches,
            suspect: before.suspect,
        }),
        ..fresh
    }
}

fn judged(before: &Entry, fresh: &Entry, basis: Basis) -> (Word, Option<String>) {
    let why_stored = match &basis {
        Basis::StoredA(reason) => Some(format!(
            "A cannot be measured anew ({reason}): stored A against B anew, not in turn"
        )),
        _ => None,
    };
    if !fresh.suspect {
        return (Word::Same, why_stored);
    }
    if basis == Basis::OneProgram {
        let reason = "both sides are the same program, so what differs is noise";
        return (Word::Unknown, Some(reason.to_owned()));
    }
    if before.suspect && before.is_above_one() != fresh.is_above_one() {
        let reason = "it differs the other way than the stored runs do";
        return (Word::Unknown, Some(reason.to_owned()));
    }
    // Against a stored side one difference confirms nothing: both must show it.
    if why_stored.is_some() && !before.suspect {
        return (Word::Unknown, why_stored);
    }
    match (fresh.better, fresh.is_above_one()) {
        (Some("less"), true) | (Some("more"), false) => (Word::Slower, why_stored),
        (Some(_), _) => (Word::Faster, why_stored),
        (None, _) => {
            let reason = "it differs again; of a value neither direction is the better one";
            (Word::Unknown, Some(reason.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Benchmark, Status};

    use super::super::comparison::tests::{compared, run, scaled};
    use super::super::floors::Floors;
    use super::super::gate::{Asked, Gate, apparent, is_candidate};
    use super::*;

    fn differences(must: &[&str], should: &[&str]) -> Differences {
        let all = |names: &[&str]| {
            let each = names.iter().map(|name| Difference {
                name: (*name).to_owned(),
                a: Some("old".to_owned()),
                b: Some("new".to_owned()),
            });
            each.collect()
        };
        Differences {
            must: all(must),
            should: all(should),
            informative: Vec::new(),
        }
    }

    #[test]
    fn what_is_no_more_is_not_measured_anew() {
        let none = differences(&[], &[]);
        let kernel = differences(&[], &["kernel"]);
        let cpu = differences(&["cpu"], &[]);
        let text = "kernel is old in A, new in B";
        assert_eq!(policy(&none, &none), Policy::Both);
        // Both were measured alike: what is here now is as good for one as for the other.
        assert_eq!(policy(&none, &kernel), Policy::Both);
        assert_eq!(policy(&kernel, &none), Policy::OnlyB(text.to_owned()));
        assert!(matches!(policy(&cpu, &none), Policy::OnlyB(_)));
        for here in [&kernel, &cpu] {
            assert!(matches!(policy(&kernel, here), Policy::Neither(_)));
        }
        assert!(matches!(policy(&none, &cpu), Policy::Neither(_)));
    }

    /// Latency and bandwidth by these factors in the stored runs and measured anew.
    fn after(stored: f64, anew: f64, basis: &Basis) -> Comparison {
        let all = |factor: f64| {
            let mut bandwidth = scaled("bw", 1.0 / factor);
            bandwidth.figure = Some("bandwidth".to_owned());
            let mut value = scaled("v", factor);
            value.figure = Some("value".to_owned());
            run(vec![scaled("lat", factor), bandwidth, value])
        };
        let mut found = compared(&all(1.0), &all(stored), &Floors::default());
        let (a, b) = (all(1.0), all(anew));
        let anew = Anew {
            a: Some(&a),
            b: &b,
            compared: compared(&a, &b, &Floors::default()),
            looks: 1,
        };
        adopt(&mut found, &anew, &|_| Some(basis.clone()));
        found
    }

    fn gate(found: &Comparison, limit: f64) -> Gate {
        let strict = false;
        super::super::gate::gate(found, Asked { limit, strict })
    }

    fn verdicts(found: &Comparison) -> Vec<Word> {
        found.benchmarks.iter().map(|e| e.verdict).collect()
    }

    #[test]
    fn a_verdict_is_of_what_was_measured_anew() {
        use Word::{Faster, Same, Slower, Unknown};
        let turns = Basis::Interleaved;
        assert_eq!(
            verdicts(&after(1.2, 1.2, &turns)),
            [Slower, Slower, Unknown]
        );
        assert_eq!(
            verdicts(&after(0.8, 0.8, &turns)),
            [Faster, Faster, Unknown]
        );
        assert_eq!(verdicts(&after(1.2, 1.0, &turns)), [Same; 3]);
        assert_eq!(
            verdicts(&after(1.0, 1.2, &turns)),
            [Slower, Slower, Unknown]
        );
        // Once slower and once faster is neither.
        assert_eq!(verdicts(&after(0.8, 1.2, &turns)), [Unknown; 3]);
        let found = after(1.2, 1.3, &turns);
        let lat = &found.benchmarks[0];
        assert!((lat.ratio.unwrap() - 1.3).abs() < 1e-9);
        let stored = lat.stored.as_ref().unwrap();
        assert!(stored.suspect && (stored.ratio.unwrap() - 1.2).abs() < 1e-9);
        assert!(!lat.suspect && lat.reason.is_none());
    }

    #[test]
    fn a_mean_is_of_one_measurement() {
        let both = |x: f64| run(vec![scaled("x", x), scaled("y", 1.0)]);
        let stored = || compared(&both(1.0), &both(1.44), &Floors::default());
        let (a, b) = (both(1.0), both(1.0));
        let fresh = || Anew {
            a: Some(&a),
            b: &b,
            compared: compared(&a, &b, &Floors::default()),
            looks: 1,
        };
        let mean = |is_measured: &dyn Fn(&Entry) -> bool| {
            let mut found = stored();
            adopt(&mut found, &fresh(), &|entry| {
                is_measured(entry).then_some(Basis::Interleaved)
            });
            (found.means[0].is_anew, found.means[0].ratio)
        };
        // What seemed slow was measured anew, and is not: the runs' own mean is still what they had.
        let (is_anew, ratio) = mean(&|entry| entry.of.name == "x");
        assert!(!is_anew && (ratio - 1.2).abs() < 1e-9, "{ratio}");
        let (is_anew, ratio) = mean(&|_| true);
        assert!(is_anew && (ratio - 1.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn one_program_is_never_slower_than_itself() {
        let found = after(1.2, 1.2, &Basis::OneProgram);
        assert_eq!(verdicts(&found), [Word::Unknown; 3]);
        let reason = found.benchmarks[0].reason.as_ref().unwrap();
        assert!(reason.contains("the same program"), "{reason}");
        assert!(gate(&found, 0.05).passed);
        assert_eq!(
            verdicts(&after(1.2, 1.0, &Basis::OneProgram)),
            [Word::Same; 3]
        );
    }

    #[test]
    fn against_a_stored_side_both_must_show_it() {
        let stored = Basis::StoredA("kernel is old in A, new in B".to_owned());
        let found = after(1.2, 1.2, &stored);
        assert_eq!(found.benchmarks[0].verdict, Word::Slower);
        let reason = found.benchmarks[0].reason.as_ref().unwrap();
        assert!(reason.contains("kernel is old in A"), "{reason}");
        let found = after(1.0, 1.2, &stored);
        assert_eq!(found.benchmarks[0].verdict, Word::Unknown);
    }

    #[test]
    fn what_could_not_be_measured_says_why() {
        let found = after(1.2, 1.2, &Basis::Not("no sources".to_owned()));
        let lat = &found.benchmarks[0];
        assert_eq!((lat.verdict, lat.suspect), (Word::Unknown, true));
        assert_eq!(lat.reason.as_deref(), Some("not measured anew: no sources"));
        assert!(lat.stored.is_none() && (lat.ratio.unwrap() - 1.2).abs() < 1e-9);
        assert_eq!(found.again.as_ref().unwrap().benchmarks, 0);
    }

    /// One launch of six that shared its core makes side a slower than side b in the mean, and not in the figure.
    #[test]
    fn what_a_disturbed_launch_hides_is_measured_anew() {
        let (mut a, b) = (scaled("x", 1.0), scaled("x", 1.06));
        a.launches[0].median = Some(180.0);
        let found = compared(&run(vec![a]), &run(vec![b]), &Floors::default());
        let x = &found.benchmarks[0];
        assert!(x.slowdown().unwrap() < 0.0 && !x.suspect);
        assert!((apparent(x).unwrap() - 0.06).abs() < 1e-9 && is_candidate(x, 0.05));
        // The launches leave more open.
        assert!(is_candidate(x, 0.07) && !is_candidate(x, 0.5));
    }

    #[test]
    fn a_gate_fails_beyond_its_limit_only() {
        let found = after(1.2, 1.2, &Basis::Interleaved);
        let judged = gate(&found, 0.1);
        let mut names: Vec<&str> = judged.slower.iter().map(|s| s.of.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!((judged.passed, names), (false, vec!["bw", "lat"]));
        assert!(judged.slower.iter().all(|s| (s.by - 0.2).abs() < 1e-9));
        assert_eq!(judged.not_gated[0].of.name, "v");
        assert!(gate(&found, 0.3).passed);
        assert!(gate(&after(0.8, 0.8, &Basis::Interleaved), 0.01).passed);
        // Suspected and not confirmed fails nothing, and passes nothing.
        let mut found = after(1.2, 1.2, &Basis::Not("no sources".to_owned()));
        let judged = gate(&found, 0.1);
        assert_eq!(
            (judged.passed, judged.judged, judged.undecided),
            (false, 0, 2)
        );
        assert!(judged.slower.is_empty());
        // Where something else was judged, it passes for that.
        (found.benchmarks[0].verdict, found.benchmarks[0].ratio) = (Word::Same, Some(1.0));
        let judged = gate(&found, 0.1);
        assert_eq!(
            (judged.passed, judged.judged, judged.undecided),
            (true, 1, 1)
        );
        // So is what looks did not decide.
        let mut found = after(1.2, 1.0, &Basis::Interleaved);
        found.benchmarks[0].is_open = true;
        let judged = gate(&found, 0.1);
        assert_eq!((judged.passed, judged.unconfirmed.len()), (true, 1));
    }

    /// Slower by a fifth where one program is by a quarter: that fails no gate but a strict one, and none says that nothing was slower.
    #[test]
    fn what_is_slower_within_its_own_noise_is_named() {
        let mut found = after(1.2, 1.2, &Basis::Interleaved);
        for entry in &mut found.benchmarks {
            entry.threshold = Some(0.25);
        }
        let judged = gate(&found, 0.1);
        assert!(judged.slower.is_empty() && judged.passed);
        assert_eq!((judged.judged, judged.undecided), (2, 0));
        let within = &judged.within_noise;
        let told: Vec<_> = within
            .iter()
            .map(|s| (&s.of.name[..], s.threshold))
            .collect();
        assert_eq!(told.len(), 2);
        assert!(told.contains(&("lat", 0.25)) && told.contains(&("bw", 0.25)));
        assert!(within.iter().all(|s| (s.by - 0.2).abs() < 1e-9));
        let asked = Asked {
            limit: 0.1,
            strict: true,
        };
        assert!(!super::super::gate::gate(&found, asked).passed);
        // Below the limit of the gate there is nothing to tell.
        assert!(gate(&found, 0.22).within_noise.is_empty());
        // Beyond the threshold it fails.
        found.benchmarks[0].threshold = Some(0.15);
        let judged = gate(&found, 0.1);
        assert_eq!((judged.slower.len(), judged.within_noise.len()), (1, 1));
    }

    #[test]
    fn what_was_stopped_passes_no_gate() {
        let mut found = after(1.0, 1.0, &Basis::Interleaved);
        assert!(gate(&found, 0.1).passed);
        found.again.as_mut().unwrap().interrupted = true;
        let judged = gate(&found, 0.1);
        assert!(!judged.passed && judged.slower.is_empty());
    }

    #[test]
    fn a_strict_gate_fails_for_what_it_did_not_judge() {
        let strict = |found: &Comparison| {
            let asked = Asked {
                limit: 0.1,
                strict: true,
            };
            super::super::gate::gate(found, asked)
        };
        let mut found = after(1.0, 1.0, &Basis::Interleaved);
        assert!(strict(&found).passed);
        found.benchmarks[0].is_open = true;
        assert!(!strict(&found).passed && gate(&found, 0.1).passed);
        // One program is not slower than itself, whatever is open.
        found.benchmarks[0].is_one_program = true;
        assert!(strict(&found).passed);
        let both =
            |a: Vec<Benchmark>, b: Vec<Benchmark>| compared(&run(a), &run(b), &Floors::default());
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
        // What A had no figure of is not lost, and what is new neither.
        assert_eq!(of_lost(&both(fails.clone(), fails.clone())), (true, 0, 1));
        assert_eq!(of_lost(&both(fails, vec![x.clone()])), (true, 0, 1));
        assert_eq!(of_lost(&both(vec![x.clone()], all())), (true, 0, 1));
    }
}
