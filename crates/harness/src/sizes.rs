//! Sizes of caches and memory that a program takes instead of those that the system reports.

use yamba_record::machine::MeasuredCaches;

use super::options::Options;

/// Environment variable with the sizes, for every program of a run: `NAME=BYTES ...`, of which a
/// later one replaces an earlier one.
pub(super) const SIZES: &str = "YAMBA_SIZES";

/// The value of [`SIZES`]: the room for buffers in the time of the run, the largest measured cache,
/// then the sizes of the user's environment.
pub(super) fn variable(options: &Options, caches: Option<&MeasuredCaches>) -> String {
    let room = options.buffer_room().map(|r| format!("buffer_room={r}"));
    let measured = caches.map(|c| format!("measured_cache={}", c.largest()));
    let given = std::env::var(SIZES).ok();
    let all: Vec<String> = room.into_iter().chain(measured).chain(given).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use yamba_record::machine::MeasuredCache;

    use super::*;

    #[test]
    fn largest_measured_cache_is_given() {
        let level = |bytes, latency_ns| MeasuredCache { bytes, latency_ns };
        let caches = MeasuredCaches {
            levels: vec![level(32768.0, 1.1), level(1e6, 3.8)],
            memory_ns: 100.0,
            unix_s: 0.0,
        };
        let text = variable(&Options::quick(), Some(&caches));
        assert!(text.split(' ').any(|w| w == "measured_cache=1000000"));
        assert!(!variable(&Options::quick(), None).contains("measured_cache"));
    }
}
