//! A run in the forms that other programs read: one file a format, each a pure function from a run to a stream.
//!
//! A figure that is not valid is in none of them where a good one would stand.

mod csv;
mod figure;
mod go;
mod google;
mod json;
mod parquet;
mod prometheus;
mod table;

use std::io;

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
    /// Whether it is nothing that a terminal could show.
    pub is_binary: bool,
    /// Whether entries without a valid figure are not in it.
    pub leaves_out: bool,
    /// How many entries are not in it because another one before has their name and parameters.
    pub repeated: fn(&Run) -> usize,
    /// Writes a run so.
    pub write: Write,
}

/// Writes a run to a stream.
pub type Write = fn(&Run, &mut (dyn io::Write + Send)) -> io::Result<()>;

/// Every raw interval.
pub const INTERVALS: Format = Format {
    detail: Detail::Intervals,
    ..text(
        "csv-intervals",
        "a table, one line a raw interval",
        |run, out| csv::write(&table::INTERVALS, run, out),
    )
};

/// All of them.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    Format { detail: Detail::Intervals, ..text("json", "the whole document, as `yamba run --json` prints it", json::write) },
    text("csv", "a table, one line an entry", |run, out| csv::write(&table::ENTRIES, run, out)),
    INTERVALS,
    Format { is_binary: true, ..text("parquet", "the table of `csv` for data frames, with types", |run, out| parquet::write(&table::ENTRIES, run, out)) },
    Format { is_binary: true, detail: Detail::Intervals, ..text("parquet-intervals", "the table of `csv-intervals` for data frames, with types", |run, out| parquet::write(&table::INTERVALS, run, out)) },
    Format { detail: Detail::Intervals, ..text("google-benchmark", "Google Benchmark's JSON", google::write) },
    Format { leaves_out: true, ..text("go", "Go's benchmark format, for benchstat", go::write) },
    Format { leaves_out: true, repeated: prometheus::repeated, ..text("prometheus", "Prometheus' text format", prometheus::write) },
];

/// A text of figures, which holds each entry.
const fn text(name: &'static str, about: &'static str, write: Write) -> Format {
    Format {
        name,
        about,
        detail: Detail::Figures,
        is_binary: false,
        leaves_out: false,
        repeated: none,
        write,
    }
}

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
