//! The document of found parameters, which `--json` prints and programs read.

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
            && names_schema(&text)
        {
            return document_file::read(
                Path::new(reference),
                |text| serde_json::from_str(text).map_err(|e| e.to_string()),
                "`yamba hardware --json` writes it",
                "`yamba hardware --json` writes such a document",
            );
        }
        super::from_stored(reference, &[], store)
    }
}

/// Whether a text is a document of parameters.
fn names_schema(text: &str) -> bool {
    let document: Result<serde_json::Value, _> = serde_json::from_str(text);
    document.is_ok_and(|document| document["schema"] == SCHEMA)
}
