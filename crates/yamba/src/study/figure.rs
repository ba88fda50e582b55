//! A figure in the unit that a study asks for.

use serde::Serialize;
use yamba_lang::units::CYCLES;
use yamba_record::number::{number, scale};
use yamba_record::units::factor;
use yamba_record::{Benchmark, Evidence};

/// A number with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// Of a benchmark's figure the 95 % confidence interval, of an evidence the least and the greatest value; none if it is not known.
    pub interval: Option<[f64; 2]>,
    /// What both are counted in.
    pub unit: String,
}

impl Figure {
    /// A benchmark's own figure, in this unit or in a convenient one. None where it has none in that unit.
    pub fn of(benchmark: &Benchmark, unit: Option<&str>) -> Option<Figure> {
        if unit.is_some_and(|u| CYCLES.contains(&u)) {
            let cycles = benchmark.cycles?;
            return Some(Figure {
                median: cycles.median,
                interval: Some(cycles.interval),
                unit: unit?.to_owned(),
            });
        }
        let median = benchmark.median?;
        let own = benchmark.unit.as_deref().unwrap_or_default();
        let (by, unit) = match unit {
            Some(unit) => (factor(own, unit)?, unit.to_owned()),
            None => {
                let (by, unit) = scale(median, own);
                (by, unit.to_string())
            }
        };
        Some(Figure {
            median: median * by,
            interval: benchmark.interval.map(|ends| ends.map(|e| e * by)),
            unit,
        })
    }

    /// What an evidence said over all intervals.
    pub fn of_evidence(evidence: &Evidence, unit: Option<&str>) -> Option<Figure> {
        Some(Figure {
            median: evidence.median?,
            interval: evidence.min.zip(evidence.max).map(|(l, h)| [l, h]),
            unit: unit.unwrap_or_default().to_owned(),
        })
    }

    /// `33 cycles [31, 36]`
    pub fn told(&self) -> String {
        let unit = match self.unit.as_str() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let interval = self.interval.map(|[low, high]| {
            let ends = (number(low), number(high));
            format!(" [{}, {}]", ends.0, ends.1)
        });
        format!(
            "{}{unit}{}",
            number(self.median),
            interval.unwrap_or_default()
        )
    }
}

/// Whether figures in one unit can be told in another; a time in cycles, too.
pub fn converts(from: &str, to: &str) -> bool {
    factor(from, to).is_some() || (CYCLES.contains(&to) && factor(from, "ns").is_some())
}
