//! The tables of a run: columns with their types. Writers of tables do not depend on the columns.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use yamba_record::{Batch, Benchmark, Run};

use super::figure;

/// A table with one row per entry or per raw batch.
pub(super) struct Table {
    pub columns: &'static [Column],
    rows: for<'a> fn(&'a TableEntry<'a>) -> Rows<'a>,
}

type Rows<'a> = Box<dyn Iterator<Item = TableRow<'a>> + 'a>;

pub(super) struct Column {
    pub name: &'static str,
    pub values: Values,
}

/// The type of a column, with the function that gets its value from a row. `None` and non-finite
/// numbers are missing values.
pub(super) enum Values {
    Text(for<'r> fn(&'r TableRow<'_>) -> Option<Cow<'r, str>>),
    Count(fn(&TableRow<'_>) -> Option<u64>),
    Flag(fn(&TableRow<'_>) -> Option<bool>),
    Real(fn(&TableRow<'_>) -> Option<f64>),
}

/// An entry with the texts that all its rows share.
pub(super) struct TableEntry<'a> {
    run: &'a Run,
    benchmark: &'a Benchmark,
    parameters: String,
    status: String,
}

pub(super) struct TableRow<'a> {
    entry: &'a TableEntry<'a>,
    /// The batch of this row, in a table of batches.
    batch: Option<Batch>,
}

impl Table {
    /// All rows in the order of the run.
    pub fn rows<'a>(&self, entries: &'a [TableEntry<'a>]) -> impl Iterator<Item = TableRow<'a>> {
        let rows = self.rows;
        entries.iter().flat_map(rows)
    }
}

/// The entries of a run.
pub(super) fn entries(run: &Run) -> io::Result<Vec<TableEntry<'_>>> {
    run.benchmarks.iter().map(|b| entry(run, b)).collect()
}

fn entry<'a>(run: &'a Run, benchmark: &'a Benchmark) -> io::Result<TableEntry<'a>> {
    Ok(TableEntry {
        run,
        benchmark,
        parameters: serde_json::to_string(&benchmark.parameters)?,
        status: figure::word(&benchmark.status),
    })
}

/// One row per entry. Invalid figures are missing values.
pub(super) const ENTRIES: Table = Table {
    columns: ENTRY_COLUMNS,
    rows: |entry| Box::new(std::iter::once(TableRow { entry, batch: None })),
};

/// One row per raw batch, those excluded from the figure too.
pub(super) const BATCHES: Table = Table {
    columns: BATCH_COLUMNS,
    rows: |entry| {
        let batches = entry.benchmark.records.batches();
        Box::new(batches.into_iter().map(move |batch| TableRow { entry, batch: Some(batch) }))
    },
};

use Values::{Count, Flag, Real, Text};

#[rustfmt::skip]
const ENTRY_COLUMNS: &[Column] = &[
    column("run", Text(|r| Some(cell(&r.entry.run.id)))),
    column("name", Text(|r| Some(cell(&r.entry.benchmark.name)))),
    column("parameters", Text(|r| Some(cell(&r.entry.parameters)))),
    column("processes", Count(|r| Some(r.entry.benchmark.environment.processes))),
    column("threads", Count(|r| Some(r.entry.benchmark.environment.threads))),
    column("status", Text(|r| Some(cell(&r.entry.status)))),
    column("figure", Text(|r| r.entry.benchmark.declaration.figure.as_deref().map(cell))),
    column("unit", Text(|r| r.entry.benchmark.unit.as_deref().map(cell))),
    column("median", Real(|r| r.good())),
    column("low", Real(|r| r.if_good(|b| b.known_ends()[0]))),
    column("high", Real(|r| r.if_good(|b| b.known_ends()[1]))),
    column("interval_scope", Text(|r| r.if_good(|b| b.interval_scope).map(|k| figure::word(&k).into()))),
    column("cycles", Real(|r| Some(r.if_good(|b| b.details.cycles.as_ref())?.median))),
    column("cycles_low", Real(|r| r.cycles_end(0))),
    column("cycles_high", Real(|r| r.cycles_end(1))),
    column("launches", Count(|r| Some(r.launches()))),
    column("discarded", Count(|r| Some(r.entry.benchmark.interference.discarded))),
    column("is_disturbed", Flag(|r| Some(r.entry.benchmark.interference.is_disturbed))),
    column("has_sound_interval", Flag(|r| Some(r.entry.benchmark.has_sound_interval()))),
    column("throughput", Real(|r| Some(r.if_good(|b| b.details.throughput.as_ref())?.sum))),
    column("throughput_unit", Text(|r| Some(cell(&r.if_good(|b| b.details.throughput.as_ref())?.unit)))),
    column("notes", Text(|r| joined(&r.entry.benchmark.notes))),
];

#[rustfmt::skip]
const BATCH_COLUMNS: &[Column] = &[
    column("run", Text(|r| Some(cell(&r.entry.run.id)))),
    column("name", Text(|r| Some(cell(&r.entry.benchmark.name)))),
    column("parameters", Text(|r| Some(cell(&r.entry.parameters)))),
    column("processes", Count(|r| Some(r.entry.benchmark.environment.processes))),
    column("threads", Count(|r| Some(r.entry.benchmark.environment.threads))),
    column("status", Text(|r| Some(cell(&r.entry.status)))),
    column("unit", Text(|r| r.entry.benchmark.unit.as_deref().map(cell))),
    column("launch", Count(|r| Some(r.batch()?.launch))),
    column("process", Count(|r| Some(r.batch()?.process))),
    column("thread", Count(|r| Some(r.batch()?.thread))),
    column("group", Count(|r| r.batch()?.group)),
    column("passes", Count(|r| Some(r.batch()?.passes))),
    column("operations", Count(|r| Some(r.batch()?.operations))),
    column("ns", Real(|r| Some(r.batch()?.ns))),
    column("dummy_ns", Real(|r| Some(r.batch()?.dummy_ns))),
    column("cycle_ns", Real(|r| r.batch()?.cycle_ns)),
    column("dummy_cycle_ns", Real(|r| r.batch()?.dummy_cycle_ns)),
    column("check_cycle_ns", Real(|r| r.batch()?.check_cycle_ns)),
    column("sample", Real(|r| r.batch()?.sample)),
    column("outside", Text(|r| joined(&r.batch()?.outside))),
    column("disturbed", Text(|r| joined(&r.batch()?.disturbed))),
    column("involuntary", Count(|r| Some(r.batch()?.disturbance.involuntary))),
    column("voluntary", Count(|r| Some(r.batch()?.disturbance.voluntary))),
    column("migrations", Count(|r| Some(r.batch()?.disturbance.migrations))),
    column("minor_faults", Count(|r| Some(r.batch()?.disturbance.minor_faults))),
    column("major_faults", Count(|r| Some(r.batch()?.disturbance.major_faults))),
    column("stolen_ns", Real(|r| Some(r.batch()?.disturbance.stolen_ns))),
    column("waited_ns", Real(|r| r.batch()?.disturbance.waited_ns)),
    column("probe_before", Real(|r| r.batch()?.probes.before)),
    column("probe_between", Real(|r| r.batch()?.probes.between)),
    column("probe_after", Real(|r| r.batch()?.probes.after)),
    column("divided_before", Count(|r| Some(r.batch()?.probes.divided_before))),
    column("divided_between", Count(|r| Some(r.batch()?.probes.divided_between))),
    column("divided_after", Count(|r| Some(r.batch()?.probes.divided_after))),
    column("cycle_change_ppm", Real(|r| r.batch()?.probes.cycle_change_ppm)),
    column("dummy_cycle_change_ppm", Real(|r| r.batch()?.probes.dummy_cycle_change_ppm)),
    column("evidence", Text(|r| json(&r.batch()?.evidence))),
    column("counters", Text(|r| json(&r.batch()?.counters))),
];

const fn column(name: &'static str, values: Values) -> Column {
    Column { name, values }
}

impl<'a> TableRow<'a> {
    fn batch(&self) -> Option<&Batch> {
        self.batch.as_ref()
    }

    /// The number of launches with a figure.
    fn launches(&self) -> u64 {
        let launches = self.entry.benchmark.launches.iter();
        launches.filter(|launch| launch.median.is_some()).count() as u64
    }

    fn good(&self) -> Option<f64> {
        figure::good(self.entry.benchmark)
    }

    /// A property of the figure. `None` if the figure is invalid.
    fn if_good<T>(&self, part: impl Fn(&'a Benchmark) -> Option<T>) -> Option<T> {
        self.good().and_then(|_| part(self.entry.benchmark))
    }

    /// The lower (0) or upper (1) end of the interval in cycles; `None` for an open end.
    fn cycles_end(&self, end: usize) -> Option<f64> {
        let ends = self.if_good(|b| b.details.cycles.as_ref())?.confidence_interval;
        Some(self.entry.benchmark.with_open_ends(ends)[end]).filter(|end| end.is_finite())
    }
}

fn cell(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Joins the texts; `None` for an empty list.
fn joined(texts: &[impl ToString]) -> Option<Cow<'_, str>> {
    let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
    (!texts.is_empty()).then(|| texts.join("; ").into())
}

fn json(value: &impl Serialize) -> Option<Cow<'static, str>> {
    serde_json::to_string(value).ok().map(Cow::Owned)
}
