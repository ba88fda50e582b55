//! Tests gates on launches of a real machine: false alarms, and the share of slowdowns that are
//! found.

use fastrand::Rng;
use yamba_record::Run;
use yamba_record::run::Plan;

use super::super::comparison::comparison;
use super::super::comparison::tests::{compared, run, scaled};
use super::super::document::Interleaved;
use super::super::noise::Noise;
use super::super::remeasure::{Basis, Fresh, USUAL_LAUNCHES, adopt, launches};
use super::super::tests::{benchmark, recorded};
use super::super::unit::Choice;
use super::*;

const LIMIT: f64 = 0.03;

/// One limit for all benchmarks.
pub fn general(limit: f64, strict: bool) -> Asked {
    let limits = Limits { general: Some(limit), own: BTreeMap::new() };
    Asked { limits, strict }
}

/// A benchmark is quiet if the launches within its runs have a coefficient of variation below this.
/// With the launches of a re-measurement nearly all gates find a slowdown of 5 % in a quiet
/// benchmark, and few find it in one that varies by 4 %.
const QUIET: f64 = 0.02;

/// A benchmark of side b that is slower by `factor`.
#[derive(Clone, Copy)]
struct Slowed<'a> {
    key: &'a str,
    factor: f64,
}

/// A run with `count` launches of each benchmark, drawn with replacement from the launches of both
/// recorded runs.
fn drawn(random: &mut Rng, of: &[&Noise], count: u64, slowed: Option<Slowed<'_>>) -> Run {
    let benchmarks = of.iter().map(|noise| {
        let pool = noise.runs.concat();
        let factor =
            slowed.filter(|slowed| slowed.key == noise.key).map_or(1.0, |slowed| slowed.factor);
        let launch = |_| pool[random.u64(..pool.len() as u64) as usize] * factor;
        let launches: Vec<f64> = (0..count).map(launch).collect();
        let mut made = benchmark(&noise.key, &launches);
        made.median = yamba_stats::median(&launches);
        made
    });
    run(benchmarks.collect())
}

/// Launches of each side when usual runs are re-measured.
fn usual() -> u64 {
    let plan = Plan { launches: USUAL_LAUNCHES, ..Plan::default() };
    launches(&plan, &plan)
}

/// Compares two drawn runs of all benchmarks, re-measures the candidates with `count` launches a
/// side, and judges them.
fn whole_gate(random: &mut Rng, all: &[Noise], slowed: Option<Slowed<'_>>, count: u64) -> Gate {
    let compare = |a: &Run, b: &Run| comparison(a, b, &|_: &_, _: &_| Choice::OWN);
    let mut sides =
        |of: &[&Noise], count| [None, slowed].map(|slowed| drawn(random, of, count, slowed));
    let all: Vec<&Noise> = all.iter().collect();
    let [a, b] = sides(&all, USUAL_LAUNCHES);
    let mut found = compare(&a, &b);
    let entries = all.iter().zip(&found.benchmarks);
    let candidates = entries.filter(|(_, entry)| is_candidate(entry, LIMIT));
    let candidates: Vec<&Noise> = candidates.map(|(noise, _)| *noise).collect();
    let [a, b] = sides(&candidates, count);
    let fresh = Fresh { a: Some(&a), b: &b, compared: compare(&a, &b) };
    adopt(&mut found, &fresh, &|entry| is_candidate(entry, LIMIT).then_some(Basis::Interleaved));
    assert_eq!(found.remeasured.as_ref().unwrap().benchmarks, candidates.len());
    gate(&found, &general(LIMIT, false))
}

