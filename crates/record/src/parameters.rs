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
}
