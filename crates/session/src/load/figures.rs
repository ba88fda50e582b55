//! The figures of a load. Pure.

use yamba_load::drive::{Ending, Outcome};
use yamba_record::distribution::{Distribution, Percentile};
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Note, Parameters, Status};
use yamba_stats::{mean_t_interval, median_interval};

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

/// Share of the responses that may be unsuccessful beyond the share of the log.
const MOST_UNSUCCESSFUL: f64 = 0.1;

/// Share of the latency by which the generator itself may be late without disturbing it.
const MOST_LATE: f64 = 0.1;

/// Two entries: the latency and the number of responses per second, both over the whole load. Their
/// samples are those of equal parts of the time; only the intervals come from them.
/// `unsuccessful` is the share of requests without success in the log.
pub(super) fn benchmarks(
    outcome: &Outcome,
    parameters: &Parameters,
    unsuccessful: f64,
) -> Vec<Benchmark> {
    let mut latency = latency(outcome, parameters);
    let mut throughput = throughput(outcome, parameters);
    for each in [&mut latency, &mut throughput] {
        let notes = ending(outcome).into_iter().chain(unsent(outcome));
        let notes = notes.chain(other_responses(outcome, unsuccessful)).chain(late(outcome));
        each.notes = notes.chain(errors(outcome)).map(Note::Text).collect();
        each.interference.is_disturbed = is_late(outcome);
        if !is_trustworthy(outcome) || other_responses(outcome, unsuccessful).is_some() {
            each.status = Status::Invalid;
            each.valid = false;
        }
    }
    vec![latency, throughput]
}

/// The median latency.
fn latency(outcome: &Outcome, parameters: &Parameters) -> Benchmark {
    let value = outcome.latency_ns.value_at_quantile(0.5) as f64;
    let medians: Vec<f64> = outcome.windows.iter().filter_map(|w| w.median_ns).collect();
    // The parts weigh the same, however many responses they have, so their interval may miss the
    // median of all responses.
    let interval = median_interval(&medians, CONFIDENCE);
    let ends = interval.map(|i| [i.low.min(value), i.high.max(value)]);
    let mut entry = entry(LATENCY, "latency", "ns", parameters, medians, value, ends);
    entry.details.distribution = Some(distribution(outcome));
    entry
}

/// Responses over time.
fn throughput(outcome: &Outcome, parameters: &Parameters) -> Benchmark {
    let value = outcome.responses_in_time * 1e9 / outcome.elapsed_ns.max(1) as f64;
    let rates: Vec<f64> = outcome.windows.iter().map(|w| w.rate).collect();
    // The parts are whole, the load may end within one: their interval is centred at the figure.
    let ends = mean_t_interval(&rates, CONFIDENCE).map(|i| {
        let half = i.high - i.mean;
        [(value - half).max(0.0), value + half]
    });
    entry(THROUGHPUT, "value", "responses/s", parameters, rates, value, ends)
}

fn entry(
    class: &str,
    figure: &str,
    unit: &str,
    parameters: &Parameters,
    samples: Vec<f64>,
    value: f64,
    interval: Option<[f64; 2]>,
) -> Benchmark {
    let mut benchmark = Benchmark::ended(class, Status::Ok, Vec::new());
    benchmark.valid = true;
    benchmark.parameters = parameters.clone();
    benchmark.declaration.figure = Some(figure.to_owned());
    benchmark.unit = Some(unit.to_owned());
    benchmark.details.operations = Some(1.0);
    benchmark.median = Some(value);
    benchmark.confidence_interval = interval;
    benchmark.interval_scope = interval.map(|_| IntervalScope::WithinLaunches);
    benchmark.details.samples = samples;
    benchmark
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
            .map(|percent| Percentile { percent, ns: ns(percent), launches: None })
            .collect(),
        max_ns,
        histogram: buckets
            .map(|b| ((b.value_iterated_to() as f64).min(max_ns), b.count_at_value()))
            .collect(),
    }
}

/// Whether the server answered to its end, and all requests were sent.
fn is_trustworthy(outcome: &Outcome) -> bool {
    let is_served = matches!(outcome.ending, None | Some(Ending::Stopped));
    is_served && outcome.unsent as f64 <= MOST_UNSENT * due(outcome)
}

