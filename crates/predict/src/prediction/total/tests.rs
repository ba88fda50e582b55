//! Totals against sums by hand.

use super::*;
use crate::carry::Context;
use crate::carry::user_scale::UserScale;
use crate::change::Replacement;
use crate::costs::Costs;
use crate::prediction::several::{Unclear, ranked};
use crate::prediction::{predict, predict_in_context};
use crate::tests::{cost, costs, used, vector};
use crate::vector::{Round, Traced, Use};

/// A unit with 600 ns of user time and 400 ns of kernel time on two processors at once, 300 ns of
/// waiting for a disk, 150 ns of sleep, and 50 ns without a processor: 1000 ns.
fn traced() -> Vector {
    let timed = |name: &str, ns: f64, waited_ns: f64| Use {
        time_ns: Some(ns),
        waited_ns: (waited_ns > 0.0).then_some(waited_ns),
        ..used(name, None, 1.0)
    };
    Vector {
        user_ns: Some(600.0),
        kernel_ns: Some(400.0),
        elapsed: Some(Elapsed { parallelism: 2.0, ready_ns: 50.0 }),
        ..vector(vec![
            timed("stat", 300.0, 0.0),
            timed("fsync(file)", 60.0, 300.0),
            timed("clock_nanosleep", 40.0, 150.0),
        ])
    }
}

fn with_rounds(waits: [f64; 2]) -> Vector {
    let round = |waited_ns: f64| Round {
        untraced_ns: 1000.0,
        untraced_kernel_ns: 400.0,
        untraced_elapsed_ns: Some(1000.0),
        waited_ns: Some(waited_ns),
        user_ns: 600.0,
        kernel_ns: 400.0,
        ..Round::default()
    };
    let rounds = waits.map(round).to_vec();
    let origin = Traced { cost_ns_per_call: Some(0.0), rounds, ..Traced::default() };
    Vector { traced: Some(origin), units: Some(1e9), ..traced() }
}

fn system(stat_ns: f64, fsync_ns: Option<f64>) -> Costs {
    let each = [("stat", None, cost(stat_ns, 0.0)), ("null", None, cost(10.0, 0.0))];
    let fsync = fsync_ns.map(|ns| ("elapsed(fsync)", None, cost(ns, 0.1 * ns)));
    costs(&each.into_iter().chain(fsync).collect::<Vec<_>>())
}

/// The total on `to` of a vector that was traced on `from`.
fn total(vector: &Vector, from: &Costs, to: &Costs, user_ns: Option<f64>) -> Total {
    let context = Context::new(vector, "a", from).unwrap();
    let mut found = predict_in_context(vector, &context, "b", to).unwrap();
    if let Some(ns) = user_ns {
        let ratio = ns / vector.user_ns.unwrap();
        let interval = [0.9 * ratio, 1.1 * ratio];
        let scale = UserScale { ratio, interval, is_within_launches: false };
        found.set_scaled_user_time(vector, scale, "int_mul", [from, to]);
    }
    Total::new(&found, vector, vector, Some(&context), to)
}

fn part<'a>(total: &'a Total, name: &str) -> &'a Part {
    total.parts.iter().find(|part| part.name == name).unwrap()
}

fn lacking(total: &Total) -> Vec<(&str, Option<f64>)> {
    total.not_predicted.iter().map(|part| (part.name.as_str(), part.share_as_traced)).collect()
}

/// Further reads of a file whose traced reads did not wait do not wait either, nor do smaller ones
/// in their place.
#[test]
fn added_uses_wait_as_the_traced_ones() {
    let waits = |traced: &Vector, change: &str| {
        let mut changed = traced.clone();
        Replacement::read(change).unwrap().apply(&mut changed).unwrap();
        changed.primitives.iter().map(|used| used.waited_ns).collect::<Vec<_>>()
    };
    let mut reads =
        vector(vec![Use { time_ns: Some(100.0), ..used("read(file)", Some(8.0), 4.0) }]);
    for change in ["=read(file)@8", "read(file)@8=read(file)@4*2"] {
        assert_eq!(waits(&reads, change), [Some(0.0)], "{change}");
    }
    reads.primitives[0].waited_ns = Some(40.0);
    assert_eq!(waits(&reads, "=read(file)@8*2"), [Some(60.0)]);
    assert_eq!(waits(&reads, "=read(file)@2"), [Some(40.0), Some(10.0)]);
}

