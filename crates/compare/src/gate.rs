//! Judges whether a comparison passes a limit. Pure.

use std::collections::BTreeMap;

use super::document::{ComparedEntry, Comparison, Gate, Slower, Ungated, Word};
use super::pairing::Which;

/// The settings of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The tolerated slowdowns.
    pub limits: Limits,
    /// Whether undecided and lost benchmarks, and processes that failed, fail too.
    pub strict: bool,
}

/// The tolerated slowdowns: 0.05 for 5 %.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The limit of benchmarks without one of their own. `None`: they are not judged.
    pub general: Option<f64>,
    /// The benchmarks with a limit of their own, by name.
    pub own: BTreeMap<String, f64>,
}

impl Limits {
    /// The limit of a benchmark.
    pub fn limit(&self, name: &str) -> Option<f64> {
        self.own.get(name).copied().or(self.general)
    }
}

/// Whether a gate has to re-measure the entry: it is suspected of being slower, or its slowdown
/// exceeds the limit or may exceed it. The slowdown is that of the launches' level or of the
/// figures: a few disturbed launches change the mean of six, but not the figure, a median. It may
/// exceed the limit if the entry's own 80 % interval reaches beyond it; with two launches that
/// interval is wide.
pub fn is_candidate(entry: &ComparedEntry, limit: f64) -> bool {
    let is_suspect = entry.suspect && entry.slowdown().is_some_and(|by| by > 0.0);
    let at_most = entry.slowdowns_alone().map(|[_, high]| high);
    is_suspect || apparent(entry) > Some(limit) || at_most > Some(limit)
}

/// The larger of two slowdowns: that of the launches' level and that of the figures.
pub(super) fn apparent(entry: &ComparedEntry) -> Option<f64> {
    let each = [entry.slowdown(), entry.slowdown_of_figures()];
    each.into_iter().flatten().max_by(f64::total_cmp)
}

/// Judges a comparison after its candidates were re-measured.
pub fn gate(found: &Comparison, asked: &Asked) -> Gate {
    let (mut slower, mut unconfirmed) = (Vec::new(), Vec::new());
    let (mut lost, mut not_gated) = (Vec::new(), Vec::new());
    for entry in &found.benchmarks {
        let Some(limit) = asked.limits.limit(&entry.of.name) else {
            not_gated.push(without_limit(&entry.of, &entry.label));
            continue;
        };
        if let (Some(_), true) = (&found.interleaved, entry.ratio.is_some()) {
            match interleaved(entry, limit) {
                Some(true) => slower.extend(entry.slowdown().map(|by| confirmed(entry, by, limit))),
                Some(false) => {}
                None => unconfirmed.push(ungated(entry, "its interval holds the limit")),
            }
            continue;
        }
        match (entry.slowdown(), entry.verdict) {
            (None, _) if entry.is_owed => lost.push(ungated(entry, "it has no ratio")),
            (None, _) => {
                not_gated.push(ungated(entry, "of a value neither direction is the better one"))
            }
            (Some(by), Word::Slower) if exceeds(entry, by, limit) => {
                slower.push(confirmed(entry, by, limit));
            }
            // No program is slower than itself: this is decided, whatever its launches show.
            _ if entry.is_one_program => {}
            _ if entry.is_disturbed() && is_candidate(entry, limit) => {
                unconfirmed.push(ungated(
                    entry,
                    "disturbed: the limit lies within what the disturbance allows",
                ));
            }
            (Some(_), Word::Unknown) if is_candidate(entry, limit) => {
                unconfirmed.push(ungated(entry, "not confirmed"));
            }
            // Its launches are too noisy to show the slowdown or to rule it out.
            (Some(by), Word::Same) if by > limit => unconfirmed.push(ungated(
                entry,
                "re-measured, slower by more than the limit, but not significantly",
            )),
            _ => {}
        }
    }
    for alone in &found.unmatched {
        let has_limit = asked.limits.limit(&alone.of.name).is_some();
        let list = if alone.is_owed && has_limit { &mut lost } else { &mut not_gated };
        list.push(Ungated {
            of: alone.of.clone(),
            label: alone.of.label(),
            reason: alone.reason.to_owned(),
        });
    }
    slower.sort_by(|x: &Slower, y| y.slowdown.total_cmp(&x.slowdown));
    let all = found.benchmarks.iter();
    let has_limit = |e: &&ComparedEntry| asked.limits.limit(&e.of.name).is_some();
    let gated = all.filter(|e| e.slowdown().is_some() && has_limit(e)).count();
    let judged = gated - unconfirmed.len();
    let has_failures = found.interleaved.as_ref().is_some_and(|i| !i.failures.is_empty());
    let is_whole = unconfirmed.is_empty() && lost.is_empty() && !has_failures;
    let is_done = !found.is_stopped();
    Gate {
        limit: asked.limits.general,
        limits: asked.limits.own.clone(),
        strict: asked.strict,
        passed: gated > 0 && slower.is_empty() && is_done && (is_whole || !asked.strict),
        gated,
        judged,
        undecided: unconfirmed.len(),
        slower,
        unconfirmed,
        lost,
        not_gated,
    }
}

/// Whether a benchmark whose sides were measured in the same rounds is slower by more than the
/// limit. `None`: its interval holds the limit.
fn interleaved(entry: &ComparedEntry, limit: f64) -> Option<bool> {
    match entry.slowdowns() {
        _ if entry.is_one_program || entry.better.is_none() => Some(false),
        Some([low, _]) if low > limit && entry.verdict == Word::Slower => Some(true),
        Some([_, high]) if high < limit => Some(false),
        _ => None,
    }
}

/// Whether a slowdown is beyond the limit. That of a disturbed benchmark may include the
/// disturbance, so all of its interval must be.
fn exceeds(entry: &ComparedEntry, by: f64, limit: f64) -> bool {
    let least = entry.slowdowns().map(|[low, _]| low);
    by > limit && (!entry.is_disturbed() || least > Some(limit))
}

fn confirmed(entry: &ComparedEntry, by: f64, limit: f64) -> Slower {
    Slower {
        of: entry.of.clone(),
        label: entry.label.clone(),
        slowdown: by,
        limit,
        confidence_interval: entry.slowdowns(),
        reason: entry.reason.clone(),
    }
}

fn without_limit(of: &Which, label: &str) -> Ungated {
    Ungated { of: of.clone(), label: label.to_owned(), reason: "it has no limit".to_owned() }
}

fn ungated(entry: &ComparedEntry, otherwise: &str) -> Ungated {
    Ungated {
        of: entry.of.clone(),
        label: entry.label.clone(),
        reason: entry.reason.clone().unwrap_or_else(|| otherwise.to_owned()),
    }
}

#[cfg(test)]
pub(super) mod tests;
