//! The machine of a run: the few facts that every reader wants, and all else that the system tells in [`details`].

pub mod details;

pub use details::Details;

use serde::{Deserialize, Serialize};

/// What the machine is; nothing that names it or its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What else the system tells; none in documents of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

/// The disk that scratch files are on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scratch {
    /// Whether it is memory: nothing there is ever read from storage.
    pub is_memory: bool,
    /// Bytes that the system reads ahead.
    pub read_ahead: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::details::{Limit, Mend, Unlimited};
    use super::*;

    #[test]
    fn a_document_of_before_and_one_of_tomorrow_are_read() {
        let before = r#"{"isa":"x86_64","system":"linux","kernel":"6.1","cpu":null,"cpus":2,"memory":null,
            "page_size":4096,"root":false,"virtual_machine":null,"scratch":null}"#;
        let machine: Machine = serde_json::from_str(before).unwrap();
        assert_eq!(machine.details, None);
        let tomorrow = r#"{"version":2,"limits":{"open_files":1024},"colour":"grey"}"#;
        let details: Details = serde_json::from_str(tomorrow).unwrap();
        assert_eq!(details.limits.open_files, Some(Limit::At(1024)));
    }

    #[test]
    fn limits_and_mends_are_plain_in_json() {
        let json = |limit: Limit| serde_json::to_string(&limit).unwrap();
        assert_eq!(json(Limit::At(64)), "64");
        assert_eq!(json(Limit::Not(Unlimited::Unlimited)), r#""unlimited""#);
        let mend = Mend::Command("swapoff -a".to_owned());
        assert_eq!(
            serde_json::to_string(&mend).unwrap(),
            r#"{"command":"swapoff -a"}"#
        );
    }
}
