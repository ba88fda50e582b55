//! The time of a log line, such as `10/Oct/2000:13:55:36 -0700`.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The time in seconds since 1970 (UTC), and the number of digits after the point. `None` for another form.
pub(super) fn unix_s(text: &str) -> Option<(f64, u32)> {
    let (stamp, zone) = text.split_once(' ')?;
    let mut parts = stamp.splitn(4, ':');
    let mut date = parts.next()?.splitn(3, '/');
    let day: i64 = date.next()?.parse().ok()?;
    let month = date.next()?;
    let month = MONTHS.iter().position(|m| *m == month)? as i64 + 1;
    let year: i64 = date.next()?.parse().ok()?;
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let second = parts.next()?;
    let digits = second.split_once('.').map_or(0, |(_, f)| f.len()) as u32;
    let second: f64 = second.parse().ok().filter(|s| (0.0..61.0).contains(s))?;
    let is_valid = (1..=31).contains(&day) && (0..24).contains(&hour) && (0..60).contains(&minute);
    if !is_valid || !(1970..10_000).contains(&year) || digits > 6 {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset_minutes(zone)?;
    Some(((minutes * 60) as f64 + second, digits))
}

/// Minutes east of UTC of a zone such as `-0700`.
fn offset_minutes(zone: &str) -> Option<i64> {
    let (sign, digits) = zone.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 60 + number % 100))
}

/// Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that a leap day is the last day of a year.
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
            assert_eq!(unix_s(text), Some((expected, 0)), "{text}");
        }
        assert_eq!(unix_s("01/Jan/1970:00:00:01.5 +0000"), Some((1.5, 1)));
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "",
            "10/Oct/2000",
            "10/Okt/2000:13:55:36 -0700",
            "10/Oct/2000:13:55:36",
            "10/Oct/2000:25:55:36 -0700",
            "10/Oct/2000:13:55:nan +0000",
            "10/Oct/2000:13:55:36 *0000",
            "10/Oct/2000:13:55:36 +é00",
        ] {
            assert_eq!(unix_s(text), None, "{text}");
        }
    }
}
