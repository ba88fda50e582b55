//! Does a comparison pass a limit? Pure.

use serde::Serialize;

use super::comparison::{Comparison, Entry, Word};
use super::which::Which;

/// What is asked of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// So much slower a benchmark may be: 0.05 for 5 %.
    pub limit: f64,
    /// Whether also what is undecided, lost or slower within its own noise fails.
    pub strict: bool,
}

/// The answer, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gate {
    /// So much slower a benchmark may be: 0.05 for 5 %. One whose own noise is greater may be slower by its `threshold`.
    pub limit: f64,
    /// Whether also what is undecided, lost or slower within its own noise fails.
    pub strict: bool,
    /// Whether something was judged, nothing fails, and measuring anew was not stopped.
    pub passed: bool,
    /// Benchmarks that can be judged: of both runs, with a ratio and a better direction.
    pub gated: usize,
    /// Those of them that are decided: slower by more than their threshold, or not.
    pub judged: usize,
    /// Those that are not: as many as `unconfirmed` names.
    pub undecided: usize,
    /// What is slower by more than its threshold, confirmed by measuring anew; the slowest first.
    pub slower: Vec<Slower>,
    /// What is slower by more than the limit, confirmed by measuring anew, and not by more than its own threshold; the slowest first.
    pub within_noise: Vec<Slower>,
    /// What may be slower by more and could not be confirmed: undecided.
    pub unconfirmed: Vec<Ungated>,
    /// What A has a figure of to be judged by and B none that could be compared.
    pub lost: Vec<Ungated>,
    /// What else the gate says nothing about.
    pub not_gated: Vec<Ungated>,
}

/// A benchmark that is slower by more than the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slower {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// How much slower: 0.07 for 7 %. Of a bandwidth, what 1 / ratio is above 1.
    pub by: f64,
    /// The ends of its interval, in the same form.
    pub interval: Option<[f64; 2]>,
    /// The gate fails for more than this: the limit, or what the benchmark's own noise makes of it where that is more.
    pub threshold: f64,
    /// What the verdict rests on where that is not both sides measured in turn.
    pub reason: Option<String>,
}

/// A benchmark that does not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ungated {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// Why it does not.
    pub reason: String,
}

/// Whether the entry has to be measured anew before anything is said: it is suspected of being slower, or its launches or its figures are slower by more than the
/// limit, or may be so: the interval that it has by itself reaches beyond. Of two launches that is wide. A few disturbed launches decide the mean of six, and leave the
/// figure, a median, alone.
pub fn is_candidate(entry: &Entry, limit: f64) -> bool {
    let limit = entry.limit(limit);
    let is_suspect = entry.suspect && entry.slowdown().is_some_and(|by| by > 0.0);
    let at_most = entry.slowdowns_alone().map(|[_, high]| high);
    is_suspect || apparent(entry) > Some(limit) || at_most > Some(limit)
}

/// How much slower it seems: what is more of its launches' level and its figure.
pub fn apparent(entry: &Entry) -> Option<f64> {
    let each = [entry.slowdown(), entry.slowdown_of_figures()];
    each.into_iter().flatten().max_by(f64::total_cmp)
}

