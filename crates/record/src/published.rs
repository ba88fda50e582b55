//! The published JSON Schema of the run document: docs/schema/yamba-run-1.json is what these types say.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::Value;

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

/// Links of the documentation are plain words here, and what a missing field means stands in its type, not in each place.
fn plain(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

fn published<T: JsonSchema>(title: &str) -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.insert("title".to_owned(), title.into());
    let text = serde_json::to_string_pretty(&schema).unwrap();
    format!("{text}\n")
}

/// `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_published_schema_is_what_the_types_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/yamba-run-1.json");
    let said = published::<Run>(crate::run::SCHEMA);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, said).unwrap();
        return;
    }
    let have = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        have == said,
        "docs/schema/yamba-run-1.json is not what the types say: run this test with UPDATE_EXPECT=1 and read the difference"
    );
}
