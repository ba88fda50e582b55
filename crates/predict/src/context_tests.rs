//! Predictions in the application's context, with truths that were computed by hand.

use crate::carry::user_scale::UserScale;
use crate::change::{CostChange, Replacement, without_started};
use crate::costs::{Contained, Costs};
use crate::tests::{cost, costs, used, vector};
use crate::vector::{Round, Started, Traced, Use, Vector};
use crate::{Context, Prediction, predict, predict_in_context, ranked};

fn timed(name: &str, size: Option<f64>, count: f64, time_ns: f64) -> Use {
    Use { time_ns: Some(time_ns), ..used(name, size, count) }
}

fn exact(each: &[(&str, Option<f64>, f64)]) -> Costs {
    let each: Vec<_> = each.iter().map(|(name, size, ns)| (*name, *size, cost(*ns, 0.0))).collect();
    costs(&each)
}

fn on(traced: &Vector, from: &Costs, to: &Costs) -> Prediction {
    let context = Context::new(traced, "a", from).unwrap();
    predict_in_context(traced, &context, "b", to).unwrap()
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
}

/// In the application, a call takes 3 times as long as in the benchmark, on both systems. B is 2
/// times as slow at reads, .5 times at stat and 1.5 times at faults.
#[test]
fn prediction_hits_the_truth_where_the_context_is_the_same() {
    let a = exact(&[
        ("read(file)", Some(4096.0), 400.0),
        ("read(file)", Some(65536.0), 4000.0),
        ("stat(file)", None, 300.0),
        ("page_fault(copy)", None, 700.0),
        ("null", None, 50.0),
    ]);
    let b = exact(&[
        ("read(file)", Some(4096.0), 800.0),
        ("read(file)", Some(65536.0), 8000.0),
        ("stat(file)", None, 150.0),
        ("page_fault(copy)", None, 1050.0),
        ("null", None, 50.0),
    ]);
    let (reads, large, stats, faults) = (10.0, 2.0, 5.0, 1.5);
    let traced = vector(vec![
        timed("read(file)", Some(4096.0), reads, 3.0 * 400.0 * reads),
        timed("read(file)", Some(34816.0), large, 3.0 * 2200.0 * large),
        timed("stat(file)", None, stats, 3.0 * 300.0 * stats),
        timed("page_fault(copy)", None, faults, 3.0 * 700.0 * faults),
    ]);
    let truth = 3.0 * (800.0 * reads + 4400.0 * large + 150.0 * stats + 1050.0 * faults);
    let found = on(&traced, &a, &b);
    near(found.predicted_ns, truth);
    let trace = found.trace().unwrap();
    assert_eq!((trace.traced_on.as_str(), trace.is_as_traced), ("a", false));
    assert_eq!(serde_json::to_value(&found).unwrap()["context"], "traced");
    assert_eq!(found.terms.coverage.calls, Some(1.0));
    assert_eq!(found.terms.coverage.kernel_time, Some(1.0));
    for product in &found.terms.primitives {
        near(product.context_factor.unwrap(), 3.0);
        near(product.product_ns, product.count * product.cost_ns.unwrap() * 3.0);
    }
    near(predict(&traced, "b", &b).unwrap().predicted_ns, truth / 3.0);
}

#[test]
fn prediction_is_the_traced_time_where_the_vector_was_traced() {
    let a = costs(&[
        ("fork", None, cost(1000.0, 100.0)),
        ("exit", None, cost(300.0, 100.0)),
        ("page_fault(copy)", None, cost(700.0, 100.0)),
        ("page_fault(zero)", None, cost(400.0, 100.0)),
    ]);
    let mut traced = vector(vec![
        timed("fork", None, 2.0, 2600.0),
        timed("exit", None, 3.0, 777.0),
        timed("page_fault", None, 5.0, 4100.0),
        timed("ioctl", None, 1.0, 23.0),
    ]);
    traced.kernel_ns = Some(9000.0);
    traced.user_ns = Some(1000.0);
    let found = on(&traced, &a, &a);
    near(found.predicted_ns, 9000.0);
    assert!(found.is_as_traced());
    assert_eq!(found.interval_ns, None);
    assert!(found.terms.primitives.iter().all(|p| p.interval_ns.is_none()));
    assert_eq!(found.terms.other.unwrap().product_ns, 1500.0);
    assert_eq!(found.terms.other.unwrap().interval_ns, None);
    let user = found.user.predicted.unwrap();
    assert_eq!(user.ns, 1000.0);
    near(user.per_second_and_core, 1e9 / 10_000.0);
}

/// Reads become 2 times as slow and stats 4 times. They took 600 and 200 ns, so the time of both
/// grows by (1200 + 800) / 800 = 2.5.
#[test]
fn time_without_a_ratio_is_scaled_as_the_covered_time_and_its_interval_spans_the_ratios() {
    let a = exact(&[("read", None, 100.0), ("stat", None, 50.0)]);
    let b = exact(&[
        ("read", None, 200.0),
        ("stat", None, 200.0),
        ("null", None, 1.0),
        ("mmap", None, 9.0),
    ]);
    let mut traced = vector(vec![
        timed("read", None, 2.0, 600.0),
        timed("stat", None, 1.0, 200.0),
        timed("ioctl", None, 1.0, 40.0),
        timed("mmap", None, 1.0, 60.0),
    ]);
    traced.kernel_ns = Some(1000.0);
    let found = on(&traced, &a, &b);
    near(found.predicted_ns, 2000.0 + 2.5 * (40.0 + 60.0 + 100.0));
    let of = |name: &str| found.terms.primitives.iter().find(|p| p.name == name).unwrap();
    let ioctl = of("ioctl");
    assert!(ioctl.is_carried_over && !ioctl.is_covered);
    assert_eq!((ioctl.cost_ns, ioctl.context_factor), (None, None));
    assert_eq!((ioctl.product_ns, ioctl.interval_ns), (100.0, Some([80.0, 160.0])));
    assert!(of("mmap").is_carried_over, "A has no cost of it");
    let other = found.terms.other.unwrap();
    assert_eq!((other.traced_ns, other.product_ns), (100.0, 250.0));
    assert_eq!(other.interval_ns, Some([200.0, 400.0]));
    assert_eq!(found.terms.coverage.calls, Some(3.0 / 5.0));
    assert_eq!(found.terms.coverage.kernel_time, Some(0.8));
    // The carried-over terms are off together: 2.5 - 2 of 200 ns below, 4 - 2.5 of them above.
    assert_eq!(found.interval_ns, Some([2400.0, 2800.0]));
}

