//! Conditions of a prediction that the user should know about, as text.

use yamba_predict::needs::Needs;
use yamba_record::number::listed;

use crate::costs::{self, Wanted};

/// A condition that does not end a prediction.
#[derive(Debug)]
pub enum Notice {
    /// Lines of text.
    Lines(String),
    /// The application runs from now on, to be measured: a line to show meanwhile.
    Running(String),
    /// The application has ended.
    RunEnded,
}

/// Most benchmarks or primitives that a message names.
const NAMED: usize = 6;

/// The plan of a measurement of costs.
pub(super) fn plan(wanted: &Wanted) -> String {
    let names: Vec<&str> = wanted.benchmarks().collect();
    format!(
        "the prediction needs costs that no stored run of this machine has well enough: measuring {} for at most {} s in all, for later predictions, too; those that decide the most come first: {}\n",
        counted(names.len(), "benchmark", "benchmarks"),
        costs::TIME.as_secs(),
        listed(&names, NAMED)
    )
}

/// The gain of a longer measurement of costs. Empty: no gain.
pub(super) fn more(wanted: &Wanted, needs: &Needs) -> String {
    let mut text = String::new();
    if !wanted.unmeasured.is_empty() {
        text += &format!(
            "{} not measured in this time: {}; the next `yamba predict` goes on with them, and `--thorough` measures all for some minutes\n",
            counted(wanted.unmeasured.len(), "benchmark was", "benchmarks were"),
            listed(&wanted.unmeasured, NAMED)
        );
    }
    let wide: Vec<&str> = needs.imprecise().iter().map(|need| need.primitive.as_str()).collect();
    if !wide.is_empty() {
        text += &format!(
            "the costs alone make an interval of {:.1} % to each side, most of it by {}: `--thorough` measures longer\n",
            100.0 * needs.half_width(),
            listed(&wide, NAMED)
        );
    }
    text
}

pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
