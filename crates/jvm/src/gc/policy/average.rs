//! Averages of HotSpot's policies (`gcUtil.hpp`).

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
