//! Converts raw batches to samples in the benchmark's unit, and checks units.

use std::time::Duration;

use yamba_record::event::RawBatch;
use yamba_record::number::rounded;
use yamba_record::program::{Physical, Program};
use yamba_record::units::{AMOUNTS, CYCLES, SPREAD, TIMES, bytes_a_second, factor, nanoseconds};

/// Significant digits of a sample that is computed from times.
const SAMPLE_DIGITS: usize = 7;

/// Checks that the program's figure can be given in its unit and compared with its bounds. The unit
/// of a `value` is any word: nothing is computed with it.
pub(super) fn check(program: &Program) -> Result<(), String> {
    check_figure(program)?;
    let unit = program.unit.as_deref().unwrap_or_default();
    let is_value = program.figure.as_deref() == Some("value");
    let is_comparable = |bound: &&Physical| {
        let own = bound.unit.as_str();
        let is_time = nanoseconds(own).is_some() || CYCLES.contains(&own);
        match own {
            SPREAD => true,
            // A time without a unit would be ambiguous.
            "" => is_value,
            _ => factor(unit, own).is_some() || (is_time && !is_value),
        }
    };
    let Some(bound) = program.bounds.iter().find(|b| !is_comparable(b)) else {
        return Ok(());
    };
    let own = match bound.unit.as_str() {
        "" => "without a unit",
        own => &format!("in {own}"),
    };
    let others = if is_value { "" } else { ", in a unit of time or in cycles" };
    Err(format!(
        "{}: its figure is in {unit}, and cannot be held against a bound {own}; write the bound in {unit}{others}",
        program.class
    ))
}

fn check_figure(program: &Program) -> Result<(), String> {
    let class = &program.class;
    let (kind, sizes, per, is_known): (_, _, _, fn(&str) -> bool) = match program.figure.as_deref()
    {
        Some("value") => return Ok(()),
        Some("bandwidth") => ("bandwidth", AMOUNTS, "/s", |u| bytes_a_second(u).is_some()),
        Some("latency") => ("latency", TIMES, "", |u| nanoseconds(u).is_some()),
        other => {
            let figure = other.unwrap_or_default();
            return Err(format!(
                "{class}: `{figure}` is no figure; it must be latency, bandwidth or value"
            ));
        }
    };
    let names: Vec<String> = sizes.iter().map(|(n, _)| format!("{n}{per}")).collect();
    let (last, others) = names.split_last().expect("there are some");
    let known = format!("{} or {last}", others.join(", "));
    match &program.unit {
        Some(unit) if is_known(unit) => Ok(()),
        Some(unit) => Err(format!("{class}: `{unit}` is no unit of a {kind}; it must be {known}")),
        None => Err(format!("{class}: a {kind} has a unit: {known}")),
    }
}

/// A duration in whole nanoseconds.
pub(super) fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A count by which a duration can be multiplied or divided.
pub(super) fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// T(P) = (M(benchmark) - M(benchmark_dummy)) / operations, in the unit of the measurements: ns or
/// cycles.
pub(super) fn per_operation(benchmark: f64, dummy: f64, operations: u64) -> Option<f64> {
    let time = (benchmark - dummy) / operations as f64;
    time.is_finite().then_some(time)
}

/// The figure of one batch, in the benchmark's unit. A value of the benchmark is unchanged. A
/// figure that is computed from times has [`SAMPLE_DIGITS`] significant digits, since its times
/// have no more (see [`crate::time_digits`]).
pub(super) fn sample(figure: &str, unit: &str, raw: &RawBatch) -> Option<f64> {
    let time = || per_operation(raw.batch.ns, raw.batch.dummy_ns, raw.batch.operations);
    let sample = match figure {
        "value" => return raw.value.filter(|value| value.is_finite()),
        // An operation is one byte.
        "bandwidth" => 1e9 / time()? / bytes_a_second(unit)?,
        "latency" => time()? / nanoseconds(unit)?,
        _ => return None,
    };
    sample.is_finite().then(|| rounded(sample, SAMPLE_DIGITS))
}

#[cfg(test)]
mod tests {
    use yamba_record::Batch;
    use yamba_record::program::Side;
    use yamba_record::units::{FREQUENCIES, Sizes};

    use super::*;

    fn raw(operations: u64, ns: f64, dummy_ns: f64) -> RawBatch {
        RawBatch {
            value: Some(42.0),
            batch: Batch { operations, ns, dummy_ns, ..Batch::default() },
            ..RawBatch::default()
        }
    }

    #[test]
    fn samples_are_in_unit_of_benchmark() {
        assert_eq!(sample("latency", "ns", &raw(4, 100.0, 20.0)), Some(20.0));
        assert_eq!(sample("latency", "us", &raw(1, 5000.0, 0.0)), Some(5.0));
        let copied = raw(1_000_000, 100_000.0, 0.0);
        assert_eq!(sample("bandwidth", "MB/s", &copied), Some(10_000.0));
        assert_eq!(sample("bandwidth", "GB/s", &copied), Some(10.0));
        assert_eq!(sample("bandwidth", "MB/s", &raw(1, 5.0, 5.0)), None);
        assert_eq!(sample("latency", "ns", &raw(0, 5.0, 1.0)), None);
        assert_eq!(sample("value", "Hz", &raw(0, 5.0, 1.0)), Some(42.0));
        assert_eq!(sample("latency", "ns", &raw(3, 1.0, 0.0)), Some(0.333_333_3));
    }

