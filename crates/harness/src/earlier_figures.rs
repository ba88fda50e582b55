//! Keeps the figures of earlier runs on this machine: they show by how much a figure differs from
//! run to run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use yamba_record::machine::Machine;
use yamba_record::run::Plan;
use yamba_record::{Benchmark, Status};

use super::kept_file::{self, Kind};

const KIND: Kind = Kind { name: "figures", version: 1 };

/// Most kept figures of one entry. The latest count.
const MOST_FIGURES: usize = 20;

/// Most kept entries. Those that were measured last stay.
const MOST_ENTRIES: usize = 1000;

/// The figure of an entry in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlierFigure {
    /// In the benchmark's unit.
    pub median: f64,
    /// In core cycles.
    pub cycles: Option<f64>,
    pub is_disturbed: bool,
}

/// The figures of one entry, the latest last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Series {
    /// When the latest run ended.
    unix_s: f64,
    figures: Vec<EarlierFigure>,
}

/// The figures of runs with the same plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EarlierFigures {
    /// The part of the keys that says how the entries were measured.
    plan: String,
    series: BTreeMap<String, Series>,
}

impl EarlierFigures {
    /// Those that are kept in `folder`.
    pub fn read(folder: &Path, machine: &Machine, plan: &Plan) -> EarlierFigures {
        EarlierFigures {
            plan: format!("{} x {} ns {}", plan.launches, plan.time_ns, plan.placement),
            series: kept_file::read(folder, KIND, machine).unwrap_or_default(),
        }
    }

    /// The earlier figures of this entry, the latest last.
    pub fn figures(&self, entry: &Benchmark) -> &[EarlierFigure] {
        let series = self.key(entry).and_then(|key| self.series.get(&key));
        series.map_or(&[], |series| &series.figures)
    }

    /// Adds the valid figures of a run that ended at `unix_s`.
    pub fn add(&mut self, entries: &[Benchmark], unix_s: f64) {
        for entry in entries.iter().filter(|e| e.status == Status::Ok) {
            let (Some(key), Some(median)) = (self.key(entry), entry.median) else {
                continue;
            };
            let series = self.series.entry(key).or_default();
            series.unix_s = unix_s;
            series.figures.push(EarlierFigure {
                median,
                cycles: entry.details.cycles.map(|c| c.median),
                is_disturbed: entry.interference.is_disturbed,
            });
            let surplus = series.figures.len().saturating_sub(MOST_FIGURES);
            series.figures.drain(..surplus);
        }
        let surplus = self.series.len().saturating_sub(MOST_ENTRIES);
        let mut ages: Vec<(f64, String)> =
            self.series.iter().map(|(key, series)| (series.unix_s, key.clone())).collect();
        ages.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, key) in ages.into_iter().take(surplus) {
            self.series.remove(&key);
        }
    }

    /// Replaces the file in `folder`. A failure costs only this knowledge.
    pub fn write(self, folder: &Path, machine: &Machine) {
        kept_file::write(folder, KIND, machine, self.series);
    }

    /// Figures of another program or another point say nothing. `None` if the program is not
    /// identified.
    fn key(&self, entry: &Benchmark) -> Option<String> {
        let program = entry.declaration.provenance.program.as_ref()?;
        let (processes, threads) = (entry.environment.processes, entry.environment.threads);
        let (plan, parameters) = (&self.plan, &entry.parameters);
        Some(format!("{} {parameters} P={processes} T={threads} {plan} {program}", entry.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::not_started;
    use crate::kept_file::tests::machine;

    fn entry(program: &str, median: f64) -> Benchmark {
        let mut entry =
            Benchmark { status: Status::Ok, median: Some(median), ..not_started("sample") };
        entry.declaration.provenance.program = Some(program.to_owned());
        entry
    }

    fn medians(kept: &EarlierFigures, program: &str) -> Vec<f64> {
        let figures = kept.figures(&entry(program, 0.0)).iter();
        figures.map(|f| f.median).collect()
    }

    #[test]
    fn figures_are_those_of_the_same_program_point_and_plan() {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, here) = (temporary.path(), machine("family 6 model 1", "x86_64"));
        let quick = Plan { launches: 2, ..Plan::default() };
        let read = |plan: &Plan| EarlierFigures::read(folder, &here, plan);
        let mut kept = read(&quick);
        assert!(medians(&kept, "one").is_empty());
        let mut invalid = entry("one", 9.0);
        invalid.status = Status::Invalid;
        let mut unnamed = entry("one", 9.0);
        unnamed.declaration.provenance.program = None;
        let run = [entry("one", 1.0), invalid, unnamed, entry("two", 3.0)];
        kept.add(&run, 1.0);
        kept.write(folder, &here);
        let mut kept = read(&quick);
        assert_eq!(medians(&kept, "one"), [1.0]);
        let mut other = entry("one", 0.0);
        other.environment.processes = 2;
        assert!(kept.figures(&other).is_empty());
        assert!(medians(&read(&Plan::default()), "one").is_empty());
        for run in 0..30 {
            kept.add(&[entry("one", f64::from(run))], 2.0);
        }
        assert_eq!(medians(&kept, "one").len(), MOST_FIGURES);
        assert_eq!(medians(&kept, "one").last(), Some(&29.0));
    }

    #[test]
    fn oldest_entries_are_forgotten() {
        let mut kept = EarlierFigures::default();
        for i in 0..MOST_ENTRIES + 3 {
            let name = i.to_string();
            kept.add(&[entry(&name, 1.0)], i as f64);
        }
        assert_eq!(kept.series.len(), MOST_ENTRIES);
        assert!(medians(&kept, "2").is_empty());
        assert_eq!(medians(&kept, "3"), [1.0]);
    }
}
