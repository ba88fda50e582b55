//! Measuring circles: the order of tests with a simulated clock, and real circles with and without
//! privileges.

use std::path::PathBuf;

use yamba_harness::{Job, Measurement, Options, Program, Silent, Stop};
use yamba_record::{Benchmark, Run, Status};

use crate::cpp::{SANITIZED, check_parts, said, yamba};

#[test]
#[ignore = "needs g++"]
fn groups_under_sanitizers() {
    check_parts("g++", &SANITIZED, &["circle"]);
}

#[test]
#[ignore = "needs g++ and clang++"]
fn groups_with_the_other_compiler() {
    check_parts("clang++", &["-O2"], &["circle"]);
}

/// The command prefix that drops all privileges of a program. An ordinary user needs none.
fn without_privilege() -> Vec<String> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    words.map(str::to_owned).to_vec()
}

/// Builds a class of the suite, in a folder that every user may enter.
fn built(class: &str) -> PathBuf {
    let open = std::env::temp_dir().join(format!("{class}-{}", std::process::id()));
    let done = yamba().args(["build", class, "-o"]).arg(&open).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    open
}

fn measured(class: &str, runner: &[String], set: &[(&str, &str)]) -> Run {
    let path = built(class);
    let job = Job {
        class: class.to_owned(),
        program: Ok(Program { path: path.clone(), runner: runner.to_vec(), emulated: false }),
        provenance: yamba_record::run::Provenance::default(),
        texts: Default::default(),
    };
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options =
        Options { set: set.iter().map(own).collect(), launches: Some(2), ..Options::quick() };
    let listing = |_: &yamba_record::event::Code, _: u64| None;
    let stop = Stop::default();
    let measurement = Measurement {
        jobs: &[job],
        options: &options,
        isa: std::env::consts::ARCH,
        system: "linux",
        progress: &mut Silent,
        stop: &stop,
        listing: &listing,
        neighbours: yamba_harness::Neighbours::Count,
    };
    let run = measurement.run();
    std::fs::remove_file(path).unwrap();
    run.unwrap()
}

/// Expects two realtime threads, or a note that names the missing privilege.
fn check_priorities(benchmark: &Benchmark) {
    assert_eq!(benchmark.status, Status::Ok, "{:?}", benchmark.notes);
    let said = benchmark.notes.iter().any(|n| n.to_string().contains("CAP_SYS_NICE"));
    let threads = benchmark.details.evidence["realtime_threads"].median;
    assert_eq!(threads, Some(if said { 0.0 } else { 2.0 }));
}

fn check_circles(benchmark: &Benchmark) {
    check_priorities(benchmark);
    let delivered = &benchmark.details.evidence["deliveries_per_circle"];
    assert_eq!((delivered.min, delivered.max), (Some(1.0), Some(1.0)));
    let circles = benchmark.details.circles.as_ref().unwrap();
    assert_eq!((circles.initial, circles.delta), (50, 10));
    assert_eq!(circles.launches.len(), 2);
    for launch in &circles.launches {
        let sizes: Vec<_> = launch.groups.iter().map(|g| g.test_size).collect();
        assert_eq!(sizes, [50, 60, 70]);
        assert!(launch.groups.iter().all(|g| g.accumulated.len() == 8));
    }
}

const SMALL: [(&str, &str); 4] =
    [("initial", "50"), ("delta", "10"), ("groups", "3"), ("group_size", "8")];

#[test]
#[ignore = "needs g++"]
fn circle_runs_with_available_privileges() {
    let run = measured("circle_pipe", &[], &SMALL);
    check_circles(&run.benchmarks[0]);
}

#[test]
#[ignore = "needs g++"]
fn circle_runs_without_privileges() {
    let run = measured("circle_semaphore", &without_privilege(), &SMALL);
    let benchmark = &run.benchmarks[0];
    check_circles(benchmark);
    assert!(benchmark.notes.iter().any(|n| n.to_string().contains("two ordinary threads")));
}

