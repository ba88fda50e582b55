//! Counts the points that a drawing lacks, by reason.

use indexmap::IndexMap;
use yamba_record::{Benchmark, Status};

/// The reason of a point whose unit cannot be converted to that of the drawing.
pub const OTHER_UNIT: &str = "in another unit";

/// The points that a drawing lacks.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(IndexMap<&'static str, usize>);

impl LeftOut {
    /// A sentence without its full stop: `Not drawn: 2 invalid, 1 crashed`. `None` without points.
    pub fn sentence(&self) -> Option<String> {
        let each: Vec<String> = self.0.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        (!each.is_empty()).then(|| format!("Not drawn: {}", each.join(", ")))
    }
}

impl Extend<&'static str> for LeftOut {
    /// Adds one point for each reason.
    fn extend<I: IntoIterator<Item = &'static str>>(&mut self, reasons: I) {
        for reason in reasons {
            *self.0.entry(reason).or_default() += 1;
        }
    }
}

/// The reason of a figure that is not valid. `None` if it is valid.
pub fn not_valid(benchmark: &Benchmark) -> Option<&'static str> {
    if benchmark.valid {
        return None;
    }
    Some(match benchmark.status {
        Status::Ok | Status::Invalid => "invalid",
        Status::Crashed => "crashed",
        Status::Skipped | Status::NotStarted => "skipped",
    })
}