/// The kernel's coarse clock can give less than the sum of the calls.
#[test]
fn kernel_time_below_the_sum_of_its_calls_leaves_no_other_time() {
    let a = exact(&[("read", None, 100.0)]);
    let mut traced = vector(vec![timed("read", None, 2.0, 600.0)]);
    traced.kernel_ns = Some(500.0);
    let found = on(&traced, &a, &a);
    assert_eq!(found.predicted_ns, 600.0);
    assert_eq!(found.terms.other.unwrap().traced_ns, 0.0);
}

/// 6 % of A and 8 % of B are 10 % of the ratio; both reads share them, stat adds its own in
/// quadrature.
#[test]
fn half_widths_of_both_systems_are_added_in_quadrature() {
    let of = |read: f64, width: f64, stat: f64| {
        costs(&[("read", None, cost(read, width * read)), ("stat", None, cost(stat, 0.0))])
    };
    let (a, b) = (of(100.0, 0.06, 10.0), of(200.0, 0.08, 10.0));
    let traced = vector(vec![timed("read", None, 1.0, 300.0), timed("stat", None, 1.0, 10.0)]);
    let found = on(&traced, &a, &b);
    let [low, high] = found.interval_ns.unwrap();
    near(low, 610.0 - 60.0);
    near(high, 610.0 + 60.0);
}

/// The benchmark of fork waits for the child, too. In a trace, each call has a time of its own.
#[test]
fn parts_of_a_composite_keep_their_traced_times() {
    let with_parts = |fork: f64, wait: f64| {
        let mut costs = exact(&[("fork", None, fork), ("wait4", None, wait)]);
        let parts =
            ["wait4", "exit_group"].map(|name| Contained { name: name.to_owned(), count: 1.0 });
        costs.primitives.get_mut("fork").unwrap().contains = parts.to_vec();
        costs
    };
    let (a, b) = (with_parts(1100.0, 100.0), with_parts(3200.0, 200.0));
    let traced = vector(vec![
        timed("fork", None, 1.0, 1500.0),
        timed("wait4", None, 1.0, 400.0),
        timed("exit_group", None, 2.0, 100.0),
    ]);
    let found = on(&traced, &a, &b);
    // fork without its wait4 and, through it, exit_group by 3, wait4 by its own 2.
    near(found.predicted_ns, 4500.0 + 800.0 + 300.0);
    assert_eq!(found.terms.contained, []);
    let exit = found.terms.primitives.iter().find(|p| p.name == "exit_group").unwrap();
    assert_eq!(exit.scaled_by.as_deref(), Some("fork"));
    assert_eq!(found.terms.coverage.kernel_time, Some(1.0));
}

/// One kind doubles, the other becomes four times as slow: the ratio of a fault of unknown kind is
/// between.
#[test]
fn page_fault_of_unknown_kind_has_the_ratios_of_the_kinds() {
    let a = exact(&[("page_fault(copy)", None, 100.0), ("page_fault(zero)", None, 900.0)]);
    let b = exact(&[
        ("page_fault(copy)", None, 200.0),
        ("page_fault(zero)", None, 3600.0),
        ("page_fault(file)", None, 1.0),
    ]);
    let traced = vector(vec![timed("page_fault", None, 2.0, 1000.0)]);
    let found = on(&traced, &a, &b);
    assert_eq!(found.predicted_ns, 3000.0);
    assert_eq!(found.interval_ns, Some([2000.0, 4000.0]));
    let fault = &found.terms.primitives[0];
    assert!(fault.marks.is_of_any_kind && fault.is_covered);
}

/// One system lacks the cost of copies, so that those have the ratios of the other kinds.
#[test]
fn page_fault_without_a_cost_on_one_system_has_the_ratios_of_the_kinds() {
    let a = exact(&[
        ("page_fault(copy)", None, 100.0),
        ("page_fault(file)", None, 100.0),
        ("page_fault(zero)", None, 100.0),
    ]);
    let b = exact(&[("page_fault(file)", None, 200.0), ("page_fault(zero)", None, 400.0)]);
    let traced = vector(vec![timed("page_fault(copy)", None, 2.0, 1000.0)]);
    let found = on(&traced, &a, &b);
    assert_eq!(found.predicted_ns, 3000.0);
    assert_eq!(found.interval_ns, Some([2000.0, 4000.0]));
    assert!(found.terms.primitives[0].marks.is_of_any_kind);
}

/// All reads take 2 times as long as in the benchmark and all writes 4 times: (800 + 400) / (400 +
/// 100) = 2.4 overall.
#[test]
fn uses_without_a_time_get_the_factor_of_similar_uses() {
    let a = exact(&[
        ("read(file)", None, 100.0),
        ("read(pipe)", None, 50.0),
        ("write(file)", Some(1.0), 100.0),
        ("write(file)", Some(2.0), 100.0),
        ("stat(file)", None, 10.0),
        ("null", None, 1.0),
    ]);
    let mut traced = vector(vec![
        timed("read(file)", None, 4.0, 800.0),
        timed("write(file)", Some(1.0), 1.0, 400.0),
        used("write(file)", Some(2.0), 1.0),
        used("read(pipe)", None, 1.0),
        used("stat(file)", None, 1.0),
        used("ioctl", None, 1.0),
    ]);
    traced.kernel_ns = Some(2400.0);
    let found = on(&traced, &a, &a);
    let of = |name: &str, size: Option<f64>| {
        let is_it = |p: &&crate::prediction::product::Product| p.name == name && p.size == size;
        found.terms.primitives.iter().find(is_it).unwrap()
    };
    let parts = [
        // The excess of 300 ns doubles with the size: 700 ns. Two smaller writes take 799 ns with
        // one entry.
        (of("write(file)", Some(2.0)), (700.0 + 799.0) / 2.0),
        (of("read(pipe)", None), 2.0 * 50.0),
        (of("stat(file)", None), 2.4 * 10.0),
        (of("ioctl", None), 2.4 * 1.0),
    ];
    for (product, expected) in parts {
        near(product.product_ns, expected);
        assert!(product.marks.is_factor_of_others);
    }
    assert!(!of("ioctl", None).is_covered);
    // Their time is within the kernel time, so the other time is without it.
    near(found.predicted_ns, 2400.0);
    near(found.terms.other.unwrap().traced_ns, 2400.0 - 1200.0 - 749.5 - 100.0 - 24.0 - 2.4);
    assert_eq!(found.terms.coverage.kernel_time, None);
}

