//! Decides how many launches an entry gets, and how long they are. Pure.

use std::time::Duration;

use yamba_record::number::number;
use yamba_record::{Batch, Workers};

use super::options::{Options, PROGRAMS_WARMUP, Slow};
use super::units::saturated;

/// Numbers of launches after which to decide whether more are needed. A decision after each launch
/// would stop too early, at the first interval that is narrow by accident.
const CHECKPOINTS: [u64; 5] = [6, 9, 12, 18, 24];

/// The median of five tolerates two outliers. Six launches of five batches predict the next run
/// better than one launch of thirty.
const FEWEST_BATCHES: u64 = 5;

/// The settings of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Fewest batches; under load the exact number.
    pub batches: u64,
    /// The time for all of them.
    pub time: Duration,
    /// Warm-up before timing; `None` for the program's default.
    pub warmup: Option<Duration>,
}

/// The settings of each launch for an entry with this time. Under load the time is at least what
/// the protocol needs.
pub(super) fn share(options: &Options, workers: Workers, entry_time: Duration) -> Share {
    let time = entry_time / saturated(options.planned_launches());
    let least = options.planned_batches(workers);
    if !workers.are_several() {
        return Share { batches: least, time, warmup: options.warmup.or(shorter_warmup(time)) };
    }
    // Each batch is followed by one of the dummy, and its sizing may be off.
    let pair = 2 * options.loaded_batch();
    let affordable = (time.as_secs_f64() / pair.as_secs_f64()) as u64;
    let batches = options.batches.unwrap_or(affordable.max(least));
    let round = 2 * pair + options.warmup.unwrap_or_default();
    Share { batches, time: round.saturating_mul(saturated(batches)), warmup: options.warmup }
}

/// A shorter warm-up if the default takes more than a quarter of the time.
fn shorter_warmup(time: Duration) -> Option<Duration> {
    let quarter = time / 4;
    (quarter < PROGRAMS_WARMUP).then_some(quarter)
}

/// The new number of launches after `done` of them took `spent`; `None` if these are enough.
/// `width` is the relative half width of the confidence interval so far, if there is one.
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

/// Elapsed time of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Taken {
    /// From its start to its end.
    pub all: Duration,
    /// From the record of its first batch to that of its last.
    pub batches: Duration,
}

/// Estimated cost of a launch. `fixed`: its start, set-up, warm-up, sizing and end. `batch`: one
/// batch with its dummy and the work around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub fixed: Duration,
    pub batch: Duration,
}

/// Estimates the cost of the next launch from one that took `taken`. Slowdown by a competitor does
/// not count: it may be gone.
pub(super) fn cost(batches: &[Batch], taken: Taken) -> Option<Cost> {
    let own = batch_ns(batches)?;
    let nanoseconds = |ns: f64| Duration::from_nanos(ns.max(0.0) as u64);
    let disturbed = batches.iter().filter(|i| !i.disturbed.is_empty());
    if 2 * disturbed.count() > batches.len() {
        // The untimed parts were disturbed as well, by an unknown amount.
        return Some(Cost { fixed: Duration::ZERO, batch: nanoseconds(own) });
    }
    let timed: f64 = batches.iter().map(|i| i.ns + i.dummy_ns).sum();
    let timed = timed / batches.len() as f64;
    let steps = batches.len().saturating_sub(1).max(1) as f64;
    let step = taken.batches.as_nanos() as f64 / steps;
    let around = (step - timed).max(0.0);
    // With a single batch, the work around it is unknown.
    let whole = taken.batches.as_nanos() as f64 + if batches.len() > 1 { step } else { timed };
    Some(Cost {
        fixed: taken.all.saturating_sub(nanoseconds(whole)),
        batch: nanoseconds(own + around),
    })
}

/// Adapts the settings of later launches to the first one. If a launch would take more than twice
/// its time, its batches get less time, and if they alone are too long, there are fewer. The
/// parameters of a circle fix its number of batches.
pub(super) fn paced(share: Share, first: &[Batch], taken: Taken) -> Share {
    let Some(cost) = cost(first, taken) else {
        return share;
    };
    let batches = cost.batch.as_secs_f64() * share.batches as f64;
    let time = share.time.as_secs_f64();
    let is_circle = first.iter().any(|i| i.group.is_some());
    if is_circle || cost.fixed.as_secs_f64() + batches <= 2.0 * time {
        return share;
    }
    let left = share.time.saturating_sub(cost.fixed).max(share.time / 4);
    let affordable = (left.as_secs_f64() / cost.batch.as_secs_f64()) as u64;
    let fewer = affordable.max(FEWEST_BATCHES).min(share.batches);
    Share {
        time: left,
        // If the set-up takes most of the time, fewer batches save nothing.
        batches: if batches > time { fewer } else { share.batches },
        ..share
    }
}

