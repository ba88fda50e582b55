//! Converts times to core cycles. Each batch uses the cycle length measured around it. Pure.

use std::borrow::Borrow;

use yamba_record::{Batch, Benchmark, Note, Probes};
use yamba_stats::{NORMAL_SCALE, median, median_absolute_deviation};

use super::estimate::Estimate;
use super::units::per_operation;

/// A thread that was blocked for more than this share of the time has no figure in cycles.
const MOST: f64 = 0.5;

/// Largest relative difference of the two chains. Beyond it one of them is wrong.
const AGREE: f64 = 0.002;

/// A batch has one clock rate if the length of a core cycle changes by less than this, in parts per
/// million. The rate of some processors drifts by a quarter of that within milliseconds.
const MOST_CHANGE_PPM: f64 = 20_000.0;

/// Whether benchmark and dummy each had one clock rate.
pub(super) fn is_steady(probes: &Probes) -> bool {
    let changes = [probes.cycle_change_ppm, probes.dummy_cycle_change_ppm];
    changes.iter().flatten().all(|c| c.abs() <= MOST_CHANGE_PPM)
}

/// Cycles per operation. The benchmark and its dummy are each converted with the cycle length of
/// their own moment. `None` if the clock rate changed in between: then the time has no one cycle
/// length.
pub(super) fn cycles(batch: &Batch) -> Option<f64> {
    if !is_steady(&batch.probes) {
        return None;
    }
    let length = batch.cycle_ns.filter(|c| *c > 0.0)?;
    let dummy_length = batch.dummy_cycle_ns.filter(|c| *c > 0.0);
    let dummy = batch.dummy_ns / dummy_length.unwrap_or(length);
    per_operation(batch.ns / length, dummy, batch.operations)
}

/// Relative error of the measured cycle length: a clock advances in steps, and a timed stretch has
/// a start and an end besides the chain. All launches share this error, so that their agreement
/// cannot show it. Known delays of 1 to 100 cycles come out within 0.08 %.
const OWN_ERROR: f64 = 0.001;

/// Widens the confidence interval by the error of the cycle length.
pub(super) fn with_own_error(mut cycles: Estimate) -> Estimate {
    let [low, high] = cycles.confidence_interval;
    let error = OWN_ERROR * cycles.median.abs();
    cycles.confidence_interval = [low - error, high + error];
    cycles
}

/// The share of the time in which the timed thread was blocked, if it is more than [`MOST`]; the
/// median over the batches.
///
/// A blocked thread uses no core cycles, and its processor may idle meanwhile.
pub(super) fn blocked(batches: impl Iterator<Item = impl Borrow<Batch>>) -> Option<f64> {
    let shares: Vec<f64> = batches.filter_map(|b| blocked_share(b.borrow())).collect();
    median(&shares).filter(|share| *share > MOST)
}

/// Whether the timed thread was blocked for most of the time, so that the figure has no cycles.
pub fn is_blocked(benchmark: &Benchmark) -> bool {
    blocked(benchmark.records.batches().iter()).is_some()
}

/// The gap between the clock and the thread's processor time, as a share of benchmark and dummy.
///
/// A partner on the same processor makes the thread wait in the run queue. The processor works for
/// the benchmark then, so that wait does not count as blocked. In a batch that is marked as
/// disturbed it does: other processes had the processor.
fn blocked_share(batch: &Batch) -> Option<f64> {
    let disturbance = &batch.disturbance;
    let queued = disturbance.waited_ns.unwrap_or(0.0);
    let is_partners = batch.disturbed.is_empty();
    let off = disturbance.stolen_ns - if is_partners { queued } else { 0.0 };
    let share = off / (batch.ns + batch.dummy_ns);
    share.is_finite().then_some(share)
}

/// Why a blocked thread has no figure in cycles.
pub(super) fn blocked_note(share: f64) -> Note {
    Note::NoCycles(format!(
        "the thread was off the processor for {:.0} % of the time, and uses none there",
        share.min(1.0) * 100.0
    ))
}

