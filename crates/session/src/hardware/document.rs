//! The document of found parameters, which `--json` prints and programs read.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use yamba_record::hardware::HardwareParameter;
use yamba_record::{Run, Status};

use super::super::document_file;
use super::super::run_ref::is_path;
use super::super::{Failure, StoreChoice};

const SCHEMA: &str = "yamba-hardware/1";

/// The parameters that a run found.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// `yamba-hardware/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The id of the run.
    #[serde(default)]
    pub run: String,
    /// The processor's model, as the system claims it.
    #[serde(default)]
    pub processor: Option<String>,
    /// Whether the run was stopped before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether the benchmark of a parameter could not be built, or crashed.
    #[serde(skip)]
    pub has_failures: bool,
    /// The parameters.
    pub parameters: Vec<HardwareParameter>,
}

impl Document {
    /// The parameters of these names by the curves of a run. `absent` is the reason of one whose
    /// benchmark has no entry.
    pub(super) fn new(run: &Run, wanted: &[&str], absent: &str) -> Document {
        let mut parameters = super::parameters(run, absent);
        run.refuse_unclear(&mut parameters);
        parameters.retain(|p| wanted.contains(&p.name.as_str()));
        let curves = super::curves(wanted);
        let mut needed = run.benchmarks.iter().filter(|b| curves.contains(&b.name.as_str()));
        Document {
            schema: SCHEMA.to_owned(),
            run: run.id.clone(),
            processor: run.machine.cpu.clone(),
            interrupted: run.interrupted,
            has_failures: needed.any(|b| b.status == Status::Crashed),
            parameters,
        }
    }

    /// The document in a file, or the parameters of a stored run or of a run's document.
    pub(super) fn load(reference: &str, store: &StoreChoice) -> Result<Document, Failure> {
        if is_path(reference)
            && let Ok(text) = std::fs::read_to_string(reference)
            && names_schema(document_file::without_mark(&text))
        {
            return document_file::read(
                Path::new(reference),
                parsed,
                "`yamba hardware --json` writes it",
                "`yamba hardware --json` writes such a document",
            );
        }
        super::from_stored(reference, &[], store)
    }
}

/// Whether a text is a document of parameters, of any version.
fn names_schema(text: &str) -> bool {
    let document: Result<serde_json::Value, _> = serde_json::from_str(text);
    let schema = document.as_ref().ok().and_then(|document| document["schema"].as_str());
    schema.is_some_and(|schema| schema.starts_with("yamba-hardware/"))
}

/// Parses a document of parameters. Refuses one that contradicts itself.
fn parsed(text: &str) -> Result<Document, String> {
    let document: Document = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if document.schema != SCHEMA {
        return Err(format!("its schema is {}, and not {SCHEMA}", document.schema));
    }
    if document.parameters.is_empty() {
        return Err("it has no parameters".to_owned());
    }
    let mut names = BTreeSet::new();
    for parameter in &document.parameters {
        if !names.insert(&parameter.name) {
            return Err(format!("it has {} twice", parameter.name));
        }
        if let Some(fault) = parameter.contradiction() {
            return Err(fault);
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn refusal(change: impl FnOnce(&mut Value)) -> String {
        let parameter = json!({"name": "l1d.size", "unit": "B", "found": 32768.0,
            "interval": [32768.0, 40960.0], "claimed": null, "reason": null});
        let mut document = json!({"schema": SCHEMA, "parameters": [parameter]});
        change(&mut document);
        parsed(&document.to_string()).err().unwrap_or_default()
    }

    #[test]
    fn untrue_documents_are_refused() {
        assert_eq!(refusal(|_| ()), "");
        let newer = refusal(|d| d["schema"] = json!("yamba-hardware/2"));
        assert_eq!(newer, "its schema is yamba-hardware/2, and not yamba-hardware/1");
        assert!(names_schema("{\"schema\": \"yamba-hardware/2\"}"));
        assert_eq!(refusal(|d| d["parameters"] = json!([])), "it has no parameters");
        let twice = refusal(|d| d["parameters"] = json!([d["parameters"][0], d["parameters"][0]]));
        assert_eq!(twice, "it has l1d.size twice");
        let below = refusal(|d| d["parameters"][0]["found"] = json!(-5.0));
        assert_eq!(below, "the value -5 of l1d.size is below 0");
    }
}
