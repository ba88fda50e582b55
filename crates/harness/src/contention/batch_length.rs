//! Chooses the length of batches beside neighbours. Pure.
//!
//! A neighbour uses the core in turns. A hypervisor that interrupts the processor counts as a
//! neighbour, since the system here sees neither. A batch is disturbed if a turn begins in it, so
//! it must be shorter the more often turns begin.

use std::time::Duration;

use yamba_record::Batch;

use super::{QuietWidth, all_readings, is_free_of_others};

/// Usual least length of a batch (runtime/src/harness.h).
const USUAL_BATCH: Duration = Duration::from_micros(200);

/// Longest batch while neighbours use a noticeable part of the time. It is shorter than most of
/// their pauses, so that many batches lie within a pause.
pub(crate) const SHORT_BATCH: Duration = Duration::from_micros(50);

/// Shortest batch. It takes some hundred times longer than reading the clock.
const SHORTEST_BATCH: Duration = Duration::from_micros(10);

/// Time of a width probe on a quiet core, in ns (runtime/src/width.h). With a coarse clock it is
/// longer. Then fewer turns begin in a batch than computed here.
const PROBE_NS: f64 = 8000.0;

/// Longest time of the calls between the first and the last probe of a batch that is used. Over a
/// longer time, a turn between two quiet probes need not be short.
const LONGEST_SPAN_NS: f64 = 500_000.0;

/// Share of the batches in which a turn may begin, so that a short batch is long enough.
const WANTED_SHARE: f64 = 0.125;

/// The share of batches of `ns` in which a turn begins, if one begins in this share of the probes.
/// Turns begin independently of each other.
pub(super) fn share_of_batches(of_probes: f64, ns: f64) -> f64 {
    1.0 - (1.0 - of_probes).powf(ns / PROBE_NS)
}

/// Least length of a batch, so that turns begin in few batches if they begin in the share
/// `isolated` of the probes. `None`: the usual length is short enough.
pub(super) fn short_batch(isolated: f64, is_contended: bool) -> Option<Duration> {
    let [usual, short, shortest] =
        [USUAL_BATCH, SHORT_BATCH, SHORTEST_BATCH].map(|d| d.as_nanos() as f64);
    // Without isolated probes, the quotient is infinite.
    let wanted = PROBE_NS * (-WANTED_SHARE).ln_1p() / (-isolated).ln_1p();
    let longest = if is_contended { short } else { usual };
    let length = wanted.clamp(shortest, longest);
    (length < usual).then(|| Duration::from_nanos(length as u64))
}

/// Share of lengthened probes among those between two quiet ones of the same batch. The turn that
/// lengthens such a probe is shorter than a batch, since a longer one lengthens the next probe,
/// too. `None` without such probes.
pub(super) fn isolated_share(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> Option<f64> {
    let (mut isolated, mut total) = (0_u64, 0_u64);
    let is_near = |b: &&Batch| b.ns + b.dummy_ns <= LONGEST_SPAN_NS && is_free_of_others(b);
    for batch in batches.iter().filter(is_near) {
        let (Some(level), [Some(before), Some(between), Some(after)]) =
            (width(batch).level(), all_readings(&batch.probes))
        else {
            continue;
        };
        if before.is_quiet(level) && after.is_quiet(level) {
            total += 1;
            isolated += u64::from(!between.is_quiet(level));
        }
    }
    (total > 0).then(|| isolated as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn begins in an eighth of the batches, if they last `-ln(1 - 1/8)` of the mean pause.
    #[test]
    fn batches_are_shorter_the_more_often_turns_begin() {
        let us = |isolated, is_contended| {
            short_batch(isolated, is_contended).map(|d| d.as_nanos() as f64 / 1e3)
        };
        let of_pause = |pause_us: f64| -(-8.0 / pause_us).exp_m1();
        for pause_us in [100.0, 160.0, 300.0] {
            let length = us(of_pause(pause_us), true).unwrap();
            assert!((length - 0.1335 * pause_us).abs() < 0.01 * pause_us, "{pause_us}: {length}");
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
