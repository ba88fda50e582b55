//! The distributions of a log and of its model as curves to compare by eye.

use yamba_stats::sorted;

use crate::model::document::Model;

/// The most points of a curve.
const MOST_POINTS: usize = 40;

/// A distribution of the log and of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name of the distribution.
    pub name: &'static str,
    /// The x axis: the unit of the values.
    pub x: &'static str,
    /// The y axis.
    pub y: &'static str,
    /// Whether the y axis is to be logarithmic.
    pub has_log_y: bool,
    /// Points of the log.
    pub log: Vec<(f64, f64)>,
    /// Points of the model.
    pub model: Vec<(f64, f64)>,
}

/// The curves of each named list of values. Those of popularity are counts by rank.
pub(crate) fn curves(model: &Model, values: &[(&'static str, Vec<f64>)]) -> Vec<Curve> {
    let mut all = Vec::new();
    for (name, values) in values.iter().filter(|(_, values)| values.len() > 1) {
        all.extend(match *name {
            "popularity" => Some(popularity(model, values)),
            "sizes" => sizes(model, values),
            "arrivals" => Some(continuous(name, "s", values, |x| model.arrivals_s.cdf(x))),
            "session requests" => Some(continuous(name, "requests", values, |x| {
                model.sessions.requests.cdf(x as u64)
            })),
            "think times" => model
                .sessions
                .think_s
                .as_ref()
                .map(|think| continuous(name, "s", values, |x| think.cdf(x))),
            _ => model
                .latency_s
                .as_ref()
                .map(|latency| continuous(name, "s", values, |x| latency.cdf(x))),
        });
    }
    all
}

/// Whole numbers at equal ratios from 1 to `most`.
fn spaced(most: usize) -> Vec<usize> {
    let step = (most as f64).powf(1.0 / (MOST_POINTS - 1) as f64);
    let mut ranks: Vec<usize> =
        (0..MOST_POINTS).map(|i| step.powi(i as i32).round() as usize).collect();
    ranks.dedup();
    ranks
}

fn popularity(model: &Model, counts: &[f64]) -> Curve {
    let all: f64 = counts.iter().sum();
    let cumulative = model.popularity.cumulative();
    let share =
        |rank: usize| cumulative[rank - 1] - if rank > 1 { cumulative[rank - 2] } else { 0.0 };
    let ranks = spaced(counts.len().min(cumulative.len()));
    Curve {
        name: "popularity",
        x: "rank",
        y: "share of the requests",
        has_log_y: true,
        log: ranks.iter().map(|r| (*r as f64, counts[r - 1] / all)).collect(),
        model: ranks.iter().map(|r| (*r as f64, share(*r))).collect(),
    }
}

fn sizes(model: &Model, bytes: &[f64]) -> Option<Curve> {
    let positive: Vec<f64> = bytes.iter().copied().filter(|b| *b > 0.0).collect();
    if positive.len() < 2 {
        return None;
    }
    let kept = sorted(&positive);
    Some(continuous("sizes", "bytes", &positive, |x| match &model.sizes {
        crate::model::sizes::Sizes::LognormalPareto(fitted) => fitted.cdf(x),
        crate::model::sizes::Sizes::Empirical { .. } => share_up_to(&kept, x),
    }))
}

fn share_up_to(sorted: &[f64], x: f64) -> f64 {
    sorted.partition_point(|v| *v <= x) as f64 / sorted.len() as f64
}

/// The share of the values up to each of some quantiles of the log.
fn continuous(
    name: &'static str,
    x: &'static str,
    values: &[f64],
    cdf: impl Fn(f64) -> f64,
) -> Curve {
    let sorted = sorted(values);
    let last = sorted.len() - 1;
    let mut at: Vec<f64> = (0..MOST_POINTS).map(|i| sorted[i * last / (MOST_POINTS - 1)]).collect();
    at.dedup();
    at.retain(|x| *x > 0.0);
    Curve {
        name,
        x,
        y: "share up to it",
        has_log_y: false,
        log: at.iter().map(|x| (*x, share_up_to(&sorted, *x))).collect(),
        model: at.iter().map(|x| (*x, cdf(*x))).collect(),
    }
}
