//! Counts and times of a load.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::drive::client::{Answer, Event, Fault};
use crate::drive::offered::Offered;

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
    /// The median latency of its requests, in ns. `None` if half of them failed, or without any.
    pub median_ns: Option<f64>,
}

/// Why a load ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The user stopped it.
    Stopped,
    /// The server no longer accepts connections, for this reason.
    Unreachable(String),
    /// This machine allows no more connections, for this reason.
    Exhausted(String),
    /// No request was answered within the time limit.
    Stalled,
    /// Every request failed for the time limit; the last fault.
    Failing(String),
}

/// The counts and times of a load.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time from the beginning until the end of the load, in ns. The end of a load of a number of
    /// requests is that of its last response.
    pub elapsed_ns: u64,
    /// Number of requests that were sent.
    pub sent: u64,
    /// Number of complete responses.
    pub responses: u64,
    /// Number of responses within `elapsed_ns`. A response that was complete later counts with the
    /// share of its latency that lies within: of three responses a second, the last three may come
    /// just after the end.
    pub responses_in_time: f64,
    /// Number of requests that failed: they have no response.
    pub failed: u64,
    /// Number of requests that were sent again, since the server had closed the connection.
    pub repeated: u64,
    /// Bytes of the responses' bodies.
    pub bytes: u64,
    /// Bytes within `elapsed_ns`: those of a response that was complete later count with its share.
    pub bytes_in_time: f64,
    /// Number of responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Number of failed requests by kind, and of responses with a status from 400 on.
    pub errors: BTreeMap<String, u64>,
    /// Number of connections that were opened.
    pub connections: u64,
    /// With a rate: the requests that became due.
    pub offered: Option<Offered>,
    /// Number of requests that were due in time and not sent, because no connection was free.
    pub unsent: u64,
    /// Number of requests that were due in time and not sent, because this program was too slow.
    pub overdue: u64,
    /// Number of requests that were sent, and were neither answered nor failed when the load that
    /// ended early was left.
    pub unanswered: u64,
    /// Latencies of the responses in ns: with a rate, from the time at which the request was due.
    pub latency_ns: Histogram<u64>,
    /// How late the generator itself was, in ns: with a rate, when it took up a due request, and
    /// with users, when it read a response that had arrived.
    pub late_ns: Histogram<u64>,
    /// Complete windows.
    pub windows: Vec<Window>,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Why the load ended early.
    pub ending: Option<Ending>,
}

impl Outcome {
    /// The latency that this share of the requests does not exceed, in ns. Requests without a
    /// response count as slower than all others. `None` if the share reaches them.
    pub fn latency_ns_at(&self, share: f64) -> Option<f64> {
        at_share(&self.latency_ns, self.failed + self.unanswered, share)
    }
}

/// The latency that this share of the requests does not exceed, where `without` of them have no
/// response, and count as slower than all of `latencies`.
fn at_share(latencies: &Histogram<u64>, without: u64, share: f64) -> Option<f64> {
    let responses = latencies.len() as f64;
    let of_responses = share * (responses + without as f64) / responses;
    (of_responses <= 1.0).then(|| latencies.value_at_quantile(of_responses) as f64)
}

