//! Parses quantities on the command line: times, sizes, counts and shares.
//!
//! No crate parses them: a size must mean the same here as in a parameter, which the C++ of a
//! benchmark's program parses, and a time has the units of figures.

use std::num::{IntErrorKind, ParseIntError};
use std::ops::RangeInclusive;
use std::time::Duration;

use yamba_record::parameters::whole;

const UNITS: [(&str, f64); 6] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];

/// Upper limit of times: longer than any useful wait, and safe for every clock.
const LONGEST_S: f64 = 30.0 * 86400.0;

/// Parses a time: `10s`, `500ms`, `1.5min`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let unit = UNITS.iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(unit)?.trim_end();
        // Fails for `s` if the text ends in `ms`, and for similar pairs: the rest is not a number.
        Some((number.parse::<f64>().ok()?, seconds))
    });
    let Some((number, seconds)) = unit else {
        return Err("write a time with its unit: 500ms, 10s, 2min (ns, us, ms, s, min)".to_owned());
    };
    let seconds = number * seconds;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("write a time of more than nothing, as 500ms".to_owned());
    }
    if seconds > LONGEST_S {
        return Err("write a time of at most 30 days".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Parses a time, or a plain number of microseconds as in lmbench's `-W`. Zero is allowed.
pub(super) fn microseconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Duration::ZERO),
        Ok(_) => time(&format!("{text}us")),
        Err(_) => time(text),
    }
}

/// Parses a size: `512M`, `1.5G`, `1 GiB`, `1000000`. Units are powers of 1024, as in parameters.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let bare = text.strip_suffix('B').map(str::trim_end);
    // `1KB` could mean 1000 bytes: only a plain number may have a `B`.
    let plain = bare.filter(|number| number.ends_with(|c: char| c.is_ascii_digit()));
    whole(plain.unwrap_or(text))
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| "write a number of bytes, as 500000000, 512M or 2G (K, M, G, T)".to_owned())
}

/// Returns a parser for counts within `allowed`; `u64::MAX` means no upper limit.
pub(super) fn count(
    allowed: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let (least, most) = (*allowed.start(), *allowed.end());
        let number = text.parse::<u64>();
        let is_huge = |e: &ParseIntError| *e.kind() == IntErrorKind::PosOverflow;
        match number {
            Ok(number) if allowed.contains(&number) => Ok(number),
            Err(e) if is_huge(&e) => Err(format!("write a whole number of at most {most}")),
            _ if most < u64::MAX => Err(format!("write a whole number from {least} to {most}")),
            _ if least > 0 => Err(format!("write a whole number of at least {least}")),
            _ => Err("write a whole number, as 7".to_owned()),
        }
    }
}

/// Parses a share: `1%` or `0.01`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|p| p / 100.0),
        None => text.parse::<f64>(),
    };
    match number {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("write a share between 0 and 1, as 1% or 0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("1.5 min", 90_000_000_000),
            ("20us", 20_000),
            ("20µs", 20_000),
            ("7ns", 7),
        ] {
            assert_eq!(time(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
        for wrong in ["", "10", "s", "-1s", "0s", "1h", "1e9s", "nans", "infs", "1 m"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plain_number_is_microseconds() {
        assert_eq!(microseconds("250"), Ok(Duration::from_micros(250)));
        assert_eq!(microseconds("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(microseconds("0"), Ok(Duration::ZERO));
        assert!(microseconds("-3").is_err());
        assert!(microseconds("NaN").is_err());
    }

    #[test]
    fn counts() {
        let processes = count(1..=4096);
        assert_eq!((processes("1"), processes("4096")), (Ok(1), Ok(4096)));
        for wrong in ["0", "4097", "two", "", "-1", "1.5"] {
            let refused = processes(wrong);
            assert_eq!(refused, Err("write a whole number from 1 to 4096".to_owned()));
        }
        assert_eq!(count(1..=u64::MAX)("0").unwrap_err(), "write a whole number of at least 1");
        assert_eq!(count(0..=u64::MAX)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(
            count(1..=u64::MAX)("18446744073709551616").unwrap_err(),
            "write a whole number of at most 18446744073709551615"
        );
    }

    #[test]
    fn numbers_of_bytes() {
        for (text, expected) in [
            ("0", 0),
            ("4096", 4096),
            ("64K", 65536),
            ("1G", 1 << 30),
            ("2 GiB", 2 << 30),
            ("1.5Gi", 3 << 29),
            ("500 B", 500),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in ["", "G", "-1", "0.5", "1X", "17000000T", "1GB", "1 B B"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5 %"), Ok(0.005));
        assert_eq!(share("0.02"), Ok(0.02));
        for wrong in ["", "%", "0", "0%", "1", "100%", "-1%", "one", "NaN"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
