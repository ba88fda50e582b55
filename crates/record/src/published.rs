//! The published JSON Schema of the run document: docs/schema/yamba-run-1.json is what these types say.

#[path = "schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;
use schemars::{Schema, json_schema};

use crate::Run;

/// What `import` refuses too: a status that contradicts its figure.
pub(crate) fn good_has_a_figure(schema: &mut Schema) {
    let rule = json_schema!({
        "if": {"properties": {"status": {"const": "ok"}}},
        "then": {"properties": {"valid": {"const": true}, "median": {"type": "number"}}, "required": ["median"]},
        "else": {"properties": {"valid": {"const": false}}},
    });
    for (key, value) in rule.as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
}

/// `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_published_schema_is_what_the_types_say() {
    let settings = SchemaSettings::draft2020_12();
    schema_text::is_published::<Run>(crate::run::SCHEMA, settings);
}
