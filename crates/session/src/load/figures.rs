//! The figures of a load. Pure.

use yamba_load::drive::{Ending, Outcome};
use yamba_record::distribution::{Distribution, Percentile};
use yamba_record::number::{counted, number};
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

/// A percentile needs this many requests above it.
const ABOVE: f64 = 10.0;

/// Share of the due requests that may remain unsent without making the latencies invalid. The last
/// ones may become due just before the end.
const MOST_UNSENT: f64 = 0.01;

/// Share of the requests that may have no successful response beyond the share of the log.
const MOST_UNSUCCESSFUL: f64 = 0.1;

/// Share by which the offered rate may differ from the one that the user asks for.
const MOST_RATE_DIFFERENCE: f64 = 0.2;

/// Number of standard deviations by which the number of offered requests may differ beside that.
const MOST_RATE_DEVIATIONS: f64 = 4.0;

/// Rates of loads with fewer requests are not judged.
const FEWEST_REQUESTS: f64 = 10.0;

/// Share of the latency by which the generator itself may be late without disturbing it.
const MOST_LATE: f64 = 0.1;

/// Two entries: the latency and the number of responses per second, both over the whole load. Their
/// samples are those of equal parts of the time; only the intervals come from them.
pub(super) fn benchmarks(
    outcome: &Outcome,
    parameters: &Parameters,
    expected: Expected,
) -> Vec<Benchmark> {
    let mut latency = latency(outcome, parameters);
    let mut throughput = throughput(outcome, parameters);
    let other_load = other_rate(outcome, expected.rate);
    let other_load = other_load.into_iter().chain(other_responses(outcome, expected.unsuccessful));
    let other_load: Vec<String> = other_load.collect();
    let has_latency = latency.median.is_some();
    for (each, is_known) in [(&mut latency, has_latency), (&mut throughput, true)] {
        let notes = ending(outcome).into_iter().chain(unsent(outcome));
        let notes = notes.chain(other_load.clone()).chain(late(outcome));
        let notes = notes.chain(errors(outcome)).chain(unknown_latencies(outcome));
        each.notes = notes.chain(repeated(outcome)).map(Note::Text).collect();
        each.interference.is_disturbed = is_late(outcome);
        if !is_known || !is_trustworthy(outcome) || !other_load.is_empty() {
            each.status = Status::Invalid;
            each.valid = false;
        }
    }
    vec![latency, throughput]
}

/// The rate and the failures that a load is compared with.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// Requests per second.
    pub(super) rate: Option<f64>,
    /// Share of the requests without success in the log.
    pub(super) unsuccessful: f64,
}

/// The median latency. If half of the requests have no response, it is unknown.
fn latency(outcome: &Outcome, parameters: &Parameters) -> Benchmark {
    let value = outcome.latency_ns_at(0.5);
    let medians: Vec<f64> = outcome.windows.iter().filter_map(|w| w.median_ns).collect();
    // The parts weigh the same, however many responses they have, so their interval may miss the
    // median of all responses.
    let interval = median_interval(&medians, CONFIDENCE);
    let ends = interval.zip(value).map(|(i, value)| [i.low.min(value), i.high.max(value)]);
    let mut entry = entry(LATENCY, "latency", "ns", parameters, medians, value, ends);
    entry.details.distribution = Some(distribution(outcome));
    entry
}

/// Responses over time.
fn throughput(outcome: &Outcome, parameters: &Parameters) -> Benchmark {
    let value = outcome.responses_in_time * 1e9 / outcome.elapsed_ns.max(1) as f64;
    let rates: Vec<f64> = outcome.windows.iter().map(|w| w.rate).collect();
    // Parts without any response say nothing of how the rate varies.
    let varied = rates.iter().any(|rate| *rate > 0.0).then_some(&rates);
    // The parts are whole, the load may end within one: their interval is centred at the figure.
    let ends = varied.and_then(|rates| mean_t_interval(rates, CONFIDENCE)).map(|i| {
        let half = i.high - i.mean;
        [(value - half).max(0.0), value + half]
    });
    entry(THROUGHPUT, "value", "responses/s", parameters, rates, Some(value), ends)
}

