//! Cache sizes for charts over memory sizes: measured by the run, or else reported by the system.

use yamba_record::Run;
use yamba_record::number::bytes;

use super::head::letter;

/// The benchmark that measures cache sizes, with one point for each value of its parameter `level`.
const MEASURES: &str = "cache";

/// A cache level of one or more runs.
pub struct Level {
    /// The size in bytes.
    pub bytes: u64,
    /// `L2`, followed by the letters of its runs if not all runs have it.
    pub name: String,
    is_measured: bool,
}

/// The cache levels of all runs with a size in a range.
pub fn levels(runs: &[Run], from: f64, to: f64) -> Vec<Level> {
    let mut found: Vec<(Found, Vec<usize>)> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for level in of(run) {
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
            name: format!("L{}{whose}", level.number),
            is_measured: level.is_measured,
        }
    });
    named.collect()
}

/// The caption for the dashed lines at cache sizes. `None` if there are none.
pub fn caption(levels: &[Level]) -> Option<String> {
    let describe = |is_measured: bool, who: &str| {
        let own = levels.iter().filter(|l| l.is_measured == is_measured);
        let own: Vec<String> = own
            .map(|l| format!("{} {}", l.name, bytes(l.bytes)))
            .collect();
        (!own.is_empty()).then(|| format!("{who} ({})", own.join(", ")))
    };
    let both = [
        describe(true, &format!("as the benchmark {MEASURES} measured them")),
        describe(false, "as the system describes them"),
    ];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("Dashed: caches {}", both.join(" and ")))
}

#[derive(PartialEq)]
struct Found {
    number: u64,
    bytes: u64,
    is_measured: bool,
}

fn of(run: &Run) -> Vec<Found> {
    let measures = run.benchmarks.iter().filter(|b| b.name == MEASURES);
    let measured = measures.filter(|b| b.valid && b.unit.as_deref() == Some("B"));
    let mut found: Vec<Found> = measured
        .filter_map(|b| {
            Some(Found {
                number: b.parameters.get("level")?.as_u64()?,
                bytes: b.median? as u64,
                is_measured: true,
            })
        })
        .collect();
    let described = run.machine.details.iter().flat_map(|d| &d.caches);
    for cache in described.filter(|c| c.kind != "instruction") {
        let Some(bytes) = cache.bytes else { continue };
        let level = Found {
            number: cache.level,
            bytes,
            is_measured: false,
        };
        let mut known = found.iter();
        if !known.any(|f| f.number == cache.level && (f.is_measured || *f == level)) {
            found.push(level);
        }
    }
    found
}
