//! The load that a server was offered, answered or not.

use std::time::Duration;

/// The requests of an open load that became due.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offered {
    /// Number of requests that became due.
    pub requests: u64,
    /// The time in which they did, in seconds.
    pub span_s: f64,
    /// When the last one was due, in seconds.
    last_s: f64,
    /// Sum of the squares of the times between them.
    squares: f64,
}

impl Offered {
    /// Adds a request that was due `after` the beginning of the load.
    pub fn add(&mut self, after: Duration) {
        let at_s = after.as_secs_f64();
        self.squares += (at_s - self.last_s).powi(2);
        self.last_s = at_s;
        self.span_s = at_s;
        self.requests += 1;
    }

    /// Requests that became due per second. `None` without any time.
    pub fn rate(&self) -> Option<f64> {
        (self.span_s > 0.0).then(|| self.requests as f64 / self.span_s)
    }

    /// The standard deviation of the times between requests, divided by their mean. It is 1 for
    /// exponential times.
    pub fn variation(&self) -> f64 {
        let ratio = self.requests as f64 * self.squares / self.last_s.powi(2);
        if ratio.is_finite() { (ratio - 1.0).max(0.0).sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_variation_are_those_of_the_times() {
        let mut offered = Offered::default();
        assert_eq!((offered.rate(), offered.variation()), (None, 0.0));
        // Times between requests of 1, 1, 4 and 2 s: mean 2, variance 1.5.
        for at_s in [1, 2, 6, 8] {
            offered.add(Duration::from_secs(at_s));
        }
        assert_eq!(offered.rate(), Some(0.5));
        assert!((offered.variation() - 1.5_f64.sqrt() / 2.0).abs() < 1e-12, "{offered:?}");
    }
}
