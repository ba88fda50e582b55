//! Identifies a benchmark in documents.

use serde::Serialize;
use yamba_record::{Benchmark, Parameters, Workers, named};

/// One benchmark at one point with one number of processes and threads.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Which {
    pub name: String,
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub parameters: Parameters,
    /// Number of concurrent processes.
    pub processes: u64,
    /// Number of concurrent threads of each process.
    pub threads: u64,
}

impl Which {
    /// Its name, parameters, and numbers of processes and threads as one text.
    pub fn label(&self) -> String {
        named(&self.name, &self.parameters, self.workers())
    }

    /// How often the benchmark ran at the same time.
    pub fn workers(&self) -> Workers {
        Workers { processes: self.processes, threads: self.threads }
    }
}

impl From<&Benchmark> for Which {
    fn from(of: &Benchmark) -> Which {
        Which {
            name: of.name.clone(),
            parameters: of.parameters.clone(),
            processes: of.environment.processes,
            threads: of.environment.threads,
        }
    }
}
