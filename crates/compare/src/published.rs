//! Compares the published JSON Schemas of `yamba compare` and `yamba history` with the types of
//! this crate.

#[path = "../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::Comparison;
use crate::history::History;

/// Settings for written documents, in which every field is present.
fn written() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

#[test]
fn published_schemas_match_the_types() {
    schema_text::is_published::<Comparison>("yamba-compare/1", written());
    schema_text::is_published::<History>("yamba-history/1", written());
}
