//! Clocks of the machines that measured.

use yamba_harness::unix_s;

/// Clocks and time zones differ by less, in seconds.
const TOLERANCE: f64 = 86_400.0;

/// Seconds by which a start lies in the future, if that is more than a day. Such a run would be
/// `latest` until then.
pub fn ahead(started_unix_s: Option<f64>) -> Option<f64> {
    let ahead = started_unix_s? - unix_s()?;
    (ahead > TOLERANCE).then_some(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_start_after_tomorrow_is_ahead() {
        let now = unix_s().unwrap();
        assert_eq!(ahead(None), None);
        assert_eq!(ahead(Some(100.0)), None);
        assert_eq!(ahead(Some(now + 80_000.0)), None);
        assert!((ahead(Some(now + 1e6)).unwrap() - 1e6).abs() < 60.0);
    }
}
