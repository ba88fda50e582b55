//! Compares the published JSON Schemas of vectors and predictions with the types of this crate.

#[path = "../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::Vector;
use crate::document::Predictions;

#[test]
fn published_schemas_match_the_types() {
    let settings = SchemaSettings::draft2020_12;
    schema_text::is_published::<Vector>("yamba-vector/1", settings().for_deserialize());
    schema_text::is_published::<Predictions>("yamba-predict/1", settings().for_serialize());
}
