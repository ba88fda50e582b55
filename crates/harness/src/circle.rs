//! Computes the results of the Kanata Bench paper from the tests of a measuring circle. Pure.

use std::collections::BTreeMap;

use yamba_record::Batch;
use yamba_record::circles::{CircleGroup, CirclePlan, Circles, CirclesLaunch, PrimaryLatency};
use yamba_stats::circles::{Group, Primary, group_statistics, infer};

use super::cycles;

/// The results of a measuring circle. `tests` are those of the complete launches, in the order in
/// which they ran. `counts` is false for tests that were discarded or contradicted by their
/// evidence. `None` if the tests form no circle.
pub fn circles(
    tests: &[Batch],
    plan: CirclePlan,
    counts: impl Fn(&Batch) -> bool,
) -> Option<Circles> {
    let mut launches: BTreeMap<u64, BTreeMap<u64, Vec<&Batch>>> = BTreeMap::new();
    for test in tests {
        let groups = launches.entry(test.launch).or_default();
        groups.entry(test.group?).or_default().push(test);
    }
    let counting: Vec<&Batch> = tests.iter().filter(|t| counts(t)).collect();
    let unit = Unit::new(&counting);
    let launches = launches.into_iter().map(|(launch, mut groups)| {
        let second_round = groups.split_off(&plan.groups.unwrap_or(u64::MAX)).into_values().next();
        let groups = groups.values().map(|tests| group(tests, &counts, unit)).collect();
        let second_round = second_round.map(|tests| group(&tests, &counts, unit));
        inferred(launch, groups, second_round, plan)
    });
    let launches: Vec<CirclesLaunch> = launches.collect();
    let groups = &launches.first()?.groups;
    let first = groups.first()?;
    let second = groups.get(1).unwrap_or(first);
    Some(Circles {
        unit: unit.name().to_owned(),
        initial: first.test_size,
        delta: second.test_size.abs_diff(first.test_size),
        group_size: first.accumulated.len() as u64,
        confidence: plan.confidence,
        half_width: plan.half_width,
        margin: plan.margin,
        launches,
    })
}

/// Whether a test counts for the figure: its size is at least the size from which its launch is
/// known to be steady. If that is not known, only the tests of the largest size count.
pub(super) fn is_warm(circles: &Circles, test: &Batch) -> bool {
    let mut launches = circles.launches.iter();
    let Some(launch) = launches.find(|l| l.launch == test.launch) else {
        return true;
    };
    let largest = launch.groups.iter().map(|group| group.test_size).max();
    launch.steady_from.or(largest).is_none_or(|size| test.passes >= size)
}

/// The unit of latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Cycles,
    Nanoseconds,
}

impl Unit {
    /// Cycles if their length is known around every test and both chains agree on it, else
    /// nanoseconds.
    fn new(tests: &[&Batch]) -> Unit {
        let known = tests.iter().all(|t| t.cycle_ns.is_some_and(|c| c > 0.0));
        let doubt = cycles::second_opinion(tests).and_then(cycles::doubt);
        if known && doubt.is_none() && !tests.is_empty() { Unit::Cycles } else { Unit::Nanoseconds }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
        }
    }

    /// The accumulated latency of a test.
    fn accumulated(self, test: &Batch) -> f64 {
        let length = test.cycle_ns.filter(|_| self == Unit::Cycles);
        test.ns / length.unwrap_or(1.0)
    }
}

fn group(tests: &[&Batch], counts: &impl Fn(&Batch) -> bool, unit: Unit) -> CircleGroup {
    let test_size = tests.first().map_or(0, |t| t.passes);
    let accumulated: Vec<f64> = tests.iter().map(|t| unit.accumulated(t)).collect();
    let left_out = (0..tests.len()).filter(|i| !counts(tests[*i]));
    let mut group = CircleGroup {
        test_size,
        accumulated,
        left_out: left_out.map(|i| i as u64).collect(),
        ..CircleGroup::default()
    };
    let sample = sample(&group);
    let statistics = group_statistics(Group { test_size, accumulated: &sample });
    if let Some(s) = statistics {
        group.mean = Some(s.mean);
        group.standard_deviation = Some(s.standard_deviation);
        group.coefficient_of_variation = s.coefficient_of_variation;
        group.mean_per_circle = Some(s.mean_per_circle);
    }
    group
}

