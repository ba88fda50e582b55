//! The description of a built program: its answer to `--describe`, schema `yamba-program/1`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::circles::CirclePlan;

/// The schema's name.
pub const SCHEMA: &str = "yamba-program/1";

/// A program with one set of parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the benchmark.
    pub class: String,
    /// Target instruction set.
    pub isa: String,
    /// Target operating system.
    pub system: String,
    /// Index of the composition that applies on this machine.
    pub variant: Option<u64>,
    /// Why the program cannot run here.
    pub skip: Option<String>,
    /// Why the benchmark rejects these parameters. Other values of the swept parameters may be
    /// accepted.
    #[serde(default)]
    pub refused: Option<String>,
    /// The condition of the benchmark that these parameters do not fulfil. Such a point is not
    /// measured.
    #[serde(default)]
    pub unmet: Option<String>,
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
    /// Inference of the figure from recorded curves. `None`: the figure comes from the batches.
    #[serde(default)]
    pub infer: Option<Inference>,
    /// The charts that the class declares for its sweep.
    #[serde(default)]
    pub charts: Vec<Chart>,
    /// The primitive that the benchmark stands for.
    #[serde(default)]
    pub primitive: Option<Primitive>,
    /// Physical bounds of the figure.
    #[serde(default)]
    pub bounds: Vec<Physical>,
    /// For a measuring circle: how its tests are to be judged.
    #[serde(default)]
    pub circles: Option<CirclePlan>,
    /// Bytes of memory that each launch fills before it measures.
    #[serde(default)]
    pub setup_bytes: u64,
    /// Notes about these parameters, for the plan and the figure.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A figure that is inferred from recorded curves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inference {
    /// The kind of inference.
    pub kind: Inferred,
    /// The level of the cache, from 1.
    pub level: u64,
}

/// A kind of inference from curves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inferred {
    /// The size of a cache, from the latencies of loads in buffers of ascending size.
    CacheSize,
    /// A parameter of the processor, by its name in `yamba-discover`.
    #[serde(untagged)]
    Parameter(String),
}

/// A parameter with its final value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in C++.
    #[serde(rename = "type")]
    pub ty: String,
    /// The value of this point.
    pub value: Value,
    /// The values of a sweep.
    pub over: Option<Vec<Value>>,
    /// The values of a sweep with `--quick`.
    pub quick: Option<Vec<Value>>,
    /// Whether `--set` gave the value.
    pub set: bool,
}

/// The bounds of one evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Name of the evidence.
    pub name: String,
    /// `[low, high]`, with `None` for an open side. `None` if the evidence is recorded without
    /// bounds.
    pub expects: Option<[Option<f64>; 2]>,
}

/// A physical bound of the figure, such as `at_least 1 cycle;`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Physical {
    /// The side of the bound.
    pub kind: Side,
    /// The limit.
    pub value: f64,
    /// Unit of the limit: `cycle`, a unit of time or the unit of the figure.
    pub unit: String,
}

/// The side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// A lower bound.
    AtLeast,
    /// An upper bound.
    AtMost,
}

/// A chart of a sweep: `chart FIGURE against X ...`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Chart {
    /// The quantity on the y axis.
    pub figure: String,
    /// The parameter on the x axis.
    pub against: String,
    /// The parameter with one curve per value.
    pub by: Option<String>,
    /// Whether the x axis is logarithmic.
    pub log: bool,
    /// Whether a straight line is fitted.
    pub fit_linear: bool,
}

/// An operation of the platform whose cost a benchmark measures: `stands_for PRIMITIVE ...`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Primitive {
    /// The operation with its kind, such as `read(file)`.
    pub name: String,
    /// Other operations that cost the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The parameter that is its size. `None` if the cost does not depend on a size.
    #[serde(default)]
    pub by: Option<String>,
    /// The primitives that one operation uses. Their cost is part of this one's.
    #[serde(default)]
    pub contains: Vec<Contained>,
}

/// A primitive within another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Contained {
    /// Its name.
    pub name: String,
    /// Number per operation. `None`: the evidence has it.
    pub count: Option<u64>,
    /// The evidence that has the number per operation.
    #[serde(default)]
    pub evidence: Option<String>,
}
