//! Counts and times of a load.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::drive::client::{Answer, Fault};

/// Significant digits of the histograms.
const DIGITS: u8 = 3;

/// Number of windows of a load of known length.
const WINDOWS: u32 = 20;

/// The shortest window.
const LEAST_WINDOW: Duration = Duration::from_millis(100);

/// The lowest status of an error.
const FIRST_ERROR: u16 = 400;

/// A part of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Number of responses per second.
    pub rate: f64,
    /// The median latency of its responses, in ns. `None` without responses.
    pub median_ns: Option<f64>,
}

/// Why a load ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The user stopped it.
    Stopped,
    /// The server no longer accepts connections, for this reason.
    Unreachable(String),
    /// No request was answered within the time limit.
    Stalled,
    /// Every request failed for the time limit; the last fault.
    Failing(String),
}

/// The counts and times of a load.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time from the first request until the last one was sent or given up, in ns.
    pub elapsed_ns: u64,
    /// Number of requests that were sent.
    pub sent: u64,
    /// Number of complete responses.
    pub responses: u64,
    /// Number of responses within `elapsed_ns`. A response that was complete later counts with the
    /// share of its latency that lies within: of three responses a second, the last three may come
    /// just after the end.
    pub responses_in_time: f64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Number of responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Number of failed requests by kind, and of responses with a status from 400 on.
    pub errors: BTreeMap<String, u64>,
    /// Number of connections that were opened.
    pub connections: u64,
    /// Number of requests that were due in time and could not be sent, because all connections
    /// waited for responses.
    pub unsent: u64,
    /// Number of requests that were sent, and neither answered nor failed when the load ended
    /// early.
    pub unanswered: u64,
    /// Latencies in ns: with a rate, from the time at which the request was due.
    pub latency_ns: Histogram<u64>,
    /// With a rate: how late the generator itself was, in ns.
    pub late_ns: Histogram<u64>,
    /// Complete windows.
    pub windows: Vec<Window>,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Why the load ended early.
    pub ending: Option<Ending>,
}

/// Collects what is measured.
pub(crate) struct Totals {
    outcome: Outcome,
    begun: Instant,
    /// When the last response was complete.
    last_response: Instant,
    /// Number of requests without response.
    outstanding: u64,
    /// The latencies of the current window.
    window: Histogram<u64>,
    window_length: Duration,
    timeout: Duration,
    /// When no more requests were sent.
    ended: Option<Instant>,
}

fn empty() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("the number of digits is valid")
}

fn record(histogram: &mut Histogram<u64>, duration: Duration) {
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2);
    histogram.record(ns).expect("the histogram grows");
}

/// The share of a latency from `due` on that lies before the end of the load; 1 without an end.
fn share_before(ended: Option<Instant>, due: Instant, latency: Duration) -> f64 {
    let Some(ended) = ended.filter(|_| !latency.is_zero()) else {
        return 1.0;
    };
    let before = ended.saturating_duration_since(due);
    (before.as_secs_f64() / latency.as_secs_f64()).min(1.0)
}

impl Totals {
    /// `length`: the length of the load, if it is known.
    pub(crate) fn new(length: Option<Duration>, timeout: Duration) -> Totals {
        let window_length =
            length.map_or(Duration::from_secs(1), |l| (l / WINDOWS).max(LEAST_WINDOW));
        let begun = Instant::now();
        Totals {
            outcome: Outcome {
                elapsed_ns: 0,
                sent: 0,
                responses: 0,
                responses_in_time: 0.0,
                bytes: 0,
                statuses: BTreeMap::new(),
                errors: BTreeMap::new(),
                connections: 0,
                unsent: 0,
                unanswered: 0,
                latency_ns: empty(),
                late_ns: empty(),
                windows: Vec::new(),
                window_ns: window_length.as_nanos() as u64,
                ending: None,
            },
            begun,
            last_response: begun,
            outstanding: 0,
            window: empty(),
            window_length,
            timeout,
            ended: None,
        }
    }

    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// Number of responses so far.
    pub(crate) fn responses(&self) -> u64 {
        self.outcome.responses
    }

