//! The parameters that `yamba hardware` found on this machine, for later runs.

use std::path::Path;

use yamba_record::Machine;
use yamba_record::hardware::{HardwareParameter, KeptParameter};

use crate::kept_file::{self, Kind};

/// Another version had other methods, and its values are not used.
const KIND: Kind = Kind { name: "hardware", version: 2 };

/// The parameters that earlier runs measured on this machine.
#[must_use]
pub fn kept_hardware(folder: &Path, machine: &Machine) -> Vec<KeptParameter> {
    let kept: Option<Vec<KeptParameter>> = kept_file::read(folder, KIND, machine);
    let mut kept = kept.unwrap_or_default();
    kept.retain(|kept| kept.parameter.found.is_none_or(|found| found.is_finite() && found >= 0.0));
    kept
}

/// Keeps these parameters, measured at `unix_s`, beside those that are known.
///
/// A value stays while new ones have it in their interval: sizes of buffers come from it, and
/// figures of other sizes cannot be compared. A value that is not found again stays, too.
pub fn keep_hardware(folder: &Path, machine: &Machine, all: &[HardwareParameter], unix_s: f64) {
    let mut kept = kept_hardware(folder, machine);
    for parameter in all {
        let new = KeptParameter { parameter: parameter.clone(), unix_s };
        match kept.iter_mut().find(|k| k.parameter.name == parameter.name) {
            Some(known) if replaces(parameter, &known.parameter) => *known = new,
            Some(_) => {}
            None => kept.push(new),
        }
    }
    kept_file::write(folder, KIND, machine, kept);
}

fn replaces(new: &HardwareParameter, known: &HardwareParameter) -> bool {
    match (known.found, new.interval) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(value), Some([low, high])) => !(low..=high).contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept_file::tests::machine;

    fn size(found: Option<f64>, interval: Option<[f64; 2]>) -> HardwareParameter {
        let name = "l2.size".to_owned();
        HardwareParameter { name, found, interval, ..HardwareParameter::default() }
    }

    #[test]
    fn value_stays_until_it_is_refuted() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let here = machine("family 26 model 2", "x86_64");
        let keep = |parameter: HardwareParameter, unix_s| {
            keep_hardware(folder, &here, &[parameter], unix_s);
            let kept = kept_hardware(folder, &here);
            assert_eq!(kept.len(), 1);
            (kept[0].parameter.found, kept[0].unix_s)
        };
        assert_eq!(kept_hardware(folder, &here), []);
        assert_eq!(keep(size(None, None), 1.0), (None, 1.0));
        assert_eq!(keep(size(None, None), 2.0), (None, 2.0));
        assert_eq!(keep(size(Some(900.0), Some([900.0, 1000.0])), 3.0), (Some(900.0), 3.0));
        assert_eq!(keep(size(Some(950.0), Some([900.0, 1000.0])), 4.0), (Some(900.0), 3.0));
        assert_eq!(keep(size(None, None), 5.0), (Some(900.0), 3.0));
        assert_eq!(keep(size(Some(2e3), Some([1900.0, 2100.0])), 6.0), (Some(2e3), 6.0));
        let other = machine("family 25 model 1", "x86_64");
        assert_eq!(kept_hardware(folder, &other), []);
    }

    /// Processors may share no core, and a penalty may be none.
    #[test]
    fn zero_is_a_value() {
        let temporary = tempfile::tempdir().unwrap();
        let here = machine("family 26 model 2", "x86_64");
        let unsound = HardwareParameter { name: "x".to_owned(), ..size(Some(-1.0), None) };
        let all = [size(Some(0.0), Some([0.0, 0.0])), unsound];
        keep_hardware(temporary.path(), &here, &all, 1.0);
        let kept = kept_hardware(temporary.path(), &here);
        assert_eq!(kept.iter().map(|k| k.parameter.found).collect::<Vec<_>>(), [Some(0.0)]);
    }

    #[test]
    fn parameters_that_were_not_measured_stay() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let here = machine("family 26 model 2", "x86_64");
        let other = HardwareParameter { name: "l1d.ways".to_owned(), ..size(Some(8.0), None) };
        keep_hardware(folder, &here, &[size(Some(900.0), None)], 1.0);
        keep_hardware(folder, &here, &[other], 2.0);
        let kept = kept_hardware(folder, &here);
        let each: Vec<(&str, f64)> =
            kept.iter().map(|k| (k.parameter.name.as_str(), k.unix_s)).collect();
        assert_eq!(each, [("l2.size", 1.0), ("l1d.ways", 2.0)]);
        // A damaged value is no size.
        keep_hardware(folder, &here, &[size(Some(-1.0), Some([-1.0, -1.0]))], 3.0);
        let kept = kept_hardware(folder, &here);
        assert_eq!(
            kept.iter().map(|k| k.parameter.name.as_str()).collect::<Vec<_>>(),
            ["l1d.ways"]
        );
    }
}