/// Judges what was measured anew.
pub fn gate(found: &Comparison, asked: Asked) -> Gate {
    let limit = asked.limit;
    let (mut slower, mut within_noise) = (Vec::new(), Vec::new());
    let (mut unconfirmed, mut lost, mut not_gated) = (Vec::new(), Vec::new(), Vec::new());
    for entry in &found.benchmarks {
        match (entry.slowdown(), entry.verdict) {
            (None, _) if entry.is_owed => lost.push(ungated(entry, "it has no ratio")),
            (None, _) => not_gated.push(ungated(
                entry,
                "of a value neither direction is the better one",
            )),
            (Some(by), Word::Slower) if by > entry.limit(limit) => {
                slower.push(confirmed(entry, by, limit));
            }
            // No program is slower than itself: that is decided, whatever its launches say.
            _ if entry.is_one_program => {}
            (Some(_), Word::Unknown) if is_candidate(entry, limit) => {
                unconfirmed.push(ungated(entry, "not confirmed"));
            }
            (Some(_), Word::Same | Word::Slower) if entry.is_open => {
                unconfirmed.push(ungated(
                    entry,
                    "measured anew, it may still be slower by more",
                ));
            }
            (Some(by), Word::Slower) if by > limit => {
                within_noise.push(confirmed(entry, by, limit));
            }
            _ => {}
        }
    }
    for alone in &found.alone {
        let list = if alone.is_owed {
            &mut lost
        } else {
            &mut not_gated
        };
        list.push(Ungated {
            of: alone.of.clone(),
            label: alone.of.label(),
            reason: alone.reason.to_owned(),
        });
    }
    for list in [&mut slower, &mut within_noise] {
        list.sort_by(|x: &Slower, y| y.by.total_cmp(&x.by));
    }
    let all = found.benchmarks.iter();
    let gated = all.filter(|e| e.slowdown().is_some()).count();
    let judged = gated - unconfirmed.len();
    let is_whole = unconfirmed.is_empty() && lost.is_empty() && within_noise.is_empty();
    let is_done = !found.is_stopped();
    Gate {
        limit,
        strict: asked.strict,
        passed: judged > 0 && slower.is_empty() && is_done && (is_whole || !asked.strict),
        gated,
        judged,
        undecided: unconfirmed.len(),
        slower,
        within_noise,
        unconfirmed,
        lost,
        not_gated,
    }
}

fn confirmed(entry: &Entry, by: f64, limit: f64) -> Slower {
    Slower {
        of: entry.of.clone(),
        label: entry.label.clone(),
        by,
        interval: entry.slowdowns(),
        threshold: entry.limit(limit),
        reason: entry.reason.clone(),
    }
}

fn ungated(entry: &Entry, otherwise: &str) -> Ungated {
    Ungated {
        of: entry.of.clone(),
        label: entry.label.clone(),
        reason: entry.reason.clone().unwrap_or_else(|| otherwise.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Run;

    use super::super::comparison::tests::{compared, run};
    use super::super::floors::Floors;
    use super::super::tests::{benchmark, recorded};
    use super::*;
    use fastrand::Rng;

    /// Two runs with so many launches of each of 80 benchmarks of a real machine, drawn from all that they had; those of the second are slower by a factor.
    fn two_runs(random: &mut Rng, launches: usize, factor: f64) -> (Run, Run) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for noise in recorded() {
            let pool = noise.runs.concat();
            let mut draw = |factor: f64| {
                let launch = |_| pool[random.u64(..pool.len() as u64) as usize] * factor;
                let launches: Vec<f64> = (0..launches).map(launch).collect();
                let mut made = benchmark(&noise.key, &launches);
                made.median = yamba_stats::median(&launches);
                made
            };
            a.push(draw(1.0));
            b.push(draw(factor));
        }
        (run(a), run(b))
    }

    /// What share of 80 benchmarks, drawn 20 times, is measured anew, and what share would be if only what exceeds the limit by itself were.
    fn shares(launches: usize, factor: f64, limit: f64) -> [f64; 2] {
        let mut random = Rng::with_seed(1);
        let mut counts = [0.0; 2];
        for _ in 0..20 {
            let (a, b) = two_runs(&mut random, launches, factor);
            for entry in compared(&a, &b, &Floors::default()).benchmarks {
                let exceeds = entry.suspect || apparent(&entry) > Some(limit);
                counts[0] += f64::from(u8::from(is_candidate(&entry, limit)));
                counts[1] += f64::from(u8::from(exceeds));
            }
        }
        counts.map(|count| count / 1600.0)
    }

    #[test]
    fn two_launches_hide_few_slowdowns() {
        for (launches, most) in [(2, 0.5), (6, 0.33)] {
            let [slower, exceeding] = shares(launches, 1.05, 0.03);
            assert!(slower > 0.9 && exceeding < slower, "{slower} {exceeding}");
            assert!(launches > 2 || exceeding < 0.9, "{exceeding}");
            let [same, _] = shares(launches, 1.0, 0.03);
            assert!(same < most, "{same} of those with {launches}");
        }
    }
}
