use std::collections::BTreeMap;

use yamba_record::Evidence;
use yamba_record::run::{Cycles, Launch};

use super::*;

fn figure(median: f64) -> Benchmark {
    Benchmark {
        status: Status::Ok,
        valid: true,
        median: Some(median),
        confidence_interval: Some([median - 0.5, median + 0.5]),
        ..yamba_harness::not_started("sample")
    }
}

fn in_cycles(median: f64, interval: [f64; 2]) -> Benchmark {
    let mut figure = figure(1.0);
    figure.details.cycles = Some(Cycles { median, confidence_interval: interval });
    figure
}

#[test]
fn cycles_must_match_within_three_per_thousand() {
    let outcome = |b: &Benchmark| cycles("x", 3.0, 0.0, b).outcome;
    assert_eq!(outcome(&in_cycles(3.001, [3.0, 3.002])), Outcome::Passed);
    assert_eq!(outcome(&in_cycles(3.02, [3.008, 3.03])), Outcome::Passed);
    assert_eq!(outcome(&in_cycles(3.02, [3.015, 3.03])), Outcome::Failed);
    assert_eq!(outcome(&in_cycles(2.9, [2.8, 2.95])), Outcome::Failed);
    // The interval is so wide that any expectation would hold.
    assert_eq!(outcome(&in_cycles(3.0, [2.9, 3.1])), Outcome::Unknown);
    assert_eq!(outcome(&in_cycles(4.0, [3.5, 4.5])), Outcome::Failed);
    let mut invalid = in_cycles(3.0, [2.999, 3.001]);
    invalid.status = Status::Invalid;
    assert_eq!(outcome(&invalid), Outcome::Failed);
    // Tolerance for a delay in a chain of 12 cycles: 0.1 % of the chain.
    let delay = in_cycles(1.015, [1.013, 1.02]);
    assert_eq!(cycles("x", 1.0, 12.0, &delay).outcome, Outcome::Passed);
    assert_eq!(cycles("x", 1.0, 0.0, &delay).outcome, Outcome::Failed);
    // Unknown clock rate: the outcome is unknown. No figure at all: failed.
    assert_eq!(outcome(&figure(1.0)), Outcome::Unknown);
    let crashed = Benchmark { status: Status::Crashed, ..yamba_harness::not_started("sample") };
    assert_eq!(outcome(&crashed), Outcome::Failed);
}

#[test]
fn a_stretch_of_time() {
    assert_eq!(same_time("x", 1e5, &figure(100_100.0)).outcome, Outcome::Passed);
    assert_eq!(same_time("x", 1e5, &figure(101_000.0)).outcome, Outcome::Failed);
    assert_eq!(at_least("x", 1e6, &figure(1.1e6)).outcome, Outcome::Passed);
    assert_eq!(at_least("x", 1e6, &figure(9e5)).outcome, Outcome::Failed);
    let mut one_short = figure(1.1e6);
    one_short.launches = vec![Launch { median: Some(9e5), ..Launch::default() }];
    assert_eq!(at_least("x", 1e6, &one_short).outcome, Outcome::Failed);
}

#[test]
fn known_fault_must_be_invalid_because_of_its_evidence() {
    let mut invalid = Benchmark { status: Status::Invalid, ..figure(1.0) };
    assert_eq!(caught("x", &invalid).outcome, Outcome::Failed);
    invalid.records = vec![Default::default(); 4].into_iter().collect();
    let evidence = |outside| Evidence { outside, ..Evidence::default() };
    invalid.details.evidence = BTreeMap::from([("faults".to_owned(), evidence(1))]);
    assert_eq!(caught("x", &invalid).outcome, Outcome::Failed);
    invalid.details.evidence = BTreeMap::from([("faults".to_owned(), evidence(4))]);
    assert_eq!(caught("x", &invalid).outcome, Outcome::Passed);
    // Three batches were discarded, and the fourth one shows the fault.
    invalid.details.evidence = BTreeMap::from([("faults".to_owned(), evidence(1))]);
    invalid.interference.discarded = 3;
    assert_eq!(caught("x", &invalid).outcome, Outcome::Passed);
    invalid.interference.discarded = 4;
    assert_eq!(caught("x", &invalid).outcome, Outcome::Failed);
    invalid.status = Status::Ok;
    assert_eq!(caught("x", &invalid).outcome, Outcome::Failed);
    let stopped = caught("x", &yamba_harness::not_started("sample"));
    assert_eq!((stopped.outcome, &*stopped.measured), (Outcome::Failed, "skipped"));
}

