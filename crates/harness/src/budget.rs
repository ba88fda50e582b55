//! Keeps a run within its time: chooses the number of launches of each entry. Pure.

use std::time::Duration;

use super::units::saturated;

/// An entry as the budget sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    /// Launches still planned.
    pub launches: u64,
    /// Fewest launches that are worth their time; 0 if the entry already has a figure.
    pub least: u64,
    /// Time of each launch, set-up included.
    pub each: Duration,
}

impl Expected {
    fn time(&self, launches: u64) -> Duration {
        self.each.saturating_mul(saturated(launches))
    }

    /// Launches if the entry may take this long.
    fn within(&self, time: Duration) -> u64 {
        let affordable = (time.as_secs_f64() / self.each.as_secs_f64().max(1e-9)) as u64;
        affordable.clamp(self.least.min(self.launches), self.launches)
    }
}

/// Launches of each entry in `budget`. If the planned ones take longer, no entry may take longer
/// than a common limit, which is as long as the budget permits: the slowest entries lose launches
/// first. If even the fewest launches of all take too long, the slowest entries get none.
pub(super) fn launches(entries: &[Expected], budget: Duration) -> Vec<u64> {
    let planned: Vec<u64> = entries.iter().map(|e| e.launches).collect();
    if time(entries, &planned) <= budget {
        return planned;
    }
    let limited = |limit: Duration| entries.iter().map(|e| e.within(limit)).collect();
    let least: Vec<u64> = limited(Duration::ZERO);
    if time(entries, &least) > budget {
        return without_slowest(entries, &least, budget);
    }
    // Bisection: the time of all entries grows with the limit.
    let (mut low, mut high) = (Duration::ZERO, budget);
    for _ in 0..40 {
        let middle = (low + high) / 2;
        let is_affordable = time(entries, &limited(middle)) <= budget;
        *(if is_affordable { &mut low } else { &mut high }) = middle;
    }
    limited(low)
}

/// Leaves out the slowest entries until the fewest launches of the others fit, and chooses the
/// launches of the others.
fn without_slowest(entries: &[Expected], least: &[u64], budget: Duration) -> Vec<u64> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(entries[*i].time(least[*i])));
    let mut others = entries.to_vec();
    let mut left = time(entries, least);
    for i in order {
        if left <= budget {
            break;
        }
        left = left.saturating_sub(entries[i].time(least[i]));
        others[i] = Expected { launches: 0, ..entries[i] };
    }
    launches(&others, budget)
}

fn time(entries: &[Expected], launches: &[u64]) -> Duration {
    let each = entries.iter().zip(launches);
    each.fold(Duration::ZERO, |sum, (entry, launches)| sum.saturating_add(entry.time(*launches)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(each: &[(u64, u64, u64)]) -> Vec<Expected> {
        let each = each.iter();
        each.map(|&(launches, least, ms)| Expected {
            launches,
            least,
            each: Duration::from_millis(ms),
        })
        .collect()
    }

    fn in_time(each: &[(u64, u64, u64)], ms: u64) -> Vec<u64> {
        let entries = entries(each);
        let launches = launches(&entries, Duration::from_millis(ms));
        let time = time(&entries, &launches);
        assert!(time <= Duration::from_millis(ms), "{time:?} of {ms} ms");
        launches
    }

    #[test]
    fn plan_within_budget_is_unchanged() {
        assert_eq!(in_time(&[(6, 1, 10), (2, 1, 20)], 100), [6, 2]);
        assert_eq!(in_time(&[], 0), [] as [u64; 0]);
    }

    #[test]
    fn slowest_entries_lose_launches_first() {
        // 600 + 60 ms are planned.
        assert_eq!(in_time(&[(6, 1, 100), (6, 1, 10)], 400), [3, 6]);
        assert_eq!(in_time(&[(6, 1, 100), (6, 1, 10)], 160), [1, 6]);
        assert_eq!(in_time(&[(6, 1, 100), (6, 1, 10)], 110), [1, 1]);
        // Two equally slow ones lose equally many.
        assert_eq!(in_time(&[(6, 1, 100), (6, 1, 100), (6, 1, 10)], 660), [3, 3, 6]);
    }

    #[test]
    fn entry_that_does_not_fit_at_all_gets_no_launch() {
        assert_eq!(in_time(&[(2, 1, 5000), (2, 1, 10), (2, 1, 20)], 1000), [0, 2, 2]);
        // An entry that has a figure already needs no further launch.
        assert_eq!(in_time(&[(1, 0, 5000), (1, 1, 10)], 1000), [0, 1]);
    }

    /// Random plans: never above the budget, never more than planned, and no entry without a launch
    /// while a slower one has several.
    #[test]
    fn random_plans_fit_and_are_fair() {
        let mut random = fastrand::Rng::with_seed(18);
        for _ in 0..500 {
            let each: Vec<(u64, u64, u64)> = (0..random.usize(1..200))
                .map(|_| (random.u64(1..7), 1, random.u64(1..3000)))
                .collect();
            let budget = random.u64(1..300_000);
            let launches = in_time(&each, budget);
            for (i, (planned, _, ms)) in each.iter().enumerate() {
                assert!(launches[i] <= *planned);
                let slower = each.iter().zip(&launches).filter(|(e, _)| e.2 > *ms);
                let several = slower.filter(|(_, n)| **n > 1).count();
                assert!(launches[i] > 0 || several == 0, "{each:?} in {budget} ms");
            }
        }
    }
}
