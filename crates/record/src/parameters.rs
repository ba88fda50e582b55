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

/// Whether a recorded value is what a person wrote: `64K` is 65536.
pub fn is_written(recorded: &Value, text: &str) -> bool {
    let recorded = plain(recorded);
    recorded == text || amount(&recorded).is_some_and(|r| amount(text) == Some(r))
}

/// A number, in powers of 1024 where a letter follows it, as a program reads its parameters.
fn amount(text: &str) -> Option<f64> {
    let letters = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let bare = text.strip_suffix("iB").unwrap_or(text);
    let large = letters.iter().find_map(|(letter, shift)| {
        let number = bare.strip_suffix(letter)?.trim_end();
        Some(number.parse::<f64>().ok()? * (1_u64 << shift) as f64)
    });
    large.or_else(|| text.parse().ok())
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
            assert!(is_written(&value, text), "{value} {text}");
        }
        for (value, text) in [
            (Value::from(65536), "64"),
            (Value::from(65536), "64M"),
            (Value::from("a"), "b"),
            (Value::from(1), "true"),
        ] {
            assert!(!is_written(&value, text), "{value} {text}");
        }
    }
}