/// The latencies of the tests that count.
fn sample(group: &CircleGroup) -> Vec<f64> {
    let each = group.accumulated.iter().enumerate();
    let counting = each.filter(|(i, _)| !group.left_out.contains(&(*i as u64)));
    counting.map(|(_, a)| *a).collect()
}

/// The results of one launch.
fn inferred(
    launch: u64,
    groups: Vec<CircleGroup>,
    second_round: Option<CircleGroup>,
    plan: CirclePlan,
) -> CirclesLaunch {
    let samples: Vec<Vec<f64>> = groups.iter().map(sample).collect();
    let each = groups.iter().zip(&samples);
    let each = each.map(|(group, accumulated)| Group { test_size: group.test_size, accumulated });
    let each: Vec<Group<'_>> = each.collect();
    let second = second_round.as_ref().map(|group| (group.test_size, sample(group)));
    let second = second.as_ref().map(|(size, a)| Group { test_size: *size, accumulated: a });
    let CirclePlan { confidence, half_width, margin, .. } = plan;
    let inferred = infer(&each, second, confidence, half_width, margin);
    let largest = each.iter().map(|group| group.test_size).max();
    let test_size = second.map(|group| group.test_size).or(largest).unwrap_or(0);
    CirclesLaunch {
        launch,
        steady_from: inferred.steady_from.map(|i| groups[i].test_size),
        independence: inferred.independence,
        groups,
        second_round,
        primary: inferred.primary.map(|primary| latency(test_size, primary, inferred.is_dependent)),
    }
}

