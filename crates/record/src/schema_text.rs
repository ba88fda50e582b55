//! What a published JSON Schema is made of: the types that a document is written with. Every crate that has such types includes this file in its tests.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Links of the documentation are plain words here, and what a missing field means stands in its type, not in each place.
fn plain(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

/// Fails unless the file of this document in docs/schema, `yamba-run-1.json` of `yamba-run/1`, is what the type says. `UPDATE_EXPECT=1` writes it anew.
#[track_caller]
pub fn is_published<T: JsonSchema>(document: &str, settings: SchemaSettings) {
    let generator = settings.into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.insert("title".to_owned(), document.into());
    let said = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let name = format!("docs/schema/{}.json", document.replace('/', "-"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(&name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, said).unwrap();
        return;
    }
    let have = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        have == said,
        "{name} is not what the types say: run this test with UPDATE_EXPECT=1 and read the difference"
    );
}