/// The share of gates that find a slowdown by `factor` in a quiet benchmark. Each quiet benchmark
/// is slowed in `rounds` gates.
fn found_share(factor: f64, count: u64, rounds: usize) -> f64 {
    let all = recorded();
    let is_quiet = |noise: &&Noise| noise.between_launches().unwrap() < QUIET;
    let quiet: Vec<&Noise> = all.iter().filter(is_quiet).collect();
    assert_eq!((quiet.len(), all.len()), (42, 80));
    let mut random = Rng::with_seed(1);
    let mut is_found = |key: &str| {
        let slowed = Some(Slowed { key, factor });
        let judged = whole_gate(&mut random, &all, slowed, count);
        judged.slower.iter().any(|slower| slower.of.name == key)
    };
    let gates = quiet.iter().flat_map(|noise| std::iter::repeat_n(noise, rounds));
    let found = gates.filter(|noise| is_found(&noise.key)).count();
    found as f64 / (quiet.len() * rounds) as f64
}

#[test]
fn at_most_one_percent_of_gates_without_slowdown_fail() {
    let (all, mut random) = (recorded(), Rng::with_seed(1));
    let failed = (0..300)
        .map(|_| whole_gate(&mut random, &all, None, usual()))
        .filter(|judged| !judged.passed);
    let failed = failed.count();
    assert!(failed <= 3, "{failed} of 300");
}

#[test]
fn slowdown_of_five_percent_in_quiet_benchmark_is_found() {
    let found = found_share(1.05, usual(), 10);
    assert!(found >= 0.95, "{found}");
    // Two thirds of these launches, twice those of a run, do not suffice.
    let found = found_share(1.05, usual() * 2 / 3, 4);
    assert!(found < 0.95, "{found}");
}

#[test]
fn slowdown_at_limit_fails_about_half_of_gates() {
    let found = found_share(1.0 + LIMIT, usual(), 4);
    assert!((0.3..0.6).contains(&found), "{found}");
}

/// Two runs of all recorded benchmarks. Those of the second are slower by `factor`.
fn two_runs(random: &mut Rng, count: u64, factor: f64) -> (Run, Run) {
    let all = recorded();
    let all: Vec<&Noise> = all.iter().collect();
    let a = drawn(random, &all, count, None);
    let mut b = drawn(random, &all, count, None);
    for made in &mut b.benchmarks {
        made.median = made.median.map(|m| m * factor);
        let medians = made.launches.iter_mut().filter_map(|l| l.median.as_mut());
        medians.for_each(|m| *m *= factor);
    }
    (a, b)
}

/// The shares of benchmarks that are re-measured: the actual one, and that if only slowdowns above
/// the limit were. Each benchmark is drawn 20 times.
fn shares(count: u64, factor: f64) -> [f64; 2] {
    let mut random = Rng::with_seed(1);
    let mut counts = [0.0; 2];
    for _ in 0..20 {
        let (a, b) = two_runs(&mut random, count, factor);
        for entry in compared(&a, &b).benchmarks {
            let exceeds = entry.suspect || apparent(&entry) > Some(LIMIT);
            counts[0] += f64::from(u8::from(is_candidate(&entry, LIMIT)));
            counts[1] += f64::from(u8::from(exceeds));
        }
    }
    counts.map(|count| count / 1600.0)
}

#[test]
fn two_launches_hide_few_slowdowns() {
    for (launches, most) in [(2, 0.5), (6, 0.33)] {
        let [slower, exceeding] = shares(launches, 1.05);
        assert!(slower > 0.9 && exceeding < slower, "{slower} {exceeding}");
        assert!(launches > 2 || exceeding < 0.9, "{exceeding}");
        let [same, _] = shares(launches, 1.0);
        assert!(same < most, "{same} of those with {launches}");
    }
}

/// Re-measured benchmarks of which each is slower by 7 %.
fn slower_by_seven_percent(names: &[&str]) -> Comparison {
    let all = |factor: f64| run(names.iter().map(|name| scaled(name, factor)).collect());
    let mut found = compared(&all(1.0), &all(1.07));
    let (a, b) = (all(1.0), all(1.07));
    let fresh = Fresh { a: Some(&a), b: &b, compared: compared(&a, &b) };
    adopt(&mut found, &fresh, &|_| Some(Basis::Interleaved));
    found
}

