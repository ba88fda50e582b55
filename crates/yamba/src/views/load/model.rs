//! A fitted model as tables and plots.

use yamba_load::model::{self, Compared, Log, Model, TookFrom};
use yamba_record::number::{counted, listed, number};
use yamba_report::chart::{Chart, Curve, Point};
use yamba_report::{Part, Section, Table, View, figure};

/// Digits of a distance or p-value.
const DIGITS: usize = 3;

/// The most methods and statuses that are listed.
const MOST_LISTED: usize = 6;

/// The log, each distribution with its fit, and the mix.
pub fn view(log: &Log, model: &Model) -> View {
    let source = &model.source;
    let mut line = format!(
        "{} with GET and HEAD by {} in {} s, for {}",
        counted(source.requests, "request", "requests"),
        counted(source.clients, "client", "clients"),
        number(source.span_s),
        counted(model.popularity.objects(), "object", "objects")
    );
    if source.other_requests > 0 {
        let others = counted(source.other_requests, "request", "requests");
        line += &format!("; {others} with other methods left out of the model");
    }
    let methods = model.mix.methods.iter().map(|(name, count)| (name.clone(), *count));
    let statuses = model.mix.statuses.iter().map(|(status, count)| (status.to_string(), *count));
    let mut facts = vec![("methods", mix(methods)), ("statuses", mix(statuses))];
    facts.extend(log.refusals().map(|refusals| ("left out", refusals)));
    facts.extend(latency(log, model).map(|text| ("latency", text)));
    let facts = facts.into_iter().map(|(name, text)| (name, text.into()));
    View::new("access log")
        .section("", Part::lines([line]))
        .section("", [Part::Table(distributions(model))])
        .section("", [Part::facts(facts)])
}

fn distributions(model: &Model) -> Table {
    let rows = model.goodness.iter().map(|marginal| {
        let rejected = marginal.candidates.iter().filter(|c| !c.passes());
        let rejected: Vec<String> = rejected.map(rejected_family).collect();
        vec![
            marginal.name.clone(),
            marginal.values.to_string(),
            parameters(model, &marginal.name),
            format!("{:.DIGITS$}", marginal.chosen.distance),
            format!("{:.DIGITS$}", marginal.chosen.p_value),
            rejected.join(", "),
        ]
    });
    Table::new(&["distribution", "values", "model", "D", "p", "rejected"], rows)
}

/// A rejected family, and why.
fn rejected_family(compared: &Compared) -> String {
    let family = &compared.family;
    match compared.mean_ratio {
        Some(ratio) if !compared.has_mean_of_log() => {
            format!("{family} (mean {} times that of the log)", number(ratio))
        }
        _ => format!("{family} (D {:.DIGITS$})", compared.distance),
    }
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

/// `GET 99.5 %, POST 0.5 %`
fn mix(counts: impl Iterator<Item = (String, u64)>) -> String {
    let counts: Vec<(String, u64)> = counts.collect();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let share = |(name, count): &(String, u64)| {
        format!("{name} {:.1} %", 100.0 * *count as f64 / all as f64)
    };
    listed(&counts.iter().map(share).collect::<Vec<_>>(), MOST_LISTED)
}

/// Where the latency comes from, and its mean in the log and in the model. `None` without
/// latencies.
fn latency(log: &Log, model: &Model) -> Option<String> {
    let safe = log.entries.iter().filter(|entry| log.is_safe(entry));
    let seconds: Vec<f64> = safe.filter_map(|entry| entry.took_s).collect();
    let from = match log.took_from? {
        TookFrom::Field(field) => field.to_string(),
        TookFrom::SquidElapsed => "the elapsed time, in ms".to_owned(),
    };
    let mean_s = yamba_stats::mean(&seconds)?;
    let step = figure(log.took_step_s * 1e9, "ns");
    // Times are rounded down to a step.
    let mean = if mean_s > 0.0 { figure(mean_s * 1e9, "ns") } else { format!("below {step}") };
    let requests = counted(seconds.len(), "request", "requests");
    let of_model = model.latency_s.as_ref().map(|latency| {
        let mean = figure(latency.mean() * 1e9, "ns");
        format!("; {mean} in the model, which spreads each upwards over a step of {step}")
    });
    Some(format!("mean {mean} of {requests}, from {from}{}", of_model.unwrap_or_default()))
}

/// Each distribution of the log and of the model.
pub fn charts(all: &[model::Curve]) -> Section {
    let points = |points: &[(f64, f64)]| {
        points.iter().map(|(x, y)| Point::new(*x, *y, None)).collect::<Vec<_>>()
    };
    let chart = |curve: &model::Curve| Chart {
        log_y: curve.has_log_y,
        ..Chart::logarithmic(
            curve.name,
            curve.x,
            curve.y,
            vec![Curve::new("log", points(&curve.log)), Curve::new("model", points(&curve.model))],
        )
    };
    Section { title: String::new(), parts: vec![Part::Charts(all.iter().map(chart).collect())] }
}
