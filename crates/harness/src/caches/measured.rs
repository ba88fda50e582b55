//! The sizes of the data caches by the latency of loads, measured once on each machine. The sizes
//! that a system reports may be those of a cache that a virtual machine shares with many others.

use std::path::Path;

use crate::caches::{caches, points};
use yamba_record::Machine;
use yamba_record::event::Curve;
use yamba_record::machine::{MeasuredCache, MeasuredCaches};

use crate::kept_file::{self, Kind};

/// Sizes of another kind of curve say nothing.
const KIND: Kind = Kind { name: "caches", version: 1 };

/// The caches that an earlier run measured on this machine.
#[must_use]
pub fn kept_caches(folder: &Path, machine: &Machine) -> Option<MeasuredCaches> {
    let kept: MeasuredCaches = kept_file::read(folder, KIND, machine)?;
    let is_sound = |cache: &MeasuredCache| cache.bytes > 0.0 && cache.latency_ns > 0.0;
    kept.levels.iter().all(is_sound).then_some(kept)
}

/// Keeps the caches for later runs.
pub(crate) fn keep(folder: &Path, machine: &Machine, found: &MeasuredCaches) {
    kept_file::write(folder, KIND, machine, found);
}

/// Curves that a run measures at most until they show the caches. Each takes about a second, and a
/// neighbour may be beside it.
pub(crate) const MOST_CURVES: usize = 5;

/// The caches by the latest of these curves, or else by all together.
pub(crate) fn hardware(
    curves: &[Curve],
    quiet_width: Option<f64>,
    machine: &Machine,
    unix_s: f64,
) -> Option<MeasuredCaches> {
    let latest = &curves[curves.len().saturating_sub(1)..];
    let mut choices = [latest, curves].into_iter();
    choices.find_map(|some| levels_in(some, quiet_width, machine, unix_s))
}

/// The caches by these curves, measured at `unix_s`. `quiet_width` is that of the processor.
///
/// `None` if they show fewer levels than the machine reports: the largest buffer may lie
/// within a cache. Also `None` if a neighbour may have left less of a cache: buffers must not be
/// taken for larger than a cache because of that.
fn levels_in(
    curves: &[Curve],
    quiet_width: Option<f64>,
    machine: &Machine,
    unix_s: f64,
) -> Option<MeasuredCaches> {
    let curves: Vec<_> = curves.iter().map(|curve| points(curve, quiet_width)).collect();
    let found = caches(&curves);
    if found.levels.len() < reported_levels(machine) || found.levels.iter().any(|l| l.is_contended)
    {
        return None;
    }
    let levels = found
        .levels
        .iter()
        .map(|level| MeasuredCache { bytes: level.bytes, latency_ns: level.latency_ns });
    Some(MeasuredCaches { levels: levels.collect(), memory_ns: found.memory_ns?, unix_s })
}

/// The number of levels of data caches, at least one.
fn reported_levels(machine: &Machine) -> usize {
    let reported = machine.details.iter().flat_map(|d| &d.caches);
    let data = reported.filter(|c| c.kind != "instruction");
    data.map(|c| c.level).max().unwrap_or(1) as usize
}

#[cfg(test)]
mod tests {
    use yamba_record::Event;
    use yamba_record::machine::details::Cache;

    use super::*;
    use crate::kept_file::tests::machine;

    const CURVE: &str = include_str!("../../../../tests/records/cache-curve.json");

    /// The recorded curve has three levels. Its processor has 32 KiB, 1 MiB and a part of 32 MiB.
    fn recorded() -> Curve {
        let Event::Curve(curve) = serde_json::from_str(CURVE).unwrap() else {
            panic!("{CURVE}");
        };
        curve
    }

    fn with_levels(levels: u64) -> Machine {
        let mut machine = machine("family 25 model 17", "x86_64");
        let cache = |level| Cache { level, kind: "unified".to_owned(), ..Cache::default() };
        machine.details.as_mut().unwrap().caches = (1..=levels).map(cache).collect();
        machine
    }

    fn found(curve: &Curve, levels: u64) -> Option<MeasuredCaches> {
        levels_in(std::slice::from_ref(curve), None, &with_levels(levels), 1.0)
    }

    #[test]
    fn recorded_curve_gives_its_caches() {
        let mut quiet = recorded();
        quiet.probes_before = vec![Some(1700.0); quiet.x.len()];
        quiet.probes_after.clone_from(&quiet.probes_before);
        let caches = found(&quiet, 3).unwrap();
        let sizes: Vec<f64> = caches.levels.iter().map(|l| l.bytes / 1024.0).collect();
        assert!((32.0..40.0).contains(&sizes[0]), "{sizes:?}");
        assert!((900.0..1200.0).contains(&sizes[1]), "{sizes:?}");
        assert!((8e3..33e3).contains(&sizes[2]), "{sizes:?}");
        assert!(caches.memory_ns > 2.0 * caches.levels[2].latency_ns);
        // The largest buffer would lie within the fourth level.
        assert_eq!(found(&quiet, 4), None);
        // A neighbour beside the passes at the end of a level.
        let mut beside = quiet.clone();
        for (probe, bytes) in beside.probes_before.iter_mut().zip(&quiet.x) {
            *probe = probe.map(|p| if *bytes > 4e6 { 1.6 * p } else { p });
        }
        assert_eq!(found(&beside, 3), None);
        // A later curve may be quiet, and so may be a part of each of two.
        let found_in = |curves: &[Curve]| hardware(curves, None, &with_levels(3), 1.0);
        assert_eq!(found_in(&[]), None);
        assert_eq!(found_in(&[beside.clone(), beside.clone()]), None);
        assert_eq!(found_in(&[beside.clone(), quiet.clone()]), found(&quiet, 3));
        let mut below = quiet.clone();
        for (probe, bytes) in below.probes_before.iter_mut().zip(&quiet.x) {
            *probe = probe.map(|p| if *bytes > 4e6 { p } else { 1.6 * p });
        }
        assert_eq!(found(&below, 3), None);
        assert_eq!(found_in(&[beside, below]), found(&quiet, 3));
    }

    #[test]
    fn kept_caches_are_read_again() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let here = with_levels(3);
        assert_eq!(kept_caches(folder, &here), None);
        let mut caches = MeasuredCaches {
            levels: vec![MeasuredCache { bytes: 32768.0, latency_ns: 1.1 }],
            memory_ns: 100.0,
            unix_s: 1.0,
        };
        keep(folder, &here, &caches);
        assert_eq!(kept_caches(folder, &here), Some(caches.clone()));
        caches.levels[0].bytes = 0.0;
        keep(folder, &here, &caches);
        assert_eq!(kept_caches(folder, &here), None);
    }
}
