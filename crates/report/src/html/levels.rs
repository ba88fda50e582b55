//! Cache sizes for charts over memory sizes: measured by the run, or else reported by the system.

use std::collections::BTreeSet;

use yamba_record::number::bytes;
use yamba_record::{Benchmark, Run};

use crate::letters::letter;

/// The tag of benchmarks that measure cache sizes in bytes. The value of the first parameter is the
/// level.
const MEASURES: &str = "cache_sizes";

/// A cache level of one or more runs.
pub struct Level {
    /// The size in bytes.
    pub bytes: u64,
    /// `L2`, followed by the letters of its runs if not all runs have it.
    pub name: String,
    measured_by: Option<String>,
}

/// The contents of the memory whose size a chart is over.
#[derive(Clone, Copy, PartialEq)]
pub enum Contents {
    Data,
    Code,
}

impl Contents {
    /// The kind of cache that holds the other contents only.
    fn other_kind(self) -> &'static str {
        match self {
            Contents::Data => "instruction",
            Contents::Code => "data",
        }
    }

    /// Whether a level that a benchmark measured with loads of data is one of these contents. The
    /// first level has caches of its own for data and code.
    fn has_measured(self, level: u64) -> bool {
        self == Contents::Data || level > 1
    }

    /// The name of a level: `L1i` for instructions in the first.
    fn name(self, level: u64) -> String {
        format!("L{level}{}", if self.has_measured(level) { "" } else { "i" })
    }
}

/// The cache levels, over all runs, of at least `from` and at most `to` bytes.
pub fn levels(runs: &[Run], contents: Contents, from: f64, to: f64) -> Vec<Level> {
    let mut found: Vec<(CacheLevel, Vec<usize>)> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for level in cache_levels(run, contents) {
            if !(from..=to).contains(&(level.bytes as f64)) {
                continue;
            }
            match found.iter_mut().find(|(known, _)| *known == level) {
                Some((_, runs)) => runs.push(number),
                None => found.push((level, vec![number])),
            }
        }
    }
    found.sort_by_key(|(level, _)| (level.number, level.bytes));
    let named = found.into_iter().map(|(level, of)| {
        let whose: String = if of.len() == runs.len() {
            String::new()
        } else {
            of.iter().map(|n| format!(" {}", letter(*n))).collect()
        };
        Level {
            bytes: level.bytes,
            name: contents.name(level.number) + &whose,
            measured_by: level.measured_by,
        }
    });
    named.collect()
}

/// The caption for the dashed lines at cache sizes. `None` without such lines.
pub fn caption(levels: &[Level]) -> Option<String> {
    let describe = |measured_by: Option<&str>, who: &str| {
        let own = levels.iter().filter(|l| l.measured_by.as_deref() == measured_by);
        let own: Vec<String> = own.map(|l| format!("{} {}", l.name, bytes(l.bytes))).collect();
        (!own.is_empty()).then(|| format!("{who} ({})", own.join(", ")))
    };
    let names: BTreeSet<&str> = levels.iter().filter_map(|l| l.measured_by.as_deref()).collect();
    let measured = names
        .into_iter()
        .map(|name| describe(Some(name), &format!("as the benchmark {name} measured them")));
    let described = describe(None, "as the system describes them");
    let all: Vec<String> = measured.chain([described]).flatten().collect();
    (!all.is_empty()).then(|| format!("Dashed: caches {}", all.join(" and ")))
}

#[derive(PartialEq)]
struct CacheLevel {
    number: u64,
    bytes: u64,
    measured_by: Option<String>,
}

fn cache_levels(run: &Run, contents: Contents) -> Vec<CacheLevel> {
    let is_measure =
        |b: &&Benchmark| b.declaration.provenance.tags.iter().any(|tag| tag == MEASURES);
    let measures = run.benchmarks.iter().filter(is_measure);
    let measured = measures.filter(|b| b.valid && b.unit.as_deref() == Some("B"));
    let mut found: Vec<CacheLevel> = measured
        .filter_map(|b| {
            Some(CacheLevel {
                number: b.parameters.0.first()?.1.as_u64()?,
                bytes: b.median? as u64,
                measured_by: Some(b.name.clone()),
            })
        })
        .filter(|level| contents.has_measured(level.number))
        .collect();
    let described = run.machine.details.iter().flat_map(|d| &d.caches);
    for cache in described.filter(|c| c.kind != contents.other_kind()) {
        let Some(bytes) = cache.bytes else { continue };
        let level = CacheLevel { number: cache.level, bytes, measured_by: None };
        let mut known = found.iter();
        if !known.any(|f| f.number == cache.level && (f.measured_by.is_some() || *f == level)) {
            found.push(level);
        }
    }
    found
}
