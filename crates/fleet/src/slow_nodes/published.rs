//! Compares the published JSON Schema of a fleet's report with the types of this crate.

#[path = "../../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::slow_nodes::Document;

#[test]
fn published_schema_matches_the_types() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    schema_text::is_published::<Document>("yamba-fleet-report/1", settings);
}
