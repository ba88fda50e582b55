//! Finds launches whose batches are longer than the pauses between a neighbour's turns, and chooses batches that are shorter. Pure.
//!
//! A hypervisor that interrupts the processor counts as a neighbour: the system here sees neither.

use std::collections::BTreeSet;
use std::time::Duration;

use yamba_record::Batch;
use yamba_stats::median;

use super::{QuietWidth, all_widths, is_free_of_others, is_level};

/// Usual least length of a batch (runtime/src/harness.h).
const USUAL_BATCH: Duration = Duration::from_micros(200);

/// Longest batch while neighbours use a noticeable part of the time. It is shorter than most of their pauses, so that many batches lie within a pause.
pub(crate) const SHORT_BATCH: Duration = Duration::from_micros(50);

/// Shortest batch. It takes some hundred times longer than reading the clock.
const SHORTEST_BATCH: Duration = Duration::from_micros(10);

/// Time of a width probe on a quiet core, in ns (runtime/src/width.h). With a coarse clock it is longer. Then fewer turns begin in a batch than computed here.
const PROBE_NS: f64 = 8000.0;

/// Share of the batches in which a turn may begin, so that a short batch is long enough.
const WANTED_STRUCK: f64 = 0.125;

/// If turns begin in a larger share of the batches, the median of all batches is not that of the others.
const MOST_STRUCK: f64 = 0.25;

/// From this mean lengthening of the probes on, the probes of a launch must show that the core stays quiet between them. The probe uses the full width of the core.
/// If a neighbour lengthens no benchmark more than the probe, a smaller lengthening moves no figure by more than a fiftieth.
const NOTICEABLE: f64 = 0.02;

/// A neighbour takes at most half of the core, so it lengthens a probe by at most this share. A probe that was interrupted is longer still.
const MOST_LENGTHENED: f64 = 1.0;

/// Batches of a launch that is judged alone.
const ENOUGH_PAIRS: usize = 40;

/// Least correlation of the two probes around the calls of the benchmark, which must exceed it by this multiple of its standard error.
const LEAST_CORRELATION: f64 = 0.12;
const ERROR_PART: f64 = 2.0;

/// The share of batches of `ns` in which a turn begins, if one begins in this share of the probes. Turns begin independently of each other.
fn struck(of_probes: f64, ns: f64) -> f64 {
    1.0 - (1.0 - of_probes).powf(ns / PROBE_NS)
}

/// Least length of a batch, so that turns begin in few batches if they begin in the share `sudden` of the probes. `None`: the usual length is short enough.
pub(super) fn short_batch(sudden: f64, is_contended: bool) -> Option<Duration> {
    let [usual, short, shortest] =
        [USUAL_BATCH, SHORT_BATCH, SHORTEST_BATCH].map(|d| d.as_nanos() as f64);
    // Without sudden turns, the quotient is infinite.
    let wanted = PROBE_NS * (-WANTED_STRUCK).ln_1p() / (-sudden).ln_1p();
    let longest = if is_contended { short } else { usual };
    let length = wanted.clamp(shortest, longest);
    (length < usual).then(|| Duration::from_nanos(length as u64))
}

/// Share of lengthened probes among those that follow a quiet one of the same batch. A turn began in between or during the probe. So turns begin
/// in at most this share of the probes. `None` without such probes.
pub(super) fn sudden_share(batches: &[Batch], width: impl Fn(&Batch) -> QuietWidth) -> Option<f64> {
    let (mut sudden, mut total) = (0_u64, 0_u64);
    for batch in batches.iter().filter(|b| is_free_of_others(b)) {
        let Some(level) = width(batch).level() else {
            continue;
        };
        for pair in all_widths(&batch.probes).windows(2) {
            if let [Some(first), Some(second)] = *pair
                && is_level(first, level)
            {
                total += 1;
                sudden += u64::from(!is_level(second, level));
            }
        }
    }
    (total > 0).then(|| sudden as f64 / total as f64)
}

/// The batches of a launch that only a neighbour may have disturbed.
type Pairs = Vec<Pair>;

/// The probes before and after the calls of the benchmark, and the time of the calls.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ends: [End; 2],
    ns: f64,
}

/// A probe at one end of the calls.
#[derive(Clone, Copy, Debug)]
struct End {
    /// 1 if the core was busy, 0 if it was quiet.
    busy: f64,
    /// Share of the quiet width by which the probe is longer, at most [`MOST_LENGTHENED`].
    lengthened: f64,
}

impl End {
    fn of(width: f64, level: f64) -> End {
        let lengthened = (width / level - 1.0).clamp(0.0, MOST_LENGTHENED);
        End {
            busy: f64::from(!is_level(width, level)),
            lengthened,
        }
    }

    /// Whether the probe was interrupted.
    fn is_interrupted(self) -> bool {
        self.lengthened >= MOST_LENGTHENED
    }
}

