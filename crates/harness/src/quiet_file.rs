//! Keeps the quiet widths of a machine's processors from run to run: a later run may have no quiet
//! moment of its own.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use yamba_record::machine::{Contention, Machine};

use super::contention::{ProcessorFindings, is_level};
use super::kept_file::{self, Kind};

/// Widths of another probe say nothing, so a change of the probe's loop or its units needs a new
/// version.
const KIND: Kind = Kind { name: "quiet", version: 1 };

/// A kept width is replaced after this number of runs that all had the same higher lowest level,
/// with no run between them that saw the kept width.
const MOST_RUNS_UNSEEN: u64 = 5;

/// Fewest probes of a run that can tell whether a level has gone.
const FEWEST_PROBES: usize = 300;

/// The findings of all runs on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptWidth {
    /// In cycles of 10 000 instructions. `None` if no run had a quiet moment.
    quiet_width: Option<f64>,
    /// Entries of the whole reorder buffer. 0: readings do not show it. `None`: no run had any.
    #[serde(default)]
    whole_buffer: Option<u64>,
    /// Number of runs in a row with many readings, but none of these entries.
    #[serde(default)]
    buffer_unseen: u64,
    /// A higher level that may replace the width.
    replacement: Option<Replacement>,
    /// The latest run with probes.
    latest: Option<Contention>,
}

/// The lowest level of `runs` runs that did not see the kept width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Replacement {
    width: f64,
    runs: u64,
}

impl KeptWidth {
    /// Adds the findings of a run that ended at `unix_s`.
    fn after(self, found: &ProcessorFindings, unix_s: f64) -> KeptWidth {
        let mut kept = KeptWidth {
            quiet_width: found.quiet_width.or(self.quiet_width),
            whole_buffer: found.own_buffer.max(self.whole_buffer),
            buffer_unseen: self.buffer_unseen,
            replacement: self.replacement,
            latest: found.contention(unix_s).or(self.latest),
        };
        if found.own_buffer >= self.whole_buffer {
            kept.buffer_unseen = 0;
        } else if found.windows >= FEWEST_PROBES {
            kept.buffer_unseen += 1;
            if kept.buffer_unseen >= MOST_RUNS_UNSEEN {
                (kept.whole_buffer, kept.buffer_unseen) = (found.own_buffer, 0);
            }
        }
        if found.saw_earlier || found.quiet_width < self.quiet_width {
            kept.replacement = None;
        } else if let Some(width) = found.own_level
            && self.quiet_width.is_some()
            && found.probes >= FEWEST_PROBES
        {
            let same = self.replacement.filter(|r| is_level(width, r.width));
            let runs = 1 + same.map_or(0, |r| r.runs);
            if runs < MOST_RUNS_UNSEEN {
                kept.replacement = Some(Replacement { width, runs });
            } else {
                (kept.quiet_width, kept.replacement) = (Some(width), None);
            }
        }
        kept
    }
}

/// Reads the findings of earlier runs on this machine.
pub(super) fn read(folder: &Path, machine: &Machine) -> BTreeMap<u64, KeptWidth> {
    let kept = kept_file::read(folder, KIND, machine);
    let mut kept: BTreeMap<u64, KeptWidth> = kept.unwrap_or_default();
    kept.retain(|_, kept| kept.quiet_width.is_none_or(|width| width > 0.0));
    kept
}

/// The known widths.
pub(super) fn widths(kept: &BTreeMap<u64, KeptWidth>) -> BTreeMap<u64, f64> {
    let known = kept.iter();
    known.filter_map(|(cpu, kept)| Some((*cpu, kept.quiet_width?))).collect()
}

/// The entries of the whole reorder buffers of which a run had readings; 0 if these do not show it.
pub(super) fn whole_buffers(kept: &BTreeMap<u64, KeptWidth>) -> BTreeMap<u64, u64> {
    let known = kept.iter();
    known.filter_map(|(cpu, kept)| Some((*cpu, kept.whole_buffer?))).collect()
}

/// Adds the findings of a run to the file. A failure costs only this knowledge: the next run finds
/// its own widths.
pub(super) fn update(
    folder: &Path,
    machine: &Machine,
    findings: &BTreeMap<u64, ProcessorFindings>,
    unix_s: f64,
) {
    let mut processors = read(folder, machine);
    for (cpu, found) in findings {
        let kept = processors.entry(*cpu).or_default();
        *kept = kept.after(found, unix_s);
    }
    processors.retain(|_, kept| *kept != KeptWidth::default());
    if !findings.is_empty() && !processors.is_empty() {
        kept_file::write(folder, KIND, machine, processors);
    }
}

