//! A young generation with an Eden and two survivor spaces: which objects a collection copies, and
//! which it promotes.

use super::{Setting, Simulated, Survivors};
use crate::gc::log::Kind;

/// Largest age at which objects stay young (`MaxTenuringThreshold`).
const MAX_TENURING: usize = 15;

/// Objects that were allocated between two collections, in a survivor space. Moments are in bytes
/// allocated since the start.
#[derive(Clone, Copy)]
struct Cohort {
    begin: f64,
    end: f64,
    bytes: f64,
    /// The part of the cohort that is in the survivor space. Below 1, the rest was promoted; dead
    /// objects of that rest may still refer to those that stayed.
    young_share: f64,
}

impl Cohort {
    fn promoted(self) -> Promoted {
        Promoted { begin: self.begin, end: self.end, bytes: self.bytes }
    }
}

/// The cohorts of the survivor space.
pub(super) struct Young {
    /// The youngest first.
    cohorts: Vec<Cohort>,
    /// When Eden was emptied.
    emptied_at: f64,
    threshold: usize,
}

/// Objects allocated between two moments, which leave the young generation.
pub(super) struct Promoted {
    pub(super) begin: f64,
    pub(super) end: f64,
    pub(super) bytes: f64,
}

/// Result of a young collection.
pub(super) struct Evacuated {
    pub(super) copied_bytes: f64,
    /// Copied bytes of Eden.
    pub(super) from_eden_bytes: f64,
    pub(super) promoted_bytes: f64,
    /// The promoted bytes by age.
    pub(super) promoted: Vec<Promoted>,
}

impl Young {
    pub(super) fn new(threshold: usize) -> Self {
        Self { cohorts: Vec::new(), emptied_at: 0.0, threshold }
    }

    pub(super) fn emptied_at(&self) -> f64 {
        self.emptied_at
    }

    pub(super) fn survivor_bytes(&self) -> f64 {
        self.cohorts.iter().map(|c| c.bytes).sum()
    }

    /// Bytes of the survivors and of the objects that were allocated since, at `now`.
    pub(super) fn bytes_at(&self, now: f64) -> f64 {
        self.survivor_bytes() + now - self.emptied_at
    }

    /// Collects at `now`. A survivor space has `capacity` bytes. Objects older than the threshold,
    /// and those that do not fit, are promoted.
    pub(super) fn collect(&mut self, setting: &Setting, now: f64, capacity: f64) -> Evacuated {
        let eden =
            Cohort { begin: self.emptied_at, end: now, bytes: f64::INFINITY, young_share: 1.0 };
        self.cohorts.insert(0, eden);
        self.emptied_at = now;
        let survival = &setting.survival;
        for cohort in &mut self.cohorts {
            let alive = survival.alive(now, cohort.begin) - survival.alive(now, cohort.end);
            let Survivors { factor, nepotism } = setting.survivors;
            let alive = (alive * factor * cohort.young_share).clamp(0.0, cohort.bytes);
            if cohort.young_share < 1.0 {
                cohort.bytes = alive + nepotism * (cohort.bytes - alive);
            } else {
                cohort.bytes = alive;
            }
        }
        let copied_bytes = self.survivor_bytes();
        let from_eden_bytes = self.cohorts[0].bytes;
        let mut kept = 0.0;
        let (mut stays, mut promoted) = (Vec::new(), Vec::new());
        let threshold = self.threshold;
        for (age, mut cohort) in self.cohorts.drain(..).enumerate() {
            let room = if age < threshold { capacity - kept } else { 0.0 };
            let leaves = (cohort.bytes - room).max(0.0);
            if leaves > 0.0 {
                cohort.young_share *= 1.0 - leaves / cohort.bytes;
                promoted.push(Promoted { bytes: leaves, ..cohort.promoted() });
            }
            cohort.bytes = cohort.bytes.min(room);
            if cohort.bytes > 0.0 {
                kept += cohort.bytes;
                stays.push(cohort);
            }
        }
        self.cohorts = stays;
        Evacuated { copied_bytes, from_eden_bytes, promoted_bytes: copied_bytes - kept, promoted }
    }

