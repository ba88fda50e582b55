//! From raw intervals to samples, and from numbers to what a person reads.

use yamba_lang::units::CYCLES;
use yamba_record::event::RawInterval;
use yamba_record::program::{Physical, Program};

type Sizes = [(&'static str, f64)];

/// In ns.
const TIMES: &Sizes = &[
    ("ps", 1e-3),
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
];

/// In Hz.
const FREQUENCIES: &Sizes = &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];

/// In bytes.
const AMOUNTS: &Sizes = &[
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
    ("Tbit", 125e9),
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

fn size(sizes: &Sizes, unit: &str) -> Option<f64> {
    let known = sizes.iter().find(|(name, _)| *name == unit);
    known.map(|(_, size)| *size)
}

/// Nanoseconds in a unit of time.
pub(super) fn nanoseconds(unit: &str) -> Option<f64> {
    size(TIMES, unit)
}

fn hertz(unit: &str) -> Option<f64> {
    size(FREQUENCIES, unit)
}

fn bytes(unit: &str) -> Option<f64> {
    size(AMOUNTS, unit)
}

fn bytes_a_second(unit: &str) -> Option<f64> {
    bytes(unit.strip_suffix("/s")?)
}

/// Why a program's figure could not be told in its unit, or not be held against its bounds. A value's unit is a word that
/// nothing is computed with.
pub(super) fn check(program: &Program) -> Result<(), String> {
    check_figure(program)?;
    let unit = program.unit.as_deref().unwrap_or_default();
    let is_value = program.figure.as_deref() == Some("value");
    let is_comparable = |bound: &&Physical| {
        let own = bound.unit.as_str();
        let is_time = nanoseconds(own).is_some() || CYCLES.contains(&own);
        own.is_empty() || factor(unit, own).is_some() || (is_time && !is_value)
    };
    match program.bounds.iter().find(|b| !is_comparable(b)) {
        None => Ok(()),
        Some(bound) => Err(format!(
            "{}: its figure is in {unit}, and cannot be held against a bound in {}; write the bound in {unit}{}",
            program.class,
            bound.unit,
            if is_value {
                ""
            } else {
                ", in a unit of time or in cycles"
            }
        )),
    }
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
                "{class}: `{figure}` is no figure; it may be latency, bandwidth or value"
            ));
        }
    };
    let names: Vec<String> = sizes.iter().map(|(n, _)| format!("{n}{per}")).collect();
    let (last, others) = names.split_last().expect("there are some");
    let known = format!("{} or {last}", others.join(", "));
    match &program.unit {
        Some(unit) if is_known(unit) => Ok(()),
        Some(unit) => Err(format!(
            "{class}: `{unit}` is no unit of a {kind}; it may be {known}"
        )),
        None => Err(format!("{class}: a {kind} has a unit: {known}")),
    }
}

/// What a number in one unit is to be multiplied with to be one in another of the same kind.
pub(super) fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let kinds = [nanoseconds, hertz, bytes, bytes_a_second];
    kinds.iter().find_map(|size| Some(size(from)? / size(to)?))
}

/// T(P) = (M(benchmark) - M(benchmark_dummy)) / operations, in ns.
pub(super) fn time_per_operation(raw: &RawInterval) -> Option<f64> {
    let time = (raw.ns - raw.dummy_ns) / raw.operations as f64;
    time.is_finite().then_some(time)
}

/// What one interval amounts to, in the benchmark's unit.
pub(super) fn sample(figure: &str, unit: &str, raw: &RawInterval) -> Option<f64> {
    let sample = match figure {
        "value" => raw.value?,
        // An operation is a byte.
        "bandwidth" => 1e9 / time_per_operation(raw)? / bytes_a_second(unit)?,
        "latency" => time_per_operation(raw)? / nanoseconds(unit)?,
        _ => return None,
    };
    sample.is_finite().then_some(sample)
}

/// A factor and a unit that give a number of a convenient length.
pub fn scale(value: f64, unit: &str) -> (f64, String) {
    const SHOWN: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let Some(base) = nanoseconds(unit) else {
        return (1.0, unit.to_owned());
    };
    let ns = value.abs() * base;
    let fits = SHOWN.iter().rev().find(|(_, size)| ns >= *size);
    let (name, size) = fits.unwrap_or(&SHOWN[0]);
    (base / size, (*name).to_owned())
}