/// Enters the quiet widths that runs found on this machine, and the contention that the latest run
/// found on each processor.
pub fn add_kept_widths(machine: &mut Machine, folder: &Path) {
    let kept = read(folder, machine);
    let widths = widths(&kept).into_iter();
    machine.quiet_widths = widths.map(|(cpu, w)| (cpu.to_string(), w)).collect();
    let latest = kept.iter();
    let latest = latest.filter_map(|(cpu, kept)| Some((cpu.to_string(), kept.latest?)));
    machine.contention = latest.collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept_file::tests::machine;

    fn found(width: f64) -> ProcessorFindings {
        ProcessorFindings {
            quiet_width: Some(width),
            own_level: Some(width),
            saw_earlier: true,
            probes: 1000,
            contended: Some(0.25),
            lengthening: Some(0.125),
            own_buffer: Some(215),
            windows: 1000,
        }
    }

    #[test]
    fn widths_are_kept_for_same_machine_only() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let here = machine("family 6 model 1", "x86_64");
        assert!(read(folder, &here).is_empty());
        update(folder, &here, &BTreeMap::from([(0, found(1702.0))]), 1.0);
        update(folder, &here, &BTreeMap::from([(3, found(2050.0))]), 2.0);
        let expected = BTreeMap::from([(0, 1702.0), (3, 2050.0)]);
        assert_eq!(widths(&read(folder, &here)), expected);
        assert!(read(folder, &machine("family 6 model 1", "x86_32")).is_empty());
        // Back on its first kind of processor, a virtual machine finds its widths again.
        let moved = machine("family 26 model 2", "x86_64");
        assert!(read(folder, &moved).is_empty());
        update(folder, &moved, &BTreeMap::from([(0, found(900.0))]), 3.0);
        assert_eq!(widths(&read(folder, &here)), expected);
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2);
        // A run without probes leaves the file as it is.
        update(folder, &here, &BTreeMap::new(), 4.0);
        assert_eq!(widths(&read(folder, &here)), expected);
        let mut shown = here.clone();
        add_kept_widths(&mut shown, folder);
        assert_eq!(shown.quiet_widths["3"], 2050.0);
        let latest = shown.contention["3"];
        let expected = Contention { contended: 0.25, lengthening: Some(0.125), unix_s: 2.0 };
        assert_eq!(latest, expected);
    }

    /// A neighbour may take its part during some runs, but a size that no run sees was wrong.
    #[test]
    fn buffer_that_no_run_sees_is_replaced_by_own_of_five_runs() {
        let kept = KeptWidth::default().after(&found(1700.0), 0.0);
        let halved = ProcessorFindings { own_buffer: Some(125), ..found(1700.0) };
        let after = |runs: &[ProcessorFindings]| {
            let all = runs.iter().fold(kept, |kept, run| kept.after(run, 1.0));
            all.whole_buffer
        };
        assert_eq!(after(&[halved; 4]), Some(215));
        assert_eq!(after(&[halved; 5]), Some(125));
        assert_eq!(after(&[ProcessorFindings { windows: 100, ..halved }; 9]), Some(215));
        let mut runs = [halved; 8];
        runs[4] = found(1700.0);
        assert_eq!(after(&runs), Some(215));
    }

    #[test]
    fn width_that_no_run_sees_is_replaced_by_same_level_of_five_runs() {
        let kept = KeptWidth::default().after(&found(1700.0), 0.0);
        let unseen = |level: f64, probes| ProcessorFindings {
            quiet_width: Some(1700.0),
            own_level: Some(level),
            saw_earlier: false,
            probes,
            contended: Some(1.0),
            lengthening: Some(0.5),
            own_buffer: Some(125),
            windows: probes,
        };
        let after = |runs: &[ProcessorFindings]| {
            let all = runs.iter().fold(kept, |kept, run| kept.after(run, 1.0));
            all.quiet_width
        };
        assert_eq!(after(&[unseen(2050.0, 1000); 4]), Some(1700.0));
        assert_eq!(after(&[unseen(2050.0, 1000); 5]), Some(2050.0));
        assert_eq!(after(&[unseen(2050.0, 100); 9]), Some(1700.0));
        // A run that sees the width, and another level, begin the count again.
        for other in [found(1700.0), unseen(2500.0, 1000)] {
            let mut runs = [unseen(2050.0, 1000); 8];
            runs[4] = other;
            assert_eq!(after(&runs), Some(1700.0));
        }
        // Neighbours without a level do not say that the width has gone.
        let broad = ProcessorFindings { own_level: None, ..unseen(0.0, 1000) };
        assert_eq!(after(&[broad; 9]), Some(1700.0));
    }
}