/// Open takes 300 ns in the application and 100 ns in the benchmark. On another system with the
/// same processor, the benchmark takes twice as long, and the excess of 200 ns stays.
#[test]
fn excess_over_the_benchmark_stays_on_the_same_processor() {
    let processor = |name: &str, open: f64| Costs {
        processor: Some(name.to_owned()),
        ..exact(&[("open", None, open), ("read", None, 100.0)])
    };
    let a = processor("p", 100.0);
    let traced = vector(vec![timed("open", None, 1.0, 300.0)]);
    let same = on(&traced, &a, &processor("p", 200.0));
    near(same.predicted_ns, 200.0 + 200.0);
    let [low, high] = same.interval_ns.unwrap();
    near(low, 400.0);
    near(high, 600.0);
    near(on(&traced, &a, &processor("q", 200.0)).predicted_ns, 600.0);
    // Less than the benchmark takes: there is no excess.
    let short = vector(vec![timed("open", None, 1.0, 80.0)]);
    near(on(&short, &a, &processor("p", 200.0)).predicted_ns, 160.0);
    // A hypothetical cost is for the whole time.
    let mut cheaper = a.clone();
    let half = CostChange::read("open=0.5x").unwrap();
    half.apply(&mut cheaper).unwrap();
    let found = on(&traced, &a, &cheaper);
    near(found.predicted_ns, 150.0);
    assert!(found.trace().unwrap().is_changed, "it is not the traced time");
}

/// On another processor, the excess of 200 ns changes by a factor between that of the benchmark, 2,
/// and that of cache misses, 1/2.
#[test]
fn excess_over_the_benchmark_changes_as_misses_on_another_processor() {
    let processor = |name: &str, open: f64, load: f64| {
        let mut all = exact(&[("open", None, open)]);
        let loads = [("user(load)", Some(65536.0), cost(load, 0.0))];
        all.primitives.extend(costs(&loads).primitives);
        Costs { processor: Some(name.to_owned()), ..all }
    };
    let a = processor("p", 100.0, 8.0);
    let traced = vector(vec![timed("open", None, 1.0, 300.0)]);
    let other = on(&traced, &a, &processor("q", 200.0, 4.0));
    near(other.predicted_ns, 200.0 + 200.0);
    let [low, high] = other.interval_ns.unwrap();
    near(low, 200.0 + 100.0);
    near(high, 200.0 + 400.0);
    near(on(&traced, &a, &processor("p", 200.0, 4.0)).predicted_ns, 400.0);
    // A hypothetical cost is for the whole time.
    let mut cheaper = processor("q", 200.0, 4.0);
    CostChange::read("open=0.5x").unwrap().apply(&mut cheaper).unwrap();
    let found = on(&traced, &a, &cheaper);
    near(found.predicted_ns, 200.0);
    near(found.interval_ns.unwrap()[0], 150.0);
}

#[test]
fn changed_cost_changes_the_product_of_its_primitive_only() {
    let a = exact(&[("open", None, 100.0), ("read", None, 100.0)]);
    let mut b = exact(&[("open", None, 200.0), ("read", None, 200.0)]);
    let traced = vector(vec![
        timed("open", None, 1.0, 300.0),
        timed("read", None, 1.0, 500.0),
        timed("ioctl", None, 1.0, 50.0),
    ]);
    near(on(&traced, &a, &b).predicted_ns, 1700.0);
    CostChange::read("open=0.5x").unwrap().apply(&mut b).unwrap();
    near(on(&traced, &a, &b).predicted_ns, 1400.0);
    let mut a_changed = a.clone();
    CostChange::read("open=0.5x").unwrap().apply(&mut a_changed).unwrap();
    let found = on(&traced, &a, &a_changed);
    near(found.predicted_ns, 700.0);
    assert!(found.is_as_traced(), "the same run, with a changed cost");
}

/// The fork's benchmark has 26 page faults here and 36 there: it takes 100 and 300 us without them.
#[test]
fn ratio_of_a_benchmark_is_without_the_primitives_that_it_contains() {
    let system = |fork_ns: f64, fault_ns: f64, faults: f64| {
        let mut costs =
            exact(&[("fork", None, fork_ns), ("page_fault", None, fault_ns), ("null", None, 50.0)]);
        costs.primitives.get_mut("fork").unwrap().contains =
            vec![Contained { name: "page_fault".to_owned(), count: faults }];
        costs
    };
    let a = system(126_000.0, 1000.0, 26.0);
    let b = system(1_740_000.0, 40_000.0, 36.0);
    let traced = vector(vec![
        timed("fork", None, 1.0, 150_000.0),
        timed("page_fault", None, 30.0, 60_000.0),
    ]);
    near(on(&traced, &a, &b).predicted_ns, 3.0 * 150_000.0 + 40.0 * 60_000.0);
    // Nothing is left of the fork there: its whole costs have the ratio.
    let c = system(1_440_000.0, 40_000.0, 36.0);
    let ratio = 1_440.0 / 126.0;
    near(on(&traced, &a, &c).predicted_ns, ratio * 150_000.0 + 40.0 * 60_000.0);
}