    /// Whether workers must not send any more.
    pub(crate) fn is_closing(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether all requests are answered or given up.
    pub(crate) fn is_idle(&self) -> bool {
        self.outstanding == 0
    }

    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.outcome.ending.as_ref()
    }

    /// Ends the load: only what is on its way is still awaited. The first reason is kept.
    pub(crate) fn end(&mut self, ending: Option<Ending>) {
        if self.outcome.ending.is_none() {
            self.outcome.ending = ending;
        }
        if !self.is_closing() {
            let now = Instant::now();
            self.ended = Some(now);
            self.close_windows(now);
            self.outcome.elapsed_ns = (now - self.begun).as_nanos() as u64;
        }
    }

    pub(crate) fn connected(&mut self) {
        self.outcome.connections += 1;
    }

    pub(crate) fn sent(&mut self) {
        self.outcome.sent += 1;
        self.outstanding += 1;
    }

    pub(crate) fn late(&mut self, by: Duration) {
        record(&mut self.outcome.late_ns, by);
    }

    pub(crate) fn unsent(&mut self, count: u64) {
        self.outcome.unsent += count;
    }

    /// A response to a request that was due at `due`.
    pub(crate) fn answered(&mut self, due: Instant, answer: Answer) {
        let now = Instant::now();
        if !self.is_closing() {
            self.close_windows(now);
        }
        let latency = now.saturating_duration_since(due);
        self.outcome.responses_in_time += share_before(self.ended, due, latency);
        record(&mut self.outcome.latency_ns, latency);
        record(&mut self.window, latency);
        self.outcome.responses += 1;
        self.outcome.bytes += answer.bytes;
        *self.outcome.statuses.entry(answer.status).or_default() += 1;
        if answer.status >= FIRST_ERROR {
            *self.outcome.errors.entry(format!("status {}", answer.status)).or_default() += 1;
        }
        self.outstanding -= 1;
        self.last_response = now;
    }

    /// A request that was sent at `sent` failed. Ends the load if the server answers nothing any
    /// more.
    pub(crate) fn failed(&mut self, sent: Instant, fault: &Fault) {
        self.outstanding -= 1;
        *self.outcome.errors.entry(fault.kind().to_owned()).or_default() += 1;
        if self.is_closing() {
            return;
        }
        match fault {
            Fault::Unreachable(why) => self.end(Some(Ending::Unreachable(why.clone()))),
            Fault::TimedOut if self.last_response <= sent => self.end(Some(Ending::Stalled)),
            _ if self.last_response.elapsed() >= self.timeout => {
                self.end(Some(Ending::Failing(fault.kind().to_owned())));
            }
            _ => {}
        }
    }

    /// Adds the windows that are complete at `now`.
    fn close_windows(&mut self, now: Instant) {
        let complete =
            now.saturating_duration_since(self.begun).as_nanos() / self.window_length.as_nanos();
        while (self.outcome.windows.len() as u128) < complete {
            let count = self.window.len();
            self.outcome.windows.push(Window {
                rate: count as f64 / self.window_length.as_secs_f64(),
                median_ns: (count > 0).then(|| self.window.value_at_quantile(0.5) as f64),
            });
            self.window.reset();
        }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        self.end(None);
        self.outcome.unanswered = self.outstanding;
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_counts_with_the_share_before_the_end() {
        let due = Instant::now();
        let ms = Duration::from_millis;
        for (end_ms, latency_ms, share) in [
            (100, 300, 1.0 / 3.0),
            (100, 400, 0.25),
            (100, 100, 1.0),
            (300, 100, 1.0),
            (0, 100, 0.0),
        ] {
            let counted = share_before(Some(due + ms(end_ms)), due, ms(latency_ms));
            assert!((counted - share).abs() < 1e-12, "{end_ms} {latency_ms}");
        }
        assert_eq!(share_before(Some(due), due + ms(1), ms(5)), 0.0);
        assert_eq!(share_before(Some(due), due, Duration::ZERO), 1.0);
        assert_eq!(share_before(None, due, ms(5)), 1.0);
    }
}
