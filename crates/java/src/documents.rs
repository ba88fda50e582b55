//! The documents of the agent.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::jvm::Identity;

/// The counted calls of one run.
#[derive(Debug, Deserialize)]
pub(crate) struct Calls {
    pub jvm: Identity,
    /// Classes that could not be rewritten.
    pub left_out_classes: u64,
    /// Calls of methods that found no place in the counters.
    pub others: u64,
    pub calls: Vec<Call>,
}

/// The calls of a method in one class of sizes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    pub name: String,
    pub mean_size: Option<f64>,
    pub count: u64,
}

/// The processor time of one run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Times {
    pub process_ns: u64,
    /// Time of collectors, compilers and other threads of the machine itself.
    pub vm_ns: u64,
}

/// The samples of one run.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Samples {
    /// In the program, callbacks included.
    pub program: u64,
    /// In threads without a frame of the program.
    pub others: u64,
    /// In the class library, by the method that the program called.
    pub library: BTreeMap<String, u64>,
}

impl Samples {
    pub(crate) fn in_library(&self) -> u64 {
        self.library.values().sum()
    }

    pub(crate) fn all(&self) -> u64 {
        self.program + self.others + self.in_library()
    }
}
