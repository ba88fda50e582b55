//! Parallel: as Serial, but survivor spaces follow the average of the survivors, and Eden has the rest of the young generation.

use super::average::PaddedAverage;
use super::metaspace::{Metaspace, due};
use super::young::{Young, full};
use super::{Setting, Simulated, too_small};
use crate::log::Kind;

const ALIGNMENT_BYTES: f64 = 524_288.0;
/// Bytes in the young generation for each in a survivor space, at first and at most (`InitialSurvivorRatio`, `MinSurvivorRatio`).
const SURVIVOR_RATIO: (f64, f64) = (8.0, 3.0);
/// Largest age of young objects, at first (`InitialTenuringThreshold`).
const TENURING: usize = 7;
/// Sizes and tenuring follow the survivors from the collection after these (`AdaptiveSizePolicyReadyThreshold`). In logs of JDK 17 and 25 that is the sixth.
const READY_AFTER: usize = 5;
/// Weight and padding of the averages (`AdaptiveSizePolicyWeight`, `SurvivorPadding`, `PromotedPadding`).
const AVERAGE: (f64, f64) = (10.0, 3.0);

pub(super) fn simulate(setting: &Setting) -> Result<Vec<Simulated>, String> {
    let down = |bytes: f64| (bytes / ALIGNMENT_BYTES).floor() * ALIGNMENT_BYTES;
    let young_size = down(setting.heap_bytes / 3.0);
    let old_size = setting.heap_bytes - young_size;
    let mut survivor = down(young_size / SURVIVOR_RATIO.0).max(ALIGNMENT_BYTES);
    let most_survivor = down(young_size / SURVIVOR_RATIO.1);
    if most_survivor < ALIGNMENT_BYTES {
        return Err(too_small(setting));
    }
    let mut threshold = TENURING;
    let mut young = Young::new(threshold);
    let mut survived = PaddedAverage::new(AVERAGE.0, AVERAGE.1);
    let mut promoted = PaddedAverage::new(AVERAGE.0, AVERAGE.1);
    let mut metaspace = Metaspace::new();
    let (mut old_bytes, mut eden_rest) = (0.0, 0.0);
    let mut found = Vec::new();
    loop {
        let eden = young_size - 2.0 * survivor;
        let now = young.emptied_at() + eden - eden_rest;
        let by_metaspace = due(setting, &mut metaspace, young.emptied_at(), now);
        let at = by_metaspace.unwrap_or(now);
        if at > setting.total_bytes() {
            return Ok(found);
        }
        let expected = promoted.padded().min(eden + young.survivor_bytes());
        if by_metaspace.is_some() || (expected < old_size - old_bytes && eden_rest == 0.0) {
            let moved = young.collect(setting, at, survivor);
            found.push(moved.as_collection(Kind::Young));
            old_bytes += moved.promoted_bytes;
            let kept = moved.copied_bytes - moved.promoted_bytes;
            let is_overflow = moved.promoted_bytes > 0.0 && kept >= survivor * 0.99;
            survived.add(if is_overflow {
                moved.copied_bytes
            } else {
                kept
            });
            promoted.add(moved.promoted_bytes);
            if found.len() > READY_AFTER {
                // Young collections cost more than full ones, or the survivors do not fit: objects are promoted earlier.
                threshold = (threshold - 1).max(1);
                young.set_threshold(threshold);
                let target = down(survived.padded() + ALIGNMENT_BYTES - 1.0);
                survivor = target.clamp(ALIGNMENT_BYTES, most_survivor);
            }
            // The logs have a collection of the whole heap in the place of the next young one if the promoted objects would not fit.
            if by_metaspace.is_none() && old_bytes <= old_size {
                continue;
            }
        }
        let used = old_bytes + eden_rest + young.bytes_at(at);
        let all = full(setting, at, used);
        found.push(all);
        let live = all.bytes;
        old_bytes = live.min(old_size);
        eden_rest = (live - old_size).max(0.0);
        young.empty(at);
        threshold = (threshold + 1).min(15);
        young.set_threshold(threshold);
        if eden_rest > eden * 0.98 {
            return Err(format!("the live set is {:.0} MB", live / 1e6));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::constant_lifetime;

    /// Sizes in logs of JDK 17 and 25 with 48 MB: Eden has 12 MiB, and 6 MiB as soon as survivor spaces of 2 MiB have become 5 MiB. That is after the sixth collection here. A
    /// collection of the whole heap comes in the place of a young one, so each Eden has one collection.
    #[test]
    fn each_eden_has_one_collection() {
        let demand = constant_lifetime(613, 16e6);
        let mebibytes = |count: f64| count * 1048576.0;
        let found = simulate(&Setting::of(&demand, mebibytes(48.0), 25));
        let found = found.unwrap();
        let rest = (613e6 - mebibytes(6.0 * 12.0)) / mebibytes(6.0);
        // A survivor space may become smaller for a while, and Eden larger.
        let expected = 6 + rest as usize;
        assert!(
            (expected - 1..=expected).contains(&found.len()),
            "{}",
            found.len()
        );
        // 10.5, 11 and 11 MB are promoted of the old generation's 33.6 MB. Such an amount does not fit once more.
        let first: Vec<Kind> = found.iter().take(4).map(|c| c.kind).collect();
        assert_eq!(first, [Kind::Young, Kind::Young, Kind::Young, Kind::Full]);
    }
}
