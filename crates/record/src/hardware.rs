//! Parameters of the processor that were found in recorded curves.

use serde::{Deserialize, Serialize};

/// A parameter: its value, or why the curves do not show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HardwareParameter {
    /// Its name, such as `rob.entries`.
    pub name: String,
    /// Its unit, such as `entries`.
    pub unit: String,
    /// The value. `None` if it was not found.
    pub found: Option<f64>,
    /// The interval of the value: at 95 % over the halves of launches, or the points of the curve
    /// that launches alone give.
    pub interval: Option<[f64; 2]>,
    /// The claim of the system or the processor. `None` without one.
    #[serde(default)]
    pub claimed: Option<f64>,
    /// Why it was not found. `None` if it was.
    pub reason: Option<String>,
}

/// A parameter as `yamba hardware` found it on this machine, with the time of that run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeptParameter {
    /// The parameter.
    #[serde(flatten)]
    pub parameter: HardwareParameter,
    /// The time of the measurement, in seconds since 1970.
    pub unix_s: f64,
}
