//! The document of `yamba gc predict --json`.

use serde::Serialize;
use yamba_gc::predict::Prediction;

/// The document of predictions.
#[derive(Serialize)]
pub(super) struct Predictions {
    pub(super) schema: &'static str,
    pub(super) application: String,
    pub(super) jvm: String,
    /// Wall-clock time of the profiled run without its collections, in ns.
    pub(super) mutator_ns: f64,
    pub(super) predictions: Vec<Prediction>,
    /// Combinations without a prediction or a measurement, with the reason.
    pub(super) missing: Vec<String>,
}