fn due(outcome: &Outcome) -> f64 {
    (outcome.sent + outcome.unsent) as f64
}

/// Whether a response has what the request asks for: success, or that the client's copy is still
/// right.
pub fn is_success(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Says that the server answered otherwise than in the log, where this share of the requests had no
/// success.
fn other_responses(outcome: &Outcome, unsuccessful: f64) -> Option<String> {
    let failed: u64 = outcome
        .statuses
        .iter()
        .filter(|(status, _)| !is_success(**status))
        .map(|(_, count)| count)
        .sum();
    let share = failed as f64 / outcome.responses.max(1) as f64;
    (share > unsuccessful + MOST_UNSUCCESSFUL).then(|| {
        format!(
            "{failed} of {} responses have no status of success, {:.1} % instead of {:.1} % in the log: the server sent other responses than those of the log. \
             Check the URL, its path, and --host",
            outcome.responses,
            100.0 * share,
            100.0 * unsuccessful
        )
    })
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
    let each = outcome.errors.iter().map(|(kind, count)| format!("{count} {kind}"));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("errors of {} requests: {}", outcome.sent, each.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hdrhistogram::Histogram;
    use yamba_load::drive::Window;

    use super::*;

    /// A load of 10 s with these numbers of responses in its parts of half a second.
    fn outcome(counts: [u64; 20], status: u16) -> Outcome {
        let responses = counts.iter().sum();
        let mut latency_ns = Histogram::new(3).unwrap();
        latency_ns.record_n(1_000_000, responses).unwrap();
        let window = |count: &u64| Window {
            rate: *count as f64 / 0.5,
            median_ns: (*count > 0).then_some(1e6),
        };
        Outcome {
            elapsed_ns: 10_000_000_000,
            sent: responses,
            responses,
            responses_in_time: responses as f64,
            bytes: 0,
            statuses: BTreeMap::from([(status, responses)]),
            errors: BTreeMap::new(),
            connections: 1,
            unsent: 0,
            unanswered: 0,
            latency_ns,
            late_ns: Histogram::new(3).unwrap(),
            windows: counts.iter().map(window).collect(),
            window_ns: 500_000_000,
            ending: None,
        }
    }

    fn throughput_of(outcome: &Outcome) -> (f64, [f64; 2]) {
        let throughput = &benchmarks(outcome, &Parameters::default(), 0.0)[1];
        (throughput.median.unwrap(), throughput.confidence_interval.unwrap())
    }

    /// Most parts of a load on a slow server have no response.
    #[test]
    fn throughput_of_a_slow_server_is_responses_over_time() {
        let mut counts = [0; 20];
        for end in (1..20).step_by(2) {
            counts[end] = 3;
        }
        let (value, [low, high]) = throughput_of(&outcome(counts, 200));
        assert_eq!(value, 3.0);
        // 3 -+ 2.093 * 3.078 / sqrt 20
        assert!((low - 1.56).abs() < 0.01 && (high - 4.44).abs() < 0.01, "{low} {high}");
    }

    #[test]
    fn throughput_counts_the_time_in_which_the_server_was_stopped() {
        let mut counts = [3524; 20];
        counts[8..16].fill(0);
        counts[0] += 3;
        let (value, [low, high]) = throughput_of(&outcome(counts, 200));
        assert_eq!(value, 4229.1);
        assert!(low < value && value < high && low > 0.0, "{low} {high}");
    }

    #[test]
    fn load_with_other_responses_than_the_log_is_invalid() {
        let statuses = |status, unsuccessful| {
            let all = benchmarks(&outcome([5; 20], status), &Parameters::default(), unsuccessful);
            let is_named =
                |b: &Benchmark| b.notes.iter().any(|n| n.to_string().contains("instead of"));
            assert!(all.iter().all(|b| is_named(b) != b.valid));
            all.iter().all(|b| b.valid)
        };
        assert!(statuses(200, 0.0) && statuses(304, 0.0));
        assert!(!statuses(404, 0.02) && !statuses(301, 0.0) && !statuses(503, 0.5));
        // A log of missing objects.
        assert!(statuses(404, 0.95));
    }
}
