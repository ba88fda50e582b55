//! Bounds of a run of a JVM.

use std::time::Duration;

/// Bounds of one run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall-clock time after which the JVM is killed.
    pub time: Duration,
    /// Resident memory above which it is killed, in bytes.
    pub resident_bytes: u64,
}

/// Bounds for applications.
pub const LIMITS: Limits = Limits { time: Duration::from_secs(300), resident_bytes: 6 << 30 };