fn entry(
    class: &str,
    figure: &str,
    unit: &str,
    parameters: &Parameters,
    samples: Vec<f64>,
    value: Option<f64>,
    interval: Option<[f64; 2]>,
) -> Benchmark {
    let mut benchmark = Benchmark::ended(class, Status::Ok, Vec::new());
    benchmark.valid = true;
    benchmark.parameters = parameters.clone();
    benchmark.declaration.figure = Some(figure.to_owned());
    benchmark.unit = Some(unit.to_owned());
    benchmark.details.operations = Some(1.0);
    benchmark.median = value;
    benchmark.confidence_interval = interval;
    benchmark.interval_scope = interval.map(|_| IntervalScope::WithinLaunches);
    benchmark.details.samples = samples;
    benchmark
}

/// The latencies of the responses. Percentiles are those of all requests: one that those without a
/// response reach is left out.
fn distribution(outcome: &Outcome) -> Distribution {
    let latencies = &outcome.latency_ns;
    let max_ns = latencies.max() as f64;
    let known = |percent: f64| {
        let above = all_sent(outcome) as f64 * (100.0 - percent) / 100.0;
        let ns = outcome.latency_ns_at(percent / 100.0).filter(|_| above >= ABOVE - 1e-6)?;
        Some(Percentile { percent, ns: ns.min(max_ns), launches: None })
    };
    let buckets = latencies.iter_recorded();
    Distribution {
        count: latencies.len(),
        cost_ns: 0.0,
        percentiles: PERCENTS.into_iter().filter_map(known).collect(),
        max_ns,
        histogram: buckets
            .map(|b| ((b.value_iterated_to() as f64).min(max_ns), b.count_at_value()))
            .collect(),
    }
}

/// Whether the server answered to its end, and all requests were sent.
fn is_trustworthy(outcome: &Outcome) -> bool {
    let is_served = matches!(outcome.ending, None | Some(Ending::Stopped));
    let unsent = outcome.unsent + outcome.overdue;
    is_served && unsent as f64 <= MOST_UNSENT * due(outcome) as f64
}

/// Number of requests that were due in time.
fn due(outcome: &Outcome) -> u64 {
    outcome.sent + outcome.unsent + outcome.overdue
}

/// Number of requests that were answered or failed.
fn ended(outcome: &Outcome) -> u64 {
    outcome.responses + outcome.failed
}

/// Number of requests that were answered, failed, or are unanswered.
fn all_sent(outcome: &Outcome) -> u64 {
    ended(outcome) + outcome.unanswered
}

/// Says that the load had another rate than the user asks for. The variance of the number of
/// requests in a time is that number times the squared coefficient of variation of the times
/// between them, asymptotically: D. R. Cox, *Renewal Theory* (1962), section 3.3.
fn other_rate(outcome: &Outcome, asked: Option<f64>) -> Option<String> {
    let (asked, offered) = asked.zip(outcome.offered)?;
    let rate = offered.rate()?;
    let (count, expected) = (offered.requests as f64, asked * offered.span_s);
    let deviation = offered.variation().max(1.0) * expected.sqrt();
    let allowed = (MOST_RATE_DIFFERENCE * expected).max(MOST_RATE_DEVIATIONS * deviation);
    let is_other = count.max(expected) >= FEWEST_REQUESTS && (count - expected).abs() > allowed;
    is_other.then(|| {
        format!(
            "{} requests per second were due instead of {}: the times between requests in the model vary too much for so short a load. \
             Load longer with --for, or fit the model again",
            number(rate),
            number(asked)
        )
    })
}

