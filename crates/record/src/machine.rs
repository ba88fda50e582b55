//! The machine of a run.

use serde::{Deserialize, Serialize};

/// What the machine is; nothing that names it or its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The instruction set.
    pub isa: String,
    /// The operating system.
    pub system: String,
    /// Its version.
    pub kernel: String,
    /// The processor's model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cpus: u64,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of a page.
    pub page_size: u64,
    /// Whether the run had every privilege.
    pub root: bool,
    /// Whether a hypervisor was seen.
    pub virtual_machine: Option<bool>,
    /// The file system that scratch files are on.
    pub scratch: Option<Scratch>,
}

/// The disk that scratch files are on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scratch {
    /// Whether it is memory: nothing there is ever read from storage.
    pub is_memory: bool,
    /// Bytes that the system reads ahead.
    pub read_ahead: Option<u64>,
}
