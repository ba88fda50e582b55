//! Keeps the quiet widths of a machine's processors from run to run: a later run may have no quiet moment of its own.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use yamba_record::machine::Machine;

/// The file. Widths count only on the machine that they were found on.
#[derive(Debug, Serialize, Deserialize)]
struct QuietFile {
    /// The processor's model. A hypervisor may hide it behind a general name.
    cpu: Option<String>,
    /// Family, model and stepping of the processor.
    signature: Option<String>,
    /// The instruction set of the programs: each has its own probe.
    isa: String,
    /// The quiet width of each processor, in cycles of 10 000 instructions.
    quiet_widths: BTreeMap<u64, f64>,
}

/// The widths that earlier runs found on this machine. A file that is missing, damaged or of another machine has none.
pub(super) fn read(path: &Path, machine: &Machine) -> BTreeMap<u64, f64> {
    let text = std::fs::read(path).unwrap_or_default();
    let file = serde_json::from_slice::<QuietFile>(&text).ok();
    let is_same = |f: &QuietFile| {
        f.cpu == machine.cpu && f.signature == signature(machine) && f.isa == machine.isa
    };
    let file = file.filter(is_same);
    let mut widths = file.map_or_else(BTreeMap::new, |f| f.quiet_widths);
    widths.retain(|_, width| *width > 0.0);
    widths
}

fn signature(machine: &Machine) -> Option<String> {
    machine.details.as_ref()?.processor.signature.clone()
}

/// Replaces the file. A failure costs only this knowledge: the next run finds its own widths.
pub(super) fn write(path: &Path, machine: &Machine, quiet_widths: BTreeMap<u64, f64>) {
    if quiet_widths.is_empty() {
        return;
    }
    let file = QuietFile {
        cpu: machine.cpu.clone(),
        signature: signature(machine),
        isa: machine.isa.clone(),
        quiet_widths,
    };
    let (Some(folder), Ok(text)) = (path.parent(), serde_json::to_vec_pretty(&file)) else {
        return;
    };
    if let Ok(mut beside) = NamedTempFile::new_in(folder)
        && beside.write_all(&text).is_ok()
    {
        let _ = beside.persist(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpu: &str, isa: &str) -> Machine {
        Machine {
            cpu: Some(cpu.to_owned()),
            isa: isa.to_owned(),
            details: Some(Box::default()),
            ..Machine::default()
        }
    }

    #[test]
    fn widths_are_kept_for_the_same_machine_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quiet.json");
        let here = machine("one", "x86_64");
        let widths = BTreeMap::from([(0, 1702.0), (3, 2050.0)]);
        assert!(read(&path, &here).is_empty());
        write(&path, &here, widths.clone());
        assert_eq!(read(&path, &here), widths);
        assert!(read(&path, &machine("other", "x86_64")).is_empty());
        assert!(read(&path, &machine("one", "x86_32")).is_empty());
        let mut successor = machine("one", "x86_64");
        successor.details.as_mut().unwrap().processor.signature = Some("26-2-1".to_owned());
        assert!(read(&path, &successor).is_empty());
        // A run that found nothing leaves the file as it is.
        write(&path, &here, BTreeMap::new());
        assert_eq!(read(&path, &here), widths);
        std::fs::write(&path, "{\"cpu\":\"one\",").unwrap();
        assert!(read(&path, &here).is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