#[test]
fn competitor_must_be_detected() {
    let quiet = figure(100.0);
    let mut beside = figure(100.5);
    assert_eq!(disturbed("x", &quiet, &beside).outcome, Outcome::Failed);
    beside.interference.discarded = 4;
    assert_eq!(disturbed("x", &quiet, &beside).outcome, Outcome::Passed);
    beside.median = Some(150.0);
    assert_eq!(disturbed("x", &quiet, &beside).outcome, Outcome::Failed);
    beside.interference.is_disturbed = true;
    assert_eq!(disturbed("x", &quiet, &beside).outcome, Outcome::Passed);
    beside.status = Status::Crashed;
    assert_eq!(disturbed("x", &quiet, &beside).outcome, Outcome::Failed);
}

fn attempt(outcome: Outcome, disturbance: Option<&str>) -> Attempt {
    Attempt {
        check: check("lat_x", "3 cycles".to_owned(), "3.04 cycles".to_owned(), outcome),
        disturbance: disturbance.map(str::to_owned),
    }
}

#[test]
fn only_failure_that_repeats_undisturbed_is_failure() {
    use Outcome::{Failed, Passed, Unknown};
    let (quiet, busy) = (None, Some("2 other threads were running"));
    for (first, then, expected) in [
        ((Failed, quiet), (Failed, quiet), Failed),
        ((Failed, busy), (Failed, quiet), Unknown),
        ((Failed, quiet), (Failed, busy), Unknown),
        ((Failed, busy), (Failed, busy), Unknown),
        ((Failed, quiet), (Passed, quiet), Unknown),
        ((Failed, busy), (Passed, quiet), Unknown),
        ((Failed, quiet), (Unknown, quiet), Unknown),
        ((Unknown, quiet), (Failed, quiet), Unknown),
        ((Unknown, busy), (Passed, busy), Passed),
        ((Unknown, busy), (Unknown, quiet), Unknown),
    ] {
        let settled = settle(attempt(first.0, first.1), Some(attempt(then.0, then.1)));
        assert_eq!(settled.outcome, expected, "{first:?} {then:?}");
        assert_eq!(settled.measurements, 2);
        let says = settled.note.unwrap_or_default();
        if expected == Unknown && [first, then].iter().any(|a| a.0 == Failed) {
            assert!(says.contains("fail"), "{first:?} {then:?}: {says}");
        }
        if expected == Unknown && [first.1, then.1].contains(&busy) {
            assert!(says.contains("2 other threads"), "{first:?} {then:?}: {says}");
        }
    }
    let once = settle(attempt(Passed, busy), None);
    assert_eq!((once.outcome, once.measurements), (Passed, 1));
}

#[test]
fn result_follows_from_outcomes() {
    use Outcome::{Failed, Passed, Skipped, Unknown};
    for (outcomes, is_stopped, expected) in [
        (&[Passed, Passed][..], false, Trust::Yes),
        (&[Passed, Skipped], false, Trust::Yes),
        (&[Passed, Unknown, Passed], false, Trust::CannotTell),
        (&[Unknown, Unknown], false, Trust::CannotTell),
        (&[Passed, Failed], false, Trust::No),
        (&[Unknown, Failed], false, Trust::No),
        (&[Passed, Failed], true, Trust::No),
        (&[Passed, Passed], true, Trust::CannotTell),
        (&[Skipped], false, Trust::CannotTell),
        (&[], true, Trust::CannotTell),
        (&[], false, Trust::CannotTell),
    ] {
        let checks: Vec<Check> = outcomes.iter().map(|o| attempt(*o, None).check).collect();
        let answer = answer(&checks, is_stopped);
        assert_eq!(answer.result, expected, "{outcomes:?}");
        assert!(!answer.reasons.is_empty(), "{outcomes:?}");
        assert_eq!(answer.help.is_some(), expected != Trust::Yes, "{outcomes:?}");
    }
}

#[test]
fn disturbance_is_found_in_batches_or_other_threads() {
    let mut b = figure(1.0);
    b.records = vec![Default::default(); 100].into_iter().collect();
    assert_eq!(disturbance(&b, 0), None);
    let running = disturbance(&b, 2).unwrap();
    assert_eq!(running, "2 other threads were running");
    b.interference.discarded = 20;
    assert_eq!(disturbance(&b, 0), None);
    b.interference.discarded = 40;
    b.interference.disturbed = BTreeMap::from([("switch".to_owned(), 40)]);
    let seen = disturbance(&b, 0).unwrap();
    assert_eq!(seen, "100 batches with 40 switch");
    b.interference.discarded = 0;
    b.interference.is_disturbed = true;
    assert!(disturbance(&b, 0).is_some());
    // Other programs do not explain a crash.
    b.median = None;
    assert_eq!(disturbance(&b, 2), None);
}
