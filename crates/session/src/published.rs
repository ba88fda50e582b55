//! Tests that the published JSON Schema of `yamba noise` matches the types of this crate.

#[path = "../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::noise::Report;

/// Schema settings for serialization: every field is always written.
fn written() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

#[test]
fn published_noise_schema_matches_types() {
    schema_text::is_published::<Report>("yamba-noise/1", written());
}
