//! The figures of a load. Pure.

use yamba_drive::{Ending, Outcome};
use yamba_record::distribution::{Distribution, Percentile};
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Parameters, Status};
use yamba_stats::{median, median_interval};

/// The classes of the entries: they have no Yamba code.
const LATENCY: &str = "load_latency";
const THROUGHPUT: &str = "load_throughput";

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The percentiles of the latency.
const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A percentile needs this many responses above it.
const ABOVE: f64 = 10.0;

/// Share of the requests that may remain unsent without making the latencies invalid.
const MOST_UNSENT: f64 = 0.01;

/// Share of the latency by which the generator itself may be late without disturbing it.
const MOST_LATE: f64 = 0.1;

/// Two entries: the latency and the number of responses per second. Their samples are those of equal parts of the time.
pub(super) fn benchmarks(outcome: &Outcome, parameters: &Parameters) -> Vec<Benchmark> {
    let windows = &outcome.windows;
    let medians: Vec<f64> = windows.iter().filter_map(|w| w.median_ns).collect();
    let rates: Vec<f64> = windows.iter().map(|w| w.rate).collect();
    let mut latency = entry(
        LATENCY,
        "latency",
        "ns",
        parameters,
        medians,
        outcome.latency_ns.value_at_quantile(0.5) as f64,
    );
    latency.distribution = Some(distribution(outcome));
    let mut throughput = entry(
        THROUGHPUT,
        "value",
        "responses/s",
        parameters,
        rates,
        rate(outcome),
    );
    for each in [&mut latency, &mut throughput] {
        each.notes.extend(ending(outcome));
        each.notes.extend(unsent(outcome));
        each.notes.extend(late(outcome));
        each.notes.extend(errors(outcome));
        each.is_disturbed = is_late(outcome);
        if !is_trustworthy(outcome) {
            each.status = Status::Invalid;
            each.valid = false;
        }
    }
    vec![latency, throughput]
}

fn entry(
    class: &str,
    figure: &str,
    unit: &str,
    parameters: &Parameters,
    samples: Vec<f64>,
    whole: f64,
) -> Benchmark {
    let mut benchmark = Benchmark::ended(class, Status::Ok, Vec::new());
    benchmark.valid = true;
    benchmark.parameters = parameters.clone();
    benchmark.figure = Some(figure.to_owned());
    benchmark.unit = Some(unit.to_owned());
    benchmark.operations = Some(1.0);
    // A load that is shorter than a part has the figure of the whole.
    benchmark.median = median(&samples).or(Some(whole));
    let interval = median_interval(&samples, CONFIDENCE);
    benchmark.confidence_interval = interval.map(|i| [i.low, i.high]);
    benchmark.interval_scope = interval.map(|_| IntervalScope::WithinLaunches);
    benchmark.samples = samples;
    benchmark
}

/// Responses per second over the whole load.
fn rate(outcome: &Outcome) -> f64 {
    outcome.responses_in_time as f64 * 1e9 / outcome.elapsed_ns.max(1) as f64
}

fn distribution(outcome: &Outcome) -> Distribution {
    let latencies = &outcome.latency_ns;
    let above = |percent: f64| latencies.len() as f64 * (100.0 - percent) / 100.0;
    let known = PERCENTS.into_iter().filter(|p| above(*p) >= ABOVE - 1e-6);
    let max_ns = latencies.max() as f64;
    let ns = |percent: f64| (latencies.value_at_quantile(percent / 100.0) as f64).min(max_ns);
    let buckets = latencies.iter_recorded();
    Distribution {
        count: latencies.len(),
        cost_ns: 0.0,
        percentiles: known
            .map(|percent| Percentile {
                percent,
                ns: ns(percent),
                launches: None,
            })
            .collect(),
        max_ns,
        histogram: buckets
            .map(|b| {
                (
                    (b.value_iterated_to() as f64).min(max_ns),
                    b.count_at_value(),
                )
            })
            .collect(),
    }
}

/// Whether the figures describe the server under the load that was asked for.
pub fn is_trustworthy(outcome: &Outcome) -> bool {
    let is_served = matches!(outcome.ending, None | Some(Ending::Stopped));
    is_served && outcome.unsent as f64 <= MOST_UNSENT * due(outcome)
}

fn due(outcome: &Outcome) -> f64 {
    (outcome.sent + outcome.unsent) as f64
}

/// Why a load ended early.
pub fn ending(outcome: &Outcome) -> Option<String> {
    let after = format!("after {:.3} s", outcome.elapsed_ns as f64 / 1e9);
    Some(match outcome.ending.as_ref()? {
        Ending::Stopped => format!("stopped {after}"),
        Ending::Unreachable(why) => {
            format!("{after} the server did not accept a connection: {why}")
        }
        Ending::Stalled => {
            format!("{after} the server no longer answered: no response came within the time limit")
        }
        Ending::Failing(kind) => {
            format!("{after} every request failed for as long as the time limit: {kind}")
        }
    })
}

fn unsent(outcome: &Outcome) -> Option<String> {
    let count = outcome.unsent;
    (count > 0).then(|| {
        format!(
            "{count} of {} requests were due and not sent, since all connections waited for responses: true latencies are longer",
            due(outcome)
        )
    })
}

fn is_late(outcome: &Outcome) -> bool {
    let late = &outcome.late_ns;
    let latency = outcome.latency_ns.value_at_quantile(0.5) as f64;
    !late.is_empty() && late.value_at_quantile(0.5) as f64 > MOST_LATE * latency
}

/// How late the generator was, if that is a part of the latencies.
fn late(outcome: &Outcome) -> Option<String> {
    let at = |share: f64| {
        yamba_record::number::number(outcome.late_ns.value_at_quantile(share) as f64 / 1e3)
    };
    is_late(outcome).then(|| {
        format!(
            "this program sent its requests late, by {} us in the median and {} us at p99, which the latencies include: it needs a processor of its own",
            at(0.5),
            at(0.99)
        )
    })
}

fn errors(outcome: &Outcome) -> Option<String> {
    let each = outcome
        .errors
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("errors of {} requests: {}", outcome.sent, each.join(", ")))
}
