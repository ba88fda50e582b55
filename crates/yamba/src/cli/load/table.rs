//! A fitted model as tables and plots.

use yamba_load::model::{Curve, Log, Model, TookFrom};
use yamba_record::number::number;
use yamba_report::{PlainChart, PlainCurve, curves, figure};

use crate::cli::output;

/// Digits of a distance or p-value.
const DIGITS: usize = 3;

/// The most methods and statuses that are listed.
const MOST_LISTED: usize = 6;

/// The log, each distribution with its fit, and the mix.
pub(super) fn fitted(model: &Model, width: Option<usize>) -> String {
    let source = &model.source;
    let mut text = format!(
        "{} requests with GET and HEAD by {} clients in {} s, for {} objects",
        source.requests,
        source.clients,
        number(source.span_s),
        model.popularity.objects()
    );
    if source.other_requests > 0 {
        text += &format!("; {} with other methods are not in the model", source.other_requests);
    }
    text += "\n\n";
    text += &output::table(&rows(model), width);
    text.push('\n');
    text += &mix("methods", model.mix.methods.iter().map(|(name, count)| (name.clone(), *count)));
    text += &mix(
        "statuses",
        model.mix.statuses.iter().map(|(status, count)| (status.to_string(), *count)),
    );
    text
}

fn rows(model: &Model) -> Vec<Vec<String>> {
    let head = ["distribution", "values", "model", "D", "p", "rejected"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for marginal in &model.goodness {
        let rejected = marginal.candidates.iter().filter(|c| !c.passes());
        let rejected: Vec<String> =
            rejected.map(|c| format!("{} (D {:.DIGITS$})", c.family, c.distance)).collect();
        rows.push(vec![
            marginal.name.clone(),
            marginal.values.to_string(),
            parameters(model, &marginal.name),
            format!("{:.DIGITS$}", marginal.chosen.distance),
            format!("{:.DIGITS$}", marginal.chosen.p_value),
            rejected.join(", "),
        ]);
    }
    rows
}

/// The chosen distribution of a marginal as text.
fn parameters(model: &Model, name: &str) -> String {
    let text = match name {
        "popularity" => Some(model.popularity.text()),
        "locality" => Some(model.locality.text()),
        "sizes" => Some(model.sizes.text()),
        "arrivals" => Some(model.arrivals_s.text()),
        "session requests" => Some(model.sessions.requests.text()),
        "think times" => model.sessions.think_s.as_ref().map(|d| d.text()),
        _ => model.latency_s.as_ref().map(|d| d.text()),
    };
    text.unwrap_or_default()
}

/// `methods   GET 99.5 %, POST 0.5 %`
fn mix(what: &str, counts: impl Iterator<Item = (String, u64)>) -> String {
    let counts: Vec<(String, u64)> = counts.collect();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let share = |(name, count): &(String, u64)| {
        format!("{name} {:.1} %", 100.0 * *count as f64 / all as f64)
    };
    let each: Vec<String> = counts.iter().map(share).collect();
    format!("{what:8}  {}\n", output::listed(&each, MOST_LISTED))
}

/// Where the latency comes from, and its mean in the log. Empty without latencies.
pub(super) fn latency(log: &Log) -> String {
    let safe = log.entries.iter().filter(|entry| log.is_safe(entry));
    let seconds: Vec<f64> = safe.filter_map(|entry| entry.took_s).collect();
    let Some((from, mean_s)) = log.took_from.zip(yamba_stats::mean(&seconds)) else {
        return String::new();
    };
    let from = match from {
        TookFrom::Field(field) => field.to_string(),
        TookFrom::SquidElapsed => "the elapsed time, in ms".to_owned(),
    };
    format!(
        "latency   mean {} of {} requests, from {from}\n",
        figure(mean_s * 1e9, "ns"),
        seconds.len()
    )
}

/// Each distribution of the log and of the model.
pub(super) fn plots(all: &[Curve], width: usize) -> String {
    let plot = |curve: &Curve| {
        let named = [("log", &curve.log), ("model", &curve.model)];
        let named = named.map(|(name, points)| PlainCurve { name, points });
        let chart = PlainChart {
            name: curve.name,
            x: curve.x,
            y: curve.y,
            has_log_y: curve.has_log_y,
            curves: &named,
        };
        curves(&chart, width)
    };
    all.iter().map(plot).collect::<Vec<_>>().join("\n")
}