/// Whether a response has what the request asks for: success, or that the client's copy is still
/// right.
pub fn is_success(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Says that the server answered otherwise than in the log, where this share of the requests had no
/// success. A failed request has no success either.
fn other_responses(outcome: &Outcome, unsuccessful: f64) -> Option<String> {
    let others: u64 = outcome
        .statuses
        .iter()
        .filter(|(status, _)| !is_success(**status))
        .map(|(_, count)| count)
        .sum();
    let without = others + outcome.failed;
    let share = without as f64 / ended(outcome).max(1) as f64;
    (share > unsuccessful + MOST_UNSUCCESSFUL).then(|| {
        let how = match (others, outcome.failed) {
            (_, 0) => "the server sent other responses than those of the log. Check the URL, its path, and --host".to_owned(),
            (0, _) => "these requests failed. Load the server less, or read its log".to_owned(),
            (_, failed) => format!("{failed} requests failed. Read the log of the server"),
        };
        format!(
            "{without} of {} requests have no response with a status of success, {:.1} % instead of {:.1} % in the log: {how}",
            ended(outcome),
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
        Ending::Exhausted(why) => {
            format!("{after} this machine allowed no more connections: {why}")
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
    let reasons = [
        (outcome.unsent, "since no connection was free"),
        (outcome.overdue, "since this program is too slow for this rate"),
    ];
    let reasons: Vec<String> = reasons
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "of {} due requests, some were not sent: {}. True latencies are longer",
            due(outcome),
            reasons.join(", ")
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
    let at = |share: f64| number(outcome.late_ns.value_at_quantile(share) as f64 / 1e3);
    let (what, fewer) = match outcome.offered {
        Some(_) => ("sent its requests", ""),
        None => ("read responses", ", or fewer users"),
    };
    is_late(outcome).then(|| {
        format!(
            "this program {what} late, by {} us in the median and {} us at p99, which the latencies include: it needs a processor of its own{fewer}",
            at(0.5),
            at(0.99)
        )
    })
}

pub(super) fn errors(outcome: &Outcome) -> Option<String> {
    let kinds = error_kinds(outcome);
    let sent = counted(outcome.sent, "request", "requests");
    (!kinds.is_empty()).then(|| format!("errors of {sent}: {}", kinds.join(", ")))
}

/// `2 timeout`, `1 status 503`
pub fn error_kinds(outcome: &Outcome) -> Vec<String> {
    let each = outcome.errors.iter().map(|(kind, count)| format!("{count} {kind}"));
    let unanswered =
        (outcome.unanswered > 0).then(|| format!("{} unanswered at the end", outcome.unanswered));
    each.chain(unanswered).collect()
}

/// Which percentiles the requests without a response reach.
fn unknown_latencies(outcome: &Outcome) -> Option<String> {
    let share = outcome.responses as f64 / all_sent(outcome).max(1) as f64;
    (outcome.failed + outcome.unanswered > 0).then(|| {
        format!(
            "the latency of requests without a response is unknown, and counts as longer than all others: only percentiles up to {:.2} % are known",
            (1e4 * share).floor() / 100.0
        )
    })
}

fn repeated(outcome: &Outcome) -> Option<String> {
    (outcome.repeated > 0).then(|| {
        let requests = counted(outcome.repeated, "request was", "requests were");
        format!(
            "{requests} sent again over a new connection, since the server closed the first one without a response"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use hdrhistogram::Histogram;
    use yamba_load::drive::{Offered, Window};

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
            failed: 0,
            repeated: 0,
            bytes: 0,
            bytes_in_time: 0.0,
            statuses: BTreeMap::from([(status, responses)]),
            errors: BTreeMap::new(),
            connections: 1,
            offered: None,
            unsent: 0,
            overdue: 0,
            unanswered: 0,
            latency_ns,
            late_ns: Histogram::new(3).unwrap(),
            windows: counts.iter().map(window).collect(),
            window_ns: 500_000_000,
            ending: None,
        }
    }

    fn judged(outcome: &Outcome, rate: Option<f64>, unsuccessful: f64) -> Vec<Benchmark> {
        benchmarks(outcome, &Parameters::default(), Expected { rate, unsuccessful })
    }

    fn throughput_of(outcome: &Outcome) -> (f64, [f64; 2]) {
        let throughput = &judged(outcome, None, 0.0)[1];
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

    /// All responses come after the end.
    #[test]
    fn throughput_without_a_response_in_any_part_has_no_interval() {
        let late = Outcome { responses_in_time: 2.0, ..outcome([0; 20], 200) };
        let throughput = &judged(&late, None, 0.0)[1];
        assert_eq!((throughput.median, throughput.confidence_interval), (Some(0.2), None));
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
            let all = judged(&outcome([5; 20], status), None, unsuccessful);
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

    /// 100 responses of 1 ms.
    fn with_failed(failed: u64) -> Benchmark {
        let mut outcome = outcome([5; 20], 200);
        outcome.failed = failed;
        outcome.sent += failed;
        outcome.errors.insert("timeout".to_owned(), failed);
        judged(&outcome, None, 0.0).remove(0)
    }

    #[test]
    fn failed_requests_hide_percentiles_and_make_a_load_invalid() {
        let some = with_failed(11);
        let percents = |b: &Benchmark| -> Vec<f64> {
            let distribution = b.details.distribution.as_ref().unwrap();
            distribution.percentiles.iter().map(|p| p.percent).collect()
        };
        assert!(some.valid, "{:?}", some.notes);
        // 100 of 111 are 90.09 %.
        assert_eq!(percents(&some), [50.0, 90.0]);
        assert!(some.notes.iter().any(|n| n.to_string().contains("up to 90.09 % are known")));
        let many = with_failed(12);
        assert!(!many.valid && many.median.is_some());
        assert_eq!(percents(&many), [50.0]);
        let most = with_failed(101);
        assert!(!most.valid && most.median.is_none() && most.confidence_interval.is_none());
    }

    /// A server that no longer answers when the user stops the load.
    #[test]
    fn unanswered_requests_hide_percentiles_and_the_median() {
        let with_unanswered = |unanswered: u64| {
            let mut outcome = outcome([5; 20], 200);
            outcome.unanswered = unanswered;
            outcome.sent += unanswered;
            outcome.ending = Some(Ending::Stopped);
            judged(&outcome, None, 0.0)
        };
        let some = with_unanswered(50);
        assert!(some[0].valid && some[0].median.is_some());
        let percentiles = &some[0].details.distribution.as_ref().unwrap().percentiles;
        assert_eq!(percentiles.iter().map(|p| p.percent).collect::<Vec<_>>(), [50.0]);
        let notes: String = some[0].notes.iter().map(ToString::to_string).collect();
        assert!(notes.contains("50 unanswered at the end"), "{notes}");
        assert!(notes.contains("up to 66.66 % are known"), "{notes}");
        let most = with_unanswered(216);
        assert!(!most[0].valid && most[0].median.is_none());
        assert!(most[1].valid);
    }

    #[test]
    fn load_with_another_rate_than_asked_for_is_invalid() {
        let is_valid = |asked: f64, requests: u64| {
            let mut outcome = outcome([5; 20], 200);
            // Equal times between the requests within 4 s.
            let mut offered = Offered::default();
            (1..=requests).for_each(|i| {
                offered.add(Duration::from_secs_f64(4.0 * i as f64 / requests as f64));
            });
            outcome.offered = Some(offered);
            let all = judged(&outcome, Some(asked), 0.0);
            assert_eq!(all[0].valid, all[1].valid);
            all[0].valid
        };
        assert!(!is_valid(50.0, 17_068) && !is_valid(50.0, 2));
        assert!(is_valid(50.0, 230) && is_valid(50.0, 160) && is_valid(0.5, 7));
        assert!(is_valid(1000.0, 4700) && !is_valid(1000.0, 4900));
    }

    /// With users, responses that wait in this program count as the server's latency.
    #[test]
    fn load_whose_sender_is_late_is_disturbed() {
        let of = |late_ns: u64, offered: Option<Offered>| {
            let mut outcome = Outcome { offered, ..outcome([50; 20], 200) };
            outcome.late_ns.record(late_ns).unwrap();
            let latency = judged(&outcome, None, 0.0).remove(0);
            let notes: String = latency.notes.iter().map(ToString::to_string).collect();
            (latency.interference.is_disturbed, notes)
        };
        assert_eq!(of(90_000, None), (false, String::new()));
        let (is_disturbed, notes) = of(900_000, None);
        assert!(is_disturbed && notes.contains("read responses late"), "{notes}");
        assert!(notes.contains("or fewer users"), "{notes}");
        let (is_disturbed, notes) = of(900_000, Some(Offered::default()));
        assert!(is_disturbed && notes.contains("sent its requests late"), "{notes}");
    }

    #[test]
    fn due_requests_that_were_not_sent_make_a_load_invalid() {
        let with = |unsent: u64, overdue: u64| {
            let outcome = Outcome { unsent, overdue, ..outcome([50; 20], 200) };
            let notes = judged(&outcome, None, 0.0).remove(0);
            (notes.valid, notes.notes.iter().map(ToString::to_string).collect::<String>())
        };
        assert_eq!(with(0, 0), (true, String::new()));
        let (valid, notes) = with(10, 0);
        assert!(valid && notes.contains("10 since no connection was free"), "{notes}");
        let (valid, notes) = with(0, 11);
        assert!(!valid && notes.contains("of 1011 due requests"), "{notes}");
        assert!(notes.contains("11 since this program is too slow"), "{notes}");
    }
}
