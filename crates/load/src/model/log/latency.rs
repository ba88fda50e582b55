//! The field of a line that is the time in which the server answered.

use std::fmt;
use std::str::FromStr;

/// Greater numbers of seconds are no latencies but times since 1970, as nginx writes `$msec`.
const LONGEST_S: f64 = 86_400.0;

/// The digits after the point of a time in seconds, as nginx writes `$request_time`.
const TIME_DIGITS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

const UNITS: [(&str, LatencyUnit, f64); 4] = [
    ("s", LatencyUnit::S, 1.0),
    ("ms", LatencyUnit::Ms, 1e-3),
    ("us", LatencyUnit::Us, 1e-6),
    ("ns", LatencyUnit::Ns, 1e-9),
];

impl LatencyUnit {
    fn seconds(self) -> f64 {
        UNITS.iter().find(|unit| unit.1 == self).map_or(1.0, |unit| unit.2)
    }
}

/// A field after the bytes that is the latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyField {
    /// Its number after the bytes, from 1.
    pub field: usize,
    /// Its unit, as the user names it. `None`: seconds with three digits after the point, which
    /// show the unit.
    pub unit: Option<LatencyUnit>,
}

impl LatencyField {
    /// The latency in seconds, after `key`. `None`: the text is no such number, or too great.
    pub(super) fn seconds(self, text: &str, key: &str) -> Option<f64> {
        let text = self.number(text, key)?;
        let is_number = match self.unit {
            None => is_seconds(text),
            Some(_) => {
                text.starts_with(|c: char| c.is_ascii_digit())
                    && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            }
        };
        let number: f64 = text.parse().ok().filter(|_| is_number)?;
        let seconds = number * self.unit.unwrap_or(LatencyUnit::S).seconds();
        Some(seconds).filter(|seconds| *seconds < LONGEST_S)
    }

    /// The smallest difference of two latencies, in seconds, if one is written like `text`.
    pub(super) fn step_s(self, text: &str, key: &str) -> f64 {
        let fraction = self.number(text, key).and_then(|n| n.split_once('.'));
        let digits = fraction.map_or(0, |(_, fraction)| fraction.len());
        self.unit.unwrap_or(LatencyUnit::S).seconds() * 10f64.powi(-(digits as i32))
    }

    /// The number in a field such as `12ms`, `rt=0.004` and `rt="0.004"`. A unit that the user does
    /// not name stays.
    fn number<'a>(&self, text: &'a str, key: &str) -> Option<&'a str> {
        let text = text.strip_prefix(key)?;
        let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let text = quoted.filter(|_| !key.is_empty()).unwrap_or(text);
        let unit = UNITS.iter().find(|unit| Some(unit.1) == self.unit);
        Some(unit.and_then(|u| text.strip_suffix(u.0)).unwrap_or(text))
    }
}

/// The key of a field such as `rt=0.004`, with the `=`. Empty for a field without a key.
pub(super) fn key(text: &str) -> &str {
    let end = text.find('=').map_or(0, |at| at + 1);
    let is_name = text[..end]
        .trim_end_matches('=')
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if is_name { &text[..end] } else { "" }
}

impl fmt::Display for LatencyField {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let unit = self.unit.unwrap_or(LatencyUnit::S);
        let name = UNITS.iter().find(|u| u.1 == unit).map_or("s", |u| u.0);
        write!(f, "field {} after the bytes, in {name}", self.field)
    }
}

impl FromStr for LatencyField {
    type Err = String;

    /// Reads `N=UNIT`.
    fn from_str(text: &str) -> Result<LatencyField, String> {
        let parsed = text.split_once('=').and_then(|(field, unit)| {
            let unit = UNITS.iter().find(|u| u.0 == unit)?.1;
            let field = field.parse().ok().filter(|n| *n > 0)?;
            Some(LatencyField { field, unit: Some(unit) })
        });
        parsed.ok_or_else(|| "write the number of the field after the bytes and its unit, as 3=us (s, ms, us, ns)".to_owned())
    }
}

/// Whether a text is a time in seconds as nginx writes it, such as `0.004`.
pub(super) fn is_seconds(text: &str) -> bool {
    let Some((whole, fraction)) = text.split_once('.') else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_form = is_number(whole) && is_number(fraction) && fraction.len() == TIME_DIGITS;
    is_form && text.parse::<f64>().is_ok_and(|seconds| seconds < LONGEST_S)
}