fn latency(test_size: u64, primary: Primary, is_dependent: bool) -> PrimaryLatency {
    let interval = primary.mean_by_t;
    let deviation = primary.variance.sqrt();
    PrimaryLatency {
        test_size,
        mean: interval.mean,
        confidence_interval: [interval.low, interval.high],
        standard_deviation: (!is_dependent).then_some(deviation),
        coefficient_of_variation: primary.coefficient_of_variation.filter(|_| !is_dependent),
        tests_needed: primary.tests_needed,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Batches of a launch with the latencies of the paper's table 3.4 or 3.5, at half a nanosecond
    /// per cycle.
    pub fn measured(launch: u64, table: &str) -> Vec<Batch> {
        let mut lines = table.lines().filter(|l| !l.starts_with('#'));
        let numbers = |line: &str| -> Vec<f64> {
            let words = line.split_whitespace();
            words.map(|w| w.parse().expect("a number")).collect()
        };
        let sizes = numbers(lines.next().expect("test sizes"));
        let rows: Vec<Vec<f64>> = lines.map(numbers).collect();
        let groups = sizes.iter().enumerate();
        let test = |g: usize, size: f64, cycles: f64| Batch {
            passes: size as u64,
            operations: size as u64,
            ns: cycles / 2.0,
            cycle_ns: Some(0.5),
            group: Some(g as u64),
            launch,
            sample: Some(cycles / 2.0 / size),
            ..Batch::default()
        };
        groups.flat_map(|(g, size)| rows.iter().map(move |row| test(g, *size, row[g]))).collect()
    }

    const COLD: &str = include_str!("../../stats/tests/data/kanata_3_4.txt");
    const WARM: &str = include_str!("../../stats/tests/data/kanata_3_5.txt");

    fn printed(values: impl Iterator<Item = Option<f64>>) -> Vec<String> {
        values.map(|v| format!("{:.2}", v.expect("a number"))).collect()
    }

    #[test]
    fn the_paper_s_table() {
        let all = circles(&measured(0, WARM), CirclePlan::default(), |_| true).unwrap();
        assert_eq!((all.initial, all.delta, all.group_size), (30, 1, 30));
        assert_eq!(all.unit, "cycles");
        let launch = &all.launches[0];
        let groups = &launch.groups;
        assert_eq!(groups[4].accumulated[..3], [155805.0, 155196.0, 155252.0]);
        assert_eq!(
            printed(groups.iter().map(|g| g.mean)),
            ["137687.70", "142024.37", "146716.50", "151142.77", "155520.90"]
        );
        assert_eq!(
            printed(groups.iter().map(|g| g.standard_deviation)),
            ["1074.86", "765.63", "708.86", "748.74", "799.66"]
        );
        assert_eq!(
            printed(groups.iter().map(|g| g.coefficient_of_variation.map(|c| 100.0 * c))),
            ["0.78", "0.54", "0.48", "0.50", "0.51"]
        );
        assert_eq!(
            printed(groups.iter().map(|g| g.mean_per_circle)),
            ["4589.59", "4581.43", "4584.89", "4580.08", "4574.14"]
        );
        let primary = launch.primary.unwrap();
        assert_eq!((launch.steady_from, primary.test_size), (Some(30), 34));
        // sigma_P = sigma_Y sqrt N = 799.66 / sqrt 34.
        assert_eq!(
            printed([Some(primary.mean), primary.standard_deviation].into_iter()),
            ["4574.14", "137.14"]
        );
        assert_eq!(launch.independence, None);
    }

    /// Tests of 1 to 5 circles are not known to be steady, so only the largest ones count.
    #[test]
    fn cold_circles_are_detected_and_excluded() {
        let both = [measured(0, COLD), measured(1, WARM)].concat();
        let all = circles(&both, CirclePlan::default(), |_| true).unwrap();
        let from: Vec<_> = all.launches.iter().map(|l| l.steady_from).collect();
        assert_eq!(from, [None, Some(30)]);
        let warm = both.iter().filter(|t| is_warm(&all, t));
        assert_eq!(warm.count(), 30 + 5 * 30);
        let sizes = all.launches.iter().map(|l| l.primary.unwrap().test_size);
        assert_eq!(sizes.collect::<Vec<u64>>(), [5, 34]);
    }

    #[test]
    fn margin_decides_what_is_steady() {
        let from = |margin| {
            let plan = CirclePlan { margin, ..CirclePlan::default() };
            circles(&measured(0, COLD), plan, |_| true).unwrap().launches[0].steady_from
        };
        assert_eq!([0.01, 0.05, 0.2].map(from), [None, Some(2), Some(1)]);
    }

    #[test]
    fn drift_below_the_margin_is_no_warm_up() {
        let drifted = |factor: f64| {
            let mut tests = measured(0, WARM);
            let first = tests.iter_mut().filter(|t| t.group == Some(0));
            first.for_each(|t| t.ns *= factor);
            circles(&tests, CirclePlan::default(), |_| true).unwrap().launches[0].steady_from
        };
        assert_eq!(drifted(1.002), Some(30));
        assert_eq!(drifted(1.02), Some(31));
    }

    /// The paper's table 3.4 does not contradict its assumption that the variance of A grows with
    /// N. With four times the deviation in the tests of one circle, it does.
    #[test]
    fn dependent_circles_have_no_deviation() {
        let judged = |factor: f64| {
            let mut tests = measured(0, COLD);
            let first = tests.iter_mut().filter(|t| t.group == Some(0));
            first.for_each(|t| t.ns += (factor - 1.0) * (t.ns - 5100.97 / 2.0));
            let all = circles(&tests, CirclePlan::default(), |_| true).unwrap();
            (all.launches[0].independence.unwrap(), all.launches[0].primary.unwrap())
        };
        let (p, primary) = judged(1.0);
        assert!(p > 0.1);
        // sigma_Y sqrt N = 389.48 / sqrt 5.
        assert_eq!(printed([primary.standard_deviation].into_iter()), ["174.18"]);
        let (p, primary) = judged(4.0);
        assert!(p < 0.05);
        assert_eq!((primary.standard_deviation, primary.coefficient_of_variation), (None, None));
        assert!(primary.tests_needed.is_some());
    }

    #[test]
    fn groups_without_tests_that_count_do_not_hide_dependence() {
        let mut tests = measured(0, COLD);
        for test in &mut tests {
            match test.group {
                Some(0) => test.outside.push("switches_per_circle".to_owned()),
                Some(1) => test.ns += 4.0 * (test.ns - 9605.6 / 2.0),
                _ => {}
            }
        }
        let all = circles(&tests, CirclePlan::default(), |t| t.outside.is_empty()).unwrap();
        assert!(all.launches[0].independence.unwrap() < 0.05);
    }

    /// The last group of the table as the second round.
    #[test]
    fn second_round_gives_the_primary_latency() {
        let plan = CirclePlan { groups: Some(4), ..CirclePlan::default() };
        let all = circles(&measured(0, WARM), plan, |_| true).unwrap();
        let launch = &all.launches[0];
        assert_eq!((launch.groups.len(), launch.groups[3].test_size), (4, 33));
        assert_eq!(launch.second_round.as_ref().unwrap().test_size, 34);
        assert_eq!(launch.primary.unwrap().test_size, 34);
    }

    #[test]
    fn half_width_and_confidence_are_those_of_the_plan() {
        let primary = |confidence, half_width| {
            let plan = CirclePlan { confidence, half_width, ..CirclePlan::default() };
            circles(&measured(0, WARM), plan, |_| true).unwrap().launches[0].primary.unwrap()
        };
        let (wide, narrow) = (primary(0.9, 0.02), primary(0.9, 0.0002));
        let ratio = narrow.tests_needed.unwrap() / wide.tests_needed.unwrap();
        assert!((ratio - 10_000.0).abs() < 1e-6, "{ratio}");
        let width = |p: PrimaryLatency| p.confidence_interval[1] - p.confidence_interval[0];
        assert!(width(primary(0.99, 0.02)) > 1.5 * width(wide));
    }

    #[test]
    fn excluded_tests_appear_only_in_the_table() {
        let mut tests = measured(0, WARM);
        tests[7].ns *= 10.0;
        tests[7].disturbed.push("stolen".to_owned());
        let all = circles(&tests, CirclePlan::default(), |t| t.disturbed.is_empty()).unwrap();
        let group = &all.launches[0].groups[0];
        assert_eq!((group.accumulated.len(), &group.left_out), (30, &vec![7]));
        assert_eq!(group.accumulated[7], 1375770.0);
        assert!(group.coefficient_of_variation.unwrap() < 0.01);
    }

    #[test]
    fn latency_is_in_ns_without_cycle_length() {
        let mut tests = measured(0, WARM);
        tests[3].cycle_ns = None;
        let all = circles(&tests, CirclePlan::default(), |_| true).unwrap();
        assert_eq!((all.unit.as_str(), all.launches[0].groups[0].accumulated[0]), ("ns", 69895.0));
        let mut doubted = measured(0, WARM);
        doubted[0].check_cycle_ns = Some(0.51);
        assert_eq!(circles(&doubted, CirclePlan::default(), |_| true).unwrap().unit, "ns");
    }

    #[test]
    fn few_tests_give_partial_results() {
        assert_eq!(circles(&[Batch::default()], CirclePlan::default(), |_| true), None);
        assert_eq!(circles(&[], CirclePlan::default(), |_| true), None);
        let one = circles(&measured(0, WARM)[..1], CirclePlan::default(), |_| true).unwrap();
        let launch = &one.launches[0];
        assert_eq!((launch.steady_from, launch.primary, launch.groups[0].mean), (None, None, None));
        let group = circles(&measured(0, WARM)[..30], CirclePlan::default(), |_| true).unwrap();
        let launch = &group.launches[0];
        assert_eq!((launch.steady_from, group.delta), (None, 0));
        assert_eq!(launch.primary.map(|p| p.test_size), Some(30));
        assert!(is_warm(&group, &measured(0, WARM)[0]));
    }
}