/// Number of launches for an entry whose first launch took `took`; `None` if a pass fits into the
/// time of a launch.
pub(super) fn slow_launches(
    slow: Slow,
    share: Share,
    first: &[Batch],
    took: Duration,
) -> Option<u64> {
    let is_slow = |i: &Batch| i.passes == 1 && i.ns + i.dummy_ns > share.time.as_nanos() as f64;
    if first.is_empty() || !first.iter().all(is_slow) {
        return None;
    }
    let affordable = (slow.time.as_secs_f64() / took.as_secs_f64()) as u64;
    Some(affordable.max(slow.launches))
}

/// Overruns up to this are not reported.
const OVERRUN: Duration = Duration::from_secs(1);

/// The note about an entry whose launches took much longer than planned. `each` is the cost of a
/// launch besides its batches, if known.
pub(super) fn overrun(
    planned: Duration,
    spent: Duration,
    each: Option<Duration>,
) -> Option<String> {
    if spent <= 2 * planned || spent <= planned + OVERRUN {
        return None;
    }
    let seconds = |time: Duration| number(time.as_secs_f64());
    let known = each.filter(|e| !e.is_zero());
    let besides = known.map_or(String::new(), |e| {
        format!(": besides its batches a launch takes {} s", seconds(e))
    });
    Some(format!("took {} s instead of {} s{besides}", seconds(spent), seconds(planned)))
}

/// Length of a batch with its dummy: the mean of the undisturbed ones, or the minimum if all are
/// disturbed.
fn batch_ns(first: &[Batch]) -> Option<f64> {
    let both = |i: &Batch| i.ns + i.dummy_ns;
    let calm = first.iter().filter(|i| i.disturbed.is_empty()).map(both);
    let calm: Vec<f64> = calm.collect();
    if calm.is_empty() {
        return first.iter().map(both).min_by(f64::total_cmp);
    }
    Some(calm.iter().sum::<f64>() / calm.len() as f64)
}

/// Longest time without output. Under load the program waits for each of its processes or threads
/// twenty times the planned time, and reports a process that hangs. This limit only applies if it
/// does not.
pub(super) fn silence(options: &Options, workers: Workers, cpus: u64, share: Share) -> Duration {
    if let Some(timeout) = options.timeout {
        return timeout;
    }
    let quiet = options.silence + options.warmup.unwrap_or_default();
    if !workers.are_several() {
        return quiet;
    }
    let slices = saturated(workers.count().div_ceil(cpus.max(1)));
    let rounds = options.loaded_batch().saturating_mul(slices);
    quiet + (share.time + rounds).saturating_mul(20)
}

/// A launch is killed after this many times its planned time and permitted silence.
const ON_AND_ON: u32 = 20;

