//! Synthetic curves of many shapes and noises.

use fastrand::Rng;

use super::*;

/// The points of a curve of buffer entries, about 2 % apart.
fn points() -> Vec<f64> {
    let mut points = vec![16.0];
    while points[points.len() - 1] < 1100.0 {
        let last = points[points.len() - 1];
        points.push((last + 4.0_f64.max(last / 50.0)).round());
    }
    points
}

/// The shape of a curve: its levels in ns, the last point of each but the last level, and the
/// number of points that a climb takes.
#[derive(Debug)]
struct Shape {
    levels: Vec<f64>,
    ends: Vec<f64>,
    climb: usize,
    /// The share of the first level by which the time rises up to 1000 entries.
    slope: f64,
}

impl Shape {
    fn random(random: &mut Rng, steps: usize) -> Shape {
        let mut levels = vec![20.0 + 200.0 * random.f64()];
        let mut ends = Vec::new();
        let mut least = 40.0;
        for step in 0..steps {
            let most = if step + 1 < steps { 300.0 } else { 800.0 };
            ends.push(least + (most - least) * random.f64());
            least = 1.6 * ends[step];
            levels.push(levels[step] * (1.4 + 0.8 * random.f64()));
        }
        Shape { levels, ends, climb: random.usize(0..3), slope: 1.5 * random.f64() }
    }

    fn time(&self, points: &[f64], place: usize) -> f64 {
        let mut time = self.levels[0] * (1.0 + self.slope * points[place] / 1000.0);
        for (step, end) in self.ends.iter().enumerate() {
            let first = points.partition_point(|x| x <= end);
            let climbed = (place + 1).saturating_sub(first) as f64 / (self.climb + 1) as f64;
            time += (self.levels[step + 1] - self.levels[step]) * climbed.clamp(0.0, 1.0);
        }
        time
    }

    /// A launch. A pass is up to `noise` longer, and one in ten is interrupted.
    fn launch(&self, random: &mut Rng, noise: f64) -> Curve {
        let points = points();
        let mut passes = Vec::new();
        for _ in 0..4 {
            for (place, x) in points.iter().enumerate() {
                let interrupted = if random.f64() < 0.1 { 1.0 + 3.0 * random.f64() } else { 1.0 };
                let ns = self.time(&points, place) * (1.0 + noise * random.f64()) * interrupted;
                passes.push(Pass { x: *x, ns, cycle_ns: Some(0.3), is_quiet: Some(true) });
            }
        }
        passes
    }
}

fn rob() -> &'static Parameter {
    parameter("rob.entries").unwrap()
}

#[test]
fn synthetic_steps_are_found_or_refused() {
    let mut random = Rng::with_seed(7);
    let (mut wrong, mut missed) = (0, 0);
    let trials = 2000;
    for trial in 0..trials {
        let steps = trial % 3;
        let shape = Shape::random(&mut random, steps);
        let noise = 0.05 * random.f64();
        let curves = [shape.launch(&mut random, noise), shape.launch(&mut random, noise)];
        match (find(rob(), &curves), steps) {
            (Ok(found), 1) => {
                let is_right = (found.value / shape.ends[0] - 1.0).abs() <= 0.06;
                wrong += usize::from(!is_right);
            }
            (Ok(_), _) => wrong += 1,
            (Err(_), 1) => missed += 1,
            (Err(_), _) => {}
        }
    }
    assert!(wrong * 100 <= trials, "{wrong} of {trials} are wrong");
    assert!(missed * 20 <= trials, "{missed} of {trials} are missed");
}

#[test]
fn passes_beside_a_neighbour_do_not_count() {
    let mut random = Rng::with_seed(1);
    let whole = Shape { levels: vec![100.0, 200.0], ends: vec![512.0], climb: 0, slope: 0.0 };
    let half = Shape { levels: vec![100.0, 200.0], ends: vec![256.0], climb: 0, slope: 0.0 };
    let quiet = whole.launch(&mut random, 0.01);
    let mut beside = half.launch(&mut random, 0.01);
    for pass in &mut beside {
        pass.is_quiet = Some(false);
    }
    let found = find(rob(), &[quiet.clone(), beside.clone()]).unwrap();
    assert!((500.0..=512.0).contains(&found.value), "{found:?}");
    // Launches beside the neighbour say nothing against the others.
    let several = [&quiet, &quiet, &beside, &beside, &beside, &beside, &beside].map(Clone::clone);
    let found = find(rob(), &several).unwrap();
    assert!((500.0..=512.0).contains(&found.value), "{found:?}");
    let reason = find(rob(), std::slice::from_ref(&beside)).unwrap_err();
    assert!(reason.starts_with("another hardware thread used the core: 0 %"), "{reason}");
    for pass in &mut beside {
        pass.is_quiet = None;
    }
    let reason = find(rob(), &[beside]).unwrap_err();
    assert!(reason.starts_with("it is not known"), "{reason}");
}

