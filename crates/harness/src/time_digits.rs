//! Drops digits of measured times that no clock resolves. A clock counts ticks, so that most of the
//! 17 digits of a time in ns come from the conversion. They would be most of a document. The reader
//! of records calls [`round_times`]: all figures and documents have the same times.

use yamba_record::{Batch, Event};

/// Times of a batch are multiples of this many ns: a tenth of the step of a clock of 10 GHz.
const STEP: f64 = 1e-2;

/// Lengths of a core cycle are multiples of this many ns. A length is a mean over at least 32768
/// cycles (runtime/yamba/cycle.h): the same clock resolves 3e-6 ns of it.
const CYCLE_STEP: f64 = 1e-6;

/// The kernel counts processor time in whole ns.
const KERNEL_STEP: f64 = 1.0;

/// Rounds the times of a record.
pub(super) fn round_times(event: &mut Event) {
    match event {
        Event::Sizing(sizing) => {
            round(&mut sizing.ns, STEP);
            round(&mut sizing.dummy_ns, STEP);
        }
        Event::Singles(singles) => round(&mut singles.dummy_ns, STEP),
        Event::Batch(raw) => round_batch(&mut raw.batch),
        _ => {}
    }
}

fn round_batch(batch: &mut Batch) {
    round(&mut batch.ns, STEP);
    round(&mut batch.dummy_ns, STEP);
    let disturbance = &mut batch.disturbance;
    round(&mut disturbance.stolen_ns, KERNEL_STEP);
    if let Some(waited) = &mut disturbance.waited_ns {
        round(waited, KERNEL_STEP);
    }
    let cycles = [&mut batch.cycle_ns, &mut batch.dummy_cycle_ns, &mut batch.check_cycle_ns];
    for cycle in cycles.into_iter().flatten() {
        round(cycle, CYCLE_STEP);
    }
    if let Some(load) = &mut batch.load {
        for time in [&mut load.ready_ns, &mut load.begin_ns, &mut load.end_ns, &mut load.left_ns] {
            round(time, STEP);
        }
    }
}

/// Rounds to the nearest multiple of `step`, the reciprocal of a whole number.
fn round(time: &mut f64, step: f64) {
    let per_ns = step.recip().round();
    let steps = *time * per_ns;
    // Above this, neighbouring floating-point numbers are further apart than a step.
    let limit = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    if steps.abs() < limit {
        // Adding 0 turns -0 into 0.
        *time = steps.round() / per_ns + 0.0;
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::event::{RawBatch, Sizing};

    use super::*;

    fn rounded(time: f64, step: f64) -> f64 {
        let mut time = time;
        round(&mut time, step);
        time
    }

    #[test]
    fn times_have_no_digits_below_the_step() {
        for (time, step, expected) in [
            (133_027.528_560_042_56, STEP, "133027.53"),
            (0.384_615_384_615, CYCLE_STEP, "0.384615"),
            (-17.4, KERNEL_STEP, "-17"),
            (-0.001, STEP, "0"),
            (5120.0, STEP, "5120"),
            (1e300, STEP, &1e300.to_string()),
            (f64::NAN, STEP, "NaN"),
        ] {
            assert_eq!(rounded(time, step).to_string(), expected);
        }
    }

    #[test]
    fn rounding_twice_changes_nothing() {
        for i in 1..10_000 {
            let time = rounded(f64::from(i).powi(3) / 7.0, STEP);
            assert_eq!(rounded(time, STEP).to_bits(), time.to_bits());
        }
    }

    #[test]
    fn every_time_of_a_record_is_rounded() {
        let third = 1.0 / 3.0;
        let mut sizing = Event::Sizing(Sizing { ns: third, dummy_ns: third, ..Sizing::default() });
        round_times(&mut sizing);
        let Event::Sizing(Sizing { ns, dummy_ns, .. }) = sizing else { unreachable!() };
        assert_eq!([ns, dummy_ns], [0.33; 2]);

        let text = r#"{"event":"batch","index":0,"value":T,"passes":1,"operations":1,"ns":T,"dummy_ns":T,"cycle_ns":T,
            "dummy_cycle_ns":T,"check_cycle_ns":T,"evidence":{"e":T},"counters":{"c":T},
            "disturbance":{"stolen_ns":T,"waited_ns":T},"load":{"ready_ns":T,"begin_ns":T,"end_ns":T,"left_ns":T}}"#;
        let mut event = serde_json::from_str(&text.replace('T', &third.to_string())).unwrap();
        round_times(&mut event);
        let Event::Batch(RawBatch { value, batch, .. }) = event else { unreachable!() };
        let written = serde_json::to_string(&batch).unwrap();
        let count = |number: &str| {
            let ends = [",", "}"];
            let matches = ends.map(|end| written.matches(&format!(":{number}{end}")).count());
            matches.iter().sum::<usize>()
        };
        // The two durations and the four times of the load; processor time and wait; lengths of a
        // cycle.
        assert_eq!([count("0.33"), count("0.0"), count("0.333333")], [6, 2, 3]);
        // Values that the benchmark computes are unchanged.
        assert_eq!(value, Some(third));
        assert_eq!(batch.evidence["e"], Some(third));
        assert_eq!(batch.counters["c"], Some(third));
    }
}
