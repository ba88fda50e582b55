//! The requests of a log itself, for comparison with those of its model.

use fastrand::Rng;

use crate::model::gaps::spread;
use crate::model::log::{Entry, Log};

/// A request of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replayed {
    /// Time since the first request, in seconds.
    pub after_s: f64,
    /// Index of the path in [`Log::paths`].
    pub path: usize,
    /// Whether the method is HEAD instead of GET.
    pub is_head: bool,
}

/// The requests with GET and HEAD, in order. Those of one stamp are spread evenly over its step.
pub fn replayed(log: &Log, seed: u64) -> Vec<Replayed> {
    let entries: Vec<&Entry> = log.entries.iter().filter(|e| log.is_safe(e)).collect();
    let mut at_s: Vec<f64> = entries.iter().map(|e| e.at_s).collect();
    spread(&mut at_s, log.resolution_s, &mut Rng::with_seed(seed));
    let begun = at_s.first().copied().unwrap_or(0.0);
    let each = entries.iter().zip(&at_s);
    each.map(|(entry, at)| Replayed {
        after_s: at - begun,
        path: entry.path as usize,
        is_head: log.methods[entry.method as usize] == "HEAD",
    })
    .collect()
}

/// The requests `times` times, one pass after the other.
pub fn repeated(requests: Vec<Replayed>, times: u64) -> impl Iterator<Item = Replayed> {
    let span_s = requests.last().map_or(0.0, |last| last.after_s);
    let pause_s = span_s / requests.len().max(1) as f64;
    let count = requests.len();
    let of_pass = move |pass: u64| (0..count).map(move |index| (pass, index));
    (0..times).flat_map(of_pass).map(move |(pass, index)| {
        let request = requests[index];
        Replayed { after_s: request.after_s + pass as f64 * (span_s + pause_s), ..request }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::read;

    #[test]
    fn requests_keep_their_order_and_seconds() {
        let line = |second: u32, request: &str| {
            format!("a - - [17/May/2015:10:05:{second} +0000] \"{request} HTTP/1.1\" 200 5\n")
        };
        let text =
            [line(43, "GET /x"), line(43, "POST /y"), line(43, "HEAD /z"), line(45, "GET /x")]
                .concat();
        let requests = replayed(&read(&text).unwrap(), 3);
        let paths: Vec<(usize, bool)> = requests.iter().map(|r| (r.path, r.is_head)).collect();
        assert_eq!(paths, [(0, false), (2, true), (0, false)]);
        let twice: Vec<Replayed> = repeated(requests.clone(), 2).collect();
        assert_eq!(twice.len(), 6);
        assert!(twice.windows(2).all(|pair| pair[0].after_s <= pair[1].after_s), "{twice:?}");
        assert_eq!(twice[4].path, requests[1].path);
        assert_eq!(requests[0].after_s, 0.0);
        assert!(
            requests[1].after_s < 1.0 && (1.0..3.0).contains(&requests[2].after_s),
            "{requests:?}"
        );
    }

    /// All of these requests would need 24 EB.
    #[test]
    fn repeated_requests_are_not_kept() {
        let request = Replayed { after_s: 0.5, path: 7, is_head: false };
        let mut repeated = repeated(vec![request], 1_000_000_000_000_000_000);
        assert_eq!(repeated.nth(2).map(|r| (r.after_s, r.path)), Some((2.5, 7)));
    }
}
