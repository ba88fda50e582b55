//! Simulated curves with known caches, and a recorded one.

use fastrand::Rng;
use yamba_discover::Pass;
use yamba_record::Event;

use super::*;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// How a cache gives way to a buffer that exceeds it.
#[derive(Clone, Copy)]
enum Edge {
    /// It keeps nothing of the buffer.
    Sharp,
    /// It replaces lines at random: the share of hits h in a repeated order of all lines is exp(-(1
    /// - h) size / capacity).
    Random,
}

struct Machine {
    /// Capacity and latency of each cache.
    caches: &'static [(f64, f64)],
    memory_ns: f64,
    edge: Edge,
}

const ZEN: Machine = Machine {
    caches: &[(32.0 * KIB, 1.08), (MIB, 3.8), (32.0 * MIB, 14.0)],
    memory_ns: 110.0,
    edge: Edge::Sharp,
};

impl Machine {
    fn latency(&self, bytes: f64) -> f64 {
        let mut ns = self.memory_ns;
        for (capacity, own) in self.caches.iter().rev() {
            let hits = hits(self.edge, bytes / capacity);
            ns = hits * own + (1.0 - hits) * ns;
        }
        ns
    }

    /// A curve with `passes` passes of each size. `noise` is the relative noise of a pass, which
    /// only adds time.
    fn curve(&self, random: &mut Rng, passes: usize, noise: f64) -> Vec<Pass> {
        let sizes = sizes().into_iter().flat_map(|b| vec![b; passes]);
        let pass = |bytes: f64| Pass {
            x: bytes,
            ns: self.latency(bytes) * (1.0 + noise * random.f64()),
            cycle_ns: None,
            is_quiet: Some(true),
        };
        sizes.map(pass).collect()
    }
}

fn hits(edge: Edge, load: f64) -> f64 {
    if load <= 1.0 {
        return 1.0;
    }
    match edge {
        Edge::Sharp => 0.0,
        // The fixed point is reached from below: h = 1 is the other one.
        Edge::Random => (0..500).fold(0.0, |h: f64, _| (-(1.0 - h) * load).exp()),
    }
}

/// From 4 KiB to 1 GiB: four an octave up to 4 MiB, then two.
fn sizes() -> Vec<f64> {
    let octave = |n: i32| {
        let step = if n < 10 { 1 } else { 2 };
        let quarters = (4..8).step_by(step);
        quarters.map(move |q| KIB * 2_f64.powi(n) * f64::from(q))
    };
    let below = (0..18).flat_map(octave);
    below.chain([1024.0 * MIB]).collect()
}

#[track_caller]
fn has_sizes(found: &Caches, expected: &[f64], most_ratio: f64) {
    let sizes: Vec<f64> = found.levels.iter().map(|l| l.bytes).collect();
    assert_eq!(sizes.len(), expected.len(), "{found:?}");
    for (size, expected) in sizes.iter().zip(expected) {
        let ratio = size / expected;
        assert!((0.85..most_ratio).contains(&ratio), "{size} instead of {expected}: {found:?}");
    }
}

#[test]
fn sharp_edges_are_found_within_a_step_of_sizes() {
    let machines = [
        ZEN,
        Machine {
            caches: &[(48.0 * KIB, 1.3), (2.0 * MIB, 4.2), (480.0 * MIB, 32.0)],
            memory_ns: 120.0,
            ..ZEN
        },
        Machine { caches: &[(64.0 * KIB, 1.2), (512.0 * KIB, 4.0)], memory_ns: 90.0, ..ZEN },
    ];
    let mut random = Rng::with_seed(1);
    for machine in machines {
        for noise in [0.0, 0.05, 0.3] {
            let curves = vec![machine.curve(&mut random, 8, noise)];
            let found = caches(&curves);
            let expected: Vec<f64> = machine.caches.iter().map(|c| c.0).collect();
            has_sizes(&found, &expected, 1.3);
            let memory = found.memory_ns.unwrap() / machine.memory_ns;
            assert!((0.99..1.2).contains(&memory), "{found:?}");
            for (level, (_, ns)) in found.levels.iter().zip(machine.caches) {
                assert!((0.99..1.2).contains(&(level.latency_ns / ns)), "{found:?}");
                assert!(level.interval[0] <= level.bytes && level.bytes <= level.interval[1]);
                assert!(!level.is_contended);
            }
        }
    }
}

