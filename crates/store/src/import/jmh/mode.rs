//! The modes of JMH: what a value is.

use super::Figure;

/// A mode of JMH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Operations in a unit of time.
    Throughput,
    /// The average time of an operation.
    AverageTime,
    /// The times of single operations, as a histogram.
    Sample,
    /// The time of one cold operation, or of one batch.
    SingleShot,
}

impl Mode {
    pub(super) fn named(name: &str) -> Option<Mode> {
        Some(match name {
            "thrpt" => Mode::Throughput,
            "avgt" => Mode::AverageTime,
            "sample" => Mode::Sample,
            "ss" => Mode::SingleShot,
            _ => return None,
        })
    }

    /// The kind and unit of a score in `unit`, and the factor to that unit. The error says why the
    /// unit does not belong to this mode.
    pub(super) fn figure(self, unit: &str) -> Result<(Figure, String, f64), String> {
        let other = || format!("its unit {unit:?} is none of this mode");
        if self == Mode::Throughput {
            let time = unit.strip_prefix("ops/").ok_or_else(other)?;
            return match time {
                "ns" | "us" | "ms" | "s" | "min" | "hr" | "day" => {
                    Ok((Figure::Rate, unit.to_owned(), 1.0))
                }
                _ => Err(other()),
            };
        }
        let (unit, seconds) = match unit.strip_suffix("/op").ok_or_else(other)? {
            unit @ ("ns" | "us" | "ms" | "s") => (unit, 1.0),
            "min" => ("s", 60.0),
            "hr" => ("s", 3600.0),
            "day" => ("s", 86_400.0),
            _ => return Err(other()),
        };
        Ok((Figure::Latency, unit.to_owned(), seconds))
    }

    /// A note on the value of an iteration.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Mode::Sample => Some("the value of an iteration is the mean of its samples"),
            _ => None,
        }
    }
}
