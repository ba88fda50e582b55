//! Parameters and their values, in the order in which the class declares them.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Names with values; a JSON object that keeps its order.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parameters(
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, Value>"))]
    pub  Vec<(String, Value)>,
);

impl Parameters {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }
}

/// `scale=16 read_ahead=false`, as `--set` would take them.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{name}={}", plain(value))?;
        }
        Ok(())
    }
}

/// A value as `--set` takes it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What a person wrote for a value, beside the values that were recorded.
pub struct Written<'a> {
    text: &'a str,
    /// Whether a recorded value is this very text.
    is_literal: bool,
}

impl<'a> Written<'a> {
    /// `recorded`: the values of all points that may be meant.
    pub fn among<'b>(text: &'a str, recorded: impl IntoIterator<Item = &'b Value>) -> Written<'a> {
        let is_literal = recorded.into_iter().any(|value| plain(value) == text);
        Written { text, is_literal }
    }

    /// Whether this recorded value is meant: `64K` is 65536, unless a point has `64K` itself.
    pub fn is(&self, recorded: &Value) -> bool {
        let recorded = plain(recorded);
        match self.is_literal {
            true => recorded == self.text,
            false => amount(&recorded).is_some_and(|r| amount(self.text) == Some(r)),
        }
    }
}

/// A number. Of integers no digit is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    Whole(i128),
    Real(f64),
}

/// In powers of 1024 where a letter follows the number, as a program reads its parameters.
fn amount(text: &str) -> Option<Amount> {
    let letters = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let bare = text.strip_suffix("iB").unwrap_or(text);
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
    Some(match is_whole {
        true => Amount::Whole(real as i128),
        false => Amount::Real(real),
    })
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
    fn keep_their_order_and_read_like_settings() {
        let text = r#"{"scale":16,"a":"b c","on":true,"big":18446744073709551615,"f":0.5}"#;
        let parameters: Parameters = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&parameters).unwrap(), text);
        assert_eq!(
            parameters.to_string(),
            "scale=16 a=b c on=true big=18446744073709551615 f=0.5"
        );
        assert_eq!(parameters.get("scale"), Some(&Value::from(16)));
    }

    #[test]
    fn a_value_may_be_written_with_a_unit() {
        for (value, text) in [
            (Value::from(65536), "64K"),
            (Value::from(65536), "64 KiB"),
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
            (Value::from("a"), "b"),
            (Value::from(1), "true"),
        ] {
            assert!(!Written::among(text, [&value]).is(&value), "{value} {text}");
        }
    }

    fn meant(text: &str, recorded: &[Value]) -> Vec<String> {
        let written = Written::among(text, recorded);
        let meant = recorded.iter().filter(|value| written.is(value));
        meant.map(plain).collect()
    }

    #[test]
    fn where_a_value_is_the_text_no_other_is_meant() {
        let texts = ["1024", "1K", "010", "10"].map(Value::from);
        for text in ["1024", "1K", "010", "10"] {
            assert_eq!(meant(text, &texts), [text]);
        }
        assert_eq!(meant("1 KiB", &texts), ["1024", "1K"]);
        assert_eq!(meant("10.0", &texts), ["010", "10"]);
    }

    #[test]
    fn integers_are_compared_to_the_last_digit() {
        let past = 1_u64 << 53;
        let numbers = [past, past + 1, u64::MAX - 1, u64::MAX].map(Value::from);
        assert_eq!(meant("8192T", &numbers), ["9007199254740992"]);
        assert_eq!(meant("+9007199254740993", &numbers), ["9007199254740993"]);
        assert_eq!(
            meant("018446744073709551615", &numbers),
            ["18446744073709551615"]
        );
        assert!(meant("9007199254740994", &numbers).is_empty());
        assert_eq!(meant("1e3", &[Value::from(1000)]), ["1000"]);
    }
}
