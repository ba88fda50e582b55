//! The time of day.

use std::time::SystemTime;

/// Seconds since 1970. `None`: the clock is before 1970.
pub fn unix_s() -> Option<f64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.ok().map(|since| since.as_secs_f64())
}
