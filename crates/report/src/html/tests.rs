//! Tests of the pages of sample runs.

use serde_json::json;

use yamba_record::event::LowestCurve;
use yamba_record::run::{Cycles, IntervalScope, Launch, Status, Throughput};
use yamba_record::{Benchmark, Run};

use super::{Operation, SideBySide, Study};
use crate::place::RunLocation;
use made_up::{HOSTILE, benchmark, caches, hostile_run, hostile_study, level_found, run, study};

#[path = "../../tests/browser/made_up.rs"]
mod made_up;
mod units;
mod without_figure;

fn html(runs: &[Run]) -> String {
    super::html(runs, &[], &[], None)
}

fn charts(page: &str) -> serde_json::Value {
    let start =
        page.find(r#"type="application/json">"#).unwrap() + r#"type="application/json">"#.len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn page_has_every_entry_with_details() {
    let mut invalid = benchmark("lat_wrong", 16, "invalid");
    invalid.notes = vec!["faults is 1, expected 7".into()];
    let mut skipped = benchmark("lat_absent", 1, "skipped");
    skipped.notes = vec!["no disk is named".into()];
    let page = html(&[run(vec![
        skipped,
        benchmark("lat_mem", 4096, "ok"),
        benchmark("lat_mem", 8192, "ok"),
        invalid,
    ])]);
    for text in [
        "Made Up 3000, 2 processors",
        "0123456789abcdef",
        "2 valid, 1 invalid, 1 skipped",
        "size=4Ki",
        "4.096 us",
        "[3.686, 4.506]",
        "faults outside its bounds in 3 batches",
        "<td>0.5 to 7.25</td><td>0.98 to open</td>",
        "yamba show --raw --at 'size=4096' -- 0123456789abcdef lat_mem",
        "66 samples in 48 bins",
        r#"<s class="invalid">16 ns</s>"#,
        r#"<span class="badge invalid">invalid</span>"#,
        "faults is 1, expected 7",
        "no disk is named",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let place = |text: &str| page.find(text).unwrap();
    assert!(place(">lat_absent<") > place(">lat_wrong<"), "skipped last");
}

#[test]
fn commands_name_a_store_other_than_the_default() {
    let both = [(); 2].map(|()| run(vec![benchmark("lat_mem", 4096, "ok")]));
    let command = |store: &str| format!("yamba show --raw{store} -- 0123456789abcdef lat_mem");
    let page = html(&both);
    assert!(page.matches(&command("")).count() == 2 && !page.contains("--store"));
    for (store, quoted, has_password) in [
        ("/a b.sqlite", " --store '/a b.sqlite'", false),
        ("postgresql://ann@h/runs", " --store postgresql://ann@h/runs", true),
    ] {
        let page = super::html(
            &both,
            &[],
            &[RunLocation::Usual, RunLocation::Store(store.to_owned())],
            None,
        );
        for command in [command(""), command(quoted)] {
            assert_eq!(page.matches(&command).count(), 1, "{command}");
        }
        assert_eq!(page.contains("PGPASSWORD"), has_password);
    }
}

#[test]
fn study_command_uses_store_of_run() {
    let runs = [run(vec![benchmark("lat_mem", 4096, "ok")])];
    for (place, words) in [
        (RunLocation::Usual, ""),
        (RunLocation::File("/a.json".to_owned()), ""),
        (RunLocation::Store("/a b.sqlite".to_owned()), " --store '/a b.sqlite'"),
    ] {
        let page = super::html(&runs, &[study()], &[place], None);
        let command = format!("<code>yamba run lat_mem{words}</code>");
        assert_eq!(page.matches(&command).count(), 2, "{command}");
    }
}

#[test]
fn names_are_escaped() {
    let with_study = super::html(&[hostile_run()], &[hostile_study()], &[], None);
    for page in [with_study, html(&[hostile_run(), hostile_run()])] {
        assert!(!page.contains("<img"), "an element of a name's own");
        assert!(!page.contains("<script>alert"));
        assert_eq!(page.matches("</script>").count(), 4, "an early end of the data");
        assert_eq!(charts(&page)[0]["name"], HOSTILE);
    }
}

#[test]
fn names_do_not_change_the_direction_of_text() {
    let mut reversed = benchmark("lat_\u{202e}12", 4096, "ok");
    reversed.notes = vec!["\u{2067}34".into()];
    let page = html(&[run(vec![reversed])]);
    assert!(page.contains("lat_12") && page.contains(">34<"));
    assert!(!page.contains(['\u{202e}', '\u{2067}']));
}

#[test]
fn page_loads_no_resources() {
    let page = html(&[run(vec![benchmark("lat_mem", 4096, "ok")])]);
    for load in
        ["src=", "url(", "@import", "<link", "href=\"http", "fetch(", "XMLHttpRequest", "WebSocket"]
    {
        assert!(!page.contains(load), "{load}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn policy_has_hash_of_each_script_and_style() {
    let page = html(&[run(vec![])]);
    for own in [super::STYLE, super::PLOT_STYLE, super::TABLES, super::CHARTS, super::PLOT_SCRIPT] {
        assert!(page.contains(own) && page.contains(&super::preamble::hash(own)));
    }
    assert!(!page.contains(" style="), "a style that the policy forbids");
}

#[test]
fn sweep_chart_omits_invalid_point() {
    let page = html(&[run(vec![
        benchmark("lat_mem", 4096, "ok"),
        benchmark("lat_mem", 1024, "ok"),
        benchmark("lat_mem", 2048, "invalid"),
        benchmark("lat_alone", 4096, "ok"),
    ])]);
    let charts = charts(&page);
    assert_eq!(charts.as_array().unwrap().len(), 1);
    assert_eq!(charts[0]["log"], true);
    assert_eq!(charts[0]["y"], "latency (us)");
    let points = charts[0]["curves"][0]["points"].as_array().unwrap();
    let xs: Vec<f64> = points.iter().map(|p| p[0].as_f64().unwrap()).collect();
    assert_eq!(xs, [1024.0, 4096.0]);
    assert!(page.contains("Not drawn: 1 invalid."));
}

#[test]
fn chart_against_evidence_has_one_curve() {
    let entries = [1.0, 1.0, 2.0, 4.0].into_iter().zip(1..).map(|(x, size)| {
        let mut entry = benchmark("pagefault", size, "ok");
        entry.details.evidence.get_mut("faults").unwrap().median = Some(x);
        entry.declaration.charts[0].against = "faults".to_owned();
        entry.declaration.charts[0].fit_linear = true;
        entry
    });
    let page = html(&[run(entries.collect())]);
    let curves = &charts(&page)[0]["curves"];
    assert_eq!(curves.as_array().unwrap().len(), 1);
    assert_eq!(curves[0]["points"].as_array().unwrap().len(), 4);
    assert!(page.contains("Fitted line: "), "{curves}");
}

/// A sweep on the line y = 2 x + 10, changed by `spoil`.
fn on_a_line(spoil: impl Fn(u64, &mut Benchmark)) -> Run {
    let entries = (0..6).map(|i| {
        let x = 1 << i;
        let mut entry = benchmark("lat_line", x, "ok");
        let y = 2.0 * x as f64 + 10.0 + 0.1 * (i % 2) as f64;
        (entry.median, entry.confidence_interval) = (Some(y), Some([y - 1.0, y + 1.0]));
        entry.declaration.charts[0].fit_linear = true;
        spoil(i, &mut entry);
        entry
    });
    run(entries.collect())
}

/// The script gets the labels of logarithmic axes and computes none.
#[test]
fn logarithmic_axes_have_labels() {
    let page =
        html(&[run([10_300, 103_000, 515_000].map(|y| benchmark("lat_mem", y, "ok")).to_vec())]);
    let chart = &charts(&page)[0];
    let across = &chart["log_x_axis"];
    assert_eq!(
        across["ticks"],
        json!([
            [20_000.0, "20000"],
            [50_000.0, "50000"],
            [100_000.0, "100000"],
            [200_000.0, "200000"],
            [500_000.0, "500000"]
        ])
    );
    assert_eq!(across["range"], json!([10_300.0, 515_000.0]));
    // The y axis is in us, with a margin for the intervals.
    let up = &chart["log_y_axis"];
    let labels: Vec<&str> =
        up["ticks"].as_array().unwrap().iter().map(|t| t[1].as_str().unwrap()).collect();
    assert_eq!(labels, ["10", "20", "50", "100", "200", "500"]);
    let near = run([10, 100].map(|y| benchmark("lat_mem", y, "ok")).to_vec());
    assert_eq!(charts(&html(&[near]))[0]["log_y_axis"], json!(null));
}

#[test]
fn caption_of_a_chart_of_cycles_names_points_without_them() {
    let sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let mut swept = run(sizes.map(|size| benchmark("lat_mem", size, "ok")).to_vec());
    for (i, entry) in swept.benchmarks.iter_mut().enumerate() {
        entry.declaration.charts[0].figure = "cycles".to_owned();
        entry.details.cycles =
            (i < 2).then_some(Cycles { median: 4.0, confidence_interval: [4.0; 2] });
    }
    let page = html(std::slice::from_ref(&swept));
    let text = "Not drawn, because their cycles are not known: 10 of 12 valid points (size=3, size=4, size=5, size=6, size=7, size=8, size=9, size=10 and 2 more).";
    assert!(page.contains(text), "{page}");
    // Invalid points have a sentence of their own.
    for entry in &mut swept.benchmarks[2..] {
        (entry.status, entry.valid) = (Status::Invalid, false);
    }
    assert!(!html(&[swept]).contains("cycles are not known"));
}

#[test]
fn fitted_line_has_intervals_and_omits_disturbed_points() {
    let page = html(&[on_a_line(|i, entry| {
        if i == 5 {
            entry.interference.is_disturbed = true;
            entry.median = Some(900.0);
        }
    })]);
    let line = "Fitted line through 5 of its 6 points: 10.05 ns [9.916, 10.18] and 1.998 ns [1.982, 2.015] for each step of one, R² 1 [0.9997, 1].";
    let caption = page.split("<figcaption><strong>").nth(1).unwrap().split("<div").next().unwrap();
    assert!(caption.contains(line), "{caption}");
    assert!(page.contains("Ringed: 1 disturbed, so that other processes may be part of them, and no line is drawn through them."));
    let points = &charts(&page)[0]["curves"][0]["points"];
    assert_eq!(points[4][4], json!(false));
    assert_eq!(points[5][4], json!(true));
    assert!(points[5][3].as_str().unwrap().ends_with("(disturbed)"));
}

/// Its bound would be a placeholder.
#[test]
fn fitted_line_omits_a_point_with_an_open_end() {
    let page = html(&[on_a_line(|i, entry| {
        if i == 5 {
            (entry.interference.is_disturbed, entry.interference.is_bounded) = (true, true);
            entry.interference.quiet_factors = Some([0.001, 1.0]);
        }
    })]);
    assert!(page.contains("Fitted line through 5 of its 6 points: "), "{page}");
}

/// The quiet values lie on 2 x + 10. A neighbour may have added up to a fiftieth to each.
#[test]
fn fitted_line_uses_intervals_of_bounded_points() {
    let page = html(&[on_a_line(|i, entry| {
        let seen = entry.median.unwrap() * (1.0 + 0.02 * (i % 3) as f64 / 2.0);
        entry.median = Some(seen);
        entry.confidence_interval = Some([seen / 1.02, seen]);
        (entry.interference.is_disturbed, entry.interference.is_bounded) = (true, true);
    })]);
    let start =
        page.find("Fitted line (6 disturbed, by the middles of what the disturbances allow): ");
    let text = &page[start.expect("a line")..];
    let numbers = text.split(['[', ']']).nth(1).unwrap().split(", ");
    let ends: Vec<f64> = numbers.map(|n| n.parse().unwrap()).collect();
    assert!(ends[0] < 10.0 && 10.0 < ends[1] && ends[1] - ends[0] < 5.0, "{ends:?}");
    assert!(
        page.contains(
            "Ringed: 6 disturbed, whose intervals also hold the values of a quiet machine."
        )
    );
}

#[test]
fn page_says_that_batches_beside_neighbours_count() {
    let mut run = on_a_line(|_, _| {});
    let said = "batches beside neighbours count";
    assert!(!html(&[run.clone()]).contains(said));
    run.plan.counts_neighbours = true;
    assert!(html(&[run]).contains(said));
}

#[test]
fn caption_mentions_intervals_within_launches() {
    let all = |from: u64| {
        html(&[on_a_line(|i, entry| {
            let within = i >= from;
            entry.interval_scope = within.then_some(IntervalScope::WithinLaunches);
        })])
    };
    let none = all(6);
    assert!(none.contains("Marks are the intervals of the figures. Fitted"), "{none}");
    assert!(!none.contains('†'));
    let some = all(4);
    let of_them = "Marks are the intervals of the figures; 2 of them within launches: they speak of these processes alone.";
    assert!(some.contains(of_them));
    assert!(some.contains("]† for each step of one"));
    assert!(all(0).contains("Marks are the intervals of the figures, within launches: they speak"));
}

/// A benchmark entry with this number of processes and combined throughput.
fn loaded(processes: u64, sum: f64) -> Benchmark {
    let mut entry = benchmark("lat_null", 100, "ok");
    entry.declaration.charts = Vec::new();
    entry.declaration.figure = Some("latency".to_owned());
    entry.environment.processes = processes;
    entry.details.throughput = Some(Throughput { sum, unit: "operations/s".to_owned() });
    entry
}

#[test]
fn benchmark_under_load_has_scaling_charts() {
    let page = html(&[run(vec![loaded(4, 18e6), loaded(1, 10e6), loaded(2, 19e6)])]);
    let charts = charts(&page);
    let [throughput, efficiency] = &charts.as_array().unwrap()[..] else {
        panic!("{charts}");
    };
    assert_eq!(throughput["y"], "throughput (M operations/s)");
    assert_eq!(throughput["x"], "processes");
    let ys = |chart: &serde_json::Value| -> Vec<f64> {
        let points = chart["curves"][0]["points"].as_array().unwrap();
        points.iter().map(|p| p[1].as_f64().unwrap()).collect()
    };
    assert_eq!(ys(throughput), [10.0, 19.0, 18.0]);
    assert_eq!(ys(efficiency), [1.0, 0.95, 0.45]);
    let ideal = &throughput["curves"][0]["line"];
    assert_eq!(ideal["slope"], 10.0);
    let ends = |chart: &serde_json::Value, at: usize| -> Vec<f64> {
        let ends = &chart["curves"][0]["points"][at][2];
        serde_json::from_value(ends.clone()).unwrap_or_default()
    };
    // A latency interval from 90 to 110 ns around 100 ns.
    let [low, high] = ends(throughput, 1)[..] else {
        panic!("no interval");
    };
    assert!((low - 19.0 / 1.1).abs() < 1e-9 && (high - 19.0 / 0.9).abs() < 1e-9);
    assert!(ends(efficiency, 0).is_empty(), "1 by what it is");
    let [low, high] = ends(efficiency, 1)[..] else {
        panic!("no interval");
    };
    assert!((low - 0.95 * 0.9 / 1.1).abs() < 1e-9 && (high - 0.95 * 1.1 / 0.9).abs() < 1e-9);
    assert!(page.contains("Bend at 2: each more adds less than half of what one does alone."));
    assert!(page.contains("Marks are as wide, in proportion, as the intervals of the figures."));
    assert!(page.contains("Marks are all that the intervals of both figures allow."));

    // Without a point of one process, the expected throughput is unknown.
    let page = html(&[run(vec![loaded(2, 1e6), loaded(4, 2e6)])]);
    let without = self::charts(&page);
    assert_eq!(without.as_array().unwrap().len(), 1);
    assert!(without[0]["curves"][0]["line"].is_null());
    let one = html(&[run(vec![loaded(2, 1e6)])]);
    assert_eq!(self::charts(&one), json!([]));
}

/// An invalid point counts as missing only if its curve is drawn.
#[test]
fn scaling_counts_invalid_points_of_drawn_curves() {
    let at = |message: u64, processes: u64, is_valid: bool| {
        let mut entry = loaded(processes, 1e6 * processes as f64);
        entry.parameters.0 = vec![("message".to_owned(), json!(message))];
        if !is_valid {
            (entry.status, entry.valid) = (Status::Invalid, false);
        }
        entry
    };
    let drawn = [at(1, 1, true), at(1, 2, true), at(1, 4, false)];
    let page = html(&[run(drawn.to_vec())]);
    assert!(page.contains("Not drawn: 1 invalid."));
    let others = [at(8, 1, true), at(8, 2, false), at(8, 4, false)];
    let page = html(&[run([drawn, others].concat())]);
    assert!(page.contains("Not drawn: 1 invalid."));
    assert!(!page.contains("Not drawn: 3 invalid."));
}

#[test]
fn y_axis_is_logarithmic_for_wide_range() {
    let far = run([1, 10, 100].map(|y| benchmark("lat_mem", y, "ok")).to_vec());
    let page = html(std::slice::from_ref(&far));
    assert_eq!(charts(&page)[0]["log_y"], true);
    assert!(page.contains("latency (ns) against size; both axes are logarithmic."));
    let near = run([10, 100].map(|y| benchmark("lat_mem", y, "ok")).to_vec());
    assert_eq!(charts(&html(&[near]))[0]["log_y"], false);
    // Values that reach 0 cannot be on a logarithmic axis.
    let mut to_zero = far;
    to_zero.benchmarks[0].confidence_interval = Some([0.0, 2.0]);
    assert_eq!(charts(&html(&[to_zero]))[0]["log_y"], false);
    // A straight line would be curved on a logarithmic axis.
    let line = on_a_line(|i, entry| entry.median = Some(f64::from(1 << (2 * i))));
    assert_eq!(charts(&html(&[line]))[0]["log_y"], false);
}

/// The entries of a run record curves of the same caches. The chart has the lowest latency of each
/// size.
#[test]
fn recorded_curves_of_a_run_are_drawn_as_one() {
    let of_level = |level, x: &[f64], ns: &[f64]| {
        let mut entry = benchmark("cache", level, "ok");
        entry.details.lowest_curve = Some(LowestCurve {
            name: "load_latency".to_owned(),
            x_unit: "B".to_owned(),
            x: x.to_vec(),
            ns: ns.to_vec(),
        });
        entry
    };
    let levels = || {
        run(vec![
            of_level(1, &[4096.0, 65536.0], &[1.0, 4.5]),
            of_level(2, &[4096.0, 65536.0, 4_194_304.0], &[1.25, 4.0, 12.0]),
        ])
    };
    let drawn = |page: &str| {
        let charts = charts(page);
        let chart = charts.as_array().unwrap().iter();
        let mut chart = chart.filter(|c| c["y"].as_str().unwrap().contains("lowest latency"));
        let curves = chart.next().unwrap()["curves"].clone();
        assert!(chart.next().is_none());
        curves.as_array().unwrap().clone()
    };
    let one = drawn(&html(&[levels()]));
    assert_eq!(one.len(), 1);
    let points = one[0]["points"].as_array().unwrap().iter();
    let points: Vec<_> = points.map(|p| (p[0].clone(), p[1].clone())).collect();
    let expected = [(4096.0, 1.0), (65536.0, 4.0), (4_194_304.0, 12.0)];
    assert_eq!(points, expected.map(|(x, y)| (json!(x), json!(y))));
    assert_eq!(drawn(&html(&[levels(), levels()])).len(), 2);
}

#[test]
fn memory_chart_has_cache_levels_with_origin() {
    let mut entries = Vec::new();
    for size in [16 << 10, 64 << 20] {
        let mut sweep = benchmark("lat_mem", size, "ok");
        sweep.declaration.provenance.tags = vec!["memory_sizes".to_owned()];
        entries.push(sweep);
    }
    entries.push(level_found(1, 32 << 10));
    let mut first = run(entries);
    first.machine.details = Some(caches(&[(1, 48 << 10), (2, 1 << 20), (3, 1 << 30)]));
    let page = html(std::slice::from_ref(&first));
    assert_eq!(
        charts(&page)[0]["levels"],
        json!([[32 << 10, "L1"], [1 << 20, "L2"]]),
        "the third is beyond what was measured"
    );
    assert!(page.contains(
        "Dashed: caches as the benchmark cache measured them (L1 32 KiB) and as the system describes them (L2 1 MiB)."
    ));
    let mut untagged = first.clone();
    let mut second = first.clone();
    second.benchmarks[2] = level_found(1, 40 << 10);
    assert_eq!(
        charts(&html(&[first, second]))[0]["levels"],
        json!([[32 << 10, "L1 A"], [40 << 10, "L1 B"], [1 << 20, "L2"]])
    );
    for entry in &mut untagged.benchmarks[..2] {
        entry.declaration.provenance.tags.clear();
    }
    assert_eq!(charts(&html(&[untagged]))[0]["levels"], json!([]));
}

/// A line between a point in L1 and one in memory would suggest figures of L2 and L3.
#[test]
fn no_line_crosses_a_level_without_a_point() {
    let chart = |sizes: &[u64]| {
        let entry = |size: &u64| {
            let mut entry = benchmark("lat_mem", *size, "ok");
            entry.declaration.provenance.tags = vec!["memory_sizes".to_owned()];
            entry
        };
        let mut run = run(sizes.iter().map(entry).collect());
        run.machine.details = Some(caches(&[(1, 48 << 10), (2, 1 << 20), (3, 32 << 20)]));
        let page = html(&[run]);
        let charts = charts(&page);
        let gaps = charts[0]["unconnected"].clone();
        (gaps, page.contains("No line crosses"))
    };
    let (l1, l2, l3, memory) = (24 << 10, 512 << 10, 8 << 20, 64 << 20);
    assert_eq!(chart(&[l1, l2, l3, memory]), (json!([[]]), false));
    let both = json!([[[l1 as f64, memory as f64]]]);
    assert_eq!(chart(&[l1, memory]), (both, true));
    let one = json!([[[l2 as f64, memory as f64]]]);
    assert_eq!(chart(&[l1, l2, memory]), (one, true));
}

/// The curve of the second run has a point in L2, that of the first has none.
#[test]
fn caption_names_the_curve_whose_line_skips_a_level() {
    let [first, second] =
        [&[24 << 10, 8 << 20][..], &[24 << 10, 512 << 10, 8 << 20]].map(|sizes| {
            let mut run = run(sizes.iter().map(|size| benchmark("lat_mem", *size, "ok")).collect());
            for entry in &mut run.benchmarks {
                entry.declaration.provenance.tags = vec!["memory_sizes".to_owned()];
            }
            run.machine.details = Some(caches(&[(1, 48 << 10), (2, 1 << 20), (3, 32 << 20)]));
            run
        });
    let page = html(&[first.clone(), second.clone()]);
    assert!(page.contains(" No line of A crosses L2: no valid size within it."), "{page}");
    assert!(!html(&[second]).contains("No line"));
    assert!(html(&[first]).contains(" No line crosses L2: no valid size within it."));
}

/// The first level has caches of its own for instructions and data.
#[test]
fn curve_over_code_has_sizes_of_instruction_caches() {
    let over = |name: &str| {
        let mut entry = benchmark("of_size", 1, "ok");
        entry.details.lowest_curve = Some(LowestCurve {
            name: name.to_owned(),
            x_unit: "B".to_owned(),
            x: vec![4096.0, 4_194_304.0],
            ns: vec![1.0, 2.0],
        });
        let mut run = run(vec![entry, level_found(1, 40 << 10), level_found(2, 2 << 20)]);
        let mut details = caches(&[(1, 48 << 10), (1, 32 << 10), (2, 1 << 20)]);
        details.caches[0].kind = "data".to_owned();
        details.caches[1].kind = "instruction".to_owned();
        run.machine.details = Some(details);
        charts(&html(&[run]))[0]["levels"].clone()
    };
    assert_eq!(over("l1i.size"), json!([[32 << 10, "L1i"], [2 << 20, "L2"]]));
    assert_eq!(over("l1d.size"), json!([[40 << 10, "L1"], [2 << 20, "L2"]]));
}

/// The verdict of a comparison does not say it.
#[test]
fn table_of_two_compared_runs_names_the_disturbed_one() {
    let quiet = run(vec![benchmark("lat_mem", 1, "ok")]);
    let mut disturbed = quiet.clone();
    disturbed.benchmarks[0].interference.is_disturbed = true;
    let runs = [quiet, disturbed];
    let remark = r#"<strong>B</strong> <span class="badge disturbed">disturbed</span>"#;
    for comparison in [None, Some(&SideBySide::default())] {
        let page = super::html(&runs, &[], &[], comparison);
        assert_eq!(page.matches(remark).count(), 1, "{page}");
    }
}

/// The placeholder of an end that the disturbance leaves open is no bound.
#[test]
fn open_end_of_a_disturbed_interval_is_unknown() {
    let mut entries = [1000, 2000].map(|size| benchmark("lat_mem", size, "ok"));
    for (entry, factors) in entries.iter_mut().zip([[0.001, 1.25], [0.5, 1.25]]) {
        entry.interference.is_disturbed = true;
        entry.interference.quiet_factors = Some(factors);
        entry.confidence_interval = entry.median.map(|m| factors.map(|factor| factor * m));
    }
    let run = run(entries.to_vec());
    let page = html(std::slice::from_ref(&run));
    assert!(page.contains("[unknown, 1.25]") && page.contains("[1, 2.5]"), "{page}");
    let points = &charts(&page)[0]["curves"][0]["points"];
    assert_eq!((&points[0][2], &points[1][2]), (&json!([1.0, 1.25]), &json!([1.0, 2.5])));
    assert!(crate::summary(&run, &RunLocation::Usual).contains("unknown, 1.25"));
}

/// A command that cannot show a batch is not named.
#[test]
fn figures_without_raw_batches_name_no_command_for_them() {
    let mut quiet = run(vec![benchmark("lat_mem", 1, "ok")]);
    let launches = &mut quiet.benchmarks[0].launches;
    launches.iter_mut().for_each(|launch| launch.samples = 11);
    let mut of_command = quiet.clone();
    of_command.benchmarks[0].details.command = Some(Default::default());
    let document = RunLocation::File("/a.json".to_owned());
    for (run, place, reason) in [
        (&quiet, &RunLocation::Usual, None),
        (&quiet, &document, Some("the document was written without --raw")),
        (&of_command, &RunLocation::Usual, Some("whole runs of a command were timed")),
    ] {
        let runs = std::slice::from_ref(run);
        let page = super::html(runs, &[], std::slice::from_ref(place), None);
        for text in [page, crate::summary(run, place)] {
            assert_eq!(
                text.contains("show --raw --") || text.contains("--raw`."),
                reason.is_none()
            );
            let sentence = format!("There is no raw batch: {}.", reason.unwrap_or_default());
            assert_eq!(text.contains(&sentence), reason.is_some(), "{text}");
        }
    }
}

#[test]
fn recorded_command_is_quoted() {
    let mut one = run(vec![benchmark("lat_mem", 1, "ok")]);
    one.producer.arguments = ["time", "-c", "sleep 0.01"].map(str::to_owned).to_vec();
    assert!(html(&[one]).contains("<td>yamba time -c 'sleep 0.01'</td>"));
}

#[test]
fn processor_of_each_machine_is_named_if_they_differ() {
    let first = run(vec![benchmark("lat_mem", 1, "ok")]);
    let [mut cpu, mut count] = [first.clone(), first.clone()];
    cpu.machine.cpu = Some("Other 1".to_owned());
    count.machine.cpus = 64;
    let head = |second: &Run| {
        let page = html(&[first.clone(), second.clone()]);
        page.split("<header>").nth(1).unwrap().split("</header>").next().unwrap().to_owned()
    };
    for (second, named) in
        [(&cpu, "Other 1, 2 processors"), (&count, "Made Up 3000, 64 processors")]
    {
        let text = head(second);
        assert!(text.contains("<h1>Yamba: 2 runs</h1>"), "{text}");
        assert!(text.contains("Made Up 3000, 2 processors") && text.contains(named), "{text}");
    }
    let same = head(&first);
    assert!(same.contains("<h1>Yamba: Made Up 3000, 2 processors, 2 runs</h1>"), "{same}");
    assert_eq!(same.matches("Made Up 3000").count(), 1);
}

#[test]
fn run_that_was_cut_off_is_named_so() {
    let mut one = run(vec![benchmark("lat_mem", 1, "ok")]);
    one.started_unix_s = Some(1.7e9);
    one.benchmarks[0].interval_scope = Some(IntervalScope::WithinLaunches);
    one.plan.launches = 6;
    one.producer.arguments = ["run", "--name=mine", "lat_mem"].map(str::to_owned).to_vec();
    let says = |run: &Run| {
        let sentence = "The run has no end: it was cut off";
        let page = html(std::slice::from_ref(run));
        let tables = crate::summary(run, &RunLocation::Usual);
        let has = page.contains(sentence) && tables.contains(sentence);
        assert!(has || !(page.contains(sentence) || tables.contains(sentence)));
        (has, page)
    };
    let (has, page) = says(&one);
    assert!(has && page.contains("run yamba run lat_mem again."), "{page}");
    assert!(page.contains("measure to the end.") && !page.contains("when the machine is quiet"));
    one.finished_unix_s = Some(1.7e9 + 1.0);
    assert!(!says(&one).0);
    one.interrupted = true;
    assert!(crate::summary(&one, &RunLocation::Usual).contains("The run was stopped before"));
}

/// Without evidence nothing contradicts the name of a figure.
#[test]
fn reason_of_an_invalid_figure_is_not_taken_for_evidence() {
    let mut entries = ["lat_a", "lat_b"].map(|name| benchmark(name, 1, "invalid"));
    entries[1].details.evidence.clear();
    entries[1].notes = vec!["cannot tell".into()];
    let page = html(&[run(entries.to_vec())]);
    let text = |name: &str| format!("name of the figure: <a href=\"#entry-0\">{name}</a>");
    assert!(page.contains(&text("lat_a")), "{page}");
    assert!(page.contains("Invalid: <a href=\"#entry-1\">lat_b</a> (cannot tell)."), "{page}");
}

/// A figure of a changed parameter is not that of the benchmark's name alone.
#[test]
fn parameters_that_the_user_set_are_shown() {
    let mut changed = run(vec![benchmark("lat_mem", 65536, "ok")]);
    for (words, settings) in [
        (&["run", "lat_mem"][..], ""),
        (&["run", "lat_mem", "--set", "size=64K"], "size=64Ki"),
        (&["run", "--set=size=64K", "lat_mem"], "size=64Ki"),
        (&["run", "lat_mem", "--set", "other=1", "--", "--set=size=1"], ""),
    ] {
        changed.producer.arguments = words.iter().map(|w| (*w).to_owned()).collect();
        let page = html(std::slice::from_ref(&changed));
        let card = format!("lat_mem {settings}");
        let card = format!(r#"<span class="which">{}</span>"#, card.trim_end());
        assert!(page.contains(&card), "{words:?}");
        let tables = crate::summary(&changed, &RunLocation::Usual);
        assert_eq!(tables.contains("size=64Ki"), !settings.is_empty(), "{tables}");
    }
}

#[test]
fn several_runs_are_side_by_side() {
    let first = run(vec![
        benchmark("lat_mem", 1, "ok"),
        benchmark("lat_mem", 2, "ok"),
        benchmark("lat_first", 3, "ok"),
    ]);
    let mut second = run(vec![benchmark("lat_mem", 1, "ok"), benchmark("lat_mem", 2, "ok")]);
    second.tags = vec!["after".to_owned()];
    let page = html(&[first, second]);
    assert!(page.contains("A: 0123456789abcdef"));
    assert!(page.contains("B: after"));
    assert_eq!(page.matches("not in this run").count(), 1);
    assert_eq!(charts(&page)[0]["curves"].as_array().unwrap().len(), 2);
}

#[test]
fn parameter_order_does_not_separate_rows() {
    let both = [[0, 1], [1, 0]].map(|order| {
        let mut entry = benchmark("lat_mem", 1, "ok");
        let all = [("size", json!(1)), ("stride", json!(64))];
        let named = order.map(|at| (all[at].0.to_owned(), all[at].1.clone()));
        entry.parameters.0 = named.to_vec();
        run(vec![entry])
    });
    assert!(!html(&both).contains("not in this run"));
}

/// As many entries as the default suite, each as large as the largest ones: launches, distinct
/// samples, evidence, notes and disturbances.
#[test]
fn page_of_whole_suite_has_bounded_size() {
    let entries = (0..340u64).map(|i| {
        let mut entry = benchmark(&format!("lat_some_benchmark_{}", i / 3), 100 + i, "ok");
        entry.details.samples = (0..400u64)
            .map(|n| (100 + i) as f64 * (1.0 + ((n * 7919 + i) % 997) as f64 / 5000.0))
            .collect();
        entry.launches = (0..12)
            .map(|n| Launch {
                median: entry.median.map(|m| m * (1.0 + f64::from(n) / 731.0)),
                ..Launch::default()
            })
            .collect();
        let about = entry.details.evidence["faults"].clone();
        let names = (0..6).map(|n| (format!("evidence_with_a_name_{n}"), about.clone()));
        entry.details.evidence = names.collect();
        entry.notes = vec!["what a reader must know of a figure, as long as most notes are: about a hundred letters".into(); 3];
        entry.declaration.provenance.summary = Some("What one operation is and what it does, in the two or three lines that a class says of itself, so that the reader need not look it up.".to_owned());
        entry.interference.disturbed = [("switch".to_owned(), 17), ("stolen".to_owned(), 3)].into();
        entry.interval_scope = Some(IntervalScope::WithinLaunches);
        entry
    });
    let page = html(&[run(entries.collect())]);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn page_without_entries_is_valid() {
    assert!(html(&[]).contains("no runs"));
    assert!(html(&[run(vec![])]).contains("0 valid, 0 invalid, 0 skipped"));
}

#[test]
fn study_precedes_figures_and_links_to_them() {
    let run = run(vec![
        benchmark("lat_mem", 4096, "ok"),
        benchmark("lat_mem", 8192, "ok"),
        benchmark("lat_absent", 1, "skipped"),
    ]);
    let page = super::html(&[run], &[study()], &[], None);
    for text in [
        "Study: What it costs",
        r##"href="#entry-1">8.192 us"##,
        r##"href="#entry-0" aria-label="point 1 of Growth">1</a>"##,
        ">skipped</span>",
        "within†</span>",
        "It <b>must</b> be.",
        "yamba run lat_mem",
    ] {
        let escaped = text.replace("<b>", "&lt;b&gt;").replace("</b>", "&lt;/b&gt;");
        assert!(page.contains(&escaped), "{text}");
    }
    let place = |text: &str| page.find(text).unwrap();
    assert!(place("id=\"study-0\"") < place("id=\"figures\""));
}

#[test]
fn sweep_of_a_study_has_one_reason() {
    let run = run(vec![benchmark("lat_mem", 4096, "ok")]);
    let mut study = study();
    let mut further = study.operations[0].clone();
    further.name = "Load of more".to_owned();
    further.is_further_point = true;
    study.operations.insert(1, further);
    let page = super::html(&[run], &[study], &[], None);
    assert_eq!(page.matches("It &lt;b&gt;must").count(), 2, "Load and Growth");
    assert_eq!(page.matches(r#"<td class="reason" rowspan="2""#).count(), 1);
    assert!(page.contains(r#"<tr><th class="operation" scope="row">Load of more</th>"#));
}

#[test]
fn headlines_are_tagged_benchmarks_or_the_first_of_each_topic() {
    let of_topic = |topic: &str, name: &str, is_tagged: bool| {
        let mut entry = benchmark(name, 64, "ok");
        entry.declaration.provenance.topic = Some(topic.to_owned());
        entry.declaration.provenance.tags =
            is_tagged.then(|| "headline".to_owned()).into_iter().collect();
        entry
    };
    let cards = |entries: Vec<Benchmark>| -> Vec<String> {
        let page = html(&[run(entries)]);
        let cards = page.split(r#"<span class="which">"#).skip(1);
        cards.map(|c| c.split('<').next().unwrap().to_owned()).collect()
    };
    let many = |topic: &str, count: usize| -> Vec<Benchmark> {
        (0..count).map(|n| of_topic(topic, &format!("{topic}_{n}"), n == 6)).collect()
    };
    // The tagged one of each topic, and the first others in turn, in the order of the page.
    let chosen = cards([many("memory", 20), many("file", 20)].concat());
    let expected = ["memory_0", "memory_1", "memory_2", "memory_3", "memory_4", "memory_6"];
    assert_eq!(chosen[..6], expected);
    assert_eq!(chosen.len(), 12);
    assert!(chosen.contains(&"file_6".to_owned()), "{chosen:?}");
    // Of sizes of memory the last point, of others the first.
    let mut sizes = vec![benchmark("lat_mem", 16, "ok"), benchmark("lat_mem", 64, "ok")];
    assert_eq!(cards(sizes.clone()), ["lat_mem size=16"]);
    sizes[0].declaration.provenance.tags = vec!["memory_sizes".to_owned()];
    assert_eq!(cards(sizes), ["lat_mem size=64"]);
    // Without a figure there is no card.
    assert_eq!(cards(vec![benchmark("lat_absent", 1, "skipped")]), [""; 0]);
}

#[test]
fn problems_come_with_fixes_and_the_worst_first() {
    let mut wrong = benchmark("lat_wrong", 16, "invalid");
    wrong.notes = vec!["faults is 1, expected 7".into()];
    let mut noisy = benchmark("lat_noisy", 16, "ok");
    noisy.interference.is_disturbed = true;
    noisy.interference.disturbed = [("switch".to_owned(), 30)].into();
    let mut quick = benchmark("lat_quick", 16, "ok");
    quick.interval_scope = Some(IntervalScope::WithinLaunches);
    let mut one = run(vec![quick, noisy, wrong, benchmark("lat_absent", 1, "skipped")]);
    one.interrupted = true;
    one.plan.launches = 2;
    let words = ["run", "--name", "mine", "--quick"];
    one.producer.arguments = words.map(str::to_owned).to_vec();
    let page = html(&[one]);
    let start =
        page.find("1 of 3 figures is valid and undisturbed; 1 disturbed, 1 invalid; 1 skipped.");
    let mut rest = &page[start.expect("the counts")..];
    for text in [
        "stopped before it was done.",
        "run yamba run --quick again.",
        "lat_wrong</a> (faults is 1, expected 7).",
        "Other work on the machine may be part of 1 figure (switch in 1).",
        "stop other programs and measure again.",
        "The intervals of 1 figure (marked †) come from few launches",
        "measure without --quick.",
        "1 was skipped",
    ] {
        let place = rest.find(text).unwrap_or_else(|| panic!("{text} is missing or too early"));
        rest = &rest[place..];
    }
    assert!(rest.find("Machine and run").is_some(), "facts last");
}

#[test]
fn all_tables_have_the_same_columns_and_mark_exceptions_only() {
    let mut first = benchmark("lat_mem", 4096, "ok");
    first.declaration.provenance.topic = Some("memory".to_owned());
    first.details.cycles = Some(Cycles { median: 4.0, confidence_interval: [4.0; 2] });
    let mut second = benchmark("lat_file", 4096, "ok");
    second.declaration.provenance.topic = Some("file".to_owned());
    second.interference.is_disturbed = true;
    let page = html(&[run(vec![first, second])]);
    let heads: Vec<&str> =
        page.split("<colgroup>").skip(1).map(|t| t.split("</colgroup>").next().unwrap()).collect();
    assert_eq!(heads.len(), 2);
    assert_eq!(heads[0], heads[1]);
    assert!(heads[0].contains("cycles"), "{}", heads[0]);
    assert_eq!(page.matches(r#"<td class="status"></td>"#).count(), 1);
    assert!(page.contains(r#"<span class="badge disturbed">disturbed</span>"#));
}

#[test]
fn figure_of_few_launches_is_explained_and_marked_if_they_disagree() {
    let plain = html(&[run(vec![benchmark("lat_mem", 4096, "ok")])]);
    assert!(!plain.contains("in 90 % of cases"));
    let mut quick = benchmark("lat_mem", 4096, "ok");
    quick.interval_scope = Some(IntervalScope::BetweenRuns);
    quick.interference.launches_disagree = true;
    let page = html(&[run(vec![quick])]);
    assert!(page.contains("hold the figure of the next run of this kind in 90 % of cases."));
    assert!(page.contains(r#"disagree">launches disagree</span>"#));
}