#[test]
fn capacities_are_found() {
    let mut random = Rng::with_seed(3);
    let code = parameter("l1i.size").unwrap();
    for trial in 0..30 {
        let capacity = 16e3 + 48e3 * random.f64();
        let rise = 0.2 + random.f64();
        let mut launch = || -> Curve {
            let mut passes = Vec::new();
            for place in 0..4 * 60 {
                let x = 8192.0 * (f64::from(place % 60) / 12.0).exp2();
                let misses = (1.0 - capacity / x).max(0.0);
                let ns = 13.0 * (1.0 + rise * misses) * (1.0 + 0.03 * random.f64());
                passes.push(Pass { x, ns, cycle_ns: Some(0.3), is_quiet: Some(true) });
            }
            passes
        };
        let found = find(code, &[launch(), launch(), launch()]).unwrap();
        assert!((found.value / capacity - 1.0).abs() < 0.1, "{trial}: {capacity} {found:?}");
    }
    let flat = |x: f64| Pass { x, ns: 13.0, cycle_ns: Some(0.3), is_quiet: Some(true) };
    let curve: Curve = (8..200).map(|kib| flat(f64::from(kib) * 1024.0)).collect();
    let reason = find(code, &[curve]).unwrap_err();
    assert!(reason.starts_with("the time does not rise"), "{reason}");
}

/// The end of a cache counts only where the climb is short, and launches agree.
#[test]
fn gradual_and_contradicting_steps_are_refused() {
    let size = parameter("l1d.size").unwrap();
    let curve = |points: &[(f64, f64)]| -> Curve {
        let pass = |(kib, ns): &(f64, f64)| Pass {
            x: 1024.0 * kib,
            ns: *ns,
            cycle_ns: None,
            is_quiet: Some(true),
        };
        points.iter().map(pass).collect()
    };
    let sharp = |end: f64| -> Curve {
        let points = (4..40).map(|i| {
            let kib = f64::from(i) * 4.0;
            (kib, if kib <= end { 1.7 } else { 5.3 })
        });
        curve(&points.collect::<Vec<_>>())
    };
    let found = find(size, &[sharp(48.0), sharp(48.0), sharp(48.0)]).unwrap();
    assert_eq!((found.value, found.interval), (49152.0, [49152.0, 53248.0]));
    let reason = find(size, &[sharp(32.0), sharp(48.0), sharp(64.0)]).unwrap_err();
    assert!(reason.starts_with("launches disagree"), "{reason}");
    let gradual = (4..40).map(|i| {
        let kib = f64::from(i) * 4.0;
        (kib, 1.7 + 3.6 * ((kib - 32.0) / 64.0).clamp(0.0, 1.0))
    });
    let reason = find(size, &[curve(&gradual.collect::<Vec<_>>())]).unwrap_err();
    assert!(reason.starts_with("the step lies anywhere"), "{reason}");
}

/// Where host pages are small, the latency rises in parts of a climb that look like levels.
#[test]
fn parts_of_a_climb_are_no_cache() {
    let size = parameter("l3.size").unwrap();
    let curve = |levels: &[f64]| -> Curve {
        let mut passes = Vec::new();
        for (level, ns) in levels.iter().enumerate() {
            for point in 0..6_u32 {
                let x = 32768.0 * (f64::from(6 * level as u32 + point) / 2.0).exp2();
                passes.push(Pass { x, ns: *ns, cycle_ns: None, is_quiet: None });
            }
        }
        passes
    };
    assert!(find(size, &[curve(&[1.7, 5.3, 24.0, 110.0])]).is_ok());
    let reason = find(size, &[curve(&[1.7, 5.3, 43.0, 66.0, 110.0])]).unwrap_err();
    assert_eq!(reason, "the time rises in 4 steps instead of 3");
}
