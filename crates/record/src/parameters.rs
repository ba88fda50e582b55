//! Parameters and their values, in the order of declaration in the class.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Names with values; a JSON object that keeps its order.
#[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema)]
pub struct Parameters(
    #[schemars(with = "std::collections::BTreeMap<String, Value>")] pub Vec<(String, Value)>,
);

impl Parameters {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }
}

/// Formats the parameters for `--set`: `scale=16 read_ahead=false`.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{name}={}", plain(value))?;
        }
        Ok(())
    }
}

/// Formats a value for `--set`: a text has no quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A parameter value that the user wrote, to be compared with recorded values.
pub struct Written<'a> {
    text: &'a str,
    /// Whether some recorded value equals the text literally.
    is_literal: bool,
}

impl<'a> Written<'a> {
    /// `recorded` are the values of all candidate points.
    pub fn among<'b>(text: &'a str, recorded: impl IntoIterator<Item = &'b Value>) -> Written<'a> {
        let is_literal = recorded.into_iter().any(|value| plain(value) == text);
        Written { text, is_literal }
    }

    /// Whether the text denotes this recorded value: `64K` denotes 65536, unless some point has the
    /// text `64K`.
    pub fn is(&self, recorded: &Value) -> bool {
        let recorded = plain(recorded);
        if self.is_literal {
            recorded == self.text
        } else {
            amount(&recorded).is_some_and(|r| amount(self.text) == Some(r))
        }
    }
}

/// A number; integers are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    Whole(i128),
    Real(f64),
}

/// Parses a number with an optional suffix K, Ki, KiB, M, G or T (powers of 1024), like a benchmark
/// program does.
fn amount(text: &str) -> Option<Amount> {
    let letters = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let bare = text.strip_suffix("iB").or(text.strip_suffix('i'));
    let bare = bare.unwrap_or(text);
    let large = letters.iter().find_map(|(letter, shift)| {
        let number = bare.strip_suffix(letter)?.trim_end();
        times(number, 1 << shift)
    });
    large.or_else(|| times(text, 1))
}

fn times(number: &str, factor: u64) -> Option<Amount> {
    let whole = number.parse::<i128>().ok();
    if let Some(whole) = whole.and_then(|n| n.checked_mul(i128::from(factor))) {
        return Some(Amount::Whole(whole));
    }
    let real = number.parse::<f64>().ok()? * factor as f64;
    let is_whole = real.fract() == 0.0 && real.abs() < i128::MAX as f64;
    Some(if is_whole { Amount::Whole(real as i128) } else { Amount::Real(real) })
}

/// Parses a whole number with the suffixes of [`amount`], such as `64K` or `1.5 GiB`.
pub fn whole(text: &str) -> Option<i128> {
    match amount(text)? {
        Amount::Whole(number) => Some(number),
        Amount::Real(_) => None,
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
        let mut parameters = Vec::new();
        while let Some(entry) = map.next_entry()? {
            parameters.push(entry);
        }
        Ok(Parameters(parameters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_order_and_print_like_set_options() {
        let text = r#"{"scale":16,"a":"b c","on":true,"big":18446744073709551615,"f":0.5}"#;
        let parameters: Parameters = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&parameters).unwrap(), text);
        assert_eq!(parameters.to_string(), "scale=16 a=b c on=true big=18446744073709551615 f=0.5");
        assert_eq!(parameters.get("scale"), Some(&Value::from(16)));
    }

    #[test]
    fn written_value_matches_number_with_unit_suffix() {
        for (value, text) in [
            (Value::from(65536), "64K"),
            (Value::from(65536), "64 KiB"),
            (Value::from(65536), "64Ki"),
            (Value::from(65536), "65536"),
            (Value::from(0.5), "0.50"),
            (Value::from("K"), "K"),
            (Value::from(true), "true"),
        ] {
            assert!(Written::among(text, [&value]).is(&value), "{value} {text}");
        }
        for (value, text) in [
            (Value::from(65536), "64"),
            (Value::from(65536), "64M"),
            (Value::from(64), "64i"),
            (Value::from("a"), "b"),
            (Value::from(1), "true"),
        ] {
            assert!(!Written::among(text, [&value]).is(&value), "{value} {text}");
        }
    }

    fn matching(text: &str, recorded: &[Value]) -> Vec<String> {
        let written = Written::among(text, recorded);
        recorded.iter().filter(|value| written.is(value)).map(plain).collect()
    }

    #[test]
    fn literal_match_excludes_equal_amounts() {
        let texts = ["1024", "1K", "010", "10"].map(Value::from);
        for text in ["1024", "1K", "010", "10"] {
            assert_eq!(matching(text, &texts), [text]);
        }
        assert_eq!(matching("1 KiB", &texts), ["1024", "1K"]);
        assert_eq!(matching("10.0", &texts), ["010", "10"]);
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let past = 1_u64 << 53;
        let numbers = [past, past + 1, u64::MAX - 1, u64::MAX].map(Value::from);
        assert_eq!(matching("8192T", &numbers), ["9007199254740992"]);
        assert_eq!(matching("+9007199254740993", &numbers), ["9007199254740993"]);
        assert_eq!(matching("018446744073709551615", &numbers), ["18446744073709551615"]);
        assert!(matching("9007199254740994", &numbers).is_empty());
        assert_eq!(matching("1e3", &[Value::from(1000)]), ["1000"]);
    }
}
