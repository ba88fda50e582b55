//! Identifies a benchmark in documents.

use serde::Serialize;
use yamba_record::{Benchmark, Parameters};

use super::named;

/// One benchmark at one point with one number of processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Which {
    /// Its name.
    pub name: String,
    /// Its parameters.
    #[cfg_attr(
        test,
        schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")
    )]
    pub parameters: Parameters,
    /// Number of concurrent processes.
    pub processes: u64,
}

impl Which {
    /// Its name, parameters and number of processes as one text.
    pub fn label(&self) -> String {
        named(&self.name, &self.parameters, self.processes)
    }
}

impl From<&Benchmark> for Which {
    fn from(of: &Benchmark) -> Which {
        Which {
            name: of.name.clone(),
            parameters: of.parameters.clone(),
            processes: of.processes,
        }
    }
}
