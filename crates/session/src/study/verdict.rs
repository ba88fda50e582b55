//! Whether a prediction came true, by the interval of the figure.

use serde::Serialize;
use yamba_record::{Benchmark, Evidence, Status};

use super::range::Range;

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies in the range; or its evidence refutes the figure, as it should.
    Within,
    /// The whole interval lies below it.
    Below,
    /// The whole interval lies above it.
    Above,
    /// The figure is valid, and should not be.
    Valid,
    /// The interval straddles an end of the range, or nobody can say.
    Unknown,
}

impl Verdict {
    /// For a reader.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::Below => "below",
            Verdict::Above => "above",
            Verdict::Valid => "valid, against the prediction",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Of a figure with this interval, in the unit of the range.
pub fn judge(range: &Range, [low, high]: [f64; 2]) -> Verdict {
    if low.is_nan() || high.is_nan() {
        return Verdict::Unknown;
    }
    let least = range.low.unwrap_or(f64::NEG_INFINITY);
    let greatest = range.high.unwrap_or(f64::INFINITY);
    if high < least {
        Verdict::Below
    } else if low > greatest {
        Verdict::Above
    } else if least <= low && high <= greatest {
        Verdict::Within
    } else {
        Verdict::Unknown
    }
}

/// Of a benchmark that its own evidence should refute; none where nothing was measured. What has no evidence outside its bounds by its median is invalid for another reason, a clock or a lost launch, and says nothing.
pub fn judge_invalid(entry: &Benchmark) -> Option<Verdict> {
    match entry.status {
        Status::Invalid if entry.evidence.values().any(is_refuted) => Some(Verdict::Within),
        Status::Invalid => Some(Verdict::Unknown),
        Status::Ok => Some(Verdict::Valid),
        Status::Crashed | Status::Skipped => None,
    }
}

/// Whether its median is outside its bounds, and so at least half of the intervals were; one that never was a number is inside of none. Where there was no interval nothing was outside.
fn is_refuted(evidence: &Evidence) -> bool {
    let Some([low, high]) = evidence.expects else {
        return false;
    };
    let is_inside = |m: f64| low.is_none_or(|l| l <= m) && high.is_none_or(|h| m <= h);
    evidence.outside > 0 && !evidence.median.is_some_and(is_inside)
}

/// The interval of a quotient: all that both intervals allow, so at least as wide as it should be. None where the divisor may be 0.
pub fn quotient([low, high]: [f64; 2], [least, greatest]: [f64; 2]) -> Option<[f64; 2]> {
    let is_above_zero = least > 0.0 && greatest >= least;
    let ends = if low >= 0.0 {
        [low / greatest, high / least]
    } else {
        [low / least, high / least]
    };
    (is_above_zero && ends.iter().all(|e| e.is_finite())).then_some(ends)
}
