//! Bounds of the time that a batch would have taken on a quiet machine. Pure.
//!
//! A batch of the time T used a processor for the time C. While a neighbour works, it lengthens
//! what a processor does by at most the factor s, and other processes of the system took at most
//! the time P. So the quiet time lies in [T - P - C (1 - 1/s), T]: for code that computes, C is T
//! and the bounds are wide. For a wait for a disk or a timer, C is small, and they are narrow.
//!
//! s is the mean lengthening of the width probes. The probe uses the whole width of the core, so a
//! neighbour that takes a share of the core's width lengthens nothing more than the probe. Code
//! whose data a neighbour evicts from a shared cache can take longer, and so can code that needs
//! more than half of a buffer of the core.

use yamba_record::Batch;
use yamba_record::entry::LEAST_QUIET_FACTOR;
use yamba_stats::{mean, median, standard_deviation};

use super::{Finding, QuietWidth, Taken, WIDTH_TOLERANCE, finding, is_free_of_others, readings};

/// Largest lengthening of a probe by a neighbour: it takes at most half of the core.
pub(super) const MOST_LENGTHENED: f64 = 1.0;

/// Parts of a launch whose means show the standard error of the lengthening. Probes of one turn of
/// a neighbour depend on each other.
const PARTS: usize = 10;

/// Bounds of quiet values, as multiples of the measured ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QuietFactors {
    /// Of the time of an operation.
    pub time: [f64; 2],
    pub figure: [f64; 2],
    /// Of the cycles of an operation. A cycle of the core seems longer beside a neighbour, by at
    /// most as much as a probe.
    pub cycles: [f64; 2],
}

/// Whether a neighbour moves the time of this batch by less than a width probe's tolerance: the
/// processor worked for only a small part of the time.
pub(super) fn is_wait(batch: &Batch) -> bool {
    let lost = 1.0 - 1.0 / (1.0 + MOST_LENGTHENED);
    let busy = batch.disturbance.processor_ns;
    busy.is_some_and(|busy| busy * lost <= WIDTH_TOLERANCE * batch.ns)
}

/// How a figure follows from the time of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Time,
    Rate,
    /// It is not computed from the time. It may follow the time in any direction.
    Other,
}

/// The bounds of a figure whose `used` batches, by launch, may be disturbed. If it `is_disturbed`,
/// probes without a neighbour do not show that a batch was quiet. `None` if the batches are
/// undisturbed, or if most have a disturbance of unknown duration.
pub(crate) fn quiet_factors(
    used: &[Vec<&Batch>],
    is_disturbed: bool,
    kind: Kind,
    width: impl Fn(&Batch) -> QuietWidth,
) -> Option<QuietFactors> {
    let all = || used.iter().flatten();
    if 2 * all().filter(|batch| is_unbounded(batch)).count() > all().count() {
        return None;
    }
    let taken = Taken::by(all().map(|batch| &batch.probes));
    let (mut lows, mut highs, mut lengthenings) = (Vec::new(), Vec::new(), Vec::new());
    for launch in used.iter().filter(|launch| !launch.is_empty()) {
        let lengthening = lengthening(launch, &width);
        let usual_wait = usual_wait(launch);
        lengthenings.push(lengthening);
        for batch in launch {
            let finding = finding(&batch.probes, width(batch), taken);
            let may_be_longer = is_disturbed || finding == Finding::Contended;
            let by_others = by_others(batch, usual_wait);
            let lengthening = if may_be_longer { lengthening } else { 0.0 };
            let [low, high] = time_factors(batch, lengthening, by_others);
            lows.push(low);
            highs.push(high);
        }
    }
    // A smaller bound, and one below 0, says nothing.
    let (low, high) = (median(&lows)?.max(LEAST_QUIET_FACTOR), median(&highs)?);
    let figure = match kind {
        Kind::Time => [low, high],
        Kind::Rate => [1.0 / high, 1.0 / low],
        Kind::Other => [low.min(1.0 / high), high.max(1.0 / low)],
    };
    (low < 1.0 || high > 1.0).then_some(QuietFactors {
        time: [low, high],
        figure,
        cycles: [low, high * (1.0 + median(&lengthenings)?)],
    })
}

