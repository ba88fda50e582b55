//! The figures of a load, and the model of an access log.

pub mod model;

use yamba_load::drive::Outcome;
use yamba_record::number::{bytes, counted, number};
use yamba_record::{Benchmark, Status};
use yamba_report::{Part, Text, Tone, View, figure, interval, percentiles};
use yamba_session::load::{Measured, error_kinds};

/// Throughput, latencies, counts, and notes.
pub fn view(measured: &Measured) -> View {
    let Measured { run, outcome, rate } = measured;
    let view = View::new("load");
    let [latency, throughput] = &run.benchmarks[..] else {
        return view;
    };
    let seconds = outcome.elapsed_ns as f64 / 1e9;
    let per_second = bytes((outcome.bytes_in_time / seconds) as u64);
    let statuses = outcome.statuses.iter();
    let statuses: Vec<String> =
        statuses.map(|(status, count)| format!("{count} of status {status}")).collect();
    let requests = format!(
        "{} in {seconds:.3} s over {}; {}",
        outcome.sent,
        counted(outcome.connections, "connection", "connections"),
        statuses.join(", ")
    );
    let mut facts = vec![("throughput", marked(throughput)), ("latency", marked(latency))];
    facts.extend(latency.details.distribution.iter().map(|d| ("", percentiles(d).into())));
    facts.extend(offered(outcome, *rate).map(|text| ("offered", text.into())));
    let bodies = format!("{}, {per_second}/s", bytes(outcome.bytes));
    facts.extend(
        [("bodies", bodies), ("requests", requests), ("errors", errors(outcome))]
            .map(|(name, text)| (name, text.into())),
    );
    facts.extend(latency.notes.iter().map(|note| ("", note.to_string().into())));
    view.section("", [Part::facts(facts)])
}

/// The rate of the requests that became due, and the one that was asked for.
fn offered(outcome: &Outcome, asked: Option<f64>) -> Option<String> {
    let rate = outcome.offered?.rate()?;
    let asked = asked.map(|asked| format!(", asked for {}", number(asked)));
    Some(format!("{} requests/s{}", number(rate), asked.unwrap_or_default()))
}

/// A figure with its interval over equal parts of the time.
fn marked(benchmark: &Benchmark) -> Text {
    let mark = match benchmark.status {
        Status::Ok if benchmark.interference.is_disturbed => {
            Text::mark(Tone::Warning, "disturbed") + "  "
        }
        Status::Ok => Text::default(),
        _ => Text::mark(Tone::Bad, "INVALID") + "  ",
    };
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let Some(value) = benchmark.median else {
        return mark + "unknown: most requests have no response";
    };
    let ends = benchmark.confidence_interval;
    let ends = ends.map(|ends| format!(" {}", interval(ends, value, unit)));
    mark + figure(value, unit) + ends.unwrap_or_default()
}

/// `2 timeout, 1 status 503`
fn errors(outcome: &Outcome) -> String {
    let all = error_kinds(outcome);
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