/// Two ordinary threads would lose signals.
#[test]
#[ignore = "needs g++"]
fn circle_without_answer_is_skipped_without_privileges() {
    let run = measured("circle_pipe_oneway", &[], &SMALL);
    let benchmark = &run.benchmarks[0];
    if benchmark.status != Status::Skipped {
        check_circles(benchmark);
    }
    let run = measured("circle_pipe_oneway", &without_privilege(), &SMALL);
    let benchmark = &run.benchmarks[0];
    if benchmark.status == Status::Skipped {
        assert!(benchmark.notes.iter().any(|n| n.to_string().contains("CAP_SYS_NICE")));
    } else {
        // An ordinary user may have the privilege.
        check_circles(benchmark);
    }
}

#[test]
#[ignore = "needs g++"]
fn circle_runs_in_restarted_threads() {
    let run = measured("circle_futex_restarted", &[], &SMALL);
    check_circles(&run.benchmarks[0]);
}

#[test]
#[ignore = "needs g++"]
fn direct_method_times_each_delivery() {
    let set = [("recorded", "20"), ("warm_ups", "2")];
    let run = measured("direct_futex", &[], &set);
    let benchmark = &run.benchmarks[0];
    check_priorities(benchmark);
    assert_eq!(benchmark.details.evidence["deliveries_per_signal"].median, Some(1.0));
    assert!(
        benchmark.details.circles.is_none() && benchmark.details.samples.iter().all(|s| *s > 0.0)
    );
}

#[test]
#[ignore = "needs g++"]
fn circle_test_longer_than_realtime_limit_is_rejected() {
    let run = measured("circle_eventfd", &[], &[("delta", "10000000")]);
    let benchmark = &run.benchmarks[0];
    assert_eq!(benchmark.status, Status::Crashed);
    let said = &benchmark.notes[0];
    assert!(said.to_string().contains("may be stopped by the system"), "{said}");
}

/// With noise, the second round may need more time than it has; then a note says so.
#[test]
#[ignore = "needs g++"]
fn second_round_has_more_tests_for_a_narrower_interval() {
    let set = [
        ("initial", "20"),
        ("groups", "2"),
        ("group_size", "10"),
        ("confidence", "0.9"),
        ("half_width", "0.0005"),
        ("second_round", "5"),
    ];
    let run = measured("circle_futex", &[], &set);
    let benchmark = &run.benchmarks[0];
    let circles = benchmark.details.circles.as_ref().unwrap();
    assert_eq!((circles.confidence, circles.half_width, circles.margin), (0.9, 0.0005, 0.01));
    let has_note = benchmark.notes.iter().any(|n| n.to_string().contains("no second round"));
    for launch in &circles.launches {
        assert_eq!(launch.groups.len(), 2);
        let second = launch.second_round.as_ref();
        assert!(second.map_or(has_note, |g| g.test_size == 30 && g.accumulated.len() > 10));
    }
}

/// The number of groups whose first test is among the `count` slowest.
fn groups_with_slow_first_test<'a>(
    groups: impl IntoIterator<Item = &'a Vec<f64>>,
    count: usize,
) -> usize {
    let is_slow = |tests: &&Vec<f64>| {
        let slower = tests.iter().filter(|t| **t > tests[0]).count();
        slower < count
    };
    groups.into_iter().filter(is_slow).count()
}

#[test]
fn slow_first_tests_are_counted() {
    let groups = [vec![5.0, 1.0, 2.0, 3.0], vec![2.5, 3.0, 1.0, 2.0], vec![1.0, 2.0, 3.0, 4.0]];
    assert_eq!([1, 2, 3, 4].map(|n| groups_with_slow_first_test(&groups, n)), [1, 2, 2, 3]);
}

/// The first test of a group starts from the same state of processor and caches as the others. If
/// its place among the 30 is random, it is among the three slowest in a tenth of the groups, and in
/// more than half of 40 with a probability of 1e-12. With other code before it, it is in most.
#[test]
#[ignore = "needs g++"]
fn first_test_of_a_group_is_like_the_others() {
    let set = [("initial", "1"), ("groups", "20"), ("group_size", "30")];
    let run = measured("circle_futex", &[], &set);
    let benchmark = &run.benchmarks[0];
    let circles = benchmark.details.circles.as_ref().unwrap();
    let groups = circles.launches.iter().flat_map(|l| &l.groups).map(|g| &g.accumulated);
    assert_eq!(groups.clone().count(), 2 * 20);
    let slow = groups_with_slow_first_test(groups, 3);
    assert!(slow <= 20, "the first test is among the three slowest in {slow} of 40 groups");
}
