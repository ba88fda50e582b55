//! The time of a log line, such as `10/Oct/2000:13:55:36 -0700`.

use std::fmt;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Why a time is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFault {
    /// The month is not an English abbreviation.
    Month,
    /// There is no zone.
    NoZone,
    /// ISO 8601, as nginx writes `$time_iso8601`.
    Iso8601,
    /// Another form, or no such day or hour.
    Form,
}

impl fmt::Display for TimeFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            TimeFault::Month => "the month of its time is not an English one, as in 10/Oct/2000:13:55:36 -0700",
            TimeFault::NoZone => "its time has no zone, as in 10/Oct/2000:13:55:36 -0700",
            TimeFault::Iso8601 => "its time is in ISO 8601, and not as 10/Oct/2000:13:55:36 -0700 ($time_local of nginx)",
            TimeFault::Form => "its time is not as 10/Oct/2000:13:55:36 -0700",
        })
    }
}

/// The time in seconds since 1970 (UTC), and the number of digits after the point.
pub(super) fn unix_s(text: &str) -> Result<(f64, u32), TimeFault> {
    let text = text.trim();
    if text.get(4..5) == Some("-") && text.contains('T') {
        return Err(TimeFault::Iso8601);
    }
    let (stamp, zone) = text.split_once(' ').unwrap_or((text, ""));
    let (minutes, second, digits) = local(stamp)?;
    if zone.is_empty() {
        return Err(TimeFault::NoZone);
    }
    let offset = offset_minutes(zone).ok_or(TimeFault::Form)?;
    Ok((((minutes - offset) * 60) as f64 + second, digits))
}

/// Minutes since 1970 without regard to the zone, seconds, and the number of digits after their
/// point.
fn local(stamp: &str) -> Result<(i64, f64, u32), TimeFault> {
    let parts: Vec<&str> = stamp.splitn(4, ':').collect();
    let [date, hour, minute, second] = parts[..] else {
        return Err(TimeFault::Form);
    };
    let date: Vec<&str> = date.split('/').collect();
    let [day, month, year] = date[..] else {
        return Err(TimeFault::Form);
    };
    let month = MONTHS.iter().position(|m| *m == month);
    let month = month.ok_or(TimeFault::Month)? as i64 + 1;
    let (day, year) = (digits(day, 2)?, digits(year, 4)?);
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    let (whole, fraction) = second.split_once('.').unwrap_or((second, ""));
    let second = digits(whole, 2)? as f64 + fraction_of_second(second.len() > 2, fraction)?;
    let is_valid = (1..=days_of_month(year, month)).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && second < 61.0
        && year >= 1970;
    if !is_valid {
        return Err(TimeFault::Form);
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute;
    Ok((minutes, second, fraction.len() as u32))
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Result<i64, TimeFault> {
    let is_number = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).ok_or(TimeFault::Form)
}

/// The digits after the point of a second: at most microseconds.
fn fraction_of_second(is_present: bool, fraction: &str) -> Result<f64, TimeFault> {
    if !is_present {
        return Ok(0.0);
    }
    if !(1..=6).contains(&fraction.len()) {
        return Err(TimeFault::Form);
    }
    let digits = digits(fraction, fraction.len())?;
    Ok(digits as f64 / 10f64.powi(fraction.len() as i32))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days(next_year, next, 1) - days(year, month, 1)
}

/// Minutes east of UTC of a zone such as `-0700`.
fn offset_minutes(zone: &str) -> Option<i64> {
    let (sign, digits) = zone.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let number = self::digits(digits, 4).ok()?;
    let (hours, minutes) = (number / 100, number % 100);
    (hours < 16 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that a leap day is the
/// last day of a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `date -d ... +%s`.
    #[test]
    fn times_match_those_of_date() {
        for (text, expected) in [
            ("10/Oct/2000:13:55:36 -0700", 971_211_336.0),
            ("01/Jan/1970:00:00:00 +0000", 0.0),
            ("29/Feb/2024:23:59:59 +0530", 1_709_231_399.0),
            ("01/Mar/2023:00:00:00 +0000", 1_677_628_800.0),
        ] {
            assert_eq!(unix_s(text), Ok((expected, 0)), "{text}");
        }
        assert_eq!(unix_s("01/Jan/1970:00:00:01.5 +0000"), Ok((1.5, 1)));
    }

    #[test]
    fn other_forms_are_refused() {
        for (text, fault) in [
            ("", TimeFault::Form),
            ("10/Oct/2000", TimeFault::Form),
            ("10/Okt/2000:13:55:36 -0700", TimeFault::Month),
            ("10/août/2000:13:55:36 -0700", TimeFault::Month),
            ("10/10/2000:13:55:36 -0700", TimeFault::Month),
            ("10/Oct/2000:13:55:36", TimeFault::NoZone),
            ("2000-10-10T13:55:36-07:00", TimeFault::Iso8601),
            ("Tue Oct 10 13:55:36 2000", TimeFault::Form),
            ("31/Jun/2000:13:55:36 -0700", TimeFault::Form),
            ("29/Feb/2023:13:55:36 -0700", TimeFault::Form),
            ("10/Oct/2000:25:55:36 -0700", TimeFault::Form),
            ("10/Oct/2000:13:55:nan +0000", TimeFault::Form),
            ("10/Oct/2000:13:55:1.6e1 +0000", TimeFault::Form),
            ("10/Oct/2000:13:55:36. +0000", TimeFault::Form),
            ("10/Oct/2000:13:55:36 *0000", TimeFault::Form),
            ("10/Oct/2000:13:55:36 +-100", TimeFault::Form),
            ("10/Oct/2000:13:55:36 CEST", TimeFault::Form),
            ("10/Oct/2000:13:55:36 +é00", TimeFault::Form),
        ] {
            assert_eq!(unix_s(text), Err(fault), "{text}");
        }
    }
}
