//! The facts of the runs, folded at the end of the page: machine, time, command and outcome.

use chrono::DateTime;
use maud::{Markup, html as markup};
use yamba_record::Run;
use yamba_record::machine::Details;
use yamba_record::number::{bytes, counted, number};
use yamba_record::run::Status;

use super::head::label;
use super::timeline::timelines;
use crate::place::command_line;

/// A fact of a run: name, and function that returns the value if the document has it.
type Fact = (&'static str, fn(&Run) -> Option<String>);

const FACTS: [Fact; 19] = [
    ("Processor", |r| r.machine.cpu.clone()),
    ("Instruction set", |r| known(&r.machine.isa)),
    ("Processors", |r| (r.machine.cpus > 0).then(|| r.machine.cpus.to_string())),
    ("Caches", |r| caches(r.machine.details.as_deref()?)),
    ("Sizes of buffers", |r| is_own(r).then(|| source_of_sizes(r))),
    ("Memory", |r| r.machine.memory.map(bytes)),
    ("System", |r| known(format!("{} {}", r.machine.system, r.machine.kernel).trim())),
    ("Page", |r| (r.machine.page_size > 0).then(|| bytes(r.machine.page_size))),
    ("Virtual machine", |r| r.machine.virtual_machine.map(|v| yes_or_no(v).to_owned())),
    ("As root", |r| is_own(r).then(|| yes_or_no(r.machine.root).to_owned())),
    ("Started", |r| r.started_unix_s.and_then(moment)),
    ("Took", |r| Some(format!("{} s", number(r.finished_unix_s? - r.started_unix_s?)))),
    ("Tags", |r| known(&r.tags.join(", "))),
    ("Measured by", |r| known(&r.producer.version)),
    ("Command", |r| {
        let words = r.producer.arguments.iter().map(String::as_str);
        known(&command_line(words)).map(|command| format!("yamba {command}"))
    }),
    ("Compiler", |r| r.producer.compiler.clone()),
    ("Imported", |run| run.whose()),
    ("Plan", |r| is_own(r).then(|| plan(r))),
    ("Disturbances", |r| {
        let all = &r.machine.details.as_deref()?.disturbances;
        let texts: Vec<&str> = all.iter().map(|d| d.text.as_str()).collect();
        known(&texts.join("; "))
    }),
];

/// A text unless it is empty.
fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether Yamba measured the run. An imported run has neither plan nor privileges.
pub fn is_own(run: &Run) -> bool {
    run.producer.imported.is_none()
}

/// Why a run of Yamba lacks figures that it was to measure. `None` if it was measured to its end.
pub fn unfinished(run: &Run) -> Option<&'static str> {
    let has_no_end = run.started_unix_s.is_some() && run.finished_unix_s.is_none();
    if run.interrupted {
        Some("The run was stopped before it was done.")
    } else if has_no_end && is_own(run) {
        Some("The run has no end: it was cut off, or was still measured when this was written.")
    } else {
        None
    }
}

/// The folded table of facts, with one column per run.
pub fn section(runs: &[Run]) -> Markup {
    let title = if runs.len() == 1 { "Machine and run" } else { "Machines and runs" };
    markup! {
        section aria-labelledby="facts" {
            details.folded {
                summary { h2 #facts { (title) } }
                div.wide role="region" aria-label="Facts" tabindex="0" {
                    table.facts {
                        caption { "Machine, time and command of each run" }
                        thead { tr {
                            th scope="col" { "Fact" }
                            @for number in 0..runs.len() {
                                th scope="col" { @if runs.len() == 1 { "Run" } @else { (label(runs, number)) } }
                            }
                        } }
                        tbody {
                            (line("Run", runs, |r| known(&r.id)))
                            (line("Sums", runs, |r| Some(sums(r))))
                            @for (name, value) in FACTS { (line(name, runs, value)) }
                        }
                    }
                }
                (timelines(runs))
            }
        }
    }
}

fn line(name: &str, runs: &[Run], value: impl Fn(&Run) -> Option<String>) -> Markup {
    let values: Vec<Option<String>> = runs.iter().map(value).collect();
    markup! {
        @if values.iter().any(Option::is_some) {
            tr {
                th scope="row" { (name) }
                @for value in &values { td { (value.as_deref().unwrap_or("unknown")) } }
            }
        }
    }
}

/// The number of entries by status: `321 valid, 1 invalid, 11 skipped`
fn sums(run: &Run) -> String {
    let count = |status: Status| run.benchmarks.iter().filter(|b| b.status == status).count();
    let (valid, invalid) = (count(Status::Ok), count(Status::Invalid));
    let skipped = run.benchmarks.iter().filter(|b| b.status.is_skipped()).count();
    let mut text = format!("{valid} valid, {invalid} invalid, {skipped} skipped");
    if count(Status::Crashed) > 0 {
        text += &format!(", {} crashed", count(Status::Crashed));
    }
    if unfinished(run).is_some() {
        text += ", not measured to its end";
    }
    text
}

fn caches(details: &Details) -> Option<String> {
    let caches = details.caches.iter();
    let caches =
        caches.filter_map(|c| Some(format!("level {} {} {}", c.level, c.kind, bytes(c.bytes?))));
    known(&caches.collect::<Vec<_>>().join(", "))
}

/// From which caches the default sizes of buffers come.
fn source_of_sizes(run: &Run) -> String {
    let found = run.machine.hardware.iter().filter_map(|kept| {
        let size = bytes(kept.parameter.found? as u64);
        Some(format!("{} {size}", kept.parameter.name))
    });
    let found: Vec<String> = found.collect();
    match &found[..] {
        [] => "from the claimed caches: `yamba hardware` had found none".to_owned(),
        found => format!("from {}, as `yamba hardware` found them", found.join(", ")),
    }
}

fn plan(run: &Run) -> String {
    let plan = &run.plan;
    let (what, time) = match plan.benchmark_time_ns {
        Some(time) => ("benchmark", time),
        None => ("point", plan.time_ns),
    };
    let launches = match plan.launches {
        1 => "1 launch".to_owned(),
        n => format!("{n} launches"),
    };
    format!(
        "{launches} of at least {}, {} s a {what}, {}{}{}, seed {}",
        counted(plan.batches, "batch", "batches"),
        number(time as f64 / 1e9),
        plan.placement,
        if plan.realtime { ", real-time" } else { "" },
        if plan.counts_neighbours { ", batches beside neighbours count" } else { "" },
        plan.seed
    )
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// A point in time, in UTC.
pub fn moment(unix_s: f64) -> Option<String> {
    let moment = DateTime::from_timestamp(unix_s as i64, 0)?;
    Some(moment.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}
