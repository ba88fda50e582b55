//! The order of systems for one application.

use serde::Serialize;

use crate::Prediction;

/// One system in the order of an application's predicted kernel time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// The application.
    pub application: String,
    /// The system.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Whether this system and those before it are known to be faster than all later ones: no intervals of the two groups overlap.
    /// `None` for the last one.
    pub is_before_later: Option<bool>,
}

/// The predictions of one application, the fastest system first.
pub fn ranked(predictions: &[&Prediction]) -> Vec<Place> {
    let mut order = predictions.to_vec();
    order.sort_by(|a, b| a.predicted_ns.total_cmp(&b.predicted_ns));
    let is_before = |later: usize| {
        let (fast, slow) = order.split_at(later);
        let latest = fast.iter().map(|p| p.interval_ns[1]).fold(0.0, f64::max);
        slow.iter().all(|p| latest < p.interval_ns[0])
    };
    let place = |(index, p): (usize, &&Prediction)| Place {
        application: p.application.clone(),
        system: p.system.clone(),
        predicted_ns: p.predicted_ns,
        is_before_later: (index + 1 < order.len()).then(|| is_before(index + 1)),
    };
    order.iter().enumerate().map(place).collect()
}
