//! Compares the published JSON Schema of file accesses with the types of this crate.

#[path = "../../record/src/schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;

use crate::FileAccesses;
use crate::forecast::Forecast;

#[test]
fn published_schemas_match_the_types() {
    let settings = SchemaSettings::draft2020_12;
    schema_text::is_published::<FileAccesses>("yamba-files/1", settings().for_deserialize());
    schema_text::is_published::<Forecast>("yamba-page-cache/1", settings().for_serialize());
}
