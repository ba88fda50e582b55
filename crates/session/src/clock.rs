//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 (UTC). `None` if the clock is set before that.
pub fn since_1970() -> Option<f64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().map(|t| t.as_secs_f64())
}
