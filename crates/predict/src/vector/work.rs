//! The work of an application in user mode, as counts that do not depend on the machine.

use serde::{Deserialize, Serialize};

/// User work per unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserWork {
    /// The program that counted it, such as `valgrind-3.19.0`.
    pub how: String,
    /// Number of instructions.
    pub instructions: f64,
    /// Number of branches that a simple predictor predicts wrongly. Those of processors are better.
    pub mispredictions: f64,
    /// Misses of caches of ascending sizes.
    pub misses: Vec<Misses>,
}

/// The misses of instructions and data in a simulated cache: accesses to lines that were last used
/// before more than `bytes` of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Misses {
    /// Size of the cache.
    pub bytes: f64,
    /// Number of misses per unit.
    pub count: f64,
}

impl UserWork {
    /// The accesses beyond the first cache by the distance of their reuse, which is between the
    /// sizes of two caches: its geometric mean in bytes, and their number.
    pub(crate) fn distances(&self) -> Vec<[f64; 2]> {
        let own = self.misses.iter();
        let next = self.misses.iter().skip(1).map(Some).chain([None]);
        let each = own.zip(next).map(|(own, next)| match next {
            Some(next) => [(own.bytes * next.bytes).sqrt(), own.count - next.count],
            // As far beyond the last cache as the middle between two.
            None => [2.0 * own.bytes, own.count],
        });
        each.collect()
    }

    /// The work of each of `units`.
    #[must_use]
    pub fn each(self, units: f64) -> UserWork {
        let misses = self.misses.into_iter();
        UserWork {
            instructions: self.instructions / units,
            mispredictions: self.mispredictions / units,
            misses: misses.map(|own| Misses { count: own.count / units, ..own }).collect(),
            ..self
        }
    }

    /// The rules for the values. `number` checks one.
    pub(super) fn check(
        &self,
        number: impl Fn(&str, Option<f64>) -> Result<(), String>,
    ) -> Result<(), String> {
        let whole = [("instructions", self.instructions), ("mispredictions", self.mispredictions)];
        for (key, value) in whole {
            number(&format!("user_work.{key}"), Some(value))?;
        }
        if self.mispredictions > self.instructions || self.instructions == 0.0 {
            return Err("user_work.instructions: fewer than mispredictions, or none".to_owned());
        }
        if self.misses.is_empty() {
            return Err("user_work.misses: the list is empty".to_owned());
        }
        for (index, own) in self.misses.iter().enumerate() {
            let place = format!("user_work.misses[{index}]");
            number(&format!("{place}.count"), Some(own.count))?;
            number(&format!("{place}.bytes"), Some(own.bytes))?;
            let before = self.misses[..index].last();
            if own.bytes <= before.map_or(0.0, |before| before.bytes) {
                return Err(format!("{place}.bytes: it must be above that before, and above 0"));
            }
            if before.is_some_and(|before| own.count > before.count) {
                return Err(format!("{place}.count: a larger cache cannot have more misses"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn work(misses: &[(f64, f64)]) -> UserWork {
        UserWork {
            how: "by hand".to_owned(),
            instructions: 1000.0,
            mispredictions: 10.0,
            misses: misses
                .iter()
                .map(|(bytes, count)| Misses { bytes: *bytes, count: *count })
                .collect(),
        }
    }

    fn fault(work: &UserWork) -> String {
        let number = |place: &str, value: Option<f64>| match value {
            Some(value) if value >= 0.0 => Ok(()),
            _ => Err(place.to_owned()),
        };
        work.check(number).err().unwrap_or_default()
    }

    #[test]
    fn distances_are_between_the_sizes_of_caches() {
        let found = work(&[(1024.0, 90.0), (4096.0, 30.0), (16384.0, 30.0)]).distances();
        assert_eq!(found, [[2048.0, 60.0], [8192.0, 0.0], [32768.0, 30.0]]);
    }

    #[test]
    fn impossible_work_is_refused() {
        assert_eq!(fault(&work(&[(1.0, 2.0), (2.0, 2.0)])), "");
        let wrong = [
            (work(&[]), "user_work.misses: the list is empty"),
            (work(&[(0.0, 1.0)]), "user_work.misses[0].bytes: it must be above"),
            (work(&[(4.0, 1.0), (4.0, 1.0)]), "user_work.misses[1].bytes: it must be above"),
            (work(&[(4.0, 1.0), (8.0, 2.0)]), "user_work.misses[1].count: a larger cache"),
            (work(&[(4.0, -1.0)]), "user_work.misses[0].count"),
            (
                UserWork { instructions: 0.0, mispredictions: 0.0, ..work(&[(1.0, 1.0)]) },
                "user_work.instructions: fewer",
            ),
            (
                UserWork { mispredictions: 1001.0, ..work(&[(1.0, 1.0)]) },
                "user_work.instructions: fewer",
            ),
        ];
        for (work, expected) in wrong {
            let found = fault(&work);
            assert!(found.starts_with(expected), "{found} instead of {expected}");
        }
    }
}
