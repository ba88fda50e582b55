//! Tests with known truth, and with recorded runs.

use std::io::Read as _;

use super::*;
use crate::assemble::not_started;

/// A figure whose launches have these medians, each with samples that deviate by `within` of it.
fn figure(medians: &[f64], within: f64) -> Benchmark {
    let steps = [-1.5, -0.674_49, 0.0, 0.674_49, 1.5];
    let mut samples = Vec::new();
    for median in medians {
        samples.extend(steps.map(|step| median * (1.0 + within * step)));
    }
    let interval = median_interval(&samples, CONFIDENCE).unwrap();
    let mut entry = Benchmark {
        status: Status::Ok,
        median: yamba_stats::median(&samples),
        confidence_interval: Some([interval.low, interval.high]),
        interval_scope: Some(IntervalScope::WithinLaunches),
        launches: medians.iter().map(|m| launch(*m)).collect(),
        ..not_started("sample")
    };
    entry.details.samples = samples;
    entry
}

fn launch(median: f64) -> Launch {
    Launch { median: Some(median), samples: 5, ..Launch::default() }
}

/// Enters the intervals without earlier figures.
fn enter_alone(entries: &mut [Benchmark]) {
    enter(entries, &EarlierFigures::default());
}

/// The relative half width of the interval.
fn half(entry: &Benchmark) -> f64 {
    let [low, high] = entry.confidence_interval.unwrap();
    (high / low).ln() / 2.0
}

/// A run of figures whose launches differ by a quarter of the deviation within them.
fn run() -> Vec<Benchmark> {
    let within = |i: usize| 1e-3 * 1.1f64.powi(i as i32);
    let one = |i: usize| figure(&[100.0, 100.0 * (1.0 + within(i) / 4.0)], within(i));
    (0..40).map(one).collect()
}

#[test]
fn interval_of_two_launches_follows_the_other_figures() {
    let mut calm = run();
    enter_alone(&mut calm);
    let mut wild = run();
    for entry in &mut wild {
        let deviation = variance_within(entry).unwrap().sqrt();
        *entry = figure(&[100.0, 100.0 * (1.0 + 8.0 * deviation)], deviation);
    }
    wild[7] = run()[7].clone();
    enter_alone(&mut wild);
    assert_eq!(calm[7].interval_scope, Some(IntervalScope::BetweenRuns));
    assert_eq!(calm[7].median, wild[7].median);
    assert!(half(&wild[7]) > 4.0 * half(&calm[7]));
}

#[test]
fn interval_is_never_narrower_than_before() {
    let mut entries = run();
    entries[3].confidence_interval = Some([1.0, 101.0]);
    let before = entries.clone();
    enter_alone(&mut entries);
    for (old, new) in before.iter().zip(&entries) {
        let ([a, b], [c, d]) = (old.confidence_interval.unwrap(), new.confidence_interval.unwrap());
        assert!(c <= a && d >= b, "{a} {b} {c} {d}");
    }
    assert_eq!(entries[3].confidence_interval.unwrap()[0], 1.0);
}

#[test]
fn launches_far_apart_are_marked() {
    let mut entries = run();
    entries[0] = figure(&[100.0, 130.0], 1e-3);
    entries[1] = figure(&[100.0, 100.0, 130.0, 100.0, 130.0, 130.0], 1e-3);
    enter_alone(&mut entries);
    let marked = entries.iter().filter(|e| e.interference.launches_disagree).count();
    assert_eq!(marked, 2);
    assert!(entries[0].interference.launches_disagree && entries[1].interference.launches_disagree);
    // Six launches keep their scope.
    assert_eq!(entries[1].interval_scope, Some(IntervalScope::WithinLaunches));
    assert!(half(&entries[0]) > 0.25);
}

/// A figure alone has the usual distribution: its launches differ as its batches do.
#[test]
fn figure_alone_has_an_interval_between_runs() {
    for medians in [&[100.0][..], &[100.0, 100.1]] {
        let mut entries = [figure(medians, 0.001)];
        enter_alone(&mut entries);
        let scope = entries[0].interval_scope;
        assert_eq!(scope, Some(IntervalScope::BetweenRuns));
        assert!((0.001..0.02).contains(&half(&entries[0])));
    }
}

