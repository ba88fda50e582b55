//! The order of systems for one application.

use serde::Serialize;

use crate::Prediction;

/// One system in the order of an application's predicted kernel time.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The application.
    pub application: String,
    /// The system.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Predicted user time per unit, in ns, if it is known for all systems. The order is then that
    /// of the sum.
    pub predicted_user_ns: Option<f64>,
    /// Whether this system and those before it are known to be faster than all later ones: no
    /// intervals of the two groups overlap, and no kernel time may be missing in those of the first
    /// group. `None` for the last one.
    pub is_before_later: Option<bool>,
    /// Why `is_before_later` is false. `None`: it is not.
    pub unclear: Option<Unclear>,
}

/// Why a system is not known to be faster than later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unclear {
    /// The intervals of this system or of those before it overlap with those of later ones.
    IntervalsOverlap,
    /// The prediction for this system or for one before it may lack kernel time (`limits`,
    /// `unbounded`).
    MayLackTime,
}

/// The predictions of one application, the fastest system first: by kernel time, and by the sum
/// with user time if that is known for all.
pub fn ranked(predictions: &[&Prediction]) -> Vec<Place> {
    let has_user = predictions.iter().all(|p| p.predicted_user_ns.is_some());
    let user = |p: &Prediction| p.predicted_user_ns.filter(|_| has_user);
    let time = |p: &Prediction| p.predicted_ns + user(p).unwrap_or(0.0);
    let end = |p: &Prediction, side: usize| p.of_costs_ns[side] + user_end(p, side, has_user);
    let mut order = predictions.to_vec();
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let unclear = |later: usize| {
        let (fast, slow) = order.split_at(later);
        let latest = fast.iter().map(|p| end(p, 1)).fold(0.0, f64::max);
        if slow.iter().any(|p| latest >= end(p, 0)) {
            Some(Unclear::IntervalsOverlap)
        } else {
            let may_lack = fast.iter().any(|p| !(p.limits.is_empty() && p.unbounded.is_empty()));
            may_lack.then_some(Unclear::MayLackTime)
        }
    };
    let place = |(index, p): (usize, &&Prediction)| {
        let is_last = index + 1 == order.len();
        let unclear = unclear(index + 1).filter(|_| !is_last);
        Place {
            application: p.application.clone(),
            system: p.system.clone(),
            predicted_ns: p.predicted_ns,
            predicted_user_ns: user(p),
            is_before_later: (!is_last).then_some(unclear.is_none()),
            unclear,
        }
    };
    order.iter().enumerate().map(place).collect()
}

/// One end of the user time's interval. The user time of the trace is the same for all systems, so
/// it has none there.
fn user_end(prediction: &Prediction, side: usize, has_user: bool) -> f64 {
    let known = prediction.predicted_user_ns.filter(|_| has_user);
    let interval = prediction.predicted_user_interval_ns;
    known.map_or(0.0, |user| interval.map_or(user, |ends| ends[side]))
}
