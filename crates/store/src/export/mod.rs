//! A run in the forms that other programs read: one file a format, each a pure function from a run to a stream.
//!
//! A figure that is not valid is in none of them where a good one would stand.

mod csv;
mod figure;
mod go;
mod google;
mod json;
mod prometheus;

use std::io::{self, Write};

use yamba_record::Run;

use crate::Detail;

/// A form of a run.
pub struct Format {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Who reads it.
    pub about: &'static str,
    /// What of a run it holds.
    pub detail: Detail,
    /// Whether entries without a valid figure are not in it.
    pub leaves_out: bool,
    /// How many entries are not in it because another one before has their name and parameters.
    pub repeated: fn(&Run) -> usize,
    /// Writes a run so.
    pub write: fn(&Run, &mut dyn Write) -> io::Result<()>,
}

/// Every raw interval.
pub const INTERVALS: Format = Format {
    name: "csv-intervals",
    about: "a table, one line a raw interval",
    detail: Detail::Intervals,
    leaves_out: false,
    repeated: none,
    write: csv::intervals,
};

/// All of them.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    Format { name: "json", about: "the whole document, as `yamba run --json` prints it", detail: Detail::Intervals, leaves_out: false, repeated: none, write: json::write },
    Format { name: "csv", about: "a table, one line an entry", detail: Detail::Figures, leaves_out: false, repeated: none, write: csv::entries },
    INTERVALS,
    Format { name: "google-benchmark", about: "Google Benchmark's JSON", detail: Detail::Figures, leaves_out: false, repeated: none, write: google::write },
    Format { name: "go", about: "Go's benchmark format, for benchstat", detail: Detail::Figures, leaves_out: true, repeated: none, write: go::write },
    Format { name: "prometheus", about: "Prometheus' text format", detail: Detail::Figures, leaves_out: true, repeated: prometheus::repeated, write: prometheus::write },
];

fn none(_: &Run) -> usize {
    0
}

/// How many entries of a run have no valid figure.
pub fn without_figure(run: &Run) -> usize {
    let lacks = |b: &&yamba_record::Benchmark| figure::good(b).is_none();
    run.benchmarks.iter().filter(lacks).count()
}

#[cfg(test)]
mod tests;
