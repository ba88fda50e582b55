//! A whole command: what its runs took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::columns::array;

/// The runs of a command. Means and counts are those of the timed runs, without warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommandRuns {
    /// The command, as the user wrote it, with the values of parameters.
    pub command: String,
    /// The shell that ran it. Its start-up was measured in the same rounds, and its median is
    /// subtracted from all times. `None` if the command was started directly.
    #[serde(default)]
    pub shell: Option<String>,
    /// The untimed command once before the first round of all commands.
    #[serde(default)]
    pub setup: Option<String>,
    /// The untimed command before each run.
    #[serde(default)]
    pub prepare: Option<String>,
    /// The untimed command after each run.
    #[serde(default)]
    pub conclude: Option<String>,
    /// The untimed command once after the last round of all commands.
    #[serde(default)]
    pub cleanup: Option<String>,
    /// Where its standard output went: `pipe` (emptied by Yamba), `null`, `inherit`, or a file.
    /// `None` in older documents: `/dev/null`.
    #[serde(default)]
    pub output: Option<String>,
    /// Number of untimed runs before the first timed one.
    #[serde(default)]
    pub warmup: u64,
    /// Mean wall-clock time, in ns.
    pub mean_ns: f64,
    /// 95 % confidence interval of `mean_ns`. `None` for a single run.
    #[serde(default)]
    pub mean_interval_ns: Option<[f64; 2]>,
    /// The shortest run, in ns.
    pub min_ns: f64,
    /// The longest run, in ns.
    pub max_ns: f64,
    /// Mean processor time in user space and in the kernel, in ns. Their sum is exact; most kernels
    /// split it by sampling.
    pub user_ns: f64,
    /// Mean processor time in the kernel, in ns.
    pub system_ns: f64,
    /// The largest resident memory of any process of any run, in bytes. `None` if it is not above
    /// `memory_floor_bytes`.
    pub peak_memory_bytes: Option<u64>,
    /// The kernel counts the memory of the starting process, too: a peak at or below this many
    /// bytes is not known. `None` if this number is not known either.
    pub memory_floor_bytes: Option<u64>,
    /// Mean number of page faults without reading from storage.
    pub minor_faults: f64,
    /// Mean number of page faults that read from storage.
    pub major_faults: f64,
    /// Mean number of context switches.
    pub switches: f64,
    /// Number of runs by how they ended: `0`, `1`, `SIGSEGV`.
    pub ends: BTreeMap<String, u64>,
    /// The exit status of each run; `None` for a run that a signal ended. Absent if all are 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Option<i32>>,
    /// The ratio to the reference, by default the fastest command of the run. `None` for the
    /// reference itself.
    #[serde(default)]
    pub to_reference: Option<PairedRatio>,
    /// The wall-clock time of each run, in ns, the shell included. Absent without `--raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "array")]
    pub wall_ns: Vec<f64>,
    /// The wall-clock times of the empty shell, in ns. Absent without `--raw` or without a shell.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "array")]
    pub shell_ns: Vec<f64>,
}

/// The median over the rounds of the ratio of two commands' times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PairedRatio {
    /// The name of the reference.
    pub reference: String,
    /// This command's time divided by that of the reference.
    pub ratio: f64,
    /// Distribution-free 95 % confidence interval of the ratio.
    pub interval: [f64; 2],
}
