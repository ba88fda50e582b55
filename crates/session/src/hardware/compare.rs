//! The parameters of two machines side by side.

use serde::Serialize;
use yamba_record::hardware::HardwareParameter;

use super::Document;
use crate::{Failure, StoreChoice};

/// Two machines.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `yamba-hardware-comparison/1`.
    pub schema: &'static str,
    /// The processors' models, as the systems claim them.
    pub processors: [Option<String>; 2],
    /// The parameters that either machine has, in the order of the first.
    pub parameters: Vec<ComparedParameter>,
}

/// One parameter of two machines.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ComparedParameter {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The value on each machine. `None` where it was not found.
    pub found: [Option<f64>; 2],
    /// The interval of each value.
    pub interval: [Option<[f64; 2]>; 2],
    /// The second value as a multiple of the first.
    pub ratio: Option<f64>,
    /// Whether the intervals have nothing in common. `None` unless both are known.
    pub differs: Option<bool>,
    /// Why a value was not found, for each machine.
    pub reasons: [Option<String>; 2],
}

/// Compares two machines. Each reference is a stored run, or a file that `yamba hardware --json` or
/// `yamba run --json` wrote.
///
/// # Errors
/// If there is no such run or file, or it has no parameters.
pub fn compare(references: &[String], store: &StoreChoice) -> Result<Compared, Failure> {
    let [a, b] = references else {
        return Err(Failure::whole("a comparison takes two machines"));
    };
    Ok(compared(&Document::load(a, store)?, &Document::load(b, store)?))
}

fn compared(a: &Document, b: &Document) -> Compared {
    let find = |document: &'_ Document, name: &str| {
        document.parameters.iter().find(|p| p.name == name).cloned()
    };
    let first = a.parameters.iter().map(|p| (Some(p.clone()), find(b, &p.name)));
    let only_b = b.parameters.iter().filter(|p| find(a, &p.name).is_none());
    let only_b = only_b.map(|p| (None, Some(p.clone())));
    Compared {
        schema: "yamba-hardware-comparison/1",
        processors: [a, b].map(|document| document.processor.clone()),
        parameters: first.chain(only_b).map(|(a, b)| one(a, b)).collect(),
    }
}

fn one(a: Option<HardwareParameter>, b: Option<HardwareParameter>) -> ComparedParameter {
    let named = a.as_ref().or(b.as_ref()).cloned().unwrap_or_default();
    let in_unit = |other: HardwareParameter| match other.unit == named.unit {
        true => other,
        false => HardwareParameter {
            reason: Some(format!("its unit is {}", other.unit)),
            ..HardwareParameter::default()
        },
    };
    let both = [a, b.map(in_unit)].map(|one| {
        one.unwrap_or_else(|| HardwareParameter {
            reason: Some("it was not measured".to_owned()),
            ..HardwareParameter::default()
        })
    });
    let found = both.each_ref().map(|one| one.found);
    let interval = both.each_ref().map(|one| one.interval);
    let known = found[0].zip(found[1]).filter(|(a, _)| *a != 0.0);
    ComparedParameter {
        name: named.name,
        unit: named.unit,
        found,
        interval,
        ratio: known.map(|(a, b)| b / a),
        differs: interval[0].zip(interval[1]).map(|(a, b)| a[1] < b[0] || b[1] < a[0]),
        reasons: both.map(|one| one.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(parameters: &[(&str, Option<[f64; 3]>)]) -> Document {
        let parameter = |(name, values): &(&str, Option<[f64; 3]>)| HardwareParameter {
            name: (*name).to_owned(),
            unit: "entries".to_owned(),
            found: values.map(|v| v[1]),
            interval: values.map(|v| [v[0], v[2]]),
            reason: values.is_none().then(|| "no step".to_owned()),
            ..HardwareParameter::default()
        };
        Document {
            schema: "yamba-hardware/1".to_owned(),
            run: String::new(),
            processor: None,
            interrupted: false,
            has_failures: false,
            parameters: parameters.iter().map(parameter).collect(),
        }
    }

    #[test]
    fn intervals_decide_whether_machines_differ() {
        let a = document(&[
            ("rob.entries", Some([250.0, 256.0, 260.0])),
            ("loads.entries", Some([70.0, 72.0, 76.0])),
            ("l1d.ways", Some([8.0, 8.0, 8.0])),
            ("l2.ways", None),
        ]);
        let b = document(&[
            ("l2.ways", Some([16.0, 16.0, 16.0])),
            ("l1d.ways", Some([8.0, 8.0, 8.0])),
            ("loads.entries", Some([76.0, 80.0, 84.0])),
            ("rob.entries", Some([500.0, 512.0, 520.0])),
            ("returns.entries", Some([32.0, 32.0, 32.0])),
        ]);
        let found = compared(&a, &b).parameters;
        let rows: Vec<_> = found.iter().map(|p| (&p.name[..], p.ratio, p.differs)).collect();
        assert_eq!(
            rows,
            [
                ("rob.entries", Some(2.0), Some(true)),
                ("loads.entries", Some(80.0 / 72.0), Some(false)),
                ("l1d.ways", Some(1.0), Some(false)),
                ("l2.ways", None, None),
                ("returns.entries", None, None),
            ]
        );
        assert_eq!(found[3].reasons, [Some("no step".to_owned()), None]);
        assert_eq!(found[4].reasons[0].as_deref(), Some("it was not measured"));
    }

    #[test]
    fn values_in_other_units_are_not_compared() {
        let a = document(&[("l1d.size", Some([48.0, 48.0, 48.0]))]);
        let mut b = a.clone();
        b.parameters[0].unit = "KiB".to_owned();
        let row = &compared(&a, &b).parameters[0];
        assert_eq!((row.ratio, row.differs), (None, None));
        assert_eq!(row.reasons[1].as_deref(), Some("its unit is KiB"));
    }
}
