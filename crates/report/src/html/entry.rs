//! Details of a figure: launches, samples, evidence, notes, and the commands that show the raw
//! batches.

use maud::{Markup, html as markup};
use yamba_record::number::{number, scale};
use yamba_record::{Benchmark, Evidence, Run};

use super::head::label;
use super::histogram::histogram;
use super::rows::PointRow;
use crate::number::percentiles;
use crate::place::{RunLocation, command_line};

/// Folded details of a row's entries in all runs.
pub fn details(runs: &[Run], places: &[RunLocation], row: &PointRow) -> Markup {
    markup! {
        details id={ "entry-" (row.place) } {
            summary { "Details of " (row.name) @if !row.settings.is_empty() { " " (row.point()) } }
            @for (number, entry) in row.entries.iter().enumerate() {
                @if let Some(benchmark) = entry {
                    div.behind {
                        @if runs.len() > 1 { h3 { (label(runs, number)) } }
                        (behind(&runs[number], &place(places, number), row, benchmark))
                    }
                }
            }
        }
    }
}

/// The place of a run.
pub fn place(places: &[RunLocation], number: usize) -> RunLocation {
    places.get(number).cloned().unwrap_or_default()
}

fn behind(run: &Run, place: &RunLocation, row: &PointRow, benchmark: &Benchmark) -> Markup {
    let about = benchmark.declaration.provenance.summary.as_deref();
    markup! {
        @if let Some(summary) = about { p { (summary) } }
        @if !benchmark.parameters.0.is_empty() { p { "Parameters: " code { (benchmark.parameters) } } }
        @if let Some(cycles) = benchmark.details.cycles { p { "Cycles: " (number(cycles.median)) "." } }
        @if let Some(distribution) = &benchmark.details.distribution { p { (percentiles(distribution)) "." } }
        (launches(benchmark))
        (disturbed(benchmark))
        (histogram(benchmark))
        (evidence(benchmark))
        (notes(benchmark))
        (trace(run, place, row, benchmark))
    }
}

fn launches(benchmark: &Benchmark) -> Markup {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (factor, unit) = scale(benchmark.median.unwrap_or_default(), unit);
    let medians = benchmark.launches.iter().map(|l| l.median);
    let medians: Vec<String> =
        medians.map(|m| m.map_or("none".to_owned(), |m| number(m * factor))).collect();
    markup! {
        @if !medians.is_empty() {
            p { "Medians of the launches, in " (unit) ", in the order in which they ran: " (medians.join(", ")) "." }
        }
    }
}

fn disturbed(benchmark: &Benchmark) -> Markup {
    let seen = benchmark.interference.disturbed.iter();
    let seen: Vec<String> = seen.map(|(what, n)| format!("{what} in {n}")).collect();
    markup! {
        @if !seen.is_empty() {
            p { "Batches disturbed by: " (seen.join(", ")) ". Discarded: " (benchmark.interference.discarded) "." }
        }
    }
}

fn evidence(benchmark: &Benchmark) -> Markup {
    let side = |value: Option<f64>| value.map_or("open".to_owned(), number);
    let shown = |value: Option<f64>| value.map_or("none".to_owned(), number);
    markup! {
        @if !benchmark.details.evidence.is_empty() {
            table {
                caption { "Evidence over all batches" }
                tr { @for name in ["Evidence", "Median", "Range", "Expected", "Batches outside"] { th { (name) } } }
                @for (name, e) in &benchmark.details.evidence {
                    tr {
                        th { (name) }
                        td { (shown(e.median)) }
                        td { (range(e)) }
                        td { @match e.expects { Some([low, high]) => { (side(low)) " to " (side(high)) }, None => { "recorded only" } } }
                        td.outside[e.outside > 0] { (e.outside) }
                    }
                }
            }
        }
    }
}

fn range(evidence: &Evidence) -> String {
    let Some((least, most)) = evidence.min.zip(evidence.max) else {
        return "none".to_owned();
    };
    let [least, most] = [least, most].map(number);
    if least == most { least } else { format!("{least} to {most}") }
}

/// The notes of an entry, reasons of an invalid figure first.
pub fn notes(benchmark: &Benchmark) -> Markup {
    markup! {
        @if !benchmark.notes.is_empty() {
            ul.notes { @for note in &benchmark.notes { li { (note.to_string()) } } }
        }
    }
}

/// The commands that show the raw batches and the source. The row's settings select this point.
fn trace(run: &Run, place: &RunLocation, row: &PointRow, benchmark: &Benchmark) -> Markup {
    let reference = place.run(run);
    let name = benchmark.name.as_str();
    // A name that begins with a dash is not an option, because it follows `--`.
    let mut raw = vec!["yamba", "show", "--raw"];
    for setting in &row.settings {
        raw.extend(["--at", setting]);
    }
    raw.extend(place.store());
    raw.extend(["--", reference, name]);
    let named = format!("--source={name}");
    let source = [&["yamba", "show"], &place.store()[..], &[reference, &named]].concat();
    let has_source = !benchmark.declaration.provenance.files.is_empty();
    let of_source = if run.producer.imported.is_some() { "Its results: " } else { "Its source: " };
    markup! {
        p {
            @match place.without_batches(run, benchmark) {
                Some(reason) => { "There is no raw batch: " (reason) "." },
                None => { "Every raw batch: " code { (command_line(raw)) } },
            }
            @if has_source || run.producer.imported.is_some() { br; (of_source) code { (command_line(source)) } }
        }
    }
}
