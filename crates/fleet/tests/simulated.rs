//! Slow nodes in simulated fleets of real launches. `examples/simulate.rs` counts more of them.

#[allow(dead_code, reason = "the example uses the rest")]
mod simulation;

use fastrand::Rng;
use simulation::{Between, Source, analysed, named, slow_down};
use yamba_fleet::slow_nodes::{NodeRun, false_alarms, report};

/// Nodes of a fleet. The goal is stated for 1000.
const NODES: usize = 1000;

/// In each fleet five nodes of each resource take 3 % longer. All resources have a spread below 0.5
/// % between nodes. At least 95 % are named, and at most one node of the fleet is a false alarm.
#[test]
fn nodes_that_are_three_percent_slow_are_named_with_their_resource() {
    let source = Source::quiet();
    let resources = source.resources();
    let mut random = Rng::with_seed(11);
    let (mut slow, mut found, mut alarms) = (0, 0, 0);
    let fleets = 3;
    for _ in 0..fleets {
        let mut runs = source.fleet(NODES, Between::Normal(0.0045), &mut random);
        let mut expected = Vec::new();
        for (number, resource) in resources.iter().enumerate() {
            for at in 0..5 {
                let run = &mut runs[100 * number + 7 * at];
                slow_down(run, resource, 1.03);
                expected.push((run.node.clone(), (*resource).to_owned()));
            }
        }
        let job = analysed(&runs);
        assert!(job.detectable.iter().all(|d| d.spread.unwrap() <= 0.005));
        let is_expected = |(node, resource): &(&str, &str)| {
            expected.iter().any(|(n, r)| n == node && r == resource)
        };
        let (right, wrong): (Vec<_>, Vec<_>) = named(&job).into_iter().partition(is_expected);
        slow += expected.len();
        found += right.len();
        alarms += wrong.len();
    }
    assert!(found * 100 >= slow * 95, "{found} of {slow}");
    assert!(alarms <= fleets, "{alarms} false alarms");
}

/// Two clock rates, 8 % apart, of seven tenths and three tenths of the nodes; and one node that is
/// slow in the slower mode.
#[test]
fn mode_is_no_outlier_and_slow_node_within_a_mode_is_found() {
    let source = Source::quiet();
    let mut random = Rng::with_seed(12);
    let mut runs = source.fleet(200, Between::Normal(0.002), &mut random);
    for (number, run) in runs.iter_mut().enumerate() {
        if number % 10 < 3 {
            slow_down(run, "Processor", 1.08);
        }
    }
    slow_down(&mut runs[1], "Processor", 1.2 / 1.08);
    let job = analysed(&runs);
    let processor = job.resources.iter().position(|r| r == "Processor").unwrap();
    let modes = &job.modes[0][processor];
    let counts: Vec<usize> = modes.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [140, 60]);
    assert!((modes[1].0 - 1.08).abs() < 0.003, "{modes:?}");
    assert_eq!(named(&job), [("n1", "Processor")]);
    let finding = &job.findings[0];
    assert!((finding.ratio - 1.2 / 1.08).abs() < 0.01, "{finding:?}");
    assert!(finding.false_alarms <= false_alarms(200) && finding.counts[1] == finding.counts[0]);
}

/// The node is slow from the second of four jobs on, and one node is missing in the last one.
#[test]
fn history_has_the_job_since_which_a_node_is_slow() {
    let source = Source::quiet();
    let mut random = Rng::with_seed(13);
    let mut all: Vec<NodeRun> = Vec::new();
    for job in 0..4 {
        let mut runs = source.fleet(100, Between::Normal(0.002), &mut random);
        if job > 0 {
            slow_down(&mut runs[40], "Memory", 1.1);
        }
        for run in &mut runs {
            run.job = Some(format!("j{job}"));
            run.started_unix_s = Some(1e9 + f64::from(job));
        }
        if job == 3 {
            runs.remove(70);
        }
        all.extend(runs);
    }
    let report = report(&all);
    let last = report.jobs.last().unwrap();
    assert_eq!(last.missing, ["n70"]);
    assert_eq!(named(&last.job), [("n40", "Memory")]);
    assert_eq!(report.slow_since, [1]);
    let jobs = report.jobs.iter();
    let ratios: Vec<f64> = jobs.map(|j| j.job.ratio("n40", "Memory").unwrap()).collect();
    assert!((ratios[0] - 1.0).abs() < 0.02, "{ratios:?}");
    assert!(ratios[1..].iter().all(|r| (r - 1.1).abs() < 0.02), "{ratios:?}");
}

/// Too few nodes show nothing, and the report says so.
#[test]
fn four_nodes_are_too_few() {
    let source = Source::quiet();
    let mut runs = source.fleet(4, Between::None, &mut Rng::with_seed(14));
    slow_down(&mut runs[0], "Memory", 9.0);
    let job = analysed(&runs);
    assert!(job.findings.is_empty());
    let mut all = job.detectable.iter();
    assert!(all.all(|d| d.slowdown.is_none() && d.spread.is_none()));
}
