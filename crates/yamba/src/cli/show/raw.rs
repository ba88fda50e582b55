//! Raw intervals as CSV: one line an interval, one column each evidence.

use std::collections::BTreeSet;
use std::io::{self, Write};

use yamba_record::{Benchmark, Interval};

use super::Failure;

const COLUMNS: [&str; 13] = [
    "benchmark",
    "parameters",
    "processes",
    "launch",
    "process",
    "passes",
    "operations",
    "ns",
    "dummy_ns",
    "sample",
    "unit",
    "disturbed",
    "outside",
];

/// What is not known is an empty cell.
pub(super) fn write(entries: &[Benchmark]) -> Result<(), Failure> {
    let out = io::BufWriter::new(io::stdout().lock());
    write_to(out, entries)?;
    Ok(())
}

fn write_to(out: impl Write, entries: &[Benchmark]) -> io::Result<()> {
    let intervals = entries.iter().flat_map(|b| &b.intervals);
    let evidence: BTreeSet<&str> = intervals
        .flat_map(|i| i.evidence.keys().map(String::as_str))
        .collect();
    let mut csv = csv::Writer::from_writer(out);
    let named = evidence.iter().map(|name| format!("evidence_{name}"));
    csv.write_record(COLUMNS.map(str::to_owned).into_iter().chain(named))?;
    for entry in entries {
        for interval in &entry.intervals {
            csv.write_record(line(entry, interval, &evidence))?;
        }
    }
    csv.flush()
}

fn line(entry: &Benchmark, interval: &Interval, evidence: &BTreeSet<&str>) -> Vec<String> {
    let known = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let mut cells = vec![
        entry.name.clone(),
        entry.parameters.to_string(),
        entry.processes.to_string(),
        interval.launch.to_string(),
        interval.process.to_string(),
        interval.passes.to_string(),
        interval.operations.to_string(),
        interval.ns.to_string(),
        interval.dummy_ns.to_string(),
        known(interval.sample),
        entry.unit.clone().unwrap_or_default(),
        interval.disturbed.join(" "),
        interval.outside.join(" "),
    ];
    let said = evidence.iter().map(|name| interval.evidence.get(*name));
    cells.extend(said.map(|value| known(value.copied().flatten())));
    cells
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_interval_is_a_line() {
        let mut entry = crate::run::no_figure("a, b");
        entry.unit = Some("ns".to_owned());
        let interval = |name: &str, value, sample| Interval {
            passes: 3,
            operations: 6,
            ns: 0.1,
            sample,
            evidence: BTreeMap::from([(name.to_owned(), value)]),
            ..Interval::default()
        };
        entry.intervals = vec![
            interval("faults", Some(2.0), Some(1.5)),
            interval("swaps", None, None),
        ];
        let mut out = Vec::new();
        write_to(&mut out, &[entry]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(",disturbed,outside,evidence_faults,evidence_swaps"));
        assert_eq!(lines[1], "\"a, b\",,1,0,0,3,6,0.1,0,1.5,ns,,,2,");
        assert_eq!(lines[2], "\"a, b\",,1,0,0,3,6,0.1,0,,ns,,,,");
        assert_eq!(lines.len(), 3);
    }
}
