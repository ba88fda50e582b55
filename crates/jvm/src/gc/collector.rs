//! The collectors of the HotSpot JVM.

use serde::{Deserialize, Serialize};

/// The work of one of a collector's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Collects, or does several sorts of work.
    Collects,
    /// Only marks objects while the application runs.
    Marks,
    /// Only refines cards while the application runs.
    Refines,
}

/// A garbage collector.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Collector {
    Serial,
    Parallel,
    G1,
    Shenandoah,
    Z,
}

impl Collector {
    /// All collectors, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Serial, Self::Parallel, Self::G1, Self::Shenandoah, Self::Z];

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

    /// The role of a thread with this name in `/proc/PID/task/TID/comm`. `None`: the thread does
    /// not belong to the collector. Serial collects in the VM thread. Only G1 has threads for
    /// marking and refinement that do nothing else.
    pub fn role(self, comm: &str) -> Option<Role> {
        let begins_with = |beginnings: &[&str]| beginnings.iter().any(|b| comm.starts_with(b));
        if self == Self::G1 && begins_with(&["G1 Main Marker", "G1 Conc#"]) {
            return Some(Role::Marks);
        }
        if self == Self::G1 && begins_with(&["G1 Refine"]) {
            return Some(Role::Refines);
        }
        let beginnings: &[&str] = match self {
            Self::Serial => &["VM Thread"],
            Self::Parallel => &["GC Thread#", "ParGC Thread#"],
            Self::G1 => &["GC Thread#", "G1 "],
            Self::Shenandoah => &["Shenandoah"],
            Self::Z => &["Z", "XWorker", "XD", "XStat", "RuntimeWorker"],
        };
        begins_with(beginnings).then_some(Role::Collects)
    }

    /// Whether it collects while the application runs, without stopping it for longer than a
    /// moment.
    pub fn is_concurrent(self) -> bool {
        matches!(self, Self::Shenandoah | Self::Z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of threads of JDK 17 and 25.
    #[test]
    fn threads_of_g1_have_roles() {
        let role = |comm| Collector::G1.role(comm);
        assert_eq!(role("GC Thread#1"), Some(Role::Collects));
        assert_eq!(role("G1 Service"), Some(Role::Collects));
        assert_eq!(role("G1 Main Marker"), Some(Role::Marks));
        assert_eq!(role("G1 Conc#0"), Some(Role::Marks));
        assert_eq!(role("G1 Refine#0"), Some(Role::Refines));
        assert_eq!(role("VM Thread"), None);
        assert_eq!(Collector::Serial.role("VM Thread"), Some(Role::Collects));
        assert_eq!(Collector::Parallel.role("G1 Refine#0"), None);
    }
}