/// Whether the clock rate changed during each batch that has a cycle length.
pub(super) fn is_unsteady(batches: &[&Batch]) -> bool {
    let mut with_length = batches.iter().filter(|b| b.cycle_ns.is_some()).peekable();
    with_length.peek().is_some() && with_length.all(|b| !is_steady(&b.probes))
}

/// Why a figure whose clock rate changed has no cycles.
pub(super) fn unsteady_note() -> Note {
    Note::NoCycles("the clock rate changed during each batch".to_owned())
}

/// The cycle length by the second chain, as a multiple of that by the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SecondOpinion {
    /// The median of the readings' ratios.
    pub ratio: f64,
    /// Two standard errors of the median, from the absolute deviations of the readings.
    pub error: f64,
}

/// The latest reading of the reference chain in a batch, which the second chain follows. The
/// lengths in the record are means of a reading before and one after the calls.
fn latest(batch: &Batch) -> Option<f64> {
    let probes = &batch.probes;
    let (mean, change) = match batch.dummy_cycle_ns {
        Some(mean) => (mean, probes.dummy_cycle_change_ppm),
        None => (batch.cycle_ns?, probes.cycle_change_ppm),
    };
    let change = change.unwrap_or(0.0) / 1e6;
    Some(mean * (1.0 + change) / (1.0 + change / 2.0))
}

/// Compares the two chains. `None` if the second chain never ran. Only readings of the same moment
/// are compared, since the clock rate changes, for example when a benchmark uses wide vectors.
pub(super) fn second_opinion(batches: &[&Batch]) -> Option<SecondOpinion> {
    let ratio = |i: &&Batch| Some(i.check_cycle_ns? / latest(i)?);
    let ratios = batches.iter().filter_map(ratio);
    let ratios: Vec<f64> = ratios.filter(|r| r.is_finite()).collect();
    let deviation = NORMAL_SCALE * median_absolute_deviation(&ratios)?;
    // The median of normal values has pi / 2 times the variance of their mean.
    let of_median = (std::f64::consts::FRAC_PI_2 / ratios.len() as f64).sqrt();
    Some(SecondOpinion { ratio: median(&ratios)?, error: 2.0 * deviation * of_median })
}

