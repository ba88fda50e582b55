//! Detection of the kind of a JSON document.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// The known keys of the outermost object, as far as it was read.
#[derive(Default)]
pub(super) struct Kind {
    pub(super) schema: Option<String>,
    pub(super) has_context: bool,
    pub(super) has_benchmarks: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Schema,
    Context,
    Benchmarks,
    #[serde(other)]
    Other,
}

impl Kind {
    /// Reads up to the schema, which comes first in every document of Yamba, or to the end if there is none.
    pub(super) fn of(text: impl Read) -> serde_json::Result<Kind> {
        let mut kind = Kind::default();
        let mut json = serde_json::Deserializer::from_reader(text);
        let read = json.deserialize_map(&mut kind);
        match read.and_then(|()| json.end()) {
            Err(fault) if kind.schema.is_none() => Err(fault),
            _ => Ok(kind),
        }
    }
}

impl<'de> Visitor<'de> for &mut Kind {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key()? {
            match name {
                Name::Schema => self.schema = map.next_value()?,
                Name::Context => {
                    self.has_context = map.next_value::<Option<IgnoredAny>>()?.is_some()
                }
                Name::Benchmarks => {
                    self.has_benchmarks = map.next_value::<Option<IgnoredAny>>()?.is_some();
                }
                Name::Other => drop(map.next_value::<IgnoredAny>()?),
            }
            if self.schema.is_some() {
                return Err(A::Error::custom("enough is known"));
            }
        }
        Ok(())
    }
}
