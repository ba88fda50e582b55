//! Averages of HotSpot's policies (`gcUtil.hpp`), and predictions of G1 from its last samples
//! (`G1Predictions`, `AbsSeq`).

/// Samples until the average is as heavy as its weight says.
const OLD_ENOUGH: f64 = 100.0;

/// An exponential average with its deviation. `weight` and `padding` are HotSpot's.
pub(super) struct PaddedAverage {
    weight: f64,
    padding: f64,
    average: f64,
    deviation: f64,
    samples: f64,
}

impl PaddedAverage {
    pub(super) fn new(weight: f64, padding: f64) -> Self {
        Self { weight, padding, average: 0.0, deviation: 0.0, samples: 0.0 }
    }

    pub(super) fn add(&mut self, sample: f64) {
        self.samples += 1.0;
        let share = self.weight.max(OLD_ENOUGH / self.samples).min(100.0) / 100.0;
        self.average += share * (sample - self.average);
        let distance = (sample - self.average).abs();
        self.deviation += share * (distance - self.deviation);
    }

    /// The average plus its padding of deviations.
    pub(super) fn padded(&self) -> f64 {
        self.average + self.padding * self.deviation
    }
}

/// Deviations that G1 adds to an average (`G1ConfidencePercent` of 50).
const DEVIATIONS: f64 = 0.5;
/// Samples below which G1 assumes a large deviation.
const ENOUGH_SAMPLES: f64 = 5.0;

/// A decaying average with its variance.
pub(super) struct Forecast {
    /// Weight of a new sample.
    weight: f64,
    average: f64,
    variance: f64,
    samples: f64,
}

impl Forecast {
    /// A forecast without samples. `weight` is that of a new sample.
    pub(super) fn new(weight: f64) -> Self {
        Self { weight, average: 0.0, variance: 0.0, samples: 0.0 }
    }

    pub(super) fn add(&mut self, sample: f64) {
        if self.samples == 0.0 {
            self.average = sample;
        } else {
            self.average += self.weight * (sample - self.average);
            let distance = sample - self.average;
            self.variance += self.weight * (distance * distance - self.variance);
        }
        self.samples += 1.0;
    }

    pub(super) fn samples(&self) -> f64 {
        self.samples
    }

    /// The average plus a part of the deviation.
    pub(super) fn value(&self) -> f64 {
        let assumed = self.average * (ENOUGH_SAMPLES - self.samples).max(0.0) / 2.0;
        self.average + DEVIATIONS * self.variance.sqrt().max(assumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of marking in a log of JDK 17, in ms: recent 83.20, predicted 166.40; then 69.58 and
    /// 144.41.
    #[test]
    fn few_samples_are_predicted_as_in_a_log() {
        let mut marking = Forecast::new(0.05);
        marking.add(83.20);
        assert!((marking.value() - 166.40).abs() < 0.01);
        marking.add(69.58);
        assert!((marking.value() - 144.41).abs() < 0.01, "{}", marking.value());
    }
}
