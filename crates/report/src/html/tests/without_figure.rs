//! Tests of drawings that lack points without a valid figure.

use super::*;

/// A benchmark at five points: three valid ones, a crashed and a skipped one.
fn entries() -> Vec<Benchmark> {
    let status = ["ok", "ok", "ok", "crashed", "skipped"];
    (1..).zip(status).map(|(size, status)| benchmark("lat_mem", size, status)).collect()
}

const NOT_DRAWN: &str = " Not drawn: 1 crashed, 1 skipped.";

#[test]
fn curve_counts_points_that_crashed_or_were_skipped() {
    let page = html(&[run(entries())]);
    assert_eq!(charts(&page)[0]["curves"][0]["points"].as_array().unwrap().len(), 3);
    assert!(page.contains(NOT_DRAWN), "{page}");
    let text = crate::plots(&run(entries()), 60);
    assert!(text.contains("  not drawn: 1 crashed, 1 skipped\n"), "{text}");
}

#[test]
fn bars_count_points_that_crashed_or_were_skipped() {
    let mut entries = entries();
    for (entry, name) in entries.iter_mut().zip(["a", "b", "c", "d", "e"]) {
        entry.declaration.charts.clear();
        entry.parameters.0 = vec![("how".to_owned(), json!(name))];
    }
    let page = html(&[run(entries)]);
    assert_eq!(page.matches(r#"<td class="bar">"#).count(), 3);
    assert!(page.contains(NOT_DRAWN), "{page}");
}

#[test]
fn scaling_counts_points_that_crashed_or_were_skipped() {
    let mut entries = [1, 2, 4, 8, 16].map(|processes| loaded(processes, 1e6 * processes as f64));
    for (entry, status) in entries[2..4].iter_mut().zip([Status::Crashed, Status::Skipped]) {
        (entry.status, entry.valid, entry.details.throughput) = (status, false, None);
    }
    let page = html(&[run(entries.to_vec())]);
    assert!(page.contains(NOT_DRAWN), "{page}");
}