    pub(super) fn set_threshold(&mut self, threshold: usize) {
        self.threshold = threshold;
    }

    /// Sets the threshold to the age at which the survivors fill `desired` bytes.
    pub(super) fn tenure_by_table(&mut self, desired: f64) {
        let mut sum = 0.0;
        let full = self.cohorts.iter().position(|c| {
            sum += c.bytes;
            sum > desired
        });
        self.threshold = full.map_or(MAX_TENURING, |index| (index + 1).min(MAX_TENURING));
    }

    /// Removes all survivors, which move to the old generation.
    pub(super) fn leave(&mut self) -> Vec<Promoted> {
        let all = self.cohorts.drain(..);
        all.map(Cohort::promoted).collect()
    }

    pub(super) fn empty(&mut self, now: f64) {
        self.cohorts.clear();
        self.emptied_at = now;
    }
}

impl Evacuated {
    pub(super) fn as_collection(&self, kind: Kind) -> Simulated {
        Simulated::new(kind, self.copied_bytes)
    }
}

/// A collection of all live bytes.
pub(super) fn whole(setting: &Setting, now: f64, kind: Kind) -> Simulated {
    Simulated::new(kind, setting.survival.alive(now, 0.0))
}

/// A collection of a heap with `used` bytes.
pub(super) fn full(setting: &Setting, now: f64, used: f64) -> Simulated {
    let all = whole(setting, now, Kind::Full);
    Simulated { dead_bytes: (used - all.bytes).max(0.0), ..all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::demand::tests::constant_lifetime;

    /// Of 5 MB that were allocated in the last 5 MB, all are alive, and 2 MB fit. After 3 MB more,
    /// 2 of the 5 MB are dead, in both generations alike.
    #[test]
    fn dead_survivors_stay_if_a_part_of_their_age_was_promoted() {
        let demand = constant_lifetime(100, 6e6);
        let setting = |nepotism| Setting {
            survivors: Survivors { nepotism, ..Survivors::PROFILED },
            ..Setting::new(&demand, 20e6, 25)
        };
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-3 * expected;
        for (nepotism, expected) in [(0.0, 0.4 * 3e6), (0.5, 0.4 * 4e6), (1.0, 0.4 * 5e6)] {
            let setting = setting(nepotism);
            let mut young = Young::new(15);
            young.empty(45e6);
            let first = young.collect(&setting, 50e6, 2e6);
            assert!(close(first.promoted_bytes, 3e6), "{}", first.promoted_bytes);
            let second = young.collect(&setting, 53e6, 20e6);
            let survivors = second.copied_bytes - second.from_eden_bytes;
            assert!(close(survivors, expected), "{nepotism}: {survivors}");
            // Nothing of the Eden of the second collection was promoted, so its dead objects go.
            let third = young.collect(&setting, 58e6, 20e6);
            let of_eden = young.cohorts[1].bytes;
            assert!(close(of_eden, 1e6), "{nepotism}: {of_eden}, {}", third.copied_bytes);
        }
    }

    #[test]
    fn fewer_objects_survive_by_the_factor() {
        let demand = constant_lifetime(100, 6e6);
        let setting = Setting {
            survivors: Survivors { factor: 0.8, nepotism: 0.0 },
            ..Setting::new(&demand, 20e6, 25)
        };
        let mut young = Young::new(15);
        young.empty(45e6);
        let found = young.collect(&setting, 50e6, 3e6);
        assert!((found.copied_bytes - 0.8 * 5e6).abs() < 1e3);
        assert!((found.promoted_bytes - 1e6).abs() < 1e3);
    }

    /// Objects live for 2 MB, so 2 of the 10 MB are alive.
    #[test]
    fn bytes_of_a_full_heap_that_are_not_alive_are_dead() {
        let demand = constant_lifetime(100, 2e6);
        let setting = Setting::new(&demand, 20e6, 25);
        let found = full(&setting, 50e6, 10e6);
        assert!((found.bytes - 2e6).abs() < 2e5, "{found:?}");
        assert_eq!(found.bytes + found.dead_bytes, 10e6);
        let mut young = Young::new(1);
        young.empty(47e6);
        assert_eq!(young.bytes_at(50e6), 3e6);
    }
}