/// The launches whose probes say nothing of the time between them, because turns begin in many of the batches. A launch of many batches is judged
/// alone, since a quiet launch says nothing of another one. Launches of few batches are judged together.
pub(crate) fn blind_launches(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> BTreeSet<u64> {
    let each = batches.chunk_by(|a, b| a.launch == b.launch);
    let each = each.map(|of_launch| (of_launch[0].launch, pairs(of_launch, &width)));
    let (long, short): (Vec<_>, Vec<_>) = each.partition(|(_, pairs)| pairs.len() >= ENOUGH_PAIRS);
    let long = long.into_iter().map(|launch| vec![launch]);
    let groups = long.chain([short]);
    let blind = groups.filter(|group| {
        let launches: Vec<&Pairs> = group.iter().map(|(_, pairs)| pairs).collect();
        is_blind(&launches)
    });
    blind.flatten().map(|(launch, _)| launch).collect()
}

fn pairs(batches: &[Batch], width: impl Fn(&Batch) -> QuietWidth) -> Pairs {
    let pair = |batch: &Batch| {
        if !is_free_of_others(batch) {
            return None;
        }
        let level = width(batch).level()?;
        let ends = [batch.probes.before?, batch.probes.between?];
        Some(Pair {
            ends: ends.map(|width| End::of(width, level)),
            ns: batch.ns,
        })
    };
    batches.iter().filter_map(pair).collect()
}

fn is_blind(launches: &[&Pairs]) -> bool {
    let pairs: Vec<Pair> = launches.iter().copied().flatten().copied().collect();
    let ends: Vec<End> = pairs.iter().flat_map(|pair| pair.ends).collect();
    let mean = |of: fn(&End) -> f64| ends.iter().map(of).sum::<f64>() / ends.len() as f64;
    // Without any quiet end there is nothing to trust.
    if ends.is_empty() || mean(|e| e.lengthened) <= NOTICEABLE || mean(|e| e.busy) == 1.0 {
        return false;
    }
    let times: Vec<f64> = pairs.iter().map(|pair| pair.ns).collect();
    let ns = median(&times).unwrap_or(0.0);
    if struck(least_interrupted(&ends), ns) > MOST_STRUCK {
        return true;
    }
    struck(most_sudden(&pairs), ns) > MOST_STRUCK && !is_correlated(launches)
}

/// The share of interrupted probes, less a standard error. No correlation vouches for the time between them: the processor did nothing else during an interruption.
fn least_interrupted(ends: &[End]) -> f64 {
    let count = ends.iter().filter(|end| end.is_interrupted()).count() as f64;
    (count - count.sqrt()) / ends.len() as f64
}

/// The share of busy ends after a quiet beginning, and its standard error (Laplace's rule of succession, since there may be none).
fn most_sudden(pairs: &[Pair]) -> f64 {
    let after_quiet = pairs.iter().filter(|pair| pair.ends[0].busy == 0.0);
    let (count, busy) = after_quiet.fold((0.0, 0.0), |(count, busy), pair| {
        (count + 1.0, busy + pair.ends[1].busy)
    });
    let share: f64 = (busy + 1.0) / (count + 2.0);
    let error = (share * (1.0 - share) / (count + 2.0)).sqrt();
    (share + error).min(1.0)
}

/// The state of the core is a signal of two values, and a batch takes samples of it at its ends. Without correlation of the samples, quiet
/// ends say nothing of the middle. The correlation within the launches must exceed its limit by its own error. Launches that are quiet or
/// busy from beginning to end have no correlation; their neighbour is slow.
fn is_correlated(launches: &[&Pairs]) -> bool {
    let (mut number, mut both, mut of_begin, mut of_end) = (0.0, 0.0, 0.0, 0.0);
    for pairs in launches {
        let count = pairs.len() as f64;
        let begin = pairs.iter().map(|p| p.ends[0].busy).sum::<f64>() / count;
        let end = pairs.iter().map(|p| p.ends[1].busy).sum::<f64>() / count;
        let varies = |mean: f64| mean > 0.0 && mean < 1.0;
        if varies(begin) || varies(end) {
            number += count;
            both += pairs
                .iter()
                .map(|p| (p.ends[0].busy - begin) * (p.ends[1].busy - end))
                .sum::<f64>();
            of_begin += count * begin * (1.0 - begin);
            of_end += count * end * (1.0 - end);
        }
    }
    if number == 0.0 {
        return true;
    }
    let spread = (of_begin * of_end).sqrt();
    let correlation = if spread > 0.0 { both / spread } else { 0.0 };
    let error = (1.0 - correlation * correlation).max(0.0) / number.sqrt();
    correlation - ERROR_PART * error >= LEAST_CORRELATION
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn begins in an eighth of the batches, if they last `-ln(1 - 1/8)` of the mean pause.
    #[test]
    fn batches_are_shorter_the_more_often_turns_begin() {
        let us = |sudden, is_contended| {
            short_batch(sudden, is_contended).map(|d| d.as_nanos() as f64 / 1e3)
        };
        let of_pause = |pause_us: f64| -(-8.0 / pause_us).exp_m1();
        for pause_us in [100.0, 160.0, 300.0] {
            let length = us(of_pause(pause_us), true).unwrap();
            assert!(
                (length - 0.1335 * pause_us).abs() < 0.01 * pause_us,
                "{pause_us}: {length}"
            );
        }
        assert_eq!(us(of_pause(30.0), true), Some(10.0));
        assert_eq!(us(1.0, true), Some(10.0));
        // Long turns, which rarely begin, and no turns at all.
        assert_eq!(us(0.004, true), Some(50.0));
        assert_eq!(us(0.0, true), Some(50.0));
        assert_eq!(us(0.004, false), None);
        assert_eq!(us(0.0, false), None);
        assert!(us(0.01, false).is_some_and(|length| (100.0..110.0).contains(&length)));
    }
}
