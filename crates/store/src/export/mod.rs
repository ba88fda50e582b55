//! Export of runs to formats of other programs. Each format has a file with a pure function from a
//! run to a stream.
//!
//! An invalid figure never appears where a valid one would.

mod bencher;
mod csv;
mod figure;
mod github_action;
mod go;
mod google;
mod hyperfine;
mod influx;
mod json;
mod ktap;
mod prometheus;
mod series;
mod table;

use std::io;

use yamba_record::{Benchmark, Run};

use crate::Detail;

/// An export format.
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line description for the help.
    pub about: &'static str,
    /// The part of a run that the format contains.
    pub detail: Detail,
    /// Whether an export without any figure says nothing to its readers. The command then refuses
    /// it.
    pub needs_figures: bool,
    /// Writes a run in this format.
    pub write: Write,
}

/// Writes a run to a stream. Returns the number of entries whose figure, or the reason why it has
/// none, stands there.
pub type Write = fn(&Run, &mut (dyn io::Write + Send)) -> io::Result<usize>;

/// The table of raw batches.
pub const BATCHES: Format = Format {
    detail: Detail::Batches,
    ..text("csv-batches", "a table, one line a raw batch", |run, out| {
        csv::write(&table::BATCHES, run, out)
    })
};

/// All export formats.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    Format { detail: Detail::Batches, ..text("json", "the whole document, as `yamba run --json --raw` prints it", json::write) },
    text("csv", "a table, one line an entry", |run, out| csv::write(&table::ENTRIES, run, out)),
    BATCHES,
    Format { detail: Detail::Batches, ..text("google-benchmark", "Google Benchmark's JSON", google::write) },
    Format { needs_figures: true, ..text("go", "Go's benchmark format, for benchstat", go::write) },
    text("prometheus", "Prometheus' text format", prometheus::write),
    text("openmetrics", "OpenMetrics, version 1.0", prometheus::write_openmetrics),
    text("influx", "InfluxDB's line protocol", influx::write),
    Format { needs_figures: true, ..text("bencher", "Bencher Metric Format, with bounds", bencher::write) },
    Format { needs_figures: true, ..text("github-action-smaller", "latencies for github-action-benchmark, customSmallerIsBetter", github_action::write_smaller) },
    Format { needs_figures: true, ..text("github-action-bigger", "bandwidths and rates, customBiggerIsBetter", github_action::write_bigger) },
    Format { needs_figures: true, ..text("hyperfine", "hyperfine's JSON: latencies, each launch a run", hyperfine::write) },
    text("ktap", "test results of the kernel's form: a valid figure passes", ktap::write),
];

/// A text format with figures but not raw batches.
const fn text(name: &'static str, about: &'static str, write: Write) -> Format {
    Format { name, about, detail: Detail::Figures, needs_figures: false, write }
}

pub use hyperfine::write as write_hyperfine;

/// Number of measured entries whose timed batches are missing: the document that they come from was
/// written without `--raw`.
pub fn without_batches(run: &Run) -> usize {
    let lacks =
        |b: &&Benchmark| b.records.is_empty() && b.launches.iter().any(|launch| launch.samples > 0);
    // Another harness has no batches, and neither has a whole command.
    let is_of_yamba = run.producer.harness.is_none();
    let has_batches = |b: &&Benchmark| is_of_yamba && b.details.command.is_none();
    run.benchmarks.iter().filter(has_batches).filter(lacks).count()
}

#[cfg(test)]
mod tests;