/// The end takes 150 ns each, as that of a process with 50 pages here. There, such an end takes 600
/// ns.
#[test]
fn use_without_a_size_has_the_ratio_of_its_kind_at_the_traced_time() {
    let system = |ends: [f64; 2]| {
        let kind = "exit_group(pages)";
        exact(&[
            (kind, Some(0.0), ends[0]),
            (kind, Some(100.0), ends[1]),
            ("null", None, 50.0),
            ("stat", None, 10.0),
        ])
    };
    let (a, b) = (system([100.0, 200.0]), system([500.0, 700.0]));
    let traced =
        vector(vec![timed("exit_group", None, 2.0, 300.0), timed("stat", None, 1.0, 20.0)]);
    let found = on(&traced, &a, &b);
    near(found.predicted_ns, 300.0 * 600.0 / 150.0 + 20.0);
    let end = found.terms.primitives.iter().find(|p| p.name == "exit_group");
    let end = end.unwrap();
    assert_eq!(end.scaled_by.as_deref(), Some("exit_group(pages)"));
    assert!(!end.marks.is_extrapolated);
    // A changed cost of the kind is the call's own.
    let mut changed = b.clone();
    let change = CostChange::read("exit_group(pages)=0.5x").unwrap();
    change.apply(&mut changed).unwrap();
    near(on(&traced, &a, &changed).predicted_ns, 600.0 + 20.0);
    // A longer end than measured has the ratio of the largest size.
    let long = vector(vec![timed("exit_group", None, 1.0, 400.0), timed("stat", None, 1.0, 20.0)]);
    let found = on(&long, &a, &b);
    near(found.predicted_ns, 400.0 * 700.0 / 200.0 + 20.0);
    assert!(found.terms.primitives[0].marks.is_extrapolated);
}

/// If all page faults copy a page, the fork itself takes 800 ns on both systems, and if all zero
/// one, 400 and 1600 ns.
#[test]
fn unknown_kinds_of_parts_widen_the_interval_of_a_whole() {
    let system = |fork: f64, [copy, zero]: [f64; 2]| {
        let mut costs = exact(&[
            ("fork", None, fork),
            ("page_fault(copy)", None, copy),
            ("page_fault(zero)", None, zero),
        ]);
        costs.primitives.get_mut("fork").unwrap().contains =
            vec![Contained { name: "page_fault".to_owned(), count: 2.0 }];
        costs
    };
    let (a, b) = (system(1000.0, [100.0, 300.0]), system(2000.0, [600.0, 200.0]));
    let found = on(&vector(vec![timed("fork", None, 1.0, 600.0)]), &a, &b);
    near(found.predicted_ns, 600.0 * 1200.0 / 600.0);
    let [low, high] = found.interval_ns.unwrap();
    near(low, 600.0);
    near(high, 600.0 * 4.0);
}

/// The same data are on another number of pages there.
#[test]
fn other_width_of_pointers_is_named() {
    let system = |bytes: Option<u64>, fault_ns: f64| Costs {
        pointer_bytes: bytes,
        ..exact(&[("page_fault(copy)", None, fault_ns), ("null", None, 10.0)])
    };
    let (wide, narrow) = (system(Some(8), 1000.0), system(Some(4), 2000.0));
    let traced = vector(vec![timed("page_fault(copy)", None, 10.0, 15_000.0)]);
    let found = on(&traced, &wide, &narrow);
    near(found.predicted_ns, 30_000.0);
    assert!(found.caveats.limits[0].contains("4 instead of 8 bytes"), "{:?}", found.caveats.limits);
    assert!(on(&traced, &wide, &system(Some(8), 2000.0)).caveats.limits.is_empty());
    assert!(on(&traced, &wide, &system(None, 2000.0)).caveats.limits.is_empty());
}

/// Sixteen small reads become one large read. The cost of a null call is unknown, so the time of
/// the entries is. A small read takes 200 ns more than in the benchmark, and a large one sixteen
/// times as much more.
#[test]
fn replaced_calls_take_the_excess_of_their_primitive() {
    let a = exact(&[
        ("read", Some(4096.0), 100.0),
        ("read", Some(65536.0), 1000.0),
        ("stat", None, 100.0),
    ]);
    let mut traced =
        vector(vec![timed("read", Some(4096.0), 32.0, 9600.0), timed("stat", None, 1.0, 700.0)]);
    traced.kernel_ns = Some(11_000.0);
    let context = Context::new(&traced, "a", &a).unwrap();
    let change = |text: &str| {
        let mut changed = traced.clone();
        Replacement::read(text).unwrap().apply(&mut changed).unwrap();
        predict_in_context(&changed, &context, "a", &a).unwrap()
    };
    let large = change("read@4K*16=read@64K");
    near(large.predicted_ns, 2.0 * (1000.0 + 16.0 * 200.0) + 700.0 + (11_000.0 - 10_300.0));
    // The vector has stat with its own traced time of 700 ns each.
    let stats = change("read@4K*16=stat");
    near(stats.predicted_ns, 3.0 * 700.0 + 700.0);
}

/// The large read takes at least 1000 ns and 16 times the excess of a small one. Sixteen small
/// reads of 120 ns take 1920 ns, and 15 entries into the kernel 300 ns of that.
#[test]
fn larger_call_is_between_the_grown_excess_and_the_time_of_smaller_ones() {
    let a = exact(&[
        ("read", Some(4096.0), 100.0),
        ("read", Some(65536.0), 1000.0),
        ("null", None, 20.0),
    ]);
    let large = |each_ns: f64| {
        let traced = vector(vec![timed("read", Some(4096.0), 32.0, 32.0 * each_ns)]);
        let context = Context::new(&traced, "a", &a).unwrap();
        let mut changed = traced.clone();
        let change = Replacement::read("read@4K*16=read@64K").unwrap();
        change.apply(&mut changed).unwrap();
        let found = predict_in_context(&changed, &context, "a", &a).unwrap();
        let product = &found.terms.primitives[0];
        let [low, high] = product.interval_ns.unwrap();
        [low, product.product_ns, high].map(|ns| ns / 2.0)
    };
    let [low, ns, high] = large(120.0);
    near(low, 1320.0);
    near(ns, (1320.0 + 1620.0) / 2.0);
    near(high, 1620.0);
    // Small calls without an excess may hide all of the time for memory.
    let [low, ns, high] = large(100.0);
    near(low, 1000.0);
    near(ns, (1000.0 + 1300.0) / 2.0);
    near(high, 1600.0 - 300.0);
}

