//! `yamba schema`

use clap::Args;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::runs::StoredRun;
use super::{Failure, did_you_mean, output, selftest};

/// Print the JSON Schema of a document
///
/// With no name: the names of all schemas, with the commands that write or read the documents.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba schema                           the names
  yamba schema yamba-run/1 > run.json    then: check-jsonschema --schemafile run.json DOCUMENT")]
pub(super) struct SchemaCommand {
    /// The document, as its field `schema` names it
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// The schema of a document.
struct DocumentSchema {
    name: &'static str,
    /// The commands that write or read the document.
    commands: &'static str,
    generate: fn() -> Schema,
}

/// A document that Yamba writes, with every field.
const fn written<T: JsonSchema>(name: &'static str, commands: &'static str) -> DocumentSchema {
    let generate = || generated::<T>(SchemaSettings::draft2020_12().for_serialize());
    DocumentSchema { name, commands, generate }
}

/// A document that Yamba also reads: a field with a default may be missing.
const fn read<T: JsonSchema>(name: &'static str, commands: &'static str) -> DocumentSchema {
    let generate = || generated::<T>(SchemaSettings::draft2020_12().for_deserialize());
    DocumentSchema { name, commands, generate }
}

const SCHEMAS: [DocumentSchema; 17] = [
    read::<yamba_record::Run>("yamba-run/1", "run, time, show, export, import"),
    written::<Vec<StoredRun>>("yamba-runs/1", "runs"),
    written::<yamba_compare::Comparison>("yamba-compare/1", "compare"),
    written::<yamba_compare::history::History>("yamba-history/1", "history"),
    written::<selftest::Document<'static>>("yamba-selftest/1", "selftest"),
    written::<yamba_session::noise::Report>("yamba-noise/1", "selftest --noise"),
    written::<yamba_session::study::Answer<'static>>("yamba-study/1", "study"),
    read::<yamba_session::hardware::Document>("yamba-hardware/1", "hardware, study hardware"),
    read::<yamba_predict::Vector>("yamba-vector/1", "trace, predict"),
    written::<yamba_predict::Predictions>("yamba-predict/1", "predict"),
    read::<yamba_page_cache::FileAccesses>("yamba-files/1", "trace --files, page-cache"),
    written::<yamba_page_cache::forecast::Forecast>("yamba-page-cache/1", "page-cache"),
    read::<yamba_jvm::gc::costs::Costs>("yamba-gc-costs/1", "gc characterise, gc predict"),
    read::<yamba_jvm::gc::demand::Demand>("yamba-gc-profile/1", "gc profile, gc predict"),
    written::<yamba_jvm::gc::predict::Predictions>("yamba-gc-predictions/1", "gc predict"),
    read::<yamba_load::model::Model>("yamba-load/1", "load fit, load run"),
    written::<yamba_fleet::slow_nodes::Document>("yamba-fleet-report/1", "fleet report"),
];

impl SchemaCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Some(name) = self.name else {
            let rows = SCHEMAS.iter().map(|s| vec![s.name.to_owned(), s.commands.to_owned()]);
            return output::result(&output::columns(&rows.collect::<Vec<_>>()));
        };
        let Some(schema) = SCHEMAS.iter().find(|schema| schema.name == name) else {
            let names: Vec<String> = SCHEMAS.iter().map(|s| s.name.to_owned()).collect();
            let help = did_you_mean(&name, &names)
                .unwrap_or_else(|| "`yamba schema` lists the names".to_owned());
            return Err(Failure::new(format!("no document is named {name}")).help(help));
        };
        let mut document = (schema.generate)();
        document.insert("title".to_owned(), schema.name.into());
        output::json(&document)
    }
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(without_links_and_defaults).transform(&mut schema);
    schema
}

/// Removes link brackets from descriptions, and default values, which the types document.
fn without_links_and_defaults(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}
