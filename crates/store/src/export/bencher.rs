//! Bencher Metric Format: an object of benchmarks, each with its measures. A value may have a lower
//! and an upper one: <https://bencher.dev/docs/reference/bencher-metric-format/>.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use yamba_record::{Benchmark, Run};

use super::figure::{self, FigureKind};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let mut all = Map::new();
    for entry in &run.benchmarks {
        if let Some(figure) = figure::good(entry) {
            let (measure, scale) = measure(entry);
            let mut value = json!({"value": figure * scale});
            for (name, end) in ["lower_value", "upper_value"].iter().zip(figure::sound_ends(entry))
            {
                if let Some(end) = end {
                    value[name] = json!(end * scale);
                }
            }
            all.entry(figure::label(entry)).or_insert_with(|| json!({measure: value}));
        }
    }
    let written = all.len();
    serde_json::to_writer_pretty(&mut *out, &Value::Object(all))?;
    writeln!(out)?;
    Ok(written)
}

/// The measure, and the factor to its unit: Bencher's latencies are in ns.
fn measure(entry: &Benchmark) -> (String, f64) {
    match figure::kind(entry) {
        FigureKind::Time(seconds) => ("latency".to_owned(), seconds * 1e9),
        FigureKind::Bandwidth(bytes) => ("bandwidth".to_owned(), bytes),
        FigureKind::Value => (entry.unit.clone().unwrap_or_else(|| "value".to_owned()), 1.0),
    }
}