#[test]
fn caches_that_replace_at_random_end_gradually() {
    let machine = Machine {
        caches: &[(48.0 * KIB, 1.3), (2.0 * MIB, 4.2), (100.0 * MIB, 32.0)],
        memory_ns: 120.0,
        edge: Edge::Random,
    };
    let mut random = Rng::with_seed(2);
    let found = caches(&[machine.curve(&mut random, 8, 0.1)]);
    has_sizes(&found, &[48.0 * KIB, 2.0 * MIB, 100.0 * MIB], 1.5);
}

/// Small pages: beyond the reach of the first buffer of translations each load takes longer, beyond
/// that of the second one again.
#[test]
fn missed_translations_are_no_level() {
    let mut random = Rng::with_seed(3);
    let mut curve = ZEN.curve(&mut random, 8, 0.05);
    for point in &mut curve {
        if point.x > 288.0 * KIB {
            point.ns += 1.8;
        }
        if point.x > 12.0 * MIB {
            point.ns += 9.0;
        }
    }
    let truth: Vec<f64> = ZEN.caches.iter().map(|c| c.0).collect();
    has_sizes(&caches(&[curve]), &truth, 1.3);
}

/// A neighbour takes half of each cache and lengthens each load, in nine of ten passes.
#[test]
fn contended_passes_do_not_count() {
    let halved = Machine {
        caches: &[(16.0 * KIB, 1.6), (512.0 * KIB, 5.7), (16.0 * MIB, 20.0)],
        memory_ns: 140.0,
        edge: Edge::Random,
    };
    let mut random = Rng::with_seed(4);
    let mut curve = ZEN.curve(&mut random, 20, 0.05);
    for point in &mut curve {
        if random.f64() < 0.9 {
            point.ns = halved.latency(point.x);
            point.is_quiet = Some(false);
        }
    }
    let found = caches(&[curve.clone()]);
    has_sizes(&found, &[32.0 * KIB, MIB, 32.0 * MIB], 1.3);
    for point in &mut curve {
        point.ns = halved.latency(point.x);
        point.is_quiet = Some(false);
    }
    let found = caches(&[curve]);
    has_sizes(&found, &[16.0 * KIB, 512.0 * KIB, 16.0 * MIB], 1.5);
    assert!(found.levels.iter().all(|l| l.is_contended));
}

/// Curves beside a neighbour neither move the size nor widen its interval, if two others are quiet.
#[test]
fn contended_curves_do_not_count_beside_quiet_ones() {
    let mut random = Rng::with_seed(6);
    let mut with_quiet = |quiet: usize| {
        let mut curves: Vec<_> = (0..6).map(|_| ZEN.curve(&mut random, 4, 0.1)).collect();
        for point in curves[quiet..].iter_mut().flatten() {
            point.ns = ZEN.latency(2.0 * point.x);
            point.is_quiet = Some(false);
        }
        caches(&curves)
    };
    let found = with_quiet(2);
    has_sizes(&found, &[32.0 * KIB, MIB, 32.0 * MIB], 1.3);
    for level in found.levels {
        assert!(level.interval[1] / level.interval[0] < 1.1, "{level:?}");
        assert_eq!(level.of_curves.iter().flatten().count(), 2);
        assert!(!level.is_contended);
    }
    assert!(with_quiet(1).levels.iter().all(|l| l.is_contended));
}

