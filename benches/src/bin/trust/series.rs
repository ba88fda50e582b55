//! The saved figures of many runs.

use std::path::Path;

use serde::{Deserialize, Serialize};
use yamba_compare::{Medians, Noise};
use yamba_record::Run;

use crate::lines;

/// One run.
#[derive(Serialize, Deserialize)]
pub struct Line {
    /// The start time, in seconds since 1970.
    pub at: u64,
    pub entries: Vec<Entry>,
    /// The number of entries without a valid figure.
    #[serde(default)]
    pub left_out: u64,
}

/// One benchmark's figure in one run; in cycles if they are known.
#[derive(Clone, Serialize, Deserialize)]
pub struct Entry {
    pub key: String,
    pub unit: String,
    pub median: f64,
    pub interval: [f64; 2],
    pub launches: Vec<f64>,
    pub set_aside: u64,
}

/// The figures of many runs.
pub struct Series {
    pub lines: Vec<Line>,
}

impl Line {
    pub fn of(at: u64, run: &Run) -> Line {
        let valid = run
            .benchmarks
            .iter()
            .filter(|b| yamba_compare::has_figure(b));
        let entries = valid.filter_map(|b| {
            let medians = Medians::of(b);
            let (median, interval, unit, launches) = match b.cycles {
                Some(c) => (c.median, c.interval, "cycles".to_owned(), medians.cycles),
                None => (b.median?, b.interval?, b.unit.clone()?, medians.own),
            };
            Some(Entry {
                key: yamba_compare::key(b),
                unit,
                median,
                interval,
                launches,
                set_aside: b.set_aside,
            })
        });
        let entries: Vec<Entry> = entries.collect();
        Line {
            at,
            left_out: (run.benchmarks.len() - entries.len()) as u64,
            entries,
        }
    }
}

impl Series {
    /// The entries of each benchmark, in the order of the runs. Entries in another unit than the first one are skipped: their cycles
    /// were unknown.
    pub fn by_key(&self) -> Vec<(String, Vec<Entry>)> {
        let mut keys: Vec<(String, Vec<Entry>)> = Vec::new();
        for entry in self.lines.iter().flat_map(|l| &l.entries) {
            let is_other =
                |(key, of): &(String, Vec<Entry>)| *key == entry.key && of[0].unit != entry.unit;
            if keys.iter().any(is_other) {
                continue;
            }
            match keys.iter_mut().find(|(key, _)| *key == entry.key) {
                Some((_, entries)) => entries.push(entry.clone()),
                None => keys.push((entry.key.clone(), vec![entry.clone()])),
            }
        }
        keys
    }

    /// A benchmark's launches in each run, in this unit; empty for a run without such a figure.
    pub fn noise(&self, key: &str, unit: &str) -> Noise {
        let launches = |line: &Line| {
            let mut entries = line.entries.iter();
            let entry = entries.find(|e| e.key == key && e.unit == unit);
            entry.map_or(Vec::new(), |e| e.launches.clone())
        };
        Noise {
            key: key.to_owned(),
            runs: self.lines.iter().map(launches).collect(),
        }
    }
}

/// Reads the runs of a file.
pub fn read(path: &Path) -> Result<Series, String> {
    Ok(Series {
        lines: lines::read(path)?,
    })
}
