//! Compares the published JSON Schemas of costs, profiles and predictions with the types of this
//! crate.

#[path = "../../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::gc::costs::Costs;
use crate::gc::demand::Demand;
use crate::gc::predict::Predictions;

#[test]
fn published_schemas_match_the_types() {
    let settings = SchemaSettings::draft2020_12;
    let read = || settings().for_deserialize();
    schema_text::is_published::<Costs>(crate::gc::costs::SCHEMA, read());
    schema_text::is_published::<Demand>(crate::gc::demand::SCHEMA, read());
    let written = settings().for_serialize();
    schema_text::is_published::<Predictions>(crate::gc::predict::SCHEMA, written);
}