/// The interval shows whether the curves agree.
#[test]
fn interval_covers_the_curves() {
    let mut random = Rng::with_seed(5);
    let alike: Vec<_> = (0..6).map(|_| ZEN.curve(&mut random, 4, 0.1)).collect();
    let found = caches(&alike);
    let third = &found.levels[2];
    assert!(third.interval[1] / third.interval[0] < 1.1, "{third:?}");
    assert_eq!(third.of_curves.len(), 6);

    // Each launch gets another part of the shared cache.
    let parts = [4.0, 8.0, 12.0, 16.0, 24.0, 32.0];
    let part = |mib: f64| {
        let mut curve = ZEN.curve(&mut random, 4, 0.0);
        let is_out = |p: &&mut Pass| p.x > mib * MIB;
        curve.iter_mut().filter(is_out).for_each(|p| p.ns = 110.0);
        curve
    };
    let different: Vec<_> = parts.into_iter().map(part).collect();
    let third = &caches(&different).levels[2];
    assert!(third.interval[1] / third.interval[0] > 1.5, "{third:?}");
}

#[test]
fn curve_without_plateaus_has_no_caches() {
    assert_eq!(caches(&[]), Caches::default());
    let flat = |bytes: f64| Pass { x: bytes, ns: 2.0, cycle_ns: None, is_quiet: None };
    let found = caches(&[sizes().into_iter().map(flat).collect()]);
    assert_eq!((found.levels, found.memory_ns), (Vec::new(), Some(2.0)));
}

/// Recorded on a virtual machine of a Zen 4 host with neighbours: the first cache has 32 KiB, the
/// second 1 MiB. The third has 32 MiB, of which the machine gets a part.
#[test]
fn recorded_curve_of_a_busy_host() {
    let text = include_str!("../../../../tests/records/cache-curve.json");
    let Event::Curve(curve) = serde_json::from_str(text).unwrap() else {
        panic!("{text}");
    };
    let points = points(&curve, None);
    let contended = points.iter().filter(|p| p.is_quiet == Some(false));
    let share = contended.count() as f64 / points.len() as f64;
    assert!((0.7..0.95).contains(&share), "{share}");
    let found = caches(&[points]);
    assert_eq!(found.levels.len(), 3, "{found:?}");
    let within = |place: usize, low: f64, high: f64| {
        let bytes = found.levels[place].bytes;
        assert!((low..high).contains(&bytes), "{found:?}");
    };
    within(0, 32.0 * KIB, 40.0 * KIB);
    within(1, 0.85 * MIB, 1.2 * MIB);
    within(2, 4.0 * MIB, 32.0 * MIB);
    assert!((found.levels[0].latency_ns - 1.08).abs() < 0.05, "{found:?}");
}

/// The lowest latencies of a whole run on a virtual Granite Rapids, up to 32 MiB. The first level
/// has 48 KiB, the second one 2 MiB.
#[test]
fn caches_of_granite_rapids_are_found() {
    let recorded = [
        (16, 1.038),
        (20, 1.038),
        (24, 1.039),
        (28, 1.038),
        (32, 1.038),
        (40, 1.041),
        (48, 1.109),
        (56, 3.724),
        (64, 3.727),
        (80, 3.726),
        (96, 3.726),
        (128, 3.726),
        (192, 3.726),
        (256, 3.726),
        (320, 3.727),
        (384, 3.731),
        (448, 3.981),
        (512, 4.171),
        (640, 4.381),
        (768, 4.576),
        (896, 4.718),
        (1024, 4.799),
        (1280, 4.937),
        (1536, 7.832),
        (1792, 10.215),
        (2048, 12.369),
        (2560, 20.557),
        (3072, 23.24),
        (3584, 28.25),
        (4096, 29.763),
        (6144, 30.984),
        (8192, 32.082),
        (12288, 35.64),
        (16384, 37.455),
        (24576, 39.639),
        (32768, 41.008),
    ];
    let point = |(kib, ns): (u32, f64)| Pass {
        x: f64::from(kib) * KIB,
        ns,
        cycle_ns: None,
        is_quiet: Some(true),
    };
    let found = caches(&[recorded.map(point).to_vec()]);
    has_sizes(&found, &[48.0 * KIB, 2.0 * MIB], 1.1);
}
