//! The collectors of the HotSpot JVM.

use serde::{Deserialize, Serialize};

/// A garbage collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Collector {
    Serial,
    Parallel,
    G1,
    Shenandoah,
    Z,
}

impl Collector {
    /// All collectors, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Serial,
        Self::Parallel,
        Self::G1,
        Self::Shenandoah,
        Self::Z,
    ];

    /// The name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Parallel => "parallel",
            Self::G1 => "g1",
            Self::Shenandoah => "shenandoah",
            Self::Z => "z",
        }
    }

    /// The collector of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The option of `java` that selects it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Serial => "-XX:+UseSerialGC",
            Self::Parallel => "-XX:+UseParallelGC",
            Self::G1 => "-XX:+UseG1GC",
            Self::Shenandoah => "-XX:+UseShenandoahGC",
            Self::Z => "-XX:+UseZGC",
        }
    }

    /// Whether a thread with this name in `/proc/PID/task/TID/comm` belongs to the collector. Serial collects in the VM thread.
    pub fn owns_thread(self, comm: &str) -> bool {
        let beginnings: &[&str] = match self {
            Self::Serial => &["VM Thread"],
            Self::Parallel => &["GC Thread#", "ParGC Thread#"],
            Self::G1 => &["GC Thread#", "G1 "],
            Self::Shenandoah => &["Shenandoah"],
            Self::Z => &["Z", "XWorker", "XD", "XStat", "RuntimeWorker"],
        };
        beginnings.iter().any(|b| comm.starts_with(b))
    }

    /// Whether a thread with this name only marks objects while the application runs. Of the collectors that mark apart from their collections, G1 is the only one.
    pub fn owns_marker(self, comm: &str) -> bool {
        let beginnings = ["G1 Main Marker", "G1 Conc#"];
        self == Self::G1 && beginnings.iter().any(|b| comm.starts_with(b))
    }

    /// Whether it collects while the application runs, without stopping it for longer than a moment.
    pub fn is_concurrent(self) -> bool {
        matches!(self, Self::Shenandoah | Self::Z)
    }
}