/// Longest duration of a launch, set-up included.
pub(super) fn timeout(options: &Options, silence: Duration, share: Share) -> Duration {
    let warmup = options.warmup.unwrap_or_default();
    let planned = silence + share.time + warmup;
    options.timeout.unwrap_or(planned.saturating_mul(ON_AND_ON))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn launch_gets_share_of_time_and_load_gets_minimum() {
        let seconds = |options: &Options, processes, time| {
            let share = share(options, Workers::processes(processes), time);
            (share.batches, share.time.as_secs_f64())
        };
        let options = Options::default();
        assert_eq!(seconds(&options, 1, 6 * SECOND), (11, 1.0));
        assert_eq!(seconds(&options, 2, 6 * SECOND), (2, 8.0));
        assert_eq!(seconds(&options, 2, 60 * SECOND), (5, 20.0));
        let quick = Options::quick();
        assert_eq!(seconds(&quick, 1, SECOND), (11, 0.5));
        assert_eq!(seconds(&quick, 4, SECOND / 10), (2, 0.8));
        let warmup = |ms: u64| share(&options, Workers::ONE, Duration::from_millis(6 * ms)).warmup;
        assert_eq!((warmup(80), warmup(40)), (None, Some(SECOND / 100)));
        let given = Options { batches: Some(3), warmup: Some(SECOND), ..options.clone() };
        assert_eq!(seconds(&given, 1, 6 * SECOND), (3, 1.0));
        assert_eq!(seconds(&given, 2, 60 * SECOND), (3, 15.0));
    }

    #[test]
    fn launches_are_added_at_checkpoints_while_batch_is_wide_and_time_remains() {
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

    fn batch(ms: f64, is_disturbed: bool) -> Batch {
        Batch {
            ns: ms * 0.75e6,
            dummy_ns: ms * 0.25e6,
            disturbed: vec!["switch".to_owned(); usize::from(is_disturbed)],
            ..Batch::default()
        }
    }

    #[test]
    fn slow_benchmark_gets_affordable_launches_but_at_least_requested() {
        let slow = Slow { batches: 3, launches: 3, time: 3 * SECOND };
        let share = Share { batches: 11, time: ms(33), warmup: None };
        let single = |length: f64| Batch { passes: 1, ..batch(length, false) };
        let launches =
            |length: f64, took| slow_launches(slow, share, &vec![single(length); 3], took);
        assert_eq!(launches(1000.0, 4 * SECOND), Some(3));
        assert_eq!(launches(100.0, ms(400)), Some(7));
        assert_eq!(launches(30.0, ms(120)), None, "a pass fits into a launch");
        let many_passes = [batch(1000.0, false)];
        assert_eq!(slow_launches(slow, share, &many_passes, SECOND), None);
        assert_eq!(slow_launches(slow, share, &[], SECOND), None);
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Batches and time in ms of later launches, if the first one took `fixed` and these batches,
    /// each with `around`.
    fn next(first: &[Batch], planned: u64, fixed: u64, around: f64) -> (u64, u64) {
        let share = Share { batches: planned, time: SECOND, warmup: None };
        let steps = &first[1..];
        let steps = steps.iter().map(|i| i.ns + i.dummy_ns + around * 1e6);
        let batches = Duration::from_nanos(steps.sum::<f64>() as u64);
        let mean = batches / (first.len() - 1) as u32;
        let taken = Taken { all: ms(fixed) + batches + mean, batches };
        let paced = paced(share, first, taken);
        (paced.batches, paced.time.as_millis() as u64)
    }

    #[test]
    fn slow_benchmark_has_fewer_batches_per_launch() {
        let slow = |count, ms| next(&vec![batch(ms, false); count], count as u64, 0, 0.0);
        assert_eq!(slow(11, 100.0), (11, 1000));
        assert_eq!(slow(11, 181.0), (11, 1000));
        assert_eq!(slow(11, 190.0).0, 5);
        assert_eq!(slow(11, 5000.0), (5, 1000));
        assert_eq!(slow(2, 5000.0).0, 2);
    }

    /// Elapsed time counts, whatever it is spent on.
    #[test]
    fn pacing_includes_time_between_batches() {
        let first = vec![batch(10.0, false); 11];
        assert_eq!(next(&first, 11, 0, 90.0), (11, 1000));
        assert_eq!(next(&first, 11, 0, 190.0).0, 5);
    }

    /// Each launch repeats a long set-up: its batches get the remaining time, and their number
    /// stays.
    #[test]
    fn long_setup_leaves_less_time_for_batches() {
        let first = vec![batch(1.0, false); 500];
        assert_eq!(next(&first, 11, 900, 0.0), (11, 1000));
        assert_eq!(next(&first, 11, 1980, 0.0), (11, 1000));
        assert_eq!(next(&first, 11, 5000, 0.0), (11, 250));
        let slow = vec![batch(170.0, false); 11];
        assert_eq!(next(&slow, 11, 400, 0.0), (5, 600));
    }

    /// A competitor that lengthens batches does not make the benchmark slow.
    #[test]
    fn disturbed_batches_do_not_make_benchmark_slow() {
        let mut first = vec![batch(500.0, true); 20];
        first[3] = batch(100.0, true);
        assert_eq!(next(&first, 11, 0, 0.0), (11, 1000));
        // A slow set-up does not count either.
        assert_eq!(next(&first, 11, 5000, 100.0), (11, 1000));
        first[3] = batch(190.0, false);
        assert_eq!(next(&first, 11, 0, 0.0).0, 5);
        let none = Taken { all: 9 * SECOND, batches: Duration::ZERO };
        assert_eq!(cost(&[], none), None);
        let one = cost(&[batch(500.0, false)], none).unwrap();
        assert_eq!((one.fixed, one.batch), (ms(8500), ms(500)));
    }

    #[test]
    fn overrun_is_noted() {
        let noted = |planned, spent, each| overrun(ms(planned), ms(spent), each);
        assert_eq!(noted(2000, 4000, None), None);
        assert_eq!(noted(300, 1300, None), None);
        assert_eq!(noted(300, 1400, None).as_deref(), Some("took 1.4 s instead of 0.3 s"));
        assert_eq!(
            noted(2000, 12_000, Some(ms(1900))).as_deref(),
            Some("took 12 s instead of 2 s: besides its batches a launch takes 1.9 s")
        );
    }

    #[test]
    fn timeout_is_option_or_multiple_of_plan() {
        let options = Options::default();
        let share = share(&options, Workers::ONE, 6 * SECOND);
        let silence = silence(&options, Workers::ONE, 2, share);
        assert_eq!(timeout(&options, silence, share), 20 * 61 * SECOND);
        let asked = Options { timeout: Some(SECOND), ..options };
        let silence = super::silence(&asked, Workers::threads(8), 2, share);
        assert_eq!(silence, SECOND);
        assert_eq!(timeout(&asked, silence, share), SECOND);
    }

    #[test]
    fn silence_limit_is_longer_under_load() {
        let options = Options::default();
        let silence = |processes| {
            let workers = Workers::processes(processes);
            let share = share(&options, workers, 6 * SECOND);
            silence(&options, workers, 2, share)
        };
        assert_eq!(silence(1), 60 * SECOND);
        assert_eq!(silence(2), 240 * SECOND);
        assert_eq!(silence(7), 300 * SECOND);
    }
}