/// A number with four digits that count, as a person would write it.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", (3 - magnitude).max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::program::Side;

    use super::*;

    fn raw(operations: u64, ns: f64, dummy_ns: f64) -> RawInterval {
        RawInterval {
            operations,
            ns,
            dummy_ns,
            value: Some(42.0),
            ..RawInterval::default()
        }
    }

    #[test]
    fn samples_in_their_unit() {
        assert_eq!(sample("latency", "ns", &raw(4, 100.0, 20.0)), Some(20.0));
        assert_eq!(sample("latency", "us", &raw(1, 5000.0, 0.0)), Some(5.0));
        let copied = raw(1_000_000, 100_000.0, 0.0);
        assert_eq!(sample("bandwidth", "MB/s", &copied), Some(10_000.0));
        assert_eq!(sample("bandwidth", "GB/s", &copied), Some(10.0));
        assert_eq!(sample("bandwidth", "MB/s", &raw(1, 5.0, 5.0)), None);
        assert_eq!(sample("latency", "ns", &raw(0, 5.0, 1.0)), None);
        assert_eq!(sample("value", "Hz", &raw(0, 5.0, 1.0)), Some(42.0));
    }

    #[test]
    fn units_of_one_kind_are_converted() {
        for (from, to, expected) in [
            ("MB/s", "GB/s", Some(1e-3)),
            ("kB/s", "B/s", Some(1e3)),
            ("MiB/s", "MiB/s", Some(1.0)),
            ("us", "ps", Some(1e6)),
            ("GHz", "MHz", Some(1e3)),
            ("KiB", "bytes", Some(1024.0)),
            ("pages", "pages", Some(1.0)),
            ("ns", "MB/s", None),
            ("MB", "MB/s", None),
        ] {
            assert_eq!(factor(from, to), expected, "{from} {to}");
        }
        assert_eq!(sample("bandwidth", "kB/s", &raw(1, 1e6, 0.0)), Some(1.0));
    }

    #[test]
    fn a_byte_is_eight_bits() {
        let copied = raw(1_000_000, 100_000.0, 0.0);
        assert_eq!(sample("bandwidth", "Mbit/s", &copied), Some(80_000.0));
        assert_eq!(sample("bandwidth", "Gbit/s", &copied), Some(80.0));
        assert_eq!(sample("bandwidth", "bit/s", &raw(1, 1e9, 0.0)), Some(8.0));
        assert_eq!(factor("Gbit/s", "MB/s"), Some(125.0));
        let minutes = sample("latency", "min", &raw(1, 120e9, 0.0));
        assert_eq!(minutes, Some(2.0));
        assert_eq!(scale(0.5, "min"), (60.0, "s".to_owned()));
    }

    /// What is not understood is nothing, and never a number as it happens to be.
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
            "odd: `MB/s` is no unit of a latency; it may be ps, ns, us, ms, s or min"
        );
        assert!(
            refused("bandwidth", Some("Mb/s"))
                .starts_with("odd: `Mb/s` is no unit of a bandwidth; it may be bit/s, kbit/s, ")
        );
        assert!(refused("bandwidth", Some("GB")).contains("`GB` is no unit"));
        assert_eq!(
            refused("latency", None),
            "odd: a latency has a unit: ps, ns, us, ms, s or min"
        );
        assert_eq!(
            refused("speed", Some("ns")),
            "odd: `speed` is no figure; it may be latency, bandwidth or value"
        );
        assert_eq!(sample("latency", "fortnight", &raw(1, 5.0, 1.0)), None);
        assert_eq!(sample("bandwidth", "Mb/s", &raw(1, 5.0, 1.0)), None);
        assert_eq!(sample("speed", "ns", &raw(1, 5.0, 1.0)), None);
    }

    /// What a bound can be written in is what it can be judged in.
    #[test]
    fn the_language_has_these_units() {
        fn names(sizes: &Sizes) -> Vec<&str> {
            sizes.iter().map(|(name, _)| *name).collect()
        }
        use yamba_lang::units;
        assert_eq!(names(TIMES), units::TIMES);
        assert_eq!(names(FREQUENCIES), units::FREQUENCIES);
        assert_eq!(names(AMOUNTS), units::AMOUNTS);
        assert!(units::is_unit("Tbit/s") && units::is_unit("cycle"));
        assert!(!units::is_unit("ns/s") && !units::is_unit("/s"));
    }

    #[test]
    fn bounds_are_in_units_that_the_figure_can_be_held_against() {
        let bounded = |figure: &str, unit: &str, of: &str| {
            let bound = Physical {
                kind: Side::AtLeast,
                value: 1.0,
                unit: of.to_owned(),
            };
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
        ] {
            assert_eq!(bounded(figure, unit, of), Ok(()), "{figure} {unit} {of}");
        }
        assert_eq!(
            bounded("latency", "ns", "MB/s").unwrap_err(),
            "odd: its figure is in ns, and cannot be held against a bound in MB/s; write the bound in ns, in a unit of time or in cycles"
        );
        assert!(bounded("value", "KiB", "Hz").is_err());
        assert!(bounded("value", "KiB", "ns").is_err());
    }

    #[test]
    fn numbers_as_a_person_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.99996, "1"),
            (12.3456, "12.35"),
            (123456.7, "123457"),
            (-0.01234567, "-0.01235"),
            (1e-9, "1.000e-9"),
            (3e20, "3.000e20"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn times_are_scaled() {
        assert_eq!(scale(1500.0, "ns"), (1e-3, "us".to_owned()));
        assert_eq!(scale(0.2, "ns"), (1.0, "ns".to_owned()));
        assert_eq!(scale(2500.0, "us"), (1e-3, "ms".to_owned()));
        assert_eq!(scale(-3e9, "ns"), (1e-9, "s".to_owned()));
        assert_eq!(scale(5.0, "MB/s"), (1.0, "MB/s".to_owned()));
    }
}
