//! The items of a capture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use yamba_record::program::Program;
use yamba_record::run::FleetMember;

use crate::bundle::plan::Plan;

/// One item, as the runner of a bundle writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub(crate) enum Item {
    /// The run begins.
    Begin(Begin),
    /// The plan of the bundle.
    Plan(Plan),
    /// The source texts of the benchmarks, by hash.
    Sources {
        texts: BTreeMap<String, String>,
    },
    /// Facts about the machine.
    Machine {
        answers: Value,
        files: BTreeMap<String, String>,
    },
    /// The answer of a program to `--describe`, at one point.
    Point(Box<Point>),
    /// The width of the core before the first launch.
    Probes {
        records: Vec<String>,
    },
    Launch(Launch),
    /// The run has ended.
    End(End),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Begin {
    pub bundle: String,
    pub run: String,
    pub started_unix_s: f64,
    pub seed: u64,
    pub emulator: Option<String>,
    #[serde(default)]
    pub fleet: Option<FleetMember>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub entry: u64,
    pub program: usize,
    pub set: Vec<(String, String)>,
    pub status: i64,
    #[serde(default)]
    pub description: Option<Program>,
    #[serde(default)]
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub entry: u64,
    pub program: usize,
    pub round: u64,
    pub quiet_width: Option<f64>,
    pub batch_ns: Option<u64>,
    pub emulator: Option<String>,
    pub started_ns: u64,
    pub took_ns: u64,
    pub batches_took_ns: u64,
    pub exit: String,
    pub number: i32,
    pub errors: String,
    pub orphans: Vec<String>,
    /// Of the lines that the records stand for.
    pub crc32: u32,
    pub records: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct End {
    pub items: u64,
    pub entries: u64,
    pub interrupted: bool,
    pub finished_unix_s: f64,
}

/// The bytes of a text in which each character stands for one byte.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u32::from(c) as u8).collect()
}