/// Collects what is measured.
pub(crate) struct Totals {
    outcome: Outcome,
    begun: Instant,
    /// When the last response was complete.
    last_response: Instant,
    /// When the last request was answered or failed.
    last_end: Instant,
    /// Number of requests without response.
    outstanding: u64,
    /// The latencies of the current window.
    window: Histogram<u64>,
    /// Number of requests that failed in it.
    window_failed: u64,
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
                failed: 0,
                repeated: 0,
                bytes: 0,
                bytes_in_time: 0.0,
                statuses: BTreeMap::new(),
                errors: BTreeMap::new(),
                connections: 0,
                offered: None,
                unsent: 0,
                overdue: 0,
                unanswered: 0,
                latency_ns: empty(),
                late_ns: empty(),
                windows: Vec::new(),
                window_ns: window_length.as_nanos() as u64,
                ending: None,
            },
            begun,
            last_response: begun,
            last_end: begun,
            outstanding: 0,
            window: empty(),
            window_failed: 0,
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
        self.end_at(Instant::now());
    }

    /// Ends a load whose requests are all answered or failed: it ended with the last of them,
    /// however late that is noticed.
    pub(crate) fn complete(&mut self) {
        self.end_at(self.last_end);
    }

    fn end_at(&mut self, end: Instant) {
        if !self.is_closing() {
            self.ended = Some(end);
            self.close_windows(end);
            self.outcome.elapsed_ns = (end - self.begun).as_nanos() as u64;
        }
    }

    pub(crate) fn count(&mut self, event: Event) {
        match event {
            Event::Connected => self.outcome.connections += 1,
            Event::Repeated => self.outcome.repeated += 1,
        }
    }

    pub(crate) fn sent(&mut self) {
        self.outcome.sent += 1;
        self.outstanding += 1;
    }

    /// A request that was due `after` the beginning, and is taken up `late`.
    pub(crate) fn due(&mut self, after: Duration, late: Duration) {
        self.outcome.offered.get_or_insert_default().add(after);
        record(&mut self.outcome.late_ns, late);
    }

    /// Counts the requests that were due before the end and are not sent any more: `unsent` had no
    /// free connection, and `overdue` returns the number of those that were not taken up, from the
    /// length of the load, and adds them to the offered ones.
    pub(crate) fn give_up(
        &mut self,
        unsent: u64,
        overdue: impl FnOnce(Duration, &mut Offered) -> u64,
    ) {
        let elapsed = Duration::from_nanos(self.outcome.elapsed_ns);
        let offered = self.outcome.offered.get_or_insert_default();
        self.outcome.overdue = overdue(elapsed, offered);
        self.outcome.unsent = unsent;
    }

    /// A response to a request that was due at `due`.
    pub(crate) fn answered(&mut self, due: Instant, answer: Answer) {
        let now = Instant::now();
        if !self.is_closing() {
            self.close_windows(now);
        }
        let latency = now.saturating_duration_since(due);
        let share = share_before(self.ended, due, latency);
        self.outcome.responses_in_time += share;
        self.outcome.bytes_in_time += share * answer.bytes as f64;
        record(&mut self.outcome.latency_ns, latency);
        record(&mut self.window, latency);
        if let Some(late) = answer.late.filter(|_| self.outcome.offered.is_none()) {
            record(&mut self.outcome.late_ns, late);
        }
        self.outcome.responses += 1;
        self.outcome.bytes += answer.bytes;
        *self.outcome.statuses.entry(answer.status).or_default() += 1;
        if answer.status >= FIRST_ERROR {
            *self.outcome.errors.entry(format!("status {}", answer.status)).or_default() += 1;
        }
        self.outstanding -= 1;
        self.last_response = now;
        self.last_end = now;
    }

    /// A request that was sent at `sent` failed. Ends the load if the server answers nothing any
    /// more.
    pub(crate) fn failed(&mut self, sent: Instant, fault: &Fault) {
        self.last_end = Instant::now();
        if !self.is_closing() {
            self.close_windows(self.last_end);
        }
        self.outstanding -= 1;
        self.outcome.failed += 1;
        self.window_failed += 1;
        *self.outcome.errors.entry(fault.kind().to_owned()).or_default() += 1;
        if self.is_closing() {
            return;
        }
        match fault {
            Fault::Unreachable(why) => self.end(Some(Ending::Unreachable(why.clone()))),
            Fault::Exhausted(why) => self.end(Some(Ending::Exhausted(why.clone()))),
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
            self.outcome.windows.push(Window {
                rate: self.window.len() as f64 / self.window_length.as_secs_f64(),
                median_ns: at_share(&self.window, self.window_failed, 0.5),
            });
            self.window.reset();
            self.window_failed = 0;
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

    /// The end of a load is noticed only at the next step.
    #[test]
    fn load_of_a_number_of_requests_ends_with_its_last_response() {
        let mut totals = Totals::new(None, Duration::from_secs(5));
        totals.sent();
        totals.answered(Instant::now(), Answer { status: 200, bytes: 1, late: None });
        let answered = totals.begun().elapsed();
        std::thread::sleep(Duration::from_millis(5));
        totals.complete();
        let outcome = totals.finish();
        assert!(u128::from(outcome.elapsed_ns) <= answered.as_nanos(), "{outcome:?}");
        assert_eq!(outcome.responses_in_time, 1.0);
    }

    #[test]
    fn requests_without_response_rank_above_all_latencies() {
        let mut latencies = empty();
        (1..=90).for_each(|ns| latencies.record(ns).unwrap());
        for (without, share, ns) in [
            (0, 0.5, Some(45.0)),
            (10, 0.5, Some(50.0)),
            (10, 0.9, Some(90.0)),
            (10, 0.91, None),
            (90, 0.5, Some(90.0)),
            (91, 0.5, None),
        ] {
            assert_eq!(at_share(&latencies, without, share), ns, "{without} {share}");
        }
        assert_eq!(at_share(&empty(), 0, 0.5), None);
        assert_eq!(at_share(&empty(), 3, 0.5), None);
    }
}
