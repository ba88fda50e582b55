//! What is kept of many runs.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use yamba::compare;
use yamba_record::{Run, Status};

/// One run.
#[derive(Serialize, Deserialize)]
pub struct Line {
    /// When it began, in seconds since 1970.
    pub at: u64,
    pub entries: Vec<Entry>,
}

/// One benchmark's figure in one run; in cycles where they are known.
#[derive(Clone, Serialize, Deserialize)]
pub struct Entry {
    pub key: String,
    pub unit: String,
    pub median: f64,
    pub interval: [f64; 2],
    pub launches: Vec<f64>,
    pub set_aside: u64,
}

/// Many runs.
pub struct Series {
    pub lines: Vec<Line>,
}

impl Line {
    pub fn of(at: u64, run: &Run) -> Line {
        let valid = run.benchmarks.iter().filter(|b| b.status == Status::Ok);
        let entries = valid.filter_map(|b| {
            let (launches, _) = compare::observations(b, b);
            let (median, interval, unit) = match b.cycles {
                Some(c) => (c.median, c.interval, "cycles".to_owned()),
                None => (b.median?, b.interval?, b.unit.clone()?),
            };
            Some(Entry {
                key: compare::key(b),
                unit,
                median,
                interval,
                launches,
                set_aside: b.set_aside,
            })
        });
        Line {
            at,
            entries: entries.collect(),
        }
    }
}

impl Series {
    /// Every benchmark with its entries, in the order of the runs.
    pub fn by_key(&self) -> Vec<(String, Vec<Entry>)> {
        let mut keys: Vec<(String, Vec<Entry>)> = Vec::new();
        for entry in self.lines.iter().flat_map(|l| &l.entries) {
            match keys.iter_mut().find(|(key, _)| *key == entry.key) {
                Some((_, entries)) => entries.push(entry.clone()),
                None => keys.push((entry.key.clone(), vec![entry.clone()])),
            }
        }
        keys
    }
}

/// The runs of a file; a last line that was cut off is none.
pub fn read(path: &Path) -> Result<Series, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = text.lines().filter_map(|l| serde_json::from_str(l).ok());
    Ok(Series {
        lines: lines.collect(),
    })
}
