//! Computes the results of the Kanata Bench paper from the tests of a measuring circle. Pure.

use std::collections::BTreeMap;

use yamba_record::Batch;
use yamba_record::circles::{CircleGroup, Circles, CirclesLaunch, PrimaryLatency};
use yamba_stats::circles::{Group, group_statistics, primary, steady_from};

use super::cycles;

/// Significance level for differences between groups: a launch without any change shows one in a
/// hundred times.
const SIGNIFICANCE: f64 = 0.01;

/// Confidence of the mean's interval, and of the interval whose size is predicted.
const CONFIDENCE: f64 = 0.95;

/// Predicted half-width as a share of the mean. Smaller differences between groups are ignored.
const SHARE: f64 = 0.01;

/// The results of a measuring circle. `tests` are those of the complete launches, in the order in
/// which they ran. `counts` is false for tests that were discarded or contradicted by their
/// evidence. `None` if the tests form no circle.
pub fn circles(tests: &[Batch], counts: impl Fn(&Batch) -> bool) -> Option<Circles> {
    let mut launches: BTreeMap<u64, BTreeMap<u64, Vec<&Batch>>> = BTreeMap::new();
    for test in tests {
        let groups = launches.entry(test.launch).or_default();
        groups.entry(test.group?).or_default().push(test);
    }
    let counting: Vec<&Batch> = tests.iter().filter(|t| counts(t)).collect();
    let unit = Unit::of(&counting);
    let launches = launches.into_iter().map(|(launch, groups)| {
        let each = groups.values().map(|tests| group(tests, &counts, unit));
        inferred(launch, each.collect())
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
        significance: SIGNIFICANCE,
        confidence: CONFIDENCE,
        share: SHARE,
        launches,
    })
}

/// Whether a test is past the warm-up: its size is at least the size from which its launch was
/// steady. True if that size is unknown.
pub(super) fn is_warm(circles: &Circles, test: &Batch) -> bool {
    let mut launches = circles.launches.iter();
    let launch = launches.find(|l| l.launch == test.launch);
    let from = launch.and_then(|l| l.steady_from);
    from.is_none_or(|size| test.passes >= size)
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
    fn of(tests: &[&Batch]) -> Unit {
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

/// Computes the results of one launch. The primary latency is that of the first group past the
/// warm-up: the paper's example has one size and one group. If no group is known to be past it, the
/// last one is used.
fn inferred(launch: u64, groups: Vec<CircleGroup>) -> CirclesLaunch {
    let samples: Vec<Vec<f64>> = groups.iter().map(sample).collect();
    let each = groups.iter().zip(&samples);
    let each = each.map(|(group, accumulated)| Group { test_size: group.test_size, accumulated });
    let each: Vec<Group<'_>> = each.collect();
    let significant = steady_from(&each, SIGNIFICANCE);
    let negligible = alike_from(&groups);
    let steady = significant.into_iter().chain(negligible).min();
    let from = steady.unwrap_or(each.len().saturating_sub(1));
    let latency = each.get(from).and_then(|group| latency(*group));
    CirclesLaunch {
        launch,
        steady_from: steady.map(|i| groups[i].test_size),
        groups,
        primary: latency,
    }
}

/// The first group such that it and all later ones have means within [`SHARE`] of each other. A
/// machine that drifts by less can make groups differ significantly although the difference is
/// irrelevant.
fn alike_from(groups: &[CircleGroup]) -> Option<usize> {
    let means: Option<Vec<f64>> = groups.iter().map(|g| g.mean_per_circle).collect();
    let means = means?;
    let alike = |later: &[f64]| {
        let least = later.iter().copied().fold(f64::INFINITY, f64::min);
        let most = later.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - least <= SHARE * least
    };
    (0..means.len().saturating_sub(1)).find(|i| alike(&means[*i..]))
}

fn latency(group: Group<'_>) -> Option<PrimaryLatency> {
    let inferred = primary(group, CONFIDENCE, SHARE)?;
    let interval = inferred.mean_by_t;
    Some(PrimaryLatency {
        test_size: group.test_size,
        mean: interval.mean,
        confidence_interval: [interval.low, interval.high],
        standard_deviation: inferred.variance.sqrt(),
        coefficient_of_variation: inferred.coefficient_of_variation,
        tests_needed: inferred.tests_needed,
    })
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
        let all = circles(&measured(0, WARM), |_| true).unwrap();
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
        assert_eq!((launch.steady_from, primary.test_size), (Some(30), 30));
        // sigma_P = sigma_Y sqrt N = 1074.86 / sqrt 30.
        assert_eq!(
            printed([primary.mean, primary.standard_deviation].map(Some).into_iter()),
            ["4589.59", "196.24"]
        );
    }

    #[test]
    fn cold_circles_are_detected_and_excluded() {
        let both = [measured(0, COLD), measured(1, WARM)].concat();
        let all = circles(&both, |_| true).unwrap();
        let from: Vec<_> = all.launches.iter().map(|l| l.steady_from).collect();
        assert_eq!(from, [Some(4), Some(30)]);
        let warm = both.iter().filter(|t| is_warm(&all, t));
        assert_eq!(warm.count(), 2 * 30 + 5 * 30);
    }

    #[test]
    fn drift_below_one_percent_is_no_warm_up() {
        let drifted = |factor: f64| {
            let mut tests = measured(0, WARM);
            let first = tests.iter_mut().filter(|t| t.group == Some(0));
            first.for_each(|t| t.ns *= factor);
            circles(&tests, |_| true).unwrap().launches[0].steady_from
        };
        assert_eq!(drifted(1.005), Some(30));
        assert_eq!(drifted(1.02), Some(31));
    }

    #[test]
    fn excluded_tests_appear_only_in_the_table() {
        let mut tests = measured(0, WARM);
        tests[7].ns *= 10.0;
        tests[7].disturbed.push("stolen".to_owned());
        let all = circles(&tests, |t| t.disturbed.is_empty()).unwrap();
        let group = &all.launches[0].groups[0];
        assert_eq!((group.accumulated.len(), &group.left_out), (30, &vec![7]));
        assert_eq!(group.accumulated[7], 1375770.0);
        assert!(group.coefficient_of_variation.unwrap() < 0.01);
    }

    #[test]
    fn latency_is_in_ns_without_cycle_length() {
        let mut tests = measured(0, WARM);
        tests[3].cycle_ns = None;
        let all = circles(&tests, |_| true).unwrap();
        assert_eq!((all.unit.as_str(), all.launches[0].groups[0].accumulated[0]), ("ns", 69895.0));
        let mut doubted = measured(0, WARM);
        doubted[0].check_cycle_ns = Some(0.51);
        assert_eq!(circles(&doubted, |_| true).unwrap().unit, "ns");
    }

    #[test]
    fn few_tests_give_partial_results() {
        assert_eq!(circles(&[Batch::default()], |_| true), None);
        assert_eq!(circles(&[], |_| true), None);
        let one = circles(&measured(0, WARM)[..1], |_| true).unwrap();
        let launch = &one.launches[0];
        assert_eq!((launch.steady_from, launch.primary, launch.groups[0].mean), (None, None, None));
        let group = circles(&measured(0, WARM)[..30], |_| true).unwrap();
        let launch = &group.launches[0];
        assert_eq!((launch.steady_from, group.delta), (None, 0));
        assert_eq!(launch.primary.map(|p| p.test_size), Some(30));
        assert!(is_warm(&group, &measured(0, WARM)[0]));
    }
}
