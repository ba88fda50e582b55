//! Tests of charts whose points have several units.

use super::*;

/// The figures of a chart of one run, whose figures are in ns, and of another run in `unit`.
fn page_with(unit: &str, scaled: impl Fn(f64) -> f64) -> String {
    let sizes = || [1000, 2000, 3000].map(|size| benchmark("lat_mem", size, "ok")).to_vec();
    let mut other = run(sizes());
    for entry in &mut other.benchmarks {
        entry.unit = Some(unit.to_owned());
        entry.median = entry.median.map(&scaled);
        entry.confidence_interval = entry.confidence_interval.map(|ends| ends.map(&scaled));
    }
    html(&[run(sizes()), other])
}

#[test]
fn curves_in_other_units_of_time_are_converted() {
    let page = page_with("ms", |ns| ns / 1e6);
    let chart = &charts(&page)[0];
    assert_eq!(chart["y"], "latency (us)");
    let ys = |curve: usize| -> Vec<f64> {
        let points = chart["curves"][curve]["points"].as_array().unwrap();
        points.iter().map(|p| (p[1].as_f64().unwrap() * 1e6).round() / 1e6).collect()
    };
    assert_eq!((ys(0), ys(1)), (vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]));
}

#[test]
fn curve_in_a_unit_of_another_kind_is_not_drawn() {
    let page = page_with("MB/s", |ns| ns);
    assert_eq!(charts(&page)[0]["curves"].as_array().unwrap().len(), 1);
    assert!(page.contains(" Not drawn: 3 in another unit."), "{page}");
}

#[test]
fn bars_in_other_units_of_time_have_lengths_in_proportion() {
    let of = |unit: &str, values: [f64; 2]| {
        let mut entries = [1, 2].map(|size| benchmark("lat_bar", size, "ok"));
        for (entry, (name, value)) in entries.iter_mut().zip(["a", "b"].into_iter().zip(values)) {
            entry.declaration.charts.clear();
            entry.parameters.0 = vec![("how".to_owned(), json!(name))];
            entry.unit = Some(unit.to_owned());
            (entry.median, entry.confidence_interval) = (Some(value), None);
        }
        run(entries.to_vec())
    };
    let widths = |page: &str| -> Vec<String> {
        let rects = page.split(r#"<rect y="1" width=""#).skip(1);
        rects.map(|text| text.split('"').next().unwrap().to_owned()).collect()
    };
    let page = html(&[of("ns", [1000.0, 2000.0]), of("us", [1.0, 2.0])]);
    assert_eq!(widths(&page), ["50", "50", "100", "100"]);
    let page = html(&[of("ns", [1000.0, 2000.0]), of("MB/s", [1.0, 2.0])]);
    assert_eq!(widths(&page), ["50", "100"]);
    assert!(page.contains(" Not drawn: 2 in another unit."));
}

#[test]
fn throughputs_of_different_kinds_have_no_chart_together() {
    let [first, mut second] =
        [(); 2].map(|()| run(vec![loaded(1, 10e6), loaded(2, 19e6), loaded(4, 20e6)]));
    for entry in &mut second.benchmarks {
        entry.details.throughput.as_mut().unwrap().unit = "MB/s".to_owned();
    }
    let page = html(&[first, second]);
    let charts = charts(&page);
    assert_eq!(charts[0]["y"], "throughput (M operations/s)");
    assert_eq!(charts[0]["curves"].as_array().unwrap().len(), 1);
}

/// The same figures in ns and a thousandfold, which the chart shows in us.
#[test]
fn fitted_line_is_in_the_unit_of_the_chart() {
    let fitted = |times: f64| {
        let page = html(&[on_a_line(|i, entry| {
            let seen = entry.median.unwrap() * times;
            entry.median = Some(seen);
            entry.confidence_interval = Some([seen / 1.02, seen * 1.02]);
            entry.interference.is_disturbed = i % 2 == 0;
            entry.interference.is_bounded = i % 2 == 0;
        })]);
        let from = page.find("Fitted line (3 disturbed").expect("a line");
        let sentence = page[from..].split("R²").next().unwrap();
        sentence.replace(" us", " ns")
    };
    assert_eq!(fitted(1.0), fitted(1000.0));
}
