//! How often and how long an entry is launched. Pure.

use std::time::Duration;

use yamba_record::Interval;

use super::options::{Options, PROGRAMS_WARMUP};

/// Numbers of launches at which it is asked whether more are needed. A rule that asks after each one stops too early: it
/// would stop at the first accident that looks narrow.
const CHECKPOINTS: [u64; 5] = [6, 9, 12, 18, 24];

/// Fewer intervals have no median worth the name.
const FEWEST_INTERVALS: u64 = 3;

/// What one launch of an entry is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// At least so many intervals; under load exactly so many.
    pub intervals: u64,
    /// The time for all of them.
    pub time: Duration,
    /// Running before anything is timed; none if it is as long as the program finds right.
    pub warmup: Option<Duration>,
}

/// The share of an entry's time that each of its launches has. Under load it is at least what the protocol needs.
pub(super) fn share(options: &Options, processes: u64, entry_time: Duration) -> Share {
    let launches = u32::try_from(options.planned_launches()).unwrap_or(u32::MAX);
    let time = entry_time / launches;
    let least = options.planned_intervals(processes);
    if processes == 1 {
        return Share {
            intervals: least,
            time,
            warmup: options.warmup.or(shorter_warmup(time)),
        };
    }
    // With each interval goes one of the dummy, and what sized them may have been off.
    let pair = 2 * options.loaded_interval();
    let affordable = (time.as_secs_f64() / pair.as_secs_f64()) as u64;
    let intervals = match options.intervals {
        Some(asked) => asked,
        None => affordable.max(least),
    };
    let round = 2 * pair + options.warmup.unwrap_or_default();
    Share {
        intervals,
        time: round.saturating_mul(u32::try_from(intervals).unwrap_or(u32::MAX)),
        warmup: options.warmup,
    }
}

/// Of little time no more than a quarter is for warming up.
fn shorter_warmup(time: Duration) -> Option<Duration> {
    let quarter = time / 4;
    (quarter < PROGRAMS_WARMUP).then_some(quarter)
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

/// How many intervals the later launches of an entry have if those of its first one are too long for its share. What a competitor
/// made of them does not count: it may be gone.
/// Six launches of three intervals say more of the next run than one of eighteen. A circle's parameters say how many it has.
pub(super) fn fewer_intervals(first: &[Interval], share: Share) -> Option<u64> {
    if first.iter().any(|i| i.group.is_some()) {
        return None;
    }
    let own = interval_ns(first)?;
    let time = share.time.as_nanos() as f64;
    if own * share.intervals as f64 <= 2.0 * time {
        return None;
    }
    let fewer = ((time / own) as u64).max(FEWEST_INTERVALS);
    (fewer < share.intervals).then_some(fewer)
}

/// How long an interval with its dummy is: the mean of the undisturbed ones. Where all are disturbed, the least of them.
fn interval_ns(first: &[Interval]) -> Option<f64> {
    let both = |i: &Interval| i.ns + i.dummy_ns;
    let calm = first.iter().filter(|i| i.disturbed.is_empty()).map(both);
    let calm: Vec<f64> = calm.collect();
    if calm.is_empty() {
        return first.iter().map(both).min_by(f64::total_cmp);
    }
    Some(calm.iter().sum::<f64>() / calm.len() as f64)
}

/// How long a program may say nothing. Under load the program itself waits for each of its processes twenty times as long as it
/// should take, and names the one that hangs: only when it does not is it our turn.
pub(super) fn silence(options: &Options, processes: u64, cpus: u64, share: Share) -> Duration {
    let quiet = options.silence + options.warmup.unwrap_or_default();
    if processes == 1 {
        return quiet;
    }
    let turns = u32::try_from(processes.div_ceil(cpus.max(1))).unwrap_or(u32::MAX);
    let rounds = options.loaded_interval().saturating_mul(turns);
    quiet + (share.time + rounds).saturating_mul(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_launch_has_its_share_and_a_load_what_it_needs() {
        let seconds = |options: &Options, processes, time| {
            let share = share(options, processes, time);
            (share.intervals, share.time.as_secs_f64())
        };
        let options = Options::default();
        assert_eq!(seconds(&options, 1, 6 * SECOND), (11, 1.0));
        assert_eq!(seconds(&options, 2, 6 * SECOND), (2, 8.0));
        assert_eq!(seconds(&options, 2, 60 * SECOND), (5, 20.0));
        let quick = Options::quick();
        assert_eq!(seconds(&quick, 1, SECOND), (11, 0.5));
        assert_eq!(seconds(&quick, 4, SECOND / 10), (2, 0.8));
        let warmup = |ms: u64| share(&options, 1, Duration::from_millis(6 * ms)).warmup;
        assert_eq!((warmup(80), warmup(40)), (None, Some(SECOND / 100)));
        let given = Options {
            intervals: Some(3),
            warmup: Some(SECOND),
            ..options.clone()
        };
        assert_eq!(seconds(&given, 1, 6 * SECOND), (3, 1.0));
        assert_eq!(seconds(&given, 2, 60 * SECOND), (3, 15.0));
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
        let fewer = |count, ms, intervals| {
            let share = Share {
                intervals,
                time: SECOND,
                warmup: None,
            };
            fewer_intervals(&first(count, ms), share)
        };
        assert_eq!(fewer(11, 100.0, 11), None);
        assert_eq!(fewer(11, 200.0, 11), Some(5));
        assert_eq!(fewer(11, 5000.0, 11), Some(3));
        assert_eq!(fewer(2, 5000.0, 2), None);
    }

    /// A competitor that lengthens intervals does not make the benchmark slow.
    #[test]
    fn disturbed_intervals_do_not_make_a_benchmark_slow() {
        let interval = |ms: f64, disturbed: bool| Interval {
            ns: ms * 1e6,
            disturbed: vec!["switch".to_owned(); usize::from(disturbed)],
            ..Interval::default()
        };
        let share = Share {
            intervals: 11,
            time: SECOND,
            warmup: None,
        };
        let mut first = vec![interval(500.0, true); 20];
        first[3] = interval(100.0, true);
        assert_eq!(fewer_intervals(&first, share), None);
        first[3] = interval(200.0, false);
        assert_eq!(fewer_intervals(&first, share), Some(5));
        assert_eq!(fewer_intervals(&[], share), None);
    }

    #[test]
    fn a_load_may_be_silent_for_longer() {
        let options = Options::default();
        let silence = |processes| {
            let share = share(&options, processes, 6 * SECOND);
            silence(&options, processes, 2, share)
        };
        assert_eq!(silence(1), 60 * SECOND);
        assert_eq!(silence(2), 240 * SECOND);
        assert_eq!(silence(7), 300 * SECOND);
    }
}
