//! Compares the published JSON Schema of load models with the types of this crate.

#[path = "../../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::model::Model;

#[test]
fn published_schema_matches_the_types() {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    schema_text::is_published::<Model>(crate::model::SCHEMA, settings);
}