/// A lower cost changes the time of a larger call by as much, and not its excess.
#[test]
fn excess_of_a_larger_call_does_not_depend_on_its_cost() {
    let a = exact(&[
        ("read", Some(4096.0), 100.0),
        ("read", Some(65536.0), 1000.0),
        ("null", None, 20.0),
    ]);
    let traced = vector(vec![timed("read", Some(4096.0), 16.0, 16.0 * 120.0)]);
    let context = Context::new(&traced, "a", &a).unwrap();
    let mut changed = traced.clone();
    let change = Replacement::read("read@4K*16=read@64K").unwrap();
    change.apply(&mut changed).unwrap();
    for factor in [0.5, 0.9, 1.0] {
        let mut costs = a.clone();
        let change = CostChange::read(&format!("read={factor}x")).unwrap();
        change.apply(&mut costs).unwrap();
        let found = predict_in_context(&changed, &context, "a", &costs).unwrap();
        near(found.predicted_ns, 1000.0 * factor + (320.0 + 620.0) / 2.0);
        near(found.terms.primitives[0].interval_ns.unwrap()[1], 1000.0 * factor + 620.0);
    }
}

/// The fork takes 800 of 1000 ns. The reads take 200 ns, half of it in excess of the benchmark:
/// without the fork, between none and 0.8 of this excess leaves.
#[test]
fn excess_may_leave_in_proportion_to_the_removed_work() {
    let a = exact(&[("fork", None, 400.0), ("read", None, 50.0), ("null", None, 1.0)]);
    let mut traced = vector(vec![timed("fork", None, 1.0, 800.0), timed("read", None, 2.0, 200.0)]);
    let round = Round {
        untraced_ns: 2000.0,
        untraced_kernel_ns: 1000.0,
        user_ns: 1000.0,
        kernel_ns: 1000.0,
        ..Round::default()
    };
    traced.traced = Some(Traced {
        how: "bpf".to_owned(),
        machine: None,
        cost_ns_per_call: None,
        lost: None,
        missing_processes: Vec::new(),
        failure: None,
        without_details: 0,
        runs: None,
        rounds: vec![round; 2],
    });
    let context = Context::new(&traced, "a", &a).unwrap();
    let after = |change: &str| {
        let mut changed = traced.clone();
        Replacement::read(change).unwrap().apply(&mut changed).unwrap();
        predict_in_context(&changed, &context, "a", &a).unwrap()
    };
    let without_fork = after("fork=");
    near(without_fork.predicted_ns, 200.0);
    near(without_fork.trace().unwrap().leaving_ns.unwrap(), 80.0);
    let [low, high] = without_fork.interval_ns.unwrap();
    near(low, 120.0);
    near(high, 200.0);
    // Without the reads, a fifth of the work, up to a fifth of the excess of 400 ns leaves.
    near(after("read=").trace().unwrap().leaving_ns.unwrap(), 80.0);
    // Nothing is removed, or as much is added.
    let same = predict_in_context(&traced, &context, "a", &a).unwrap();
    assert_eq!(same.trace().unwrap().leaving_ns, None);
    near(same.interval_ns.unwrap()[0], 1000.0);
    assert_eq!(after("=read*2").trace().unwrap().leaving_ns, None);
    assert_eq!(after("read=fork").trace().unwrap().leaving_ns, None);
}

/// A program is started by `fork` and `execve`, and then by `vfork`. The benchmarks of both contain
/// the end of the process.
#[test]
fn replaced_whole_takes_the_factor_of_the_other_whole() {
    let mut a =
        exact(&[("execve", None, 100.0), ("execve(vfork)", None, 50.0), ("fork", None, 30.0)]);
    for (whole, parts) in
        [("execve", &["fork", "exit_group"][..]), ("execve(vfork)", &["vfork", "exit_group"])]
    {
        let contains = parts.iter().map(|name| Contained { name: (*name).to_owned(), count: 1.0 });
        a.primitives.get_mut(whole).unwrap().contains = contains.collect();
    }
    let traced = vector(vec![
        timed("execve", None, 1.0, 120.0),
        timed("fork", None, 1.0, 60.0),
        timed("exit_group", None, 1.0, 20.0),
    ]);
    let context = Context::new(&traced, "a", &a).unwrap();
    let mut changed = traced.clone();
    for change in ["fork=", "execve=execve(vfork)"] {
        let change = Replacement::read(change).unwrap();
        change.apply(&mut changed).unwrap();
    }
    // The whole took 200 ns in the application and 100 ns in the benchmark, so the factor is 2.
    let found = predict_in_context(&changed, &context, "a", &a).unwrap();
    near(found.predicted_ns, 2.0 * 50.0);
    assert_eq!(found.terms.contained.len(), 1, "{found:?}");
}

/// A process is started once a unit. It makes one of three reads, the larger one, and the stat.
#[test]
fn started_processes_are_removed_with_their_part_of_each_use() {
    let a = exact(&[("fork", None, 100.0), ("read", None, 50.0)]);
    let started = |count, size, time_ns| Some(Started { count, size, time_ns: Some(time_ns) });
    let mut traced = vector(vec![
        timed("fork", None, 1.0, 300.0),
        Use { started: started(1.0, Some(10.0), 70.0), ..timed("read", Some(6.0), 3.0, 270.0) },
        Use { started: started(1.0, None, 30.0), ..timed("stat", None, 1.0, 30.0) },
    ]);
    (traced.kernel_ns, traced.user_ns) = (Some(600.0), Some(900.0));
    traced.started_user_ns = Some(500.0);
    let mut left = traced.clone();
    let removed_ns = without_started(&mut left).unwrap();
    assert_eq!(removed_ns, 100.0);
    assert_eq!(
        left.primitives,
        [timed("fork", None, 1.0, 300.0), timed("read", Some(4.0), 2.0, 200.0)]
    );
    assert_eq!((left.kernel_ns, left.user_ns), (Some(500.0), Some(400.0)));
    let context = Context::new(&left, "a", &a).unwrap().with_removed(removed_ns, &left);
    let found = predict_in_context(&left, &context, "a", &a).unwrap();
    near(found.predicted_ns, 500.0);
    // A sixth of the work is removed: up to a sixth of the excess of 300 - 100 + 200 - 100 ns
    // leaves.
    near(found.trace().unwrap().leaving_ns.unwrap(), 50.0);
    let reason = without_started(&mut left).unwrap_err();
    assert!(reason.contains("has no `started` calls"), "{reason}");
}

