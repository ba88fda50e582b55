//! Class metadata that reaches a threshold causes a collection, also with an empty heap.

use super::Setting;

/// `-XX:MetaspaceSize` by default, in bytes.
const FIRST_THRESHOLD_BYTES: f64 = 21.0 * 1024.0 * 1024.0;
/// Share of metadata that is free after the threshold was raised (`MinMetaspaceFreeRatio`).
const FREE_SHARE: f64 = 0.4;

pub(super) struct Metaspace {
    threshold_bytes: f64,
}

impl Metaspace {
    pub(super) fn new() -> Self {
        Self { threshold_bytes: FIRST_THRESHOLD_BYTES }
    }

    /// Whether the threshold is exceeded. If so, raises it.
    pub(super) fn collects(&mut self, used_bytes: f64) -> bool {
        let reached = used_bytes > self.threshold_bytes;
        if reached {
            self.threshold_bytes = used_bytes / (1.0 - FREE_SHARE);
        }
        reached
    }
}

/// The first census between `from` and `to` at which class metadata reaches its threshold.
pub(super) fn due(setting: &Setting, metaspace: &mut Metaspace, from: f64, to: f64) -> Option<f64> {
    let moments = setting.survival.moments(from, to);
    moments.into_iter().find(|at| metaspace.collects(setting.survival.metaspace_bytes(*at)))
}
