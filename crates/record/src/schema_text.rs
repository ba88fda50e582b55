//! Generates the JSON Schema of a document from its types. Every crate with such types includes
//! this file in its tests.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Removes link brackets from descriptions, and default values, which the types document.
fn plain(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

/// Fails unless the schema file of `document` matches the type. The file of `yamba-run/1` is
/// docs/schema/yamba-run-1.json. `UPDATE_EXPECT=1` rewrites it.
#[track_caller]
pub fn is_published<T: JsonSchema>(document: &str, settings: SchemaSettings) {
    let generator = settings.into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.insert("title".to_owned(), document.into());
    let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let name = format!("docs/schema/{}.json", document.replace('/', "-"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, generated).unwrap();
        return;
    }
    let have = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        have == generated,
        "{name} differs from the types: run this test with UPDATE_EXPECT=1 and review the diff"
    );
}
