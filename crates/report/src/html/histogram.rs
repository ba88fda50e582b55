//! A small histogram of the samples with the median and its interval.

use std::fmt::Write as _;

use maud::{Markup, html as markup};
use yamba_record::Benchmark;
use yamba_record::number::{number, scale};
use yamba_stats::{quantile, sorted};

/// Width of the drawing in units, which is the number of bins.
const BINS: usize = 48;
const HEIGHT: f64 = 60.0;
/// The share of samples at each end that is counted but not drawn, so that far outliers do not
/// compress the rest.
const TAIL: f64 = 0.01;

/// The histogram; empty if there are too few distinct samples.
pub fn histogram(benchmark: &Benchmark) -> Markup {
    let Some(bars) = Bars::new(&benchmark.details.samples) else {
        return markup! {};
    };
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (factor, unit) = scale(bars.high, unit);
    let text = format!(
        "{} samples in {BINS} bins from {} to {} {unit}; not drawn: {} smaller (least {}) and {} greater (greatest {})",
        benchmark.details.samples.len(),
        number(bars.low * factor),
        number(bars.high * factor),
        bars.below,
        number(bars.least * factor),
        bars.above,
        number(bars.most * factor),
    );
    let band = benchmark.confidence_interval.map(|[a, b]| (bars.x(a), bars.x(b)));
    markup! {
        figure.samples {
            svg viewBox={ "0 0 " (BINS) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label="Distribution of the samples" {
                @if let Some((a, b)) = band { rect x=(number(a)) width=(number((b - a).max(0.2))) height=(HEIGHT) {} }
                path d=(bars.path()) {}
                @if let Some(m) = benchmark.median { line x1=(number(bars.x(m))) x2=(number(bars.x(m))) y2=(HEIGHT) {} }
            }
            figcaption { (text) }
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
    fn new(samples: &[f64]) -> Option<Bars> {
        let ordered = sorted(samples);
        let (least, most) = (*ordered.first()?, *ordered.last()?);
        let (low, high) = (quantile(&ordered, TAIL)?, quantile(&ordered, 1.0 - TAIL)?);
        let width = high - low;
        if !width.is_finite() || width <= 0.0 {
            return None;
        }
        let mut bars = Bars { low, high, least, most, below: 0, above: 0, counts: [0; BINS] };
        for sample in ordered {
            match (sample - low) / width {
                x if x < 0.0 => bars.below += 1,
                x if x > 1.0 => bars.above += 1,
                x => bars.counts[((x * BINS as f64) as usize).min(BINS - 1)] += 1,
            }
        }
        Some(bars)
    }

    /// The x coordinate of a value, clamped to the drawing.
    fn x(&self, value: f64) -> f64 {
        let width = BINS as f64;
        ((value - self.low) / (self.high - self.low) * width).clamp(0.0, width)
    }

    /// The outline of the bars as an SVG path, in whole units.
    fn path(&self) -> String {
        let most = self.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
        let mut path = format!("M0 {HEIGHT}");
        let mut last = 0;
        let mut wide = 0;
        for count in self.counts {
            // Rounded up, so that every bin with a sample is visible.
            let high = (HEIGHT * count as f64 / most).ceil() as i32;
            if high != last {
                let _ = write!(path, "h{wide}v{}", last - high);
                (last, wide) = (high, 0);
            }
            wide += 1;
        }
        let _ = write!(path, "h{wide}v{last}z");
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_draws_or_counts_every_sample() {
        let mut samples: Vec<f64> = (0..500).map(f64::from).collect();
        samples.push(1e6);
        let bars = Bars::new(&samples).unwrap();
        let drawn: usize = bars.counts.iter().sum();
        assert_eq!(drawn + bars.below + bars.above, samples.len());
        assert_eq!((bars.least, bars.most), (0.0, 1e6));
        assert!(bars.high < 600.0);
        assert!(bars.path().starts_with("M0 60h0v-"), "{}", bars.path());
    }

    #[test]
    fn equal_samples_have_no_histogram() {
        assert!(Bars::new(&[2.0; 9]).is_none());
        assert!(Bars::new(&[]).is_none());
    }
}
