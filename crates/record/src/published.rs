//! Test of the published JSON Schema: docs/schema/yamba-run-1.json must match the types of this
//! crate.

#[path = "schema_text.rs"]
mod schema_text;

use schemars::generate::SchemaSettings;
use schemars::{Schema, json_schema};

use crate::Run;

/// Adds the rule that status and figure agree, which `import` checks too.
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

/// `UPDATE_EXPECT=1` rewrites the file.
#[test]
fn published_schema_matches_types() {
    let settings = SchemaSettings::draft2020_12();
    schema_text::is_published::<Run>(crate::run::SCHEMA, settings);
}