/// Nothing is known of the spread of a size, of an inferred figure, or of a figure that is not
/// above 0.
#[test]
fn figures_without_spread_stay_as_they_are() {
    let size = figure(&[64.0, 64.0], 0.0);
    let negative = figure(&[-1.0, 2.0], 0.1);
    let mut invalid = figure(&[1.0, 2.0], 0.1);
    invalid.status = Status::Invalid;
    let mut inferred = figure(&[1.0, 2.0], 0.1);
    inferred.details.lowest_curve = Some(yamba_record::event::LowestCurve {
        name: "latency".to_owned(),
        x_unit: "B".to_owned(),
        x: Vec::new(),
        ns: Vec::new(),
    });
    let before = [size, negative, invalid, inferred, not_started("none")];
    let mut after = before.clone();
    enter_alone(&mut after);
    assert_eq!(after, before);
}

#[test]
fn cycles_have_their_own_interval() {
    let mut entries = run();
    for entry in &mut entries {
        for (launch, cycles) in entry.launches.iter_mut().zip([300.0, 300.1]) {
            launch.cycles = Some(cycles);
        }
        entry.details.cycles =
            Some(yamba_record::run::Cycles { median: 300.05, confidence_interval: [300.0, 300.1] });
    }
    enter_alone(&mut entries);
    let [low, high] = entries[20].details.cycles.unwrap().confidence_interval;
    assert!(low < 300.0 && high > 300.1, "{low} {high}");
    assert!((high / low).ln() / 2.0 < half(&entries[20]));
}

/// Standard normal numbers.
fn normal(random: &mut fastrand::Rng) -> f64 {
    let p = (random.f64() + 1e-12).min(1.0 - 1e-12);
    yamba_stats::normal_quantile(p).unwrap()
}

/// Benchmarks of mixed kinds: their deviations within launches, as factors between launches and
/// between runs.
struct Truth {
    within: f64,
    launches: f64,
    runs: f64,
}

impl Truth {
    /// The entry of one run.
    fn run(&self, number: usize, launches: usize, random: &mut fastrand::Rng) -> Benchmark {
        let of_run = 100.0 * (self.runs * normal(random)).exp();
        let medians: Vec<f64> =
            (0..launches).map(|_| of_run * (self.launches * normal(random)).exp()).collect();
        let mut entry = figure(&medians, self.within);
        entry.median = yamba_stats::median(&medians);
        entry.declaration.provenance.program = Some(number.to_string());
        entry
    }
}

/// How often the intervals of a run hold the figure of the next one, after `earlier` runs.
fn coverage(launches: usize, earlier: usize, runs: f64, random: &mut fastrand::Rng) -> f64 {
    let (mut inside, mut total) = (0, 0);
    for _ in 0..12 {
        let truths: Vec<Truth> = (0..100)
            .map(|_| {
                let within = 1e-4 * (5.0 * random.f64()).exp();
                let launches = within * (0.7 * normal(random)).exp();
                Truth { within, launches, runs: runs * launches }
            })
            .collect();
        let mut kept = EarlierFigures::default();
        let run = |random: &mut fastrand::Rng| -> Vec<Benchmark> {
            let each = truths.iter().enumerate();
            each.map(|(i, truth)| truth.run(i, launches, random)).collect()
        };
        for _ in 0..earlier {
            kept.add(&run(random), 0.0);
        }
        let mut now = run(random);
        enter(&mut now, &kept);
        for (one, next) in now.iter().zip(run(random)) {
            let [low, high] = one.confidence_interval.unwrap();
            inside += usize::from((low..=high).contains(&next.median.unwrap()));
            total += 1;
        }
    }
    inside as f64 / total as f64
}

/// Known truth: without a variance between runs, one run suffices; with one, earlier runs show it.
#[test]
fn interval_holds_the_figure_of_the_next_run() {
    let mut random = fastrand::Rng::with_seed(7);
    for (launches, earlier, runs) in
        [(1, 3, 1.0), (2, 0, 0.0), (2, 3, 1.0), (2, 8, 2.0), (3, 0, 0.0), (6, 5, 1.0)]
    {
        let share = coverage(launches, earlier, runs, &mut random);
        let of = (launches, earlier, runs);
        assert!((0.85..=0.96).contains(&share), "{of:?}: {share}");
    }
    let unseen = coverage(2, 0, 2.0, &mut random);
    assert!(unseen < 0.8, "{unseen}");
}

