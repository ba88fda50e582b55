//! Figures in the unit that a study asks for.

use serde::Serialize;
use yamba_lang::units::CYCLES;
use yamba_record::number::{number, scale};
use yamba_record::run::IntervalScope;
use yamba_record::units::factor;
use yamba_record::{Benchmark, Evidence};
use yamba_stats::{coefficient_of_variation, median, median_interval, variation_interval};

use super::CONFIDENCE;

/// Marks an interval within launches, and a verdict based on it.
pub const WITHIN: &str = "\u{2020}";

/// A number with its interval and unit.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Figure {
    pub median: f64,
    /// For a benchmark's figure, its interval, of which `interval_scope` says what it is; for
    /// evidence, the minimum and maximum. `None` if unknown.
    pub confidence_interval: Option<[f64; 2]>,
    /// The kind of the interval. `None`: it is that of evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_scope: Option<IntervalScope>,
    /// The unit of the median and the interval.
    pub unit: String,
}

impl Figure {
    /// The figure of a benchmark in `unit`, or in a convenient unit. `None` if it cannot be
    /// converted.
    pub fn from_benchmark(benchmark: &Benchmark, unit: Option<&str>) -> Option<Figure> {
        if unit.is_some_and(|u| CYCLES.contains(&u)) {
            let cycles = benchmark.details.cycles?;
            return Some(Figure {
                median: cycles.median,
                confidence_interval: Some(cycles.confidence_interval),
                interval_scope: benchmark.interval_scope,
                unit: unit?.to_owned(),
            });
        }
        let (median, interval) = (benchmark.median?, benchmark.confidence_interval);
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
            confidence_interval: interval.map(|ends| ends.map(|e| e * by)),
            interval_scope: benchmark.interval_scope,
            unit,
        })
    }

    /// The coefficient of variation of the medians of a benchmark's launches. It predicts the next
    /// launches, whatever the interval scope of the figure. Its interval assumes normally
    /// distributed medians and a fixed number of launches. If launches were added until the figure
    /// was precise enough, the coefficient and its interval are up to a tenth too small
    /// (simulated).
    pub fn from_variation(benchmark: &Benchmark) -> Option<Figure> {
        let medians: Vec<f64> = benchmark.launches.iter().filter_map(|l| l.median).collect();
        Some(Figure {
            median: coefficient_of_variation(&medians)?,
            confidence_interval: variation_interval(&medians, CONFIDENCE).map(<[f64; 2]>::from),
            interval_scope: Some(IntervalScope::BetweenLaunches),
            unit: String::new(),
        })
    }

    /// The median over the launches of the coefficient of variation of a launch's samples. It says
    /// how much neighbouring samples of one process differ.
    pub fn from_variation_within(benchmark: &Benchmark) -> Option<Figure> {
        let mut samples = &benchmark.details.samples[..];
        let mut each = Vec::new();
        for launch in &benchmark.launches {
            let (own, rest) = samples.split_at_checked(launch.samples as usize)?;
            each.extend(coefficient_of_variation(own));
            samples = rest;
        }
        let is_whole = samples.is_empty();
        let interval = median_interval(&each, CONFIDENCE).filter(|_| is_whole)?;
        let is_known = interval.coverage >= CONFIDENCE;
        Some(Figure {
            median: median(&each)?,
            confidence_interval: is_known.then_some([interval.low, interval.high]),
            interval_scope: Some(IntervalScope::BetweenLaunches),
            unit: String::new(),
        })
    }

    /// The median of an evidence over all batches, with its minimum and maximum.
    pub fn from_evidence(evidence: &Evidence, unit: Option<&str>) -> Option<Figure> {
        Some(Figure {
            median: evidence.median?,
            confidence_interval: evidence.min.zip(evidence.max).map(|(l, h)| [l, h]),
            interval_scope: None,
            unit: unit.unwrap_or_default().to_owned(),
        })
    }

    /// The median in the base unit of its kind, which makes figures of one kind comparable.
    pub fn sortable(&self) -> (f64, String) {
        let mut bases = ["ns", "Hz", "B", "B/s"].into_iter();
        let known = bases.find_map(|base| Some((factor(&self.unit, base)?, base)));
        let (by, unit) = known.unwrap_or((1.0, self.unit.as_str()));
        (self.median * by, unit.to_owned())
    }

    /// Whether the interval does not predict the next run.
    pub fn is_within_launches(&self) -> bool {
        self.interval_scope == Some(IntervalScope::WithinLaunches)
    }

    /// The figure as text: `33 cycles [31, 36]`, with [`WITHIN`] after an interval within launches.
    pub fn text(&self) -> String {
        let unit = match self.unit.as_str() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let interval = self.confidence_interval.map(|[low, high]| {
            let (low, high) = (number(low), number(high));
            let is_within = self.is_within_launches();
            format!(" [{low}, {high}]{}", if is_within { WITHIN } else { "" })
        });
        let interval = interval.unwrap_or_default();
        format!("{}{unit}{interval}", number(self.median))
    }
}

/// Whether figures in unit `from` can be shown in unit `to`. Times can also be shown in cycles.
pub fn converts(from: &str, to: &str) -> bool {
    factor(from, to).is_some() || (CYCLES.contains(&to) && factor(from, "ns").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two launches of 2 and 3 samples with coefficients of variation of sqrt(2) / 10 and 0.1.
    #[test]
    fn variation_within_is_that_of_each_launch() {
        let mut benchmark = yamba_harness::not_started("x");
        benchmark.details.samples = vec![9.0, 11.0, 90.0, 100.0, 110.0];
        benchmark.launches = vec![Default::default(); 2];
        benchmark.launches[0].samples = 2;
        benchmark.launches[1].samples = 3;
        let figure = Figure::from_variation_within(&benchmark).unwrap();
        assert!((figure.median - (2f64.sqrt() / 10.0 + 0.1) / 2.0).abs() < 1e-12, "{figure:?}");
        assert_eq!(figure.confidence_interval, None);
        // Samples that belong to no launch.
        benchmark.launches[1].samples = 2;
        assert_eq!(Figure::from_variation_within(&benchmark), None);
    }
}
