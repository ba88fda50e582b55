//! The figures of a load as text.

use yamba_load::drive::Outcome;
use yamba_record::number::bytes;
use yamba_record::{Benchmark, Status};
use yamba_report::{figure, interval, percentiles};
use yamba_session::load::Measured;

use crate::cli::output;

/// Throughput, latencies, counts, and notes.
pub(super) fn report(measured: &Measured, colour: bool) -> String {
    let Measured { run, outcome } = measured;
    let mut out = String::new();
    let [latency, throughput] = &run.benchmarks[..] else {
        return out;
    };
    let seconds = outcome.elapsed_ns as f64 / 1e9;
    line(&mut out, "throughput", &marked(throughput, colour));
    line(&mut out, "latency", &marked(latency, colour));
    if let Some(distribution) = &latency.distribution {
        line(&mut out, "", &percentiles(distribution));
    }
    let per_second = bytes((outcome.bytes as f64 / seconds) as u64);
    line(&mut out, "bodies", &format!("{}, {per_second}/s", bytes(outcome.bytes)));
    let statuses =
        outcome.statuses.iter().map(|(status, count)| format!("{count} of status {status}"));
    let statuses: Vec<String> = statuses.collect();
    let counted = format!(
        "{} in {seconds:.3} s over {} connections; {}",
        outcome.sent,
        outcome.connections,
        statuses.join(", ")
    );
    line(&mut out, "requests", &counted);
    line(&mut out, "errors", &errors(&measured.outcome));
    for note in &latency.notes {
        line(&mut out, "", &note.to_string());
    }
    out
}

fn line(out: &mut String, name: &str, text: &str) {
    out.push_str(&format!("{name:10}  {text}\n"));
}

/// A figure with its interval over equal parts of the time.
fn marked(benchmark: &Benchmark, colour: bool) -> String {
    let mark = match benchmark.status {
        Status::Ok if benchmark.is_disturbed => output::painted("disturbed", "33", colour) + "  ",
        Status::Ok => String::new(),
        _ => output::painted("INVALID", "1;31", colour) + "  ",
    };
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let value = benchmark.median.unwrap_or_default();
    let ends =
        benchmark.confidence_interval.map(|ends| format!(" {}", interval(ends, value, unit)));
    format!("{mark}{}{}", figure(value, unit), ends.unwrap_or_default())
}

/// `2 timeout, 1 status 503`
fn errors(outcome: &Outcome) -> String {
    let each = outcome.errors.iter().map(|(kind, count)| format!("{count} {kind}"));
    let unanswered =
        (outcome.unanswered > 0).then(|| format!("{} unanswered at the end", outcome.unanswered));
    let all: Vec<String> = each.chain(unanswered).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