/// The mean lengthening of the probes of a launch and two standard errors, as a share of the quiet
/// width.
fn lengthening(launch: &[&Batch], width: impl Fn(&Batch) -> QuietWidth) -> f64 {
    let of_batch = |batch: &&Batch| {
        let level = match width(batch) {
            QuietWidth::Known(level) => level,
            QuietWidth::NeverQuiet => return Some(MOST_LENGTHENED),
            QuietWidth::Unknown => return Some(0.0),
        };
        let probes = readings(&batch.probes).map(|reading| reading.lengthening(level));
        mean(&probes.collect::<Vec<f64>>())
    };
    let free = launch.iter().copied().filter(|batch| is_free_of_others(batch));
    let mut each: Vec<f64> = free.filter_map(|batch| of_batch(&batch)).collect();
    if each.is_empty() {
        // An interruption lengthens a probe by more than a neighbour does.
        each = launch.iter().filter_map(of_batch).collect();
    }
    let Some(all) = mean(&each) else {
        return MOST_LENGTHENED;
    };
    let parts: Vec<f64> = each.chunks(each.len().div_ceil(PARTS)).filter_map(mean).collect();
    let error =
        standard_deviation(&parts).map_or(MOST_LENGTHENED, |d| d / (parts.len() as f64).sqrt());
    (all + 2.0 * error).min(MOST_LENGTHENED)
}

/// The bounds of the time of the calls of the benchmark less that of the dummy, as multiples of the
/// measured difference.
fn time_factors(batch: &Batch, lengthening: f64, by_others: f64) -> [f64; 2] {
    let apart = batch.ns - batch.dummy_ns;
    if apart <= 0.0 {
        return [1.0; 2];
    }
    let lost = 1.0 - 1.0 / (1.0 + lengthening);
    let busy = batch.disturbance.processor_ns.unwrap_or(batch.ns).clamp(0.0, batch.ns);
    let least = (batch.ns - by_others - busy * lost).max(0.0) - batch.dummy_ns;
    let least_dummy = (batch.dummy_ns - by_others).max(0.0) * (1.0 - lost);
    [least.max(0.0) / apart, (batch.ns - least_dummy) / apart]
}

/// Whether nothing tells how long the disturbance of this batch lasted.
fn is_unbounded(batch: &Batch) -> bool {
    batch.disturbed.iter().any(|kind| kind == "fault" || kind == "clock")
}