/// Pages made by a program and static pages, from the same server. Calls of the former are
/// displaced by the program.
#[test]
fn changed_application_takes_the_context_of_another() {
    let a = exact(&[
        ("fork", None, 200.0),
        ("read", None, 100.0),
        ("stat", None, 50.0),
        ("write", None, 70.0),
    ]);
    let traced = vector(vec![
        timed("fork", None, 1.0, 800.0),
        timed("read", None, 2.0, 1000.0),
        timed("stat", None, 1.0, 500.0),
        timed("ioctl", None, 1.0, 40.0),
    ]);
    let other = vector(vec![timed("read", None, 4.0, 480.0)]);
    let [own, theirs] = [&traced, &other].map(|v| Context::new(v, "a", &a).unwrap());
    let mut changed = traced.clone();
    for change in ["fork=", "=write*3"] {
        let change = Replacement::read(change).unwrap();
        change.apply(&mut changed).unwrap();
    }
    let with = |own| {
        let context = theirs.clone().applied_to(&traced, "static", own);
        predict_in_context(&changed, &context, "a", &a)
    };
    let found = with(Some(&own)).unwrap();
    // Reads for static pages take 120 ns, and their factor is 1.2. Before, the factor of all calls
    // was 2300 / 450.
    let of = |name: &str| {
        let product = found.terms.primitives.iter().find(|p| p.name == name);
        let product = product.unwrap();
        (product.product_ns, product.marks.is_factor_of_others)
    };
    assert_eq!(of("read"), (240.0, false));
    assert_eq!(of("stat"), (60.0, true));
    assert_eq!(of("write"), (252.0, true));
    near(of("ioctl").0, 40.0 * 1.2 * 450.0 / 2300.0);
    near(found.predicted_ns, 240.0 + 60.0 + 252.0 + of("ioctl").0);
    assert_eq!(found.trace().unwrap().context_from.as_deref(), Some("static"));
    assert_eq!(
        found.trace().unwrap().leaving_ns,
        None,
        "the other application lacks the removed work"
    );
    // Without the own times, nothing says how long a call without a cost takes.
    assert_eq!(
        with(None).unwrap_err(),
        "a and a, where it was traced, do not both have a cost of ioctl"
    );
}

/// The sizes of a trace are means, so those of two traces of the same call differ a little.
#[test]
fn call_takes_the_time_of_the_nearest_size_in_another_context() {
    let a = exact(&[("read", Some(4000.0), 400.0), ("read", Some(8000.0), 800.0)]);
    let traced = vector(vec![timed("read", Some(4100.0), 2.0, 9000.0)]);
    let near_size = vector(vec![
        timed("read", Some(5000.0), 1.0, 600.0),
        timed("read", Some(9000.0), 1.0, 9999.0),
    ]);
    let far_size = vector(vec![timed("read", Some(40.0), 1.0, 8.0)]);
    let own = Context::new(&traced, "a", &a).unwrap();
    let in_context_of = |other: &Vector| {
        let context = Context::new(other, "a", &a).unwrap();
        let context = context.applied_to(&traced, "other", Some(&own));
        let found = predict_in_context(&traced, &context, "a", &a).unwrap();
        (found.predicted_ns, found.terms.primitives[0].marks.is_factor_of_others)
    };
    // 5000 bytes cost 500 ns in the benchmark, and 4100 bytes 410 ns.
    let (ns, is_estimated) = in_context_of(&near_size);
    near(ns, 2.0 * 600.0 * 410.0 / 500.0);
    assert!(!is_estimated);
    // 40 bytes cost 4 ns: the factor 2 of the only similar call.
    let (ns, is_estimated) = in_context_of(&far_size);
    near(ns, 2.0 * 410.0 * 2.0);
    assert!(is_estimated);
}

/// A read of a Unix socket replaces one of TCP. The benchmark of the latter does other work if it
/// takes longer than the application's call.
#[test]
fn factor_of_another_kind_is_at_least_1() {
    let a = exact(&[("read(tcp)", None, 600.0), ("read(unix)", None, 800.0)]);
    for (traced_ns, factor) in [(900.0, 1.5), (300.0, 1.0)] {
        let traced = vector(vec![timed("read(tcp)", None, 1.0, traced_ns)]);
        let context = Context::new(&traced, "a", &a).unwrap();
        let changed = vector(vec![used("read(unix)", None, 1.0)]);
        let found = predict_in_context(&changed, &context, "a", &a).unwrap();
        near(found.terms.primitives[0].product_ns, 800.0 * factor);
        let [low, high] = found.terms.primitives[0].interval_ns.unwrap();
        near(low, 800.0 * traced_ns / 600.0);
        near(high, 800.0 * factor);
    }
}

/// The other application opens a file once in 1000 requests, and then takes 20 times as long as the
/// benchmark.
#[test]
fn rare_call_of_another_application_is_no_context() {
    let a = exact(&[
        ("read(file)", None, 300.0),
        ("open(file)", None, 1000.0),
        ("open(device)", None, 500.0),
    ]);
    let of = |opens: f64, added: &str| {
        let other = vector(vec![
            timed("read(file)", None, 1.0, 600.0),
            timed("open(file)", None, opens, opens * 20_000.0),
        ]);
        let changed = vector(vec![used("read(file)", None, 1.0), used(added, None, 1.0)]);
        let context = Context::new(&other, "a", &a).unwrap();
        let context = context.applied_to(&changed, "other", None);
        let found = predict_in_context(&changed, &context, "a", &a).unwrap();
        found.predicted_ns
    };
    near(of(0.02, "open(file)"), 20_600.0);
    near(of(0.02, "open(device)"), 10_600.0);
    // The factor of all.
    let rest = (600.0 + 0.001 * 20_000.0) / (300.0 + 0.001 * 1000.0);
    near(of(0.001, "open(file)"), 600.0 + 1000.0 * rest);
    near(of(0.001, "open(device)"), 600.0 + 500.0 * rest);
}

/// The benchmark of `fork` contains two page faults of unknown kind. A fork with its share of the
/// traced ones takes 300 + 2 * (200 + 600) / 16 ns, 4 times the benchmark.
#[test]
fn page_faults_of_all_kinds_are_in_the_time_of_the_whole() {
    let mut a = exact(&[
        ("fork", None, 100.0),
        ("page_fault(copy)", None, 10.0),
        ("page_fault(zero)", None, 10.0),
        ("stat", None, 50.0),
    ]);
    a.primitives.get_mut("fork").unwrap().contains =
        vec![Contained { name: "page_fault".to_owned(), count: 2.0 }];
    let traced = vector(vec![
        timed("fork", None, 1.0, 300.0),
        timed("page_fault(copy)", None, 4.0, 200.0),
        timed("page_fault(zero)", None, 12.0, 600.0),
    ]);
    let context = Context::new(&traced, "a", &a).unwrap();
    near(context.times.factor("fork").unwrap().ratio, 4.0);
}

