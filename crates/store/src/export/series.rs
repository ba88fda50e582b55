//! The labels by which formats for time series tell entries apart.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run, parameters};

use super::figure::{self, FigureKind};

/// Names with values. A name has letters, digits and underscores alone.
pub(super) type Labels = Vec<(String, String)>;

/// The entries with their labels, without those whose labels are written like those of an earlier
/// entry, which they would replace.
pub(super) fn distinct(run: &Run, written: fn(&Labels) -> String) -> Vec<(&Benchmark, Labels)> {
    let mut seen = BTreeSet::new();
    run.benchmarks
        .iter()
        .map(|entry| (entry, labels(entry)))
        .filter(|(_, labels)| seen.insert(written(labels)))
        .collect()
}

fn labels(entry: &Benchmark) -> Labels {
    let mut labels = vec![
        ("benchmark".to_owned(), entry.name.clone()),
        ("processes".to_owned(), entry.environment.processes.to_string()),
    ];
    if entry.environment.threads > 1 {
        labels.push(("threads".to_owned(), entry.environment.threads.to_string()));
    }
    if figure::kind(entry) == FigureKind::Value {
        labels.extend(entry.unit.clone().map(|u| ("unit".to_owned(), u)));
    }
    let mut taken = BTreeSet::new();
    for (name, value) in &entry.parameters.0 {
        let mut label =
            format!("parameter_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        while !taken.insert(label.clone()) {
            label.push('_');
        }
        labels.push((label, parameters::plain(value)));
    }
    labels
}