#[test]
fn total_as_traced_is_the_sum_of_its_parts() {
    let here = system(100.0, None);
    let found = total(&traced(), &here, &here, None);
    let elapsed = found.elapsed.clone().unwrap();
    assert_eq!((elapsed.ns, elapsed.interval_ns), (950.0, None));
    assert_eq!(found.processor.ns, 1000.0);
    let sum: f64 = found.parts.iter().map(|part| part.time.ns).sum();
    assert_eq!(sum, elapsed.ns);
    assert_eq!(part(&found, "user time").time.ns, 300.0, "two threads at once");
    assert_eq!(part(&found, "kernel time").share, 200.0 / 950.0);
    assert_eq!(part(&found, "waiting: fsync(file)").time.ns, 300.0);
    assert_eq!(lacking(&found), [("waiting for a processor", Some(0.05))]);
}

/// The border of user and kernel time is no part of the processor time.
#[test]
fn spread_of_rounds_is_the_interval_as_traced() {
    let here = system(100.0, None);
    let same = total(&with_rounds([450.0; 2]), &here, &here, None);
    let interval = |time: &Time| time.interval_ns.unwrap();
    assert_eq!(interval(&same.processor), [1000.0; 2]);
    assert_eq!(interval(same.elapsed.as_ref().unwrap()), [950.0; 2]);
    let vector = with_rounds([360.0, 540.0]);
    let spread = vector.waiting_spread().unwrap();
    let wide = total(&vector, &here, &here, None);
    let [low, high] = interval(wide.elapsed.as_ref().unwrap());
    assert!((high - (950.0 + 450.0 * spread)).abs() < 1e-9, "{high}");
    assert_eq!(low, (950.0 - 450.0 * spread).max(0.0));
    let [_, high] = interval(&part(&wide, "waiting: fsync(file)").time);
    assert!((high - (300.0 + 300.0 * spread)).abs() < 1e-9);
}

/// Calls take twice as long there.
#[test]
fn unknown_parts_elsewhere_are_named_with_their_share() {
    let (from, to) = (system(100.0, None), system(200.0, None));
    let found = total(&traced(), &from, &to, None);
    assert_eq!(
        lacking(&found),
        [
            ("user time", Some(0.3)),
            ("waiting: fsync(file)", Some(0.3)),
            ("waiting for a processor", Some(0.05)),
        ]
    );
    let elapsed = found.elapsed.clone().unwrap();
    assert_eq!(elapsed.ns, 800.0 / 2.0 + 150.0, "the sleep stays as long");
    assert_eq!(part(&found, "waiting: clock_nanosleep").origin, PartOrigin::SetByApplication);
    assert_eq!(found.processor.interval_ns.unwrap()[1], f64::INFINITY);
    let document = serde_json::to_value(&found).unwrap();
    assert!(document["processor"]["interval_ns"][1].is_null());
}

/// One round gives no interval whose upper end says that a part is not predicted.
#[test]
fn total_of_one_round_says_what_it_lacks() {
    let here = system(100.0, None);
    let lacks = |vector: &Vector| {
        let found = total(vector, &here, &here, None);
        let elapsed = found.elapsed.clone().unwrap();
        assert_eq!(elapsed.interval_ns, None);
        [found.lacks_elapsed_time(), found.lacks_processor_time()]
    };
    assert_eq!(lacks(&traced()), [false; 2], "other programs had the processor");
    let lost = Traced { lost: Some(3), ..Traced::default() };
    assert_eq!(lacks(&Vector { traced: Some(lost), ..traced() }), [true; 2]);
}