/// The benchmark of `fork` contains the end of the process, which a trace has apart.
#[test]
fn parts_of_a_whole_share_the_time_that_it_takes_in_the_context_of_another() {
    let mut a = exact(&[("fork", None, 100.0), ("stat", None, 50.0)]);
    a.primitives.get_mut("fork").unwrap().contains =
        vec![Contained { name: "exit_group".to_owned(), count: 1.0 }];
    let traced =
        vector(vec![timed("fork", None, 1.0, 600.0), timed("exit_group", None, 1.0, 200.0)]);
    let other = vector(vec![timed("stat", None, 1.0, 100.0)]);
    let [own, theirs] = [&traced, &other].map(|v| Context::new(v, "a", &a).unwrap());
    let context = theirs.applied_to(&traced, "static", Some(&own));
    // The whole has the factor 2.
    let found = predict_in_context(&traced, &context, "a", &a).unwrap();
    near(found.predicted_ns, 200.0);
}

#[test]
fn vectors_without_times_or_costs_have_no_context() {
    let a = exact(&[("read", None, 100.0)]);
    let reason = |vector: &Vector| Context::new(vector, "old", &a).unwrap_err();
    let bare = vector(vec![used("read", None, 1.0)]);
    assert_eq!(reason(&bare), "the vector has no times");
    let other = vector(vec![timed("stat", None, 1.0, 5.0)]);
    let lacking = |system: &Costs| Context::new(&other, "old", &a).unwrap().lacking_costs(system);
    let expected = "old has no cost of a primitive with a traced time";
    assert_eq!(lacking(&exact(&[("stat", None, 9.0)])).as_deref(), Some(expected));
    assert_eq!(lacking(&a), None, "the run of the trace itself");
    let traced = vector(vec![timed("read", None, 1.0, 500.0)]);
    let context = Context::new(&traced, "a", &a).unwrap();
    let b = exact(&[("stat", None, 1.0)]);
    let fault = predict_in_context(&traced, &context, "b", &b).unwrap_err();
    assert_eq!(fault, "b and a, where it was traced, do not both have a cost of read");
}

/// No cost is needed where the times are those of the trace.
#[test]
fn machine_of_the_trace_needs_no_costs() {
    let few = exact(&[("read", None, 100.0)]);
    let mut traced = vector(vec![timed("stat", None, 2.0, 500.0)]);
    traced.kernel_ns = Some(700.0);
    let found = on(&traced, &few, &few);
    assert!(found.is_as_traced());
    assert_eq!((found.predicted_ns, found.interval_ns), (700.0, None));
    assert_eq!(found.terms.coverage.calls, Some(0.0));
    // Runs without any cost may be of two machines.
    let mut none = Costs::default();
    assert!(!none.is_from_same_run(&Costs::default()));
    none.processor = Some("Z80".to_owned());
    assert!(none.is_from_same_run(&none.clone()));
}

/// The trace is common to both systems, so its unknown spread does not matter for their order.
#[test]
fn system_of_the_trace_is_ranked_among_others() {
    let a = costs(&[("read", None, cost(100.0, 1.0))]);
    let b = costs(&[("read", None, cost(200.0, 2.0))]);
    let near_a = costs(&[("read", None, cost(101.0, 1.0))]);
    let traced = vector(vec![timed("read", None, 1.0, 500.0)]);
    let all = [on(&traced, &a, &a), on(&traced, &a, &b)];
    let first = ranked(&all.iter().collect::<Vec<_>>());
    assert_eq!(first[0].is_before_later, Some(true));
    let all = [on(&traced, &a, &a), on(&traced, &a, &near_a)];
    let first = ranked(&all.iter().collect::<Vec<_>>());
    assert_eq!(first[0].is_before_later, Some(false));
}

#[test]
fn systems_with_known_user_times_are_ranked_by_both_times() {
    let a = costs(&[("read", None, cost(100.0, 1.0))]);
    let b = costs(&[("read", None, cost(50.0, 1.0))]);
    let mut traced = vector(vec![timed("read", None, 1.0, 500.0)]);
    traced.user_ns = Some(1000.0);
    let scale = |interval| UserScale { ratio: 2.0, interval, is_within_launches: false };
    let [mut here, mut there] = [on(&traced, &a, &a), on(&traced, &a, &b)];
    let order = |all: [&Prediction; 2]| ranked(&all)[0].predicted_ns;
    assert_eq!(order([&here, &there]), 250.0);
    here.set_user_time(Some(1000.0));
    there.set_scaled_user_time(&traced, scale([1.9, 2.1]), "lat_mul", [&a, &b]);
    assert_eq!(order([&here, &there]), 500.0);
    let first = ranked(&[&here, &there])[0].clone();
    assert_eq!(first.predicted_user_ns, Some(1000.0));
    assert_eq!(first.is_before_later, Some(true));
    there.set_scaled_user_time(&traced, scale([1.0, 3.0]), "lat_mul", [&a, &b]);
    let first = ranked(&[&here, &there])[0].clone();
    assert_eq!(first.is_before_later, Some(false));
}

/// Without a vDSO on B, each of 2 readings enters the kernel. They are no part of the ratio of
/// other calls.
#[test]
fn clock_readings_are_added_where_they_enter_the_kernel() {
    let reading = crate::names::CLOCK_READING;
    let a = exact(&[("read(file)", None, 400.0), ("null", None, 50.0), (reading, None, 20.0)]);
    let b = exact(&[("read(file)", None, 800.0), ("null", None, 5000.0), (reading, None, 6000.0)]);
    let mut traced = vector(vec![timed("read(file)", None, 10.0, 3.0 * 4000.0)]);
    traced.clock_reads = Some(2.0);
    near(on(&traced, &a, &a).predicted_ns, 12_000.0);
    let found = on(&traced, &a, &b);
    near(found.predicted_ns, 24_000.0 + 12_000.0);
    let product = found.terms.primitives.iter().find(|p| p.name == reading);
    assert_eq!(product.map(|p| (p.count, p.product_ns)), Some((2.0, 12_000.0)));
    near(predict(&traced, "b", &b).unwrap().predicted_ns, 8000.0 + 12_000.0);
    let without = exact(&[("read(file)", None, 800.0), ("null", None, 5000.0)]);
    let found = on(&traced, &a, &without);
    near(found.predicted_ns, 24_000.0);
    assert!(
        found.caveats.limits.iter().any(|limit| limit.contains(reading)),
        "{:?}",
        found.caveats.limits
    );
}

