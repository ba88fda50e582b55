//! `20..100 cycles`: a range in a unit, open at one end or closed.

use std::fmt;

/// The numbers from `low` to `high`, inclusive. At least one end is given, and `low` does not
/// exceed `high`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The minimum; `None` if the range has none.
    pub low: Option<f64>,
    /// The maximum; `None` if the range has none.
    pub high: Option<f64>,
    /// The unit; may be empty.
    pub unit: String,
}

/// Help text with the syntax of a range.
const FORM: &str =
    "write LOW..HIGH UNIT, as 20..100 cycles; ..100 ns and 2.. GB/s are open at one end";

impl Range {
    /// Parses a range. An error consists of a message and a help text.
    ///
    /// # Errors
    /// If the text is not a range of finite numbers.
    pub fn parse(text: &str) -> Result<Range, (String, String)> {
        let Some((low, rest)) = text.split_once("..") else {
            return Err((
                format!("`{text}` is no range"),
                format!("a figure is in a range or not, but never equal to a number; {FORM}"),
            ));
        };
        let rest = rest.trim_start();
        let end = if rest.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        } else {
            0
        };
        let (high, unit) = rest.split_at(end);
        let range = Range { low: number(low)?, high: number(high)?, unit: unit.trim().to_owned() };
        match (range.low, range.high) {
            (None, None) => Err((format!("`{text}` has neither end"), FORM.to_owned())),
            (Some(low), Some(high)) if low > high => Err((
                format!("`{text}` begins above its end"),
                "write the smaller number first".to_owned(),
            )),
            _ => Ok(range),
        }
    }
}

fn number(text: &str) -> Result<Option<f64>, (String, String)> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match text.replace('_', "").parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        _ => Err((format!("`{text}` is no number"), FORM.to_owned())),
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formatted = yamba_record::number::number;
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "{} to {}", formatted(low), formatted(high))?,
            (Some(low), None) => write!(f, "at least {}", formatted(low))?,
            (None, Some(high)) => write!(f, "at most {}", formatted(high))?,
            (None, None) => {}
        }
        match self.unit.as_str() {
            "" => Ok(()),
            unit => write!(f, " {unit}"),
        }
    }
}