#[test]
fn undisturbed_figure_is_compared_with_undisturbed_ones() {
    let mut kept = EarlierFigures::default();
    let mut random = fastrand::Rng::with_seed(8);
    let truth = Truth { within: 1e-3, launches: 1e-3, runs: 1e-3 };
    for run in 0..10 {
        let mut entry = truth.run(0, 2, &mut random);
        if run % 2 == 0 {
            entry.interference.is_disturbed = true;
            entry.median = entry.median.map(|m| 1.5 * m);
        }
        kept.add(&[entry], 0.0);
    }
    let half_of = |is_disturbed, random: &mut fastrand::Rng| {
        let mut entries = [truth.run(0, 2, random)];
        entries[0].interference.is_disturbed = is_disturbed;
        enter(&mut entries, &kept);
        half(&entries[0])
    };
    assert!(half_of(false, &mut random) < 0.02);
    assert!(half_of(true, &mut random) > 0.3);
}

/// Entries of recorded runs, in their order. A line has the run's number, the entry, whether it is
/// disturbed, its median, the ends of its interval within launches, its relative deviation within
/// launches, and the medians of the launches.
fn recorded(compressed: &[u8]) -> Vec<Vec<Benchmark>> {
    let mut text = String::new();
    let mut reader = ruzstd::decoding::StreamingDecoder::new(compressed).unwrap();
    reader.read_to_string(&mut text).unwrap();
    let mut runs: Vec<Vec<Benchmark>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let run = number(0) as usize;
        let medians: Vec<f64> = (7..fields.len()).map(number).collect();
        let mut entry = figure(&medians, number(6));
        entry.name = fields[1].to_owned();
        entry.declaration.provenance.program = Some("recorded".to_owned());
        entry.interference.is_disturbed = fields[2] == "1";
        entry.median = Some(number(3));
        entry.confidence_interval = Some([number(4), number(5)]);
        runs.resize_with(runs.len().max(run + 1), Vec::new);
        runs[run].push(entry);
    }
    runs
}

/// How often the intervals of a run, after `earlier` ones, hold the undisturbed figures of each
/// later run: as they were recorded, and as they are entered.
fn recorded_coverage(runs: &[Vec<Benchmark>], uses_earlier: bool) -> [f64; 2] {
    let (mut kept, mut inside, mut total) = (EarlierFigures::default(), [0, 0], 0);
    for (i, run) in runs.iter().enumerate() {
        let mut now = run.clone();
        enter(&mut now, &kept);
        let later = runs[i + 1..].iter().flatten().filter(|e| !e.interference.is_disturbed);
        for next in later {
            let same = |e: &&Benchmark| e.name == next.name && !e.interference.is_disturbed;
            let (Some(before), Some(after)) = (run.iter().find(same), now.iter().find(same)) else {
                continue;
            };
            for (count, entry) in inside.iter_mut().zip([before, after]) {
                let [low, high] = entry.confidence_interval.unwrap();
                *count += u32::from((low..=high).contains(&next.median.unwrap()));
            }
            total += 1;
        }
        if uses_earlier {
            kept.add(run, 0.0);
        }
    }
    inside.map(|count| f64::from(count) / f64::from(total))
}

/// Runs within 90 minutes on a virtual machine of the Granite Rapids class, beside compilers: about
/// eleven processes wanted the two processors.
#[test]
fn intervals_of_recorded_runs_hold_later_figures() {
    let quick = recorded(include_bytes!("samples/quick.txt.zst"));
    let usual = recorded(include_bytes!("samples/default.txt.zst"));
    for (runs, uses_earlier) in [(&quick, false), (&quick, true), (&usual, false), (&usual, true)] {
        let [before, after] = recorded_coverage(runs, uses_earlier);
        println!("{before:.3} {after:.3}");
        assert!((0.85..=0.95).contains(&after), "{uses_earlier} {after}");
        assert!(before < 0.8, "{before}");
    }
}
