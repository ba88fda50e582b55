//! Judges a prediction by the interval of the figure.

use serde::Serialize;
use yamba_record::{Benchmark, Evidence, Status};

use super::range::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PredictionVerdict {
    /// The whole interval lies in the range; or the evidence refutes the figure, as predicted.
    Within,
    /// The whole interval lies below the range.
    Below,
    /// The whole interval lies above the range.
    Above,
    /// The figure is valid, although it was predicted to be invalid.
    Valid,
    /// The interval includes an end of the range, or there is no basis for a verdict.
    Unknown,
}

impl PredictionVerdict {
    /// The verdict as text.
    pub fn word(self) -> &'static str {
        match self {
            PredictionVerdict::Within => "within",
            PredictionVerdict::Below => "below",
            PredictionVerdict::Above => "above",
            PredictionVerdict::Valid => "valid, against the prediction",
            PredictionVerdict::Unknown => "unknown",
        }
    }
}

/// The verdict on a figure with this interval, in the unit of the range.
pub fn judge(range: &Range, [low, high]: [f64; 2]) -> PredictionVerdict {
    if low.is_nan() || high.is_nan() {
        return PredictionVerdict::Unknown;
    }
    let least = range.low.unwrap_or(f64::NEG_INFINITY);
    let greatest = range.high.unwrap_or(f64::INFINITY);
    if high < least {
        PredictionVerdict::Below
    } else if low > greatest {
        PredictionVerdict::Above
    } else if least <= low && high <= greatest {
        PredictionVerdict::Within
    } else {
        PredictionVerdict::Unknown
    }
}

/// The verdict on a benchmark that is predicted to be invalid; `None` if nothing was measured. If
/// the benchmark is invalid, but no evidence has a median outside its bounds, the cause is another
/// one, such as a clock or a lost launch. The verdict is then unknown.
pub fn judge_invalid(entry: &Benchmark) -> Option<PredictionVerdict> {
    match entry.status {
        Status::Invalid if entry.details.evidence.values().any(is_refuted) => {
            Some(PredictionVerdict::Within)
        }
        Status::Invalid => Some(PredictionVerdict::Unknown),
        Status::Ok => Some(PredictionVerdict::Valid),
        Status::Crashed | Status::Skipped | Status::NotStarted => None,
    }
}

/// Whether the median of the evidence is outside its bounds, so that at least half of the batches
/// were. A missing median counts as outside, unless no batch was outside.
fn is_refuted(evidence: &Evidence) -> bool {
    let Some([low, high]) = evidence.expects else {
        return false;
    };
    let is_inside = |m: f64| low.is_none_or(|l| l <= m) && high.is_none_or(|h| m <= h);
    evidence.outside > 0 && !evidence.median.is_some_and(is_inside)
}

/// The interval of a quotient: all values that both intervals allow, so it is conservative. `None`
/// unless the divisor is positive.
pub fn quotient([low, high]: [f64; 2], [least, greatest]: [f64; 2]) -> Option<[f64; 2]> {
    let is_above_zero = least > 0.0 && greatest >= least;
    let ends =
        if low >= 0.0 { [low / greatest, high / least] } else { [low / least, high / least] };
    (is_above_zero && ends.iter().all(|e| e.is_finite())).then_some(ends)
}