    #[test]
    fn bits_and_bytes_convert() {
        let copied = raw(1_000_000, 100_000.0, 0.0);
        assert_eq!(sample("bandwidth", "Mbit/s", &copied), Some(80_000.0));
        assert_eq!(sample("bandwidth", "Gbit/s", &copied), Some(80.0));
        assert_eq!(sample("bandwidth", "bit/s", &raw(1, 1e9, 0.0)), Some(8.0));
        let minutes = sample("latency", "min", &raw(1, 120e9, 0.0));
        assert_eq!(minutes, Some(2.0));
    }

    /// An unknown unit is an error, and never gives a number.
    #[test]
    fn unknown_units_are_refused() {
        let program = |figure: &str, unit: Option<&str>| Program {
            class: "odd".to_owned(),
            figure: Some(figure.to_owned()),
            unit: unit.map(str::to_owned),
            ..Program::default()
        };
        let refused = |figure, unit| check(&program(figure, unit)).unwrap_err();
        for (figure, unit) in [
            ("latency", "ps"),
            ("latency", "min"),
            ("bandwidth", "TiB/s"),
            ("bandwidth", "kbit/s"),
            ("value", "apples"),
            ("value", ""),
        ] {
            assert_eq!(check(&program(figure, Some(unit))), Ok(()), "{unit}");
        }
        assert_eq!(
            refused("latency", Some("MB/s")),
            "odd: `MB/s` is no unit of a latency; it must be ps, ns, us, ms, s or min"
        );
        assert!(
            refused("bandwidth", Some("Mb/s"))
                .starts_with("odd: `Mb/s` is no unit of a bandwidth; it must be bit/s, kbit/s, ")
        );
        assert!(refused("bandwidth", Some("GB")).contains("`GB` is no unit"));
        assert_eq!(refused("latency", None), "odd: a latency has a unit: ps, ns, us, ms, s or min");
        assert_eq!(
            refused("speed", Some("ns")),
            "odd: `speed` is no figure; it must be latency, bandwidth or value"
        );
        assert_eq!(sample("latency", "fortnight", &raw(1, 5.0, 1.0)), None);
        assert_eq!(sample("bandwidth", "Mb/s", &raw(1, 5.0, 1.0)), None);
        assert_eq!(sample("speed", "ns", &raw(1, 5.0, 1.0)), None);
    }

    /// The language accepts exactly the units that bounds can be checked in.
    #[test]
    fn units_match_those_of_the_language() {
        fn names(sizes: &Sizes) -> Vec<&str> {
            sizes.iter().map(|(name, _)| *name).collect()
        }
        use yamba_lang::units;
        assert_eq!((CYCLES, SPREAD), (units::CYCLES, units::SPREAD));
        assert_eq!(names(TIMES), units::TIMES);
        assert_eq!(names(FREQUENCIES), units::FREQUENCIES);
        assert_eq!(names(AMOUNTS), units::AMOUNTS);
        assert!(units::is_unit("Tbit/s") && units::is_unit("cycle"));
        assert!(!units::is_unit("ns/s") && !units::is_unit("/s"));
    }

    #[test]
    fn bound_unit_must_convert_to_figure_unit() {
        let bounded = |figure: &str, unit: &str, of: &str| {
            let bound = Physical { kind: Side::AtLeast, value: 1.0, unit: of.to_owned() };
            check(&Program {
                class: "odd".to_owned(),
                figure: Some(figure.to_owned()),
                unit: Some(unit.to_owned()),
                bounds: vec![bound],
                ..Program::default()
            })
        };
        for (figure, unit, of) in [
            ("latency", "ns", "cycle"),
            ("latency", "ns", "min"),
            ("bandwidth", "MB/s", "Gbit/s"),
            ("bandwidth", "MB/s", "ns"),
            ("value", "KiB", "bit"),
            ("value", "apples", "apples"),
            ("value", "apples", ""),
            ("value", "apples", "spread"),
            ("latency", "ns", "spread"),
        ] {
            assert_eq!(bounded(figure, unit, of), Ok(()), "{figure} {unit} {of}");
        }
        assert_eq!(
            bounded("latency", "ns", "MB/s").unwrap_err(),
            "odd: its figure is in ns, and cannot be held against a bound in MB/s; write the bound in ns, in a unit of time or in cycles"
        );
        assert!(
            bounded("latency", "ns", "")
                .unwrap_err()
                .contains("against a bound without a unit; write the bound in ns, in a unit")
        );
        assert!(bounded("value", "KiB", "Hz").is_err());
        assert!(bounded("value", "KiB", "ns").is_err());
    }
}