/// The wait in the run queue of a pass that other processes do not lengthen, in ns: a partner on
/// the same processor works meanwhile. It is the least one of these batches. Where workers run in
/// parallel, all batches may wait for other processes, so that nothing is known to be usual.
fn usual_wait(launch: &[&Batch]) -> f64 {
    if launch.iter().any(|batch| batch.load.is_some()) {
        return 0.0;
    }
    let waits =
        launch.iter().filter_map(|batch| Some(batch.disturbance.waited_ns? / batch.passes as f64));
    waits.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The longest time in ns that other processes had the processor while the batch needed it.
fn by_others(batch: &Batch, usual_wait: f64) -> f64 {
    let is_marked =
        |kinds: &[&str]| batch.disturbed.iter().any(|kind| kinds.contains(&kind.as_str()));
    let disturbance = &batch.disturbance;
    if is_marked(&["switch", "migration", "stolen", "wait"]) {
        disturbance.stolen_ns.max(0.0)
    } else if is_marked(&["queue"]) {
        let wait = disturbance.waited_ns.unwrap_or(f64::INFINITY);
        (wait - usual_wait * batch.passes as f64).max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Probes;

    use super::*;

    const LEVEL: f64 = 1700.0;

    /// 20 batches of 100 us beside a neighbour that lengthens each probe by a quarter.
    fn batches(change: impl Fn(&mut Batch)) -> Vec<Batch> {
        let mut batch = Batch {
            ns: 1e5,
            dummy_ns: 2e4,
            probes: Probes {
                before: Some(1.25 * LEVEL),
                between: Some(1.25 * LEVEL),
                after: Some(1.25 * LEVEL),
                ..Probes::default()
            },
            ..Batch::default()
        };
        change(&mut batch);
        vec![batch; 20]
    }

    fn factors(batches: &[Batch], is_disturbed: bool, kind: Kind) -> Option<QuietFactors> {
        let width = |_: &Batch| QuietWidth::Known(LEVEL);
        quiet_factors(&[batches.iter().collect()], is_disturbed, kind, width)
    }

    #[track_caller]
    fn check(found: Option<[f64; 2]>, expected: [f64; 2]) {
        let found = found.unwrap();
        let apart = |i: usize| (found[i] - expected[i]).abs();
        assert!(apart(0) < 1e-9 && apart(1) < 1e-9, "{found:?}, {expected:?}");
    }

    /// 100 us and 20 us may be 80 us and 16 us on a quiet core: (80 - 20) to (100 - 16) of 80 us.
    #[test]
    fn code_that_computes_has_wide_bounds() {
        let all = batches(|_| {});
        let time = factors(&all, true, Kind::Time).unwrap();
        check(Some(time.figure), [0.75, 1.05]);
        check(Some(time.cycles), [0.75, 1.05 * 1.25]);
        check(factors(&all, true, Kind::Rate).map(|f| f.figure), [1.0 / 1.05, 1.0 / 0.75]);
        check(factors(&all, true, Kind::Other).map(|f| f.figure), [0.75, 1.0 / 0.75]);
    }

    /// Of a wait of 100 us, the processor worked for 2 us: at most 0.4 us of them are due to the
    /// neighbour.
    #[test]
    fn waits_have_narrow_bounds_and_are_not_discarded() {
        let wait = |batch: &mut Batch| {
            batch.dummy_ns = 0.0;
            batch.disturbance.processor_ns = Some(2e3);
        };
        let all = batches(wait);
        check(factors(&all, false, Kind::Time).map(|f| f.figure), [0.996, 1.0]);
        assert!(is_wait(&all[0]));
        let busy = |batch: &mut Batch| batch.disturbance.processor_ns = Some(5e3);
        assert!(!is_wait(&batches(busy)[0]));
        assert!(!is_wait(&batches(|_| {})[0]), "its processor time is unknown");
    }

    /// Other processes had the processor for 30 us. The rest computed beside a neighbour.
    #[test]
    fn time_of_other_processes_is_within_the_bounds() {
        let preempted = |batch: &mut Batch| {
            batch.dummy_ns = 0.0;
            batch.disturbance.stolen_ns = 3e4;
            batch.disturbance.processor_ns = Some(7e4);
            batch.disturbed = vec!["switch".to_owned()];
            batch.probes = Probes { before: Some(LEVEL), ..Probes::default() };
        };
        check(factors(&batches(preempted), true, Kind::Time).map(|f| f.figure), [0.7, 1.0]);
    }

    /// A partner on the same processor works for 40 us of each batch, and another process for 30 us
    /// of some.
    #[test]
    fn wait_for_a_partner_is_not_that_for_others() {
        let beside_partner = |batch: &mut Batch| {
            batch.passes = 10;
            batch.dummy_ns = 0.0;
            batch.disturbance.waited_ns = Some(4e4);
            batch.probes = Probes { before: Some(LEVEL), ..Probes::default() };
        };
        let mut all = batches(beside_partner);
        for batch in &mut all[..15] {
            batch.disturbance.waited_ns = Some(7e4);
            batch.disturbed = vec!["queue".to_owned()];
        }
        check(factors(&all, true, Kind::Time).map(|f| f.figure), [0.7, 1.0]);
    }

    #[test]
    fn quiet_batches_and_unknown_disturbances_have_no_bounds() {
        let quiet = |batch: &mut Batch| {
            batch.probes = Probes {
                before: Some(LEVEL),
                between: Some(LEVEL),
                after: Some(LEVEL),
                ..Probes::default()
            };
        };
        assert_eq!(factors(&batches(quiet), false, Kind::Time), None);
        let faulting = |batch: &mut Batch| batch.disturbed = vec!["fault".to_owned()];
        assert_eq!(factors(&batches(faulting), true, Kind::Time), None);
    }

    /// Without any probe that was read, a neighbour may take half of the core.
    #[test]
    fn unread_probes_count_as_the_strongest_neighbour() {
        let unread = |batch: &mut Batch| {
            batch.dummy_ns = 0.0;
            batch.probes = Probes::default();
        };
        let mut all = batches(unread);
        check(factors(&all, true, Kind::Time).map(|f| f.figure), [0.5, 1.0]);
        all.truncate(1);
        let never =
            quiet_factors(&[all.iter().collect()], true, Kind::Time, |_| QuietWidth::NeverQuiet);
        check(never.map(|f| f.figure), [0.5, 1.0]);
    }
}
