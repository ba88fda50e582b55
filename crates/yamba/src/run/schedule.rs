//! How often and how long an entry is launched. Pure.

use std::time::Duration;

use yamba_record::Interval;

use super::options::Options;

/// Numbers of launches at which it is asked whether more are needed. A rule that asks after each one stops too early: it
/// would stop at the first accident that looks narrow.
const CHECKPOINTS: [u64; 5] = [6, 9, 12, 18, 24];

/// Fewer intervals have no median worth the name.
const FEWEST_INTERVALS: u64 = 3;

/// The share of an entry's time that one launch has. Under load it is at least what the protocol needs.
pub(super) fn launch_time(options: &Options, processes: u64, entry_time: Duration) -> Duration {
    let share = entry_time / u32::try_from(options.planned_launches()).unwrap_or(u32::MAX);
    if processes == 1 {
        return share;
    }
    let intervals = u32::try_from(options.planned_intervals(processes)).unwrap_or(u32::MAX);
    share.max(options.loaded_interval().saturating_mul(intervals))
}

/// How many launches an entry is to have after `done` of them took `spent`; none if these are enough.
/// `width` is the relative half width of its interval so far, if it has one.
pub(super) fn more_launches(
    done: u64,
    spent: Duration,
    time: Duration,
    width: Option<f64>,
    precision: f64,
) -> Option<u64> {
    if width.is_some_and(|w| w <= precision) {
        return None;
    }
    let next = CHECKPOINTS.into_iter().find(|c| *c > done)?;
    let expected = spent.as_secs_f64() * next as f64 / done as f64;
    (expected <= time.as_secs_f64()).then_some(next)
}

/// How many intervals the later launches of an entry have if its first one, with `intervals`, took much longer than its share.
/// Six launches of three intervals say more of the next run than one of eighteen.
pub(super) fn fewer_intervals(first: &[Interval], share: Duration, intervals: u64) -> Option<u64> {
    let measured: f64 = first.iter().map(|i| i.ns + i.dummy_ns).sum();
    let share = share.as_nanos() as f64;
    if measured <= 2.0 * share {
        return None;
    }
    let affordable = (first.len() as f64 * share / measured) as u64;
    let fewer = affordable.max(FEWEST_INTERVALS);
    (fewer < intervals).then_some(fewer)
}

/// How long a program may say nothing: between two records of a loaded one lie intervals of all its processes, one after the
/// other where they share a processor, and what sized them.
pub(super) fn silence(options: &Options, processes: u64, cpus: u64) -> Duration {
    let quiet = options.silence + options.warmup.unwrap_or_default();
    if processes == 1 {
        return quiet;
    }
    let share = processes as f64 / cpus.max(1) as f64;
    quiet + options.loaded_interval().mul_f64(20.0 * share.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_launch_has_its_share_and_a_load_what_it_needs() {
        let options = Options::default();
        assert_eq!(launch_time(&options, 1, 6 * SECOND), SECOND);
        assert_eq!(launch_time(&options, 2, 6 * SECOND), 2 * SECOND);
        assert_eq!(launch_time(&options, 2, 60 * SECOND), 10 * SECOND);
        let quick = Options::quick();
        assert_eq!(launch_time(&quick, 1, SECOND), SECOND / 2);
        assert_eq!(launch_time(&quick, 4, SECOND / 10), SECOND / 5);
    }

    #[test]
    fn launches_are_added_only_at_checkpoints_while_wide_and_while_there_is_time() {
        let more = |done, spent, width| more_launches(done, spent, 10 * SECOND, width, 0.01);
        assert_eq!(more(6, 4 * SECOND, Some(0.02)), Some(9));
        assert_eq!(more(6, 4 * SECOND, None), Some(9));
        assert_eq!(more(6, 4 * SECOND, Some(0.01)), None);
        assert_eq!(more(6, 7 * SECOND, Some(0.02)), None, "10.5 s for nine");
        assert_eq!(more(9, SECOND, Some(0.02)), Some(12));
        assert_eq!(more(12, SECOND, Some(0.02)), Some(18));
        assert_eq!(more(18, SECOND, Some(0.02)), Some(24));
        assert_eq!(more(24, SECOND, Some(0.02)), None);
    }

    #[test]
    fn slow_benchmarks_have_fewer_intervals_a_launch() {
        let first = |count, ms: f64| {
            let interval = Interval {
                ns: ms * 0.75e6,
                dummy_ns: ms * 0.25e6,
                ..Interval::default()
            };
            vec![interval; count]
        };
        assert_eq!(fewer_intervals(&first(11, 100.0), SECOND, 11), None);
        assert_eq!(fewer_intervals(&first(11, 200.0), SECOND, 11), Some(5));
        assert_eq!(fewer_intervals(&first(11, 5000.0), SECOND, 11), Some(3));
        assert_eq!(fewer_intervals(&first(2, 5000.0), SECOND, 2), None);
    }

    #[test]
    fn a_load_may_be_silent_for_longer() {
        let options = Options::default();
        assert_eq!(silence(&options, 1, 2), 60 * SECOND);
        assert_eq!(silence(&options, 2, 4), 80 * SECOND);
        assert_eq!(silence(&options, 8, 2), 140 * SECOND);
    }
}
