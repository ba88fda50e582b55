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
    /// Whether the order of this system and the next one is known: their intervals do not overlap. `None` for the last one.
    pub is_before_next: Option<bool>,
}

/// The predictions of one application, the fastest system first.
pub fn ranked(predictions: &[&Prediction]) -> Vec<Place> {
    let mut order = predictions.to_vec();
    order.sort_by(|a, b| a.predicted_ns.total_cmp(&b.predicted_ns));
    let place = |(index, p): (usize, &&Prediction)| {
        let next = order.get(index + 1);
        Place {
            application: p.application.clone(),
            system: p.system.clone(),
            predicted_ns: p.predicted_ns,
            is_before_next: next.map(|next| p.interval_ns[1] < next.interval_ns[0]),
        }
    };
    order.iter().enumerate().map(place).collect()
}
