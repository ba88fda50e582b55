//! The JSON of github-action-benchmark for its tools `customSmallerIsBetter` and
//! `customBiggerIsBetter`: <https://github.com/benchmark-action/github-action-benchmark>. A file
//! has one direction, and no place for a figure that is not valid.

use std::io::{self, Write};

use serde_json::{Value, json};
use yamba_record::{Benchmark, Run};

use super::figure;

/// The latencies.
pub(super) fn write_smaller(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    write(run, &["latency"], out)
}

/// The bandwidths and rates.
pub(super) fn write_bigger(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    write(run, &["bandwidth", "rate"], out)
}

fn write(run: &Run, figures: &[&str], out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let is_meant = |entry: &&Benchmark| {
        entry.declaration.figure.as_deref().is_some_and(|figure| figures.contains(&figure))
    };
    let mut rows: Vec<Value> = run.benchmarks.iter().filter(is_meant).filter_map(row).collect();
    // Its readers find the earlier figure by the name.
    figure::keep_first(&mut rows, "name");
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    writeln!(out)?;
    Ok(rows.len())
}

fn row(entry: &Benchmark) -> Option<Value> {
    let figure = figure::good(entry)?;
    let mut row = json!({
        "name": figure::label(entry),
        "unit": entry.unit.as_deref().unwrap_or_default(),
        "value": figure,
    });
    if let Some([low, high]) = figure::interval(entry) {
        row["range"] = json!(format!("[{low}, {high}]"));
    }
    if entry.interference.is_disturbed {
        row["extra"] = json!("disturbed");
    }
    Some(row)
}
