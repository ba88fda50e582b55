//! Formats the cells of a table.

use yamba_record::number::{number, scale};
use yamba_record::{Benchmark, Run, Status};

/// The figure with `processes` processes, or the reason for its absence.
pub(super) fn cell(run: &Run, processes: u64, figure: fn(&Benchmark) -> Option<String>) -> String {
    let of_these = run.benchmarks.iter().filter(|b| b.processes == processes);
    let cells: Vec<String> = of_these
        .map(|b| match (b.status, figure(b)) {
            (Status::Ok, Some(text)) if b.is_disturbed => {
                format!("{text}{} (disturbed)", spread(b))
            }
            (Status::Ok, Some(text)) => text + &spread(b),
            (Status::Invalid, _) => "invalid".to_owned(),
            (Status::Crashed, _) => "crashed".to_owned(),
            _ => "skipped".to_owned(),
        })
        .collect();
    match cells.is_empty() {
        true => "not measured".to_owned(),
        false => cells.join(", "),
    }
}

/// The latency per process.
pub(super) fn latency(b: &Benchmark) -> Option<String> {
    Some(shown(b.median_of_medians.or(b.median)?, b.unit.as_deref()?))
}

/// The total bandwidth of all processes.
pub(super) fn bandwidth(b: &Benchmark) -> Option<String> {
    b.throughput.as_ref().map(|all| shown(all.sum, &all.unit))
}

/// The total for a bandwidth, the figure per process for anything else.
pub(super) fn either(b: &Benchmark) -> Option<String> {
    match b.figure.as_deref() {
        Some("bandwidth") => bandwidth(b),
        _ => latency(b),
    }
}

/// The greatest distance of a launch's median from the overall median, in percent: the deviation to expect of another launch. Empty for a single launch.
fn spread(b: &Benchmark) -> String {
    let medians: Vec<f64> = b
        .launches
        .iter()
        .filter_map(|launch| launch.median)
        .collect();
    match b.median {
        Some(median) if median > 0.0 && medians.len() > 1 => {
            let farthest = medians
                .iter()
                .map(|m| (m - median).abs())
                .fold(0.0, f64::max);
            format!(" ±{:.0} %", farthest / median * 100.0)
        }
        _ => String::new(),
    }
}

fn shown(value: f64, unit: &str) -> String {
    let (factor, unit) = scale(value, unit);
    format!("{} {unit}", number(value * factor))
}
