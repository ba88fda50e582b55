//! The machine of a run: a few main facts, and all other system facts in [`details`].

pub mod details;
mod parameters;

pub use details::Details;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hardware::KeptParameter;

/// The main facts of a machine. No field names the machine or its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Machine {
    /// The instruction set.
    pub isa: String,
    /// The operating system.
    pub system: String,
    /// The version of the operating system.
    pub kernel: String,
    /// The processor's model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cpus: u64,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of a page.
    pub page_size: u64,
    /// Whether the run had every privilege of root.
    pub root: bool,
    /// Whether a hypervisor was detected.
    pub virtual_machine: Option<bool>,
    /// The file system of scratch files.
    pub scratch: Option<Scratch>,
    /// The width of an undisturbed core by processor, in cycles of 10 000 instructions of the width
    /// probe.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quiet_widths: BTreeMap<String, f64>,
    /// Entries of the whole reorder buffer of a processor's core, by the number of the processor. A
    /// probe that finds fewer shows a neighbour.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole_buffers: BTreeMap<String, u64>,
    /// The use of each processor's core by another hardware thread, by processor. In the document
    /// of `yamba machine`, as the latest run found it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contention: BTreeMap<String, Contention>,
    /// Which processors share a core, by a test with a competitor, of this run or an earlier one.
    /// `None` if nothing was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_pairs: Option<CorePairs>,
    /// The data caches by the latency of loads, as this run or an earlier one measured them. `None`
    /// if no run of the whole suite has measured them without a neighbour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_caches: Option<MeasuredCaches>,
    /// The findings of `yamba hardware` on this machine. The document of a run has the sizes of
    /// caches from which its sizes of buffers come; it has none if nothing was found before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardware: Vec<KeptParameter>,
    /// The Java virtual machine that the benchmarks ran in. `None`: they are no Java.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java: Option<Java>,
    /// All other system facts. `None` in documents of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

/// A Java virtual machine, with its settings that figures depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Java {
    /// Its vendor.
    pub vendor: String,
    /// Its version with the number of the build.
    pub version: String,
    /// Its name: `OpenJDK 64-Bit Server VM`.
    pub vm: String,
    /// The garbage collectors, as the machine names them.
    pub collector: String,
    /// The options that begin with `-X`, except those for sizes of memory and those that only
    /// report.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl Java {
    /// The options that figures depend on: those that begin with `-X`, except those for sizes of
    /// memory and those that only report.
    pub fn deciding(options: &[String]) -> Vec<String> {
        const OTHERS: [&str; 7] = [
            "-Xms",
            "-Xmx",
            "-Xss",
            "-Xlog",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+DebugNonSafepoints",
            "-XX:-DontCompileHugeMethods",
        ];
        let is_other = |option: &String| OTHERS.iter().any(|other| option.starts_with(other));
        let of_machine = options.iter().filter(|option| option.starts_with("-X"));
        of_machine.filter(|option| !is_other(option)).cloned().collect()
    }

    /// One line with all of it.
    pub fn describe(&self) -> String {
        let Java { vendor, version, vm, collector, .. } = self;
        let flags = self.flags.iter().map(|flag| format!(", {flag}"));
        format!("{vm} {version} of {vendor}, {collector}{}", flags.collect::<String>())
    }
}

/// How much of a run's time another hardware thread used the core of one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Contention {
    /// The share of the run's width probes that were lengthened, from 0 to 1.
    pub contended: f64,
    /// The mean share by which these probes were longer than a quiet one, from 0 to 1. Code that
    /// uses the whole width of the core takes that much longer, and other code less. `None`:
    /// unknown, as in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengthening: Option<f64>,
    /// The end of the run, in seconds since 1970.
    pub unix_s: f64,
}

/// Which processors share a core, by a test: a competitor on one hardware thread of a core leaves
/// half of its width to the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CorePairs {
    /// The tested pairs. On a machine of more than eight processors these are the pairs that the
    /// system takes for one core, and some others.
    pub pairs: Vec<CorePair>,
    /// The time of the test, in seconds since 1970.
    pub unix_s: f64,
}

/// One pair of [`CorePairs`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct CorePair {
    /// A processor.
    pub one: u64,
    /// The processor of the competitor.
    pub other: u64,
    /// Whether both share a core. `None` if neighbours hid it.
    pub shared: Option<bool>,
}

/// The data caches by a curve of load latency against buffer size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeasuredCaches {
    /// The levels, from the first.
    pub levels: Vec<MeasuredCache>,
    /// Latency of a load from memory, in ns.
    pub memory_ns: f64,
    /// The time of the measurement, in seconds since 1970.
    pub unix_s: f64,
}

/// One level of [`MeasuredCaches`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeasuredCache {
    /// The buffer size in bytes at which a third of the step to the next level is climbed.
    pub bytes: f64,
    /// Latency of a load within the level, in ns.
    pub latency_ns: f64,
}

impl Machine {
    /// Bytes of the largest data cache: as measured, or else as the system reports it. `None` if
    /// neither is known.
    #[must_use]
    pub fn last_cache_bytes(&self) -> Option<u64> {
        if let Some(measured) = &self.measured_caches {
            return Some(measured.largest());
        }
        let caches = self.details.iter().flat_map(|details| &details.caches);
        let of_data = caches.filter(|cache| cache.kind != "instruction");
        of_data.filter_map(|cache| cache.bytes).max()
    }
}

impl MeasuredCaches {
    /// Bytes of the largest level.
    #[must_use]
    pub fn largest(&self) -> u64 {
        let largest = self.levels.iter().map(|level| level.bytes);
        largest.fold(0.0, f64::max) as u64
    }
}

/// The file system of scratch files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scratch {
    /// Whether the file system is in memory, so that no read ever reaches storage.
    pub is_memory: bool,
    /// Read-ahead of the system, in bytes.
    pub read_ahead: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::details::{Fix, Limit, Unlimited};
    use super::*;

    #[test]
    fn document_of_older_or_newer_version_is_read() {
        let before = r#"{"isa":"x86_64","system":"linux","kernel":"6.1","cpu":null,"cpus":2,"memory":null,
            "page_size":4096,"root":false,"virtual_machine":null,"scratch":null}"#;
        let machine: Machine = serde_json::from_str(before).unwrap();
        assert_eq!(machine.details, None);
        let tomorrow = r#"{"version":2,"limits":{"open_files":1024},"colour":"grey"}"#;
        let details: Details = serde_json::from_str(tomorrow).unwrap();
        assert_eq!(details.limits.open_files, Some(Limit::At(1024)));
    }

    #[test]
    fn limits_and_fixes_have_plain_json() {
        let json = |limit: Limit| serde_json::to_string(&limit).unwrap();
        assert_eq!(json(Limit::At(64)), "64");
        assert_eq!(json(Limit::Not(Unlimited::Unlimited)), r#""unlimited""#);
        let fix = Fix::Command("swapoff -a".to_owned());
        assert_eq!(serde_json::to_string(&fix).unwrap(), r#"{"command":"swapoff -a"}"#);
    }
}