/// Why cycles are unknown: the chains differ by more than the scatter of their readings explains.
pub(super) fn doubt(second: SecondOpinion) -> Option<Note> {
    let off = (second.ratio - 1.0).abs();
    (off > AGREE + second.error).then(|| {
        Note::CyclesUnknown(format!(
            "two chains of instructions disagree on their length by {:.1} %",
            off * 100.0
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(cycle_ns: f64, check_cycle_ns: Option<f64>) -> Batch {
        Batch {
            operations: 100,
            ns: 4000.0,
            dummy_ns: 1000.0,
            cycle_ns: Some(cycle_ns),
            check_cycle_ns,
            ..Batch::default()
        }
    }

    #[test]
    fn each_time_is_converted_with_its_own_cycle_length() {
        assert_eq!(cycles(&batch(0.25, None)), Some(120.0));
        let mut slower = batch(0.25, None);
        slower.dummy_cycle_ns = Some(0.5);
        assert_eq!(cycles(&slower), Some(140.0));
        assert_eq!(cycles(&batch(0.0, None)), None);
        assert_eq!(cycles(&Batch::default()), None);
    }

    #[test]
    fn only_batches_with_both_chains_are_compared() {
        let seen = [batch(0.25, Some(0.2501)), batch(0.5, None), batch(0.5, None)];
        let seen: Vec<&Batch> = seen.iter().collect();
        let opinion = second_opinion(&seen).unwrap();
        assert!((opinion.ratio - 1.0004).abs() < 1e-12 && opinion.error == 0.0);
        assert_eq!(doubt(opinion), None);
        assert_eq!(second_opinion(&seen[1..]), None);
    }

    /// The processor slows down during the dummy: from 3.9 to 3.8 GHz. The second chain runs at the
    /// lower rate.
    #[test]
    fn change_of_the_clock_rate_is_no_disagreement() {
        let (fast, slow) = (1.0 / 3.9, 1.0 / 3.8);
        let mut seen = batch(fast, Some(slow * 1.0002));
        seen.dummy_cycle_ns = Some((fast + slow) / 2.0);
        let of = |batch: &Batch| second_opinion(&[batch]).unwrap();
        assert!(doubt(of(&seen)).is_some());
        seen.probes.dummy_cycle_change_ppm = Some(1e6 * (slow / fast - 1.0));
        let opinion = of(&seen);
        assert!((opinion.ratio - 1.0002).abs() < 1e-9, "{opinion:?}");
        assert_eq!(doubt(opinion), None);
    }

    /// The rate falls from 3.9 to 3.8 GHz during the benchmark of one of two batches.
    #[test]
    fn batch_with_two_clock_rates_has_no_cycles() {
        let steady = batch(0.25, None);
        let mut changing = batch(0.26, None);
        changing.probes.cycle_change_ppm = Some(26_000.0);
        assert!(cycles(&steady).is_some());
        assert_eq!(cycles(&changing), None);
        assert!(!is_unsteady(&[&steady, &changing]));
        assert!(is_unsteady(&[&changing]));
        assert!(!is_unsteady(&[]));
    }

    /// A batch of 5000 ns with its dummy, off the processor for `gap` ns and in the run queue for
    /// `queued` of these.
    fn waiting(gap: f64, queued: f64, disturbed: &[&str]) -> Batch {
        let mut batch = batch(0.25, None);
        batch.disturbance.stolen_ns = gap;
        batch.disturbance.waited_ns = Some(queued);
        batch.disturbed = disturbed.iter().map(|kind| (*kind).to_owned()).collect();
        batch
    }

    #[test]
    fn thread_blocked_for_most_of_the_time_is_found() {
        for (name, gap, queued, disturbed, expected) in [
            ("sleeps", 4900.0, 0.0, &[][..], Some(0.98)),
            ("sleeps, not declared", 4900.0, 0.0, &["wait"], Some(0.98)),
            ("computes", -20.0, 0.0, &[], None),
            ("partner on the same processor", 2700.0, 1600.0, &[], None),
            ("partner elsewhere, half awake", 2500.0, 100.0, &[], None),
            ("many partners", 4400.0, 500.0, &[], Some(0.78)),
            ("competitor", 3500.0, 3500.0, &["switch"], Some(0.7)),
            ("nothing known", 0.0, 0.0, &[], None),
        ] {
            let one = waiting(gap, queued, disturbed);
            assert_eq!(blocked([one].iter()), expected, "{name}");
        }
        assert_eq!(blocked([].iter()), None);
        // One slow batch does not decide the median.
        let mixed = [waiting(0.0, 0.0, &[]), waiting(0.0, 0.0, &[]), waiting(4900.0, 0.0, &[])];
        assert_eq!(blocked(mixed.iter()), None);
        assert!(blocked_note(0.98).without_cycles().unwrap().contains("98 %"));
    }

    #[test]
    fn disagreeing_chains_give_no_cycles() {
        let says = |ratio, error| doubt(SecondOpinion { ratio, error });
        assert_eq!(says(0.9981, 0.0), None);
        assert_eq!(
            says(1.005, 0.0).unwrap(),
            "cycles are unknown: two chains of instructions disagree on their length by 0.5 %"
        );
        // Few, scattered readings do not prove a difference.
        assert_eq!(says(1.005, 0.004), None);
        let few: Vec<Batch> =
            [0.2480, 0.2520, 0.2515, 0.2475, 0.2560].map(|c| batch(0.25, Some(c))).to_vec();
        let many: Vec<Batch> = few.iter().cycle().take(500).cloned().collect();
        let ask = |all: &[Batch]| second_opinion(&all.iter().collect::<Vec<_>>()).unwrap();
        assert!((ask(&few).ratio - 1.006).abs() < 1e-12);
        assert_eq!(doubt(ask(&few)), None);
        assert!(doubt(ask(&many)).is_some());
    }
}
