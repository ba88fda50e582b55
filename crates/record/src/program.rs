//! What a built program says of itself: the answer to `--describe`, schema `yamba-program/1`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema's name.
pub const SCHEMA: &str = "yamba-program/1";

/// A program at one set of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// [`SCHEMA`].
    pub schema: String,
    /// The benchmark.
    pub class: String,
    /// The instruction set that it was built for.
    pub isa: String,
    /// The operating system that it was built for.
    pub system: String,
    /// Which composition applies on this machine.
    pub variant: Option<u64>,
    /// Why nothing runs here.
    pub skip: Option<String>,
    /// What the benchmark has against these parameters. With others in place of those that are swept it may have nothing.
    #[serde(default)]
    pub refused: Option<String>,
    /// The ports of that composition, least specific first.
    #[serde(default)]
    pub ports: Vec<String>,
    /// The parameters, in order of declaration.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// The evidence, in order of declaration.
    #[serde(default)]
    pub evidence: Vec<Bound>,
    /// `latency`, `bandwidth` or `value`.
    pub figure: Option<String>,
    /// The figure's unit.
    pub unit: Option<String>,
    /// How a person would look at a sweep.
    #[serde(default)]
    pub charts: Vec<Chart>,
    /// What physics allows.
    #[serde(default)]
    pub bounds: Vec<Physical>,
}

/// A parameter as it was settled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in C++.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its value here.
    pub value: Value,
    /// The values of a plain run.
    pub over: Option<Vec<Value>>,
    /// The values of a quick run.
    pub quick: Option<Vec<Value>>,
    /// Whether `--set` gave the value.
    pub set: bool,
}

/// The bound of one evidence; a side that is `None` is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The evidence.
    pub name: String,
    /// `[low, high]`; none if it is only recorded.
    pub expects: Option<[Option<f64>; 2]>,
}

/// `at_least 1 cycle;`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Physical {
    /// Which side.
    pub kind: Side,
    /// How much.
    pub value: f64,
    /// Of what: `cycle`, a unit of time or the figure's own.
    pub unit: String,
}

/// Which side a bound is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Nothing is less.
    AtLeast,
    /// Nothing is more.
    AtMost,
}

/// `chart FIGURE against X ...`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Chart {
    /// What is drawn.
    pub figure: String,
    /// Against what.
    pub against: String,
    /// One curve for each value of this parameter.
    pub by: Option<String>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Whether a straight line is fitted.
    pub fit_linear: bool,
}
