//! Tables for spreadsheets and data frames: RFC 4180, with a line of headings.
//!
//! Texts that a spreadsheet would take for a formula get an apostrophe in front, its own mark of a text. Numbers never do. Control characters but tabs and line ends, which would act on a terminal, are spaces.

use std::io::{self, Write};

use serde::Serialize;
use yamba_record::{Benchmark, Interval, Run};

use super::figure;

/// One line an entry.
pub(super) fn entries(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out);
    let headings = [
        "run",
        "name",
        "parameters",
        "processes",
        "status",
        "figure",
        "unit",
        "median",
        "low",
        "high",
        "interval_kind",
        "cycles",
        "cycles_low",
        "cycles_high",
        "launches",
        "set_aside",
        "is_disturbed",
        "throughput",
        "throughput_unit",
        "notes",
    ];
    table.write_record(headings)?;
    for entry in &run.benchmarks {
        let good = figure::good(entry);
        let interval = good.and(entry.interval);
        let cycles = good.and(entry.cycles);
        let throughput = good.and(entry.throughput.as_ref());
        table.write_record([
            text(&run.id),
            text(&entry.name),
            text(&json(&entry.parameters)?),
            entry.processes.to_string(),
            word(&entry.status)?,
            text(entry.figure.as_deref().unwrap_or_default()),
            text(entry.unit.as_deref().unwrap_or_default()),
            number(good),
            number(interval.map(|i| i[0])),
            number(interval.map(|i| i[1])),
            word(&good.and(entry.interval_kind))?,
            number(cycles.map(|c| c.median)),
            number(cycles.map(|c| c.interval[0])),
            number(cycles.map(|c| c.interval[1])),
            entry.launches.len().to_string(),
            entry.set_aside.to_string(),
            entry.is_disturbed.to_string(),
            number(throughput.map(|t| t.sum)),
            text(throughput.map_or("", |t| &t.unit)),
            text(&entry.notes.join("; ")),
        ])?;
    }
    table.flush()
}

/// One line a raw interval, also those that the figure leaves out.
pub(super) fn intervals(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out);
    let headings = [
        "run",
        "name",
        "parameters",
        "processes",
        "status",
        "unit",
        "launch",
        "process",
        "group",
        "passes",
        "operations",
        "ns",
        "dummy_ns",
        "cycle_ns",
        "dummy_cycle_ns",
        "check_cycle_ns",
        "sample",
        "outside",
        "disturbed",
        "involuntary",
        "voluntary",
        "migrations",
        "minor_faults",
        "major_faults",
        "stolen_ns",
        "waited_ns",
        "evidence",
        "counters",
    ];
    table.write_record(headings)?;
    for entry in &run.benchmarks {
        let of_entry = cells_of_entry(run, entry)?;
        for interval in &entry.intervals {
            table.write_record(of_entry.iter().chain(&cells_of_interval(interval)?))?;
        }
    }
    table.flush()
}

fn cells_of_entry(run: &Run, entry: &Benchmark) -> io::Result<Vec<String>> {
    Ok(vec![
        text(&run.id),
        text(&entry.name),
        text(&json(&entry.parameters)?),
        entry.processes.to_string(),
        word(&entry.status)?,
        text(entry.unit.as_deref().unwrap_or_default()),
    ])
}

fn cells_of_interval(interval: &Interval) -> io::Result<Vec<String>> {
    let disturbance = &interval.disturbance;
    Ok(vec![
        interval.launch.to_string(),
        interval.process.to_string(),
        interval.group.map(|g| g.to_string()).unwrap_or_default(),
        interval.passes.to_string(),
        interval.operations.to_string(),
        number(Some(interval.ns)),
        number(Some(interval.dummy_ns)),
        number(interval.cycle_ns),
        number(interval.dummy_cycle_ns),
        number(interval.check_cycle_ns),
        number(interval.sample),
        text(&interval.outside.join("; ")),
        text(&interval.disturbed.join("; ")),
        disturbance.involuntary.to_string(),
        disturbance.voluntary.to_string(),
        disturbance.migrations.to_string(),
        disturbance.minor_faults.to_string(),
        disturbance.major_faults.to_string(),
        number(Some(disturbance.stolen_ns)),
        number(disturbance.waited_ns),
        text(&json(&interval.evidence)?),
        text(&json(&interval.counters)?),
    ])
}

fn table(out: &mut dyn Write) -> csv::Writer<&mut dyn Write> {
    csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out)
}

/// Empty where there is none.
fn number(value: Option<f64>) -> String {
    let finite = value.filter(|v| v.is_finite());
    finite.map(|v| v.to_string()).unwrap_or_default()
}

fn text(text: &str) -> String {
    let acts = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    let mark = match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => "'",
        false => "",
    };
    format!("{mark}{}", text.replace(acts, " "))
}

fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// A name of the record's own, such as `invalid`; empty where there is none.
fn word(value: &impl Serialize) -> io::Result<String> {
    let value = serde_json::to_value(value)?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}
