//! The distribution of the samples, small: bars, the median and its interval.

use std::fmt::Write as _;

use maud::{Markup, html as markup};
use yamba_record::Benchmark;
use yamba_record::number::{number, scale};
use yamba_stats::{quantile, sorted};

const BINS: usize = 48;
/// In units of the drawing.
const BIN_WIDTH: usize = 6;
const HEIGHT: f64 = 60.0;
/// Of the samples, what lies further out than this share on each side is counted but not drawn where it would squeeze all else.
const TAIL: f64 = 0.01;

/// Nothing where there are too few samples to be a distribution.
pub fn histogram(benchmark: &Benchmark) -> Markup {
    let Some(bars) = Bars::of(&benchmark.samples) else {
        return markup! {};
    };
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (factor, unit) = scale(bars.high, unit);
    let text = format!(
        "{} samples in {BINS} bins from {} to {} {unit}; {} smaller (least {}) and {} greater ones (greatest {}) are not drawn.",
        benchmark.samples.len(),
        number(bars.low * factor),
        number(bars.high * factor),
        bars.below,
        number(bars.least * factor),
        bars.above,
        number(bars.most * factor),
    );
    let band = benchmark.interval.map(|[a, b]| (bars.x(a), bars.x(b)));
    markup! {
        figure.samples {
            svg viewBox={ "0 0 " (BINS * BIN_WIDTH) " " (HEIGHT) } width=(BINS * BIN_WIDTH) height=(HEIGHT) role="img" aria-label={ "Distribution: " (text) } {
                @if let Some((a, b)) = band { rect.band x=(number(a)) width=(number((b - a).max(1.0))) height=(HEIGHT) {} }
                path.bars d=(bars.path()) {}
                @if let Some(m) = benchmark.median { path.median d={ "M" (number(bars.x(m))) " 0V" (HEIGHT) } {} }
            }
            figcaption { (text) " The line is the median, the band its interval." }
        }
    }
}

struct Bars {
    low: f64,
    high: f64,
    least: f64,
    most: f64,
    below: usize,
    above: usize,
    counts: [usize; BINS],
}

impl Bars {
    fn of(samples: &[f64]) -> Option<Bars> {
        let ordered = sorted(samples);
        let (least, most) = (*ordered.first()?, *ordered.last()?);
        let (low, high) = (quantile(&ordered, TAIL)?, quantile(&ordered, 1.0 - TAIL)?);
        let width = high - low;
        if !width.is_finite() || width <= 0.0 {
            return None;
        }
        let mut bars = Bars {
            low,
            high,
            least,
            most,
            below: 0,
            above: 0,
            counts: [0; BINS],
        };
        for sample in ordered {
            match (sample - low) / width {
                x if x < 0.0 => bars.below += 1,
                x if x > 1.0 => bars.above += 1,
                x => bars.counts[((x * BINS as f64) as usize).min(BINS - 1)] += 1,
            }
        }
        Some(bars)
    }

    /// Where a value is drawn, kept inside the drawing.
    fn x(&self, value: f64) -> f64 {
        let width = (BINS * BIN_WIDTH) as f64;
        ((value - self.low) / (self.high - self.low) * width).clamp(0.0, width)
    }

    fn path(&self) -> String {
        let most = self.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
        let mut path = String::new();
        for (i, count) in self.counts.iter().enumerate().filter(|(_, c)| **c > 0) {
            let top = HEIGHT * (1.0 - *count as f64 / most);
            let _ = write!(
                path,
                "M{} {HEIGHT}V{top:.1}h{}V{HEIGHT}z",
                i * BIN_WIDTH,
                BIN_WIDTH - 1
            );
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_drawn_or_counted() {
        let mut samples: Vec<f64> = (0..500).map(f64::from).collect();
        samples.push(1e6);
        let bars = Bars::of(&samples).unwrap();
        let drawn: usize = bars.counts.iter().sum();
        assert_eq!(drawn + bars.below + bars.above, samples.len());
        assert_eq!((bars.least, bars.most), (0.0, 1e6));
        assert!(bars.high < 600.0);
    }

    #[test]
    fn equal_samples_are_no_distribution() {
        assert!(Bars::of(&[2.0; 9]).is_none());
        assert!(Bars::of(&[]).is_none());
    }
}
