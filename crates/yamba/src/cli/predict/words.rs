//! The words of a prediction, by the platform whose primitives it counts.

use yamba_predict::Predictions;
use yamba_predict::vector::Platform;
use yamba_report::{figure, interval};

use crate::cli::run_ref::plain;

/// Words for the times of an application.
pub(super) struct Words {
    /// The time in the platform.
    pub(super) time: &'static str,
    /// The time outside of the platform.
    pub(super) user_time: &'static str,
    /// The sum of both.
    pub(super) both: &'static str,
    /// The state of the platform within a benchmark.
    pub(super) warm: &'static str,
}

const KERNEL: Words = Words {
    time: "kernel time",
    user_time: "user time",
    both: "kernel and user time",
    warm: "find their caches warm",
};

const CLASS_LIBRARY: Words = Words {
    time: "class-library time",
    user_time: "time in the program's own code",
    both: "class-library time and the program's own",
    warm: "find their caches warm and their code compiled",
};

impl Words {
    pub(super) fn for_platform(platform: Platform) -> &'static Words {
        match platform {
            Platform::Kernel => &KERNEL,
            Platform::ClassLibrary => &CLASS_LIBRARY,
        }
    }

    /// The words for an application of this name.
    pub(super) fn for_application(found: &Predictions, name: &str) -> &'static Words {
        let mut predictions = found.predictions.iter();
        let own = predictions.find(|p| p.application == name);
        Words::for_platform(own.map_or(Platform::Kernel, |p| p.platform))
    }
}

/// Names the primitives whose costs are from disturbed figures. `None`: no cost is.
pub(super) fn disturbed(primitives: &[String]) -> Option<String> {
    let names = primitives.join(", ");
    (!primitives.is_empty())
        .then(|| format!("costs of disturbed figures, which count with their intervals: {names}"))
}

/// A line without control characters: the names come from documents.
pub(super) fn line(text: &str) -> String {
    plain(text) + "\n"
}

/// A time with its interval.
pub(super) fn time(ns: f64, ends: Option<[f64; 2]>) -> String {
    let interval = ends.map_or(String::new(), |ends| format!(" {}", interval(ends, ns, "ns")));
    figure(ns, "ns") + &interval
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