#[test]
fn user_time_and_waiting_are_scaled_by_single_scores() {
    let (from, to) = (system(100.0, Some(5e6)), system(200.0, Some(1e6)));
    let found = total(&with_rounds([450.0; 2]), &from, &to, Some(1200.0));
    assert_eq!(lacking(&found), [("waiting for a processor", Some(0.05))]);
    let fsync = part(&found, "waiting: fsync(file)");
    assert_eq!(fsync.time.ns, 60.0);
    assert_eq!(fsync.origin, PartOrigin::ScaledBy("elapsed(fsync)".to_owned()));
    assert_eq!(part(&found, "user time").origin, PartOrigin::ScaledBy("int_mul".to_owned()));
    assert_eq!(found.elapsed.unwrap().ns, (800.0 + 1200.0) / 2.0 + 60.0 + 150.0);
    let [low, high] = found.processor.interval_ns.unwrap();
    assert!((low - 1880.0).abs() < 1e-6 && (high - 2120.0).abs() < 1e-6, "{low} {high}");
}

/// A call that may wait is no null call, in a vector by hand and after a change.
#[test]
fn added_call_that_may_wait_has_an_elapsed_cost_or_is_named() {
    let here = system(100.0, None);
    let mut changed = traced();
    changed.primitives.push(used("fdatasync(file)", None, 2.0));
    changed.primitives.push(used("futex", None, 1.0));
    let context = Context::new(&traced(), "a", &here).unwrap();
    let on = |system: &Costs| {
        let found = predict_in_context(&changed, &context, "a", system).unwrap();
        Total::new(&found, &changed, &traced(), Some(&context), system)
    };
    let found = on(&here);
    let names: Vec<&str> = lacking(&found).into_iter().map(|(name, _)| name).collect();
    for name in ["waiting: fdatasync(file)", "waiting: futex", "kernel time of futex"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(found.elapsed.unwrap().ns, 950.0);
    let elapsed = ("elapsed(fdatasync)".to_owned(), costs(&[("x", None, cost(70.0, 7.0))]));
    let mut with_cost = here.clone();
    with_cost.primitives.insert(elapsed.0, elapsed.1.primitives["x"].clone());
    let found = on(&with_cost);
    assert_eq!(part(&found, "waiting: fdatasync(file)").time.ns, 140.0);
}

#[test]
fn vector_without_elapsed_time_has_a_total_of_processor_time() {
    let here = system(100.0, None);
    let by_hand = vector(vec![used("stat", None, 3.0), used("fsync(file)", None, 1.0)]);
    let found = predict(&by_hand, "a", &here).unwrap();
    let total = Total::new(&found, &by_hand, &by_hand, None, &here);
    assert_eq!((total.elapsed.clone(), total.processor.ns), (None, 300.0));
    let names: Vec<&str> = lacking(&total).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["user time", "kernel time of fsync(file)", "waiting: the vector has no elapsed time"]
    );
    assert_eq!(total.processor.interval_ns.unwrap()[1], f64::INFINITY);
}

/// Both vectors use the cost of `stat`, whose half-widths are added.
#[test]
fn several_applications_add_up() {
    let wide =
        |ns: f64| costs(&[("stat", None, cost(ns, 0.1 * ns)), ("null", None, cost(1.0, 0.0))]);
    let named = |name: &str| Vector { application: name.to_owned(), ..with_rounds([450.0; 2]) };
    let (from, to) = (system(100.0, Some(100.0)), wide(100.0));
    let [a, b] = ["a", "b"].map(|name| total(&named(name), &from, &to, Some(600.0)));
    let sum = Total::sum(&[&a, &b]).unwrap();
    assert_eq!((sum.application.as_str(), sum.unit.as_str()), ("a + b", "request"));
    assert_eq!(sum.processor.ns, 2.0 * a.processor.ns);
    let above = |total: &Total| {
        let [_, high] = a.processor.interval_ns.unwrap();
        assert!(high.is_finite());
        total.processor.interval_ns.unwrap()[1] - total.processor.ns
    };
    assert!((above(&sum) - 2.0 * above(&a)).abs() < 1e-6);
    assert_eq!(sum.traced_elapsed_ns, Some(2000.0));
    assert_eq!(lacking(&sum)[0], ("a, waiting: fsync(file)", Some(0.15)));
    let parts: Vec<(&str, f64)> = sum.parts.iter().map(|p| (p.name.as_str(), p.share)).collect();
    assert_eq!(parts, [("a", 0.5), ("b", 0.5)]);
    assert_eq!(Total::sum(&[]), None);
}

