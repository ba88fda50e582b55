//! The number of units of work that an application did.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;

/// The number of units of one run or load.
#[derive(Clone, Debug)]
pub enum Units {
    /// This number.
    Number(f64),
    /// The number in the last match in the output of the load, or of the program if it has no load.
    From(Pattern),
}

/// A regular expression with one group, which matches a number.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let regex = Regex::new(text).map_err(|e| e.to_string())?;
        if regex.captures_len() != 2 {
            return Err(
                "write one group in round brackets, which matches the number: ([0-9]+) requests"
                    .to_owned(),
            );
        }
        Ok(Pattern(regex))
    }
}

impl Pattern {
    /// The expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The number in the last match. Commas may separate thousands. `None`: the group matches no
    /// number, or a part of one, as `([0-9]+)` does of `31,415`.
    fn number(&self, text: &str) -> Option<f64> {
        let group = self.0.captures_iter(text).last()?.get(1)?;
        let (before, after) = (&text[..group.start()], &text[group.end()..]);
        let is_part = continues(before.trim_end_matches(['+', '-']).chars().rev())
            || continues(after.chars())
            || is_negative(before);
        let number = without_separators(group.as_str()).filter(|_| !is_part)?;
        let number: f64 = number.parse().ok()?;
        (number.is_finite() && number > 0.0).then_some(number)
    }
}

/// Characters between the groups of a number, or before its fraction, in some locale. A plain
/// space may also stand between two numbers.
const MARKS: [char; 10] =
    ['.', ',', '\'', '\u{2019}', '_', '\u{a0}', '\u{202f}', '\u{2009}', '\u{66b}', '\u{66c}'];

/// Whether a number goes on with these characters: by a digit, or by a digit behind a mark or the
/// letter of an exponent.
fn continues(mut next: impl Iterator<Item = char>) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match next.next() {
        Some(mark) if MARKS.contains(&mark) || matches!(mark, 'e' | 'E') => is_digit(next.next()),
        first => is_digit(first),
    }
}

/// Whether the text ends with the sign of a negative number, which is no dash between words.
fn is_negative(before: &str) -> bool {
    let sign = before.strip_suffix('-');
    sign.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
}

/// The digits of a number whose commas are between groups of three. `None`: another comma, as
/// before the fraction in some locales.
fn without_separators(number: &str) -> Option<String> {
    let whole = number.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let has_groups = whole.contains(',') || number.contains(',');
    let are_groups = number.matches(',').count() == whole.matches(',').count()
        && (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3);
    (!has_groups || are_groups).then(|| number.replace(',', ""))
}

impl Units {
    /// Whether the number comes from an output.
    pub fn is_from_output(&self) -> bool {
        matches!(self, Units::From(_))
    }

    /// The number of units after this output. `None`: it has none.
    pub fn count(&self, output: &str) -> Option<f64> {
        match self {
            Units::Number(number) => Some(*number),
            Units::From(pattern) => pattern.number(output),
        }
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Units::Number(number) => write!(f, "{number}"),
            Units::From(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pattern: &str, text: &str) -> Option<f64> {
        Units::From(pattern.parse().unwrap()).count(text)
    }

    #[test]
    fn the_last_match_has_the_number() {
        let wrk = "  2 threads and 10 connections\n  31,415 requests in 5.00s, 4.2GB read\n";
        assert_eq!(from("([0-9,]+) requests in", wrk), Some(31415.0));
        let redis = "\rGET: 10.5 requests per second\rGET: 99.5 requests per second\n";
        assert_eq!(from(r"GET: ([0-9.]+) requests", redis), Some(99.5));
        assert_eq!(from("total-([0-9]+)", "total-7"), Some(7.0));
        for (pattern, text) in [
            // Parts of numbers, and numbers of other locales.
            ("([0-9]+) y", "31,415 y"),
            ("([0-9]+) y", "31.415 y"),
            ("([0-9]+) y", "1.5e3 y"),
            ("([0-9]+) y", "1.5e+3 y"),
            ("y ([0-9]+)", "y 31,415"),
            ("y ([0-9]+)", "y 7e5"),
            ("([0-9]+) y", "-7 y"),
            ("([0-9,]+) y", "1,5 y"),
            ("([0-9,]+) y", "1,5000 y"),
            ("([0-9.,]+) y", "1.500,5 y"),
            ("(x+) y", "xx y"),
            ("([0-9]+) y", "none"),
            ("([0-9]+)", "0"),
        ] {
            assert_eq!(from(pattern, text), None, "{pattern}");
        }
    }

    /// The digits before the mark are of the same number.
    #[test]
    fn numbers_with_marks_of_other_locales_are_no_counts() {
        for mark in ["'", "\u{2019}", "_", "\u{a0}", "\u{202f}", "\u{2009}", ".", ",", "\u{66c}"] {
            let text = format!("31{mark}415 requests");
            assert_eq!(from("([0-9]+) requests", &text), None, "{text}");
            assert_eq!(from("^([0-9]+)", &text), None, "{text}");
            let within = format!("([0-9{mark}]+) requests");
            let whole = (mark == ",").then_some(31415.0);
            if mark != "." {
                assert_eq!(from(&within, &text), whole, "{text}");
            }
            // A mark without a digit behind it is of the text.
            let beside = format!("{mark}415{mark} requests");
            assert_eq!(from("([0-9]+)", &beside), Some(415.0), "{beside}");
        }
    }

    #[test]
    fn patterns_without_one_group_are_refused() {
        for (pattern, part) in [("[0-9]+", "one group"), ("(a)(b)", "one group"), ("(", "")] {
            let refused = pattern.parse::<Pattern>().unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