#[test]
fn each_benchmark_has_its_own_limit_or_the_general_one() {
    let found = slower_by_seven_percent(&["lat_pipe", "lat_read", "lat_null"]);
    let judged = |general: Option<f64>, own: &[(&str, f64)]| {
        let own = own.iter().map(|(name, limit)| ((*name).to_owned(), *limit));
        let limits = Limits { general, own: own.collect() };
        let judged = gate(&found, &Asked { limits, strict: true });
        let slower = judged.slower.iter();
        let slower: Vec<_> = slower.map(|s| (s.of.name.clone(), s.limit)).collect();
        (slower, judged.judged, judged.not_gated.len(), judged.passed)
    };
    let slower = |all: &[(&str, f64)]| -> Vec<(String, f64)> {
        all.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect()
    };
    let (only, judged_count, not_gated, passed) = judged(Some(0.1), &[("lat_pipe", 0.05)]);
    assert_eq!(only, slower(&[("lat_pipe", 0.05)]));
    assert_eq!((judged_count, not_gated, passed), (3, 0, false));
    let (others, ..) = judged(Some(0.05), &[("lat_pipe", 0.1)]);
    assert_eq!(others, slower(&[("lat_read", 0.05), ("lat_null", 0.05)]));
    // Without a general limit the others are not judged, and fail nothing.
    assert_eq!(judged(None, &[("lat_pipe", 0.1)]), (Vec::new(), 1, 2, true));
    assert_eq!(judged(None, &[("lat_pipe", 0.05)]), (slower(&[("lat_pipe", 0.05)]), 1, 2, false));
}

/// Both sides of `x` were measured in the same rounds: the ratio has this interval.
fn interleaved_gate(interval: [f64; 2], verdict: Word, strict: bool) -> Gate {
    let mut found = compared(&run(vec![scaled("x", 1.0)]), &run(vec![scaled("x", 1.0)]));
    let entry = &mut found.benchmarks[0];
    entry.ratio = Some((interval[0] * interval[1]).sqrt());
    (entry.confidence_interval, entry.verdict) = (Some(interval), verdict);
    found.interleaved = Some(Interleaved { rounds: 6, ..Interleaved::default() });
    gate(&found, &general(LIMIT, strict))
}

#[test]
fn gate_of_rounds_decides_by_the_whole_interval() {
    let counts = |interval, verdict| {
        let judged = interleaved_gate(interval, verdict, false);
        (judged.slower.len(), judged.undecided, judged.judged)
    };
    assert_eq!(counts([1.04, 1.08], Word::Slower), (1, 0, 1));
    // The ratio is above the limit, and its interval holds the limit.
    assert_eq!(counts([1.004, 1.06], Word::Slower), (0, 1, 0));
    assert_eq!(counts([0.96, 1.04], Word::Unknown), (0, 1, 0));
    assert_eq!(counts([1.004, 1.02], Word::Slower), (0, 0, 1));
    assert_eq!(counts([0.99, 1.01], Word::Same), (0, 0, 1));
    // The interval is above the limit, but the test of all benchmarks shows no difference.
    assert_eq!(counts([1.04, 1.3], Word::Same), (0, 1, 0));
    assert!(!interleaved_gate([0.96, 1.04], Word::Unknown, true).passed);
    assert!(interleaved_gate([0.99, 1.01], Word::Same, true).passed);
}

#[test]
fn gate_of_rounds_that_were_stopped_fails() {
    let mut found = compared(&run(vec![scaled("x", 1.0)]), &run(vec![scaled("x", 1.0)]));
    found.interleaved = Some(Interleaved { rounds: 6, ..Interleaved::default() });
    found.benchmarks[0].confidence_interval = Some([0.99, 1.01]);
    assert!(gate(&found, &general(LIMIT, false)).passed);
    found.interleaved = Some(Interleaved {
        rounds: 6,
        stopped: Some("interrupted".to_owned()),
        ..Interleaved::default()
    });
    assert!(!gate(&found, &general(LIMIT, false)).passed);
}