/// The part of started processes in the readings is unknown.
#[test]
fn clock_readings_are_unknown_without_started_processes() {
    let mut traced = vector(vec![Use {
        started: Some(Started { count: 1.0, size: None, time_ns: Some(400.0) }),
        ..timed("read(file)", None, 2.0, 1000.0)
    }]);
    traced.clock_reads = Some(2.0);
    without_started(&mut traced).unwrap();
    assert_eq!(traced.clock_reads, None);
}

/// By 20 ticks, the kernel has a half of 200 ns; by the tracer, whose cost is 40 ns, three
/// quarters. The variances are 0.0125 and 0.01.
#[test]
fn times_of_a_trace_are_scaled_to_both_clocks_and_widen_the_interval() {
    let mut traced = vector(vec![timed("read", None, 2.0, 300.0)]);
    (traced.units, traced.kernel_ns) = (Some(1e6), Some(300.0));
    (traced.user_ns, traced.started_user_ns) = (Some(100.0), Some(100.0));
    let round = Round {
        untraced_ns: 200.0,
        untraced_kernel_ns: 100.0,
        user_ns: 100.0,
        kernel_ns: 300.0,
        ..Round::default()
    };
    traced.traced = Some(Traced {
        how: "bpf".to_owned(),
        machine: None,
        cost_ns_per_call: Some(20.0),
        lost: None,
        missing_processes: Vec::new(),
        failure: None,
        without_details: 0,
        runs: None,
        rounds: vec![round; 2],
    });
    let clocks = traced.clocks().unwrap();
    near(clocks.ticks, 20.0);
    near(clocks.tracer_ns, 40.0);
    let unscaled = traced.half_width().unwrap();
    traced.scale_times(traced.level().unwrap());
    let share = 0.75 - 0.25 * 0.01 / 0.0225;
    for scaled in [traced.kernel_ns, traced.primitives[0].time_ns] {
        near(scaled.unwrap(), 200.0 * share);
    }
    near(traced.user_ns.unwrap(), 200.0 * (1.0 - share));
    assert_eq!(traced.started_user_ns, traced.user_ns);
    // The clocks differ by 1.67 deviations of their difference.
    let border = 1.645 * (0.25 / 0.15) * (0.01_f64 * 0.0125 / 0.0225).sqrt() / share;
    near(traced.half_width().unwrap(), border);
    // Times that are not scaled may be off by the scale, too.
    near(unscaled, border + 1.0 - 200.0 * share / 300.0);
    let a = exact(&[("read", None, 50.0)]);
    let context = Context::new(&traced, "a", &a).unwrap();
    let found = predict_in_context(&traced, &context, "a", &a).unwrap();
    let [low, high] = found.interval_ns.unwrap();
    near(low, found.predicted_ns * (1.0 - border));
    near(high, found.predicted_ns * (1.0 + border));
    // Without the cost of the tracer, the border is unknown.
    traced.traced.as_mut().unwrap().cost_ns_per_call = None;
    assert_eq!((traced.clocks(), traced.half_width()), (None, Some(0.0)));
}

/// A read takes 3 times as long as in the benchmark. If reads were to cost half, an added `stat`
/// would still take 3 times as long as in its benchmark.
#[test]
fn factor_of_all_uses_is_without_changes_of_costs() {
    let a = exact(&[("read", None, 100.0), ("stat", None, 10.0)]);
    let traced = vector(vec![timed("read", None, 1.0, 300.0)]);
    let mut changed = traced.clone();
    Replacement::read("=stat").unwrap().apply(&mut changed).unwrap();
    let mut cheaper = a.clone();
    CostChange::read("read=0.5x").unwrap().apply(&mut cheaper).unwrap();
    // The costs of the system are those of the machine of the trace, with the change.
    let context = Context::new(&traced, "a", &cheaper).unwrap();
    let found = predict_in_context(&changed, &context, "a", &cheaper).unwrap();
    let stat = found.terms.primitives.iter().find(|p| p.name == "stat").unwrap();
    near(stat.context_factor.unwrap(), 3.0);
    near(found.predicted_ns, 150.0 + 30.0);
}

/// The server waits once for four requests. Another kernel, on which a wait costs twice as much,
/// may let it wait for each of them: three further waits, which take the cost of a wait there or
/// the time of the carried ones.
#[test]
fn further_waits_on_another_kernel_are_in_the_upper_end_of_the_interval() {
    let system = |kernel: &str, wait_ns: f64| Costs {
        kernel: kernel.to_owned(),
        ..exact(&[("epoll_wait", Some(1.0), wait_ns), ("epoll_wait", Some(4.0), wait_ns)])
    };
    let a = system("6.18.44-generic", 300.0);
    for (each_ns, further_ns) in [(200.0, 600.0), (2400.0, 4800.0)] {
        let traced = vector(vec![timed("epoll_wait", Some(4.0), 0.25, 0.25 * each_ns)]);
        let carried_ns = 2.0 * 0.25 * each_ns;
        let found = on(&traced, &a, &system("6.1.176", 600.0));
        near(found.predicted_ns, carried_ns);
        let [low, high] = found.terms.primitives[0].interval_ns.unwrap();
        near(low, carried_ns);
        near(high, carried_ns + 0.75 * further_ns);
        assert_eq!(found.interval_ns, Some([low, high]));
        assert!(found.caveats.waits.unwrap().contains("up to 0.75 further waits each request"));
        // A kernel of the same version waits as the traced one did.
        let found = on(&traced, &a, &system("6.18.2", 600.0));
        assert_eq!(found.interval_ns, Some([carried_ns; 2]));
        assert_eq!(found.caveats.waits, None);
    }
}
