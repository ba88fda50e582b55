//! Does a comparison pass a limit? Pure.

use serde::Serialize;
use yamba_record::Parameters;

use super::comparison::{Comparison, Entry, Word};

/// The answer, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// So much slower a benchmark may be: 0.05 for 5 %.
    pub limit: f64,
    /// Whether nothing is.
    pub passed: bool,
    /// Benchmarks that it judged: of both runs, with a ratio and a better direction.
    pub gated: usize,
    /// What is slower by more, confirmed by measuring anew; the slowest first.
    pub slower: Vec<Slower>,
    /// What may be slower by more and could not be confirmed: it does not fail the gate.
    pub unconfirmed: Vec<Ungated>,
    /// What the gate says nothing about.
    pub not_gated: Vec<Ungated>,
}

/// A benchmark that is slower than the limit allows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slower {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Processes that ran it at the same time.
    pub processes: u64,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// How much slower: 0.07 for 7 %. Of a bandwidth, what 1 / ratio is above 1.
    pub by: f64,
    /// The ends of its interval, in the same form.
    pub interval: Option<[f64; 2]>,
    /// What the verdict rests on where that is not both sides measured in turn.
    pub reason: Option<String>,
}

/// A benchmark that does not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ungated {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Processes that ran it at the same time.
    pub processes: u64,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// Why it does not.
    pub reason: String,
}

/// Whether the entry has to be measured anew before anything is said: it is suspected of being slower, or its launches or its figures are slower by more than the
/// limit, however wide their interval. A few disturbed launches decide the mean of six, and leave the figure, a median, alone.
pub fn is_candidate(entry: &Entry, limit: f64) -> bool {
    let is_suspect = entry.suspect && entry.slowdown().is_some_and(|by| by > 0.0);
    let each = [entry.slowdown(), entry.slowdown_of_figures()];
    is_suspect || each.into_iter().flatten().any(|by| by > limit)
}

/// Judges what was measured anew.
pub fn gate(found: &Comparison, limit: f64) -> Gate {
    let mut slower = Vec::new();
    let (mut unconfirmed, mut not_gated) = (Vec::new(), Vec::new());
    for entry in &found.benchmarks {
        match (entry.slowdown(), entry.verdict) {
            (None, _) => not_gated.push(ungated(
                entry,
                "of a value neither direction is the better one",
            )),
            (Some(by), Word::Slower) if by > limit => slower.push(Slower {
                name: entry.name.clone(),
                parameters: entry.parameters.clone(),
                processes: entry.processes,
                label: entry.label.clone(),
                by,
                interval: entry.slowdowns(),
                reason: entry.reason.clone(),
            }),
            (Some(_), Word::Unknown) if is_candidate(entry, limit) => {
                unconfirmed.push(ungated(entry, "not confirmed"));
            }
            _ => {}
        }
    }
    for alone in &found.alone {
        not_gated.push(Ungated {
            name: alone.name.clone(),
            parameters: alone.parameters.clone(),
            processes: alone.processes,
            label: super::named(&alone.name, &alone.parameters, alone.processes),
            reason: alone.reason.to_owned(),
        });
    }
    slower.sort_by(|x: &Slower, y| y.by.total_cmp(&x.by));
    Gate {
        limit,
        passed: slower.is_empty(),
        gated: found
            .benchmarks
            .iter()
            .filter(|e| e.slowdown().is_some())
            .count(),
        slower,
        unconfirmed,
        not_gated,
    }
}

fn ungated(entry: &Entry, otherwise: &str) -> Ungated {
    Ungated {
        name: entry.name.clone(),
        parameters: entry.parameters.clone(),
        processes: entry.processes,
        label: entry.label.clone(),
        reason: entry.reason.clone().unwrap_or_else(|| otherwise.to_owned()),
    }
}
