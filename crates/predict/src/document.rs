//! The document that `yamba predict --json` prints.

use serde::Serialize;

use crate::file_time::FileTime;
use crate::ratio::Ratio;
use crate::{Place, Prediction};

/// Predictions of some applications on some systems.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Predictions {
    /// Schema of the document.
    #[schemars(extend("const" = "yamba-predict/1"))]
    pub schema: &'static str,
    /// One prediction per application and system.
    pub predictions: Vec<Prediction>,
    /// For each application on several systems: the systems, the fastest first.
    pub ranking: Vec<Place>,
    /// With `--against`: the speedup of each application over the given one, on each system.
    pub ratios: Vec<Ratio>,
    /// With `--files`: the time of file reads for each size of memory and system.
    pub file_times: Vec<FileTime>,
}

impl Default for Predictions {
    fn default() -> Predictions {
        Predictions {
            schema: "yamba-predict/1",
            predictions: Vec::new(),
            ranking: Vec::new(),
            ratios: Vec::new(),
            file_times: Vec::new(),
        }
    }
}