/// Cold reads are scaled by uncached reads of 4 KiB.
#[test]
fn scores_are_those_of_waits_that_the_application_does_not_set() {
    let mut reads = traced();
    for (name, size) in [("read(file)", 16384.0), ("epoll_wait(blocked)", 0.0)] {
        let read = used(name, Some(size), 1.0);
        reads.primitives.push(Use { time_ns: Some(1.0), waited_ns: Some(200.0), ..read });
    }
    assert_eq!(scores(&reads), ["elapsed(fsync)", "read(file,uncached)"]);
    assert_eq!(scores(&vector(vec![used("fsync(file)", None, 1.0)])), [""; 0]);
    let with_read = |stat_ns: f64, read_ns: f64| {
        let mut system = system(stat_ns, None);
        let read = costs(&[("read(file,uncached)", Some(4096.0), cost(read_ns, 0.0))]);
        system.primitives.extend(read.primitives);
        system
    };
    let found = total(&reads, &with_read(100.0, 80.0), &with_read(200.0, 20.0), None);
    assert_eq!(part(&found, "waiting: read(file)").time.ns, 50.0);
    let timed_out = part(&found, "waiting: epoll_wait(blocked)");
    assert_eq!(timed_out.origin, PartOrigin::SetByApplication);
}

/// The calls are faster on b, and fsync waits longer: its processor time is shorter, its elapsed
/// time is not.
#[test]
fn systems_are_ranked_by_elapsed_time() {
    let (a, b) = (system(100.0, Some(1000.0)), system(50.0, Some(9000.0)));
    let predicted = |vector: &Vector, to: &Costs, name: &str| {
        let context = Context::new(vector, "a", &a).unwrap();
        let mut found = predict_in_context(vector, &context, name, to).unwrap();
        found.total = Some(Total::new(&found, vector, vector, Some(&context), to));
        found
    };
    let mut vector = with_rounds([450.0; 2]);
    let order = |vector: &Vector| {
        let all = [predicted(vector, &b, "b"), predicted(vector, &a, "a")];
        assert!(all[0].predicted_ns < all[1].predicted_ns);
        ranked(&[&all[0], &all[1]])
    };
    let places = order(&vector);
    assert_eq!((places[0].system.as_str(), places[1].system.as_str()), ("a", "b"));
    assert_eq!(places[0].predicted_elapsed_ns, Some(950.0));
    assert_eq!(places[0].predicted_user_ns, None, "that of b is not predicted");
    // The elapsed time of b lacks its user time, so it is a lower bound, above the interval of a.
    assert_eq!(places[0].is_before_later, Some(true));
    vector.traced = None;
    let places = order(&vector);
    assert_eq!(places[0].unclear, Some(Unclear::IntervalUnknown), "one round");
}

#[test]
fn changed_parts_on_the_machine_of_the_trace_are_marked() {
    let here = system(100.0, Some(50.0));
    let vector = traced();
    let mut changed = vector.clone();
    Replacement::read("=fsync(file)*3").unwrap().apply(&mut changed).unwrap();
    let context = Context::new(&vector, "a", &here).unwrap();
    let found = predict_in_context(&changed, &context, "a", &here).unwrap();
    let total = Total::new(&found, &changed, &vector, Some(&context), &here);
    assert_eq!(part(&total, "kernel time").origin, PartOrigin::TracedWithChanges);
    assert_eq!(part(&total, "waiting: fsync(file)").origin, PartOrigin::TracedWithChanges);
    assert_eq!(part(&total, "waiting: clock_nanosleep").origin, PartOrigin::Traced);
}
