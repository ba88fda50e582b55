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

    /// The number in the last match. Commas between digits are left out.
    fn number(&self, text: &str) -> Option<f64> {
        let group = self.0.captures_iter(text).last()?.get(1)?;
        let number: f64 = group.as_str().replace(',', "").parse().ok()?;
        (number.is_finite() && number > 0.0).then_some(number)
    }
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
        for (pattern, text) in [
            ("(x+) y", "xx y"),
            ("([0-9]+) y", "none"),
            ("([0-9]+)", "0"),
        ] {
            assert_eq!(from(pattern, text), None, "{pattern}");
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
