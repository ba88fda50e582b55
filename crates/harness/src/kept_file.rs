//! Files in the cache folder with findings about this machine, for later runs.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use yamba_record::machine::Machine;

/// A kind of finding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// The first word of the file's name.
    pub name: &'static str,
    /// The version of the method. Findings of another version are ignored.
    pub version: u64,
}

/// The file of one kind of processor on one host. Hosts may share the folder, and a virtual machine
/// may move between kinds of processors.
#[derive(Serialize, Deserialize)]
struct KeptFile<T> {
    version: u64,
    #[serde(flatten)]
    of: Identity,
    found: T,
}

/// Findings count only where they were made.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    host: String,
    /// The processor's model. A hypervisor may hide it behind a general name.
    cpu: Option<String>,
    /// Family, model and stepping of the processor.
    signature: Option<String>,
    /// The instruction set of the programs: each has its own probe.
    isa: String,
}

impl Identity {
    fn new(machine: &Machine) -> Identity {
        let details = machine.details.as_ref();
        let names = rustix::system::uname();
        Identity {
            host: names.nodename().to_string_lossy().into_owned(),
            cpu: machine.cpu.clone(),
            signature: details.and_then(|d| d.processor.signature.clone()),
            isa: machine.isa.clone(),
        }
    }

    /// `quiet-x86_64-myhost-family_6_model_173_stepping_1.json`
    fn path(&self, folder: &Path, kind: Kind) -> PathBuf {
        let parts = [Some(&self.isa), Some(&self.host), self.signature.as_ref()];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let name = parts.join("-");
        let name = name.replace(|c| !is_plain(c), "_");
        folder.join(format!("{}-{name}.json", kind.name))
    }
}

/// The findings of earlier runs on this machine. `None` if the file is missing, damaged, or of
/// another machine or version.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, kind: Kind, machine: &Machine) -> Option<T> {
    let of = Identity::new(machine);
    let text = std::fs::read(of.path(folder, kind)).ok()?;
    let file = serde_json::from_slice::<KeptFile<T>>(&text).ok()?;
    let is_of_here = file.version == kind.version && file.of == of;
    is_of_here.then_some(file.found)
}

/// Replaces the file. A failure costs only the findings.
pub(super) fn write<T: Serialize>(folder: &Path, kind: Kind, machine: &Machine, found: T) {
    let of = Identity::new(machine);
    let path = of.path(folder, kind);
    let file = KeptFile { version: kind.version, of, found };
    if let Ok(text) = serde_json::to_vec_pretty(&file)
        && let Ok(mut beside) = NamedTempFile::new_in(folder)
        && beside.write_all(&text).is_ok()
    {
        let _ = beside.persist(path);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const KIND: Kind = Kind { name: "sample", version: 1 };

    pub fn machine(signature: &str, isa: &str) -> Machine {
        let mut machine = Machine {
            cpu: Some("cpu".to_owned()),
            isa: isa.to_owned(),
            details: Some(Box::default()),
            ..Machine::default()
        };
        machine.details.as_mut().unwrap().processor.signature = Some(signature.to_owned());
        machine
    }

    #[test]
    fn findings_of_other_host_or_version_and_damaged_files_are_ignored() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let here = machine("family 6 model 1", "x86_64");
        let read = || read::<u64>(folder, KIND, &here);
        assert_eq!(read(), None);
        write(folder, KIND, &here, 7);
        assert_eq!(read(), Some(7));
        let of = Identity::new(&here);
        let path = of.path(folder, KIND);
        let text = std::fs::read_to_string(&path).unwrap();
        let host = format!("\"host\": {}", serde_json::to_string(&of.host).unwrap());
        for (of_here, other) in [
            (host.as_str(), "\"host\": \"another\""),
            ("\"version\": 1", "\"version\": 0"),
            ("\"found\": 7", "\"found\": "),
        ] {
            let changed = text.replace(of_here, other);
            assert_ne!(changed, text);
            std::fs::write(&path, changed).unwrap();
            assert_eq!(read(), None, "{other}");
        }
    }
}
