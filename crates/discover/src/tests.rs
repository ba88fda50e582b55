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

/// A launch of four passes at each of these points, up to 3 % longer than `time`, with cycles of
/// 0.3 ns.
fn launch(random: &mut Rng, points: &[f64], time: impl Fn(f64) -> f64) -> Curve {
    let mut pass = |x: &f64| {
        let ns = time(*x) * (1.0 + 0.03 * random.f64());
        Pass { x: *x, ns, cycle_ns: Some(0.3), is_quiet: Some(true) }
    };
    (0..4).flat_map(|_| points.iter().map(&mut pass).collect::<Vec<_>>()).collect()
}

/// The parameter by three launches.
fn of_launches(name: &str, points: &[f64], time: impl Fn(f64) -> f64) -> Result<Found, String> {
    let mut random = Rng::with_seed(3);
    let curves = [(); 3].map(|()| launch(&mut random, points, &time));
    find(parameter(name).unwrap(), &curves)
}

/// The time is a difference, so that its noise is large.
#[test]
fn return_stacks_are_found() {
    let points: Vec<f64> = (4..96).map(f64::from).collect();
    for entries in [12.0, 16.0, 32.0, 52.0] {
        let time = |x: f64| if x <= entries { 3.7 } else { 7.5 };
        let mut random = Rng::with_seed(9);
        let curves = [(); 3].map(|()| {
            let mut curve = launch(&mut random, &points, time);
            for pass in &mut curve {
                pass.ns *= 0.9 + 0.2 * random.f64();
            }
            curve
        });
        let found = find(parameter("returns.entries").unwrap(), &curves).unwrap();
        assert_eq!(found.value, entries, "{found:?}");
    }
    // A processor that predicts no address beyond: a call, and 0.5 and then 1.5 mispredictions.
    let found = of_launches("returns.entries", &points, |x| if x <= 32.0 { 3.0 } else { 6.8 });
    assert_eq!(found.unwrap().value, 32.0);
    let reason = of_launches("returns.entries", &points, |_| 3.7).unwrap_err();
    assert!(reason.starts_with("the curve has no step"), "{reason}");
}

/// A level of translations with sets, and one without.
#[test]
fn ways_of_translations_are_found() {
    let points: Vec<f64> = (1..24).chain((24..=144).step_by(8)).map(f64::from).collect();
    for (ways, miss) in [(4.0, 3.0), (6.0, 3.0), (16.0, 3.0), (64.0, 14.0), (96.0, 14.0)] {
        // A set of the second level holds twelve.
        let time = |x: f64| {
            if x <= ways {
                1.1
            } else if x <= 12.0 {
                miss
            } else {
                14.0
            }
        };
        let found = of_launches("tlb1.ways", &points, time).unwrap();
        assert_eq!(found.value, ways, "{found:?}");
    }
    let reason = of_launches("tlb1.ways", &points, |_| 1.1).unwrap_err();
    assert_eq!(reason, "the curve has no step up to 144");
}

/// The share of misses in a cyclic visit of `lines` lines of a cache with `ways` ways in each of 64
/// sets, which replaces the oldest line or a random one.
fn cyclic_misses(lines: f64, ways: f64, is_random: bool) -> f64 {
    let of_set = |lines: f64| {
        if lines <= ways {
            0.0
        } else if is_random {
            // A line stays unless one of the misses between two visits replaces it.
            (0..200).fold(1.0, |misses, _| 1.0 - (1.0 - 1.0 / ways).powf(lines * misses))
        } else {
            1.0
        }
    };
    let each = lines / 64.0;
    let (few, more) = (each.floor(), each.floor() + 1.0);
    let share = each - few;
    ((1.0 - share) * few * of_set(few) + share * more * of_set(more)) / each
}

/// Whichever lines a cache replaces, its last full size is found.
#[test]
fn ends_of_instruction_caches_are_found() {
    let octaves = 13..19;
    let points: Vec<f64> =
        octaves.flat_map(|o| (8..16).map(move |e| f64::from(e << (o - 3)))).collect();
    for (ways, is_random) in [(4.0, true), (8.0, true), (8.0, false), (16.0, false)] {
        for rise in [0.2, 0.5, 2.0] {
            let time = |x: f64| 13.0 * (1.0 + rise * cyclic_misses(x / 64.0, ways, is_random));
            let found = of_launches("l1i.size", &points, time).unwrap();
            assert_eq!(found.value, 4096.0 * ways, "{is_random} {rise} {found:?}");
            assert!(found.interval[1] <= 1.26 * found.value, "{found:?}");
        }
    }
    let reason = of_launches("l1i.size", &points, |_| 13.0).unwrap_err();
    assert!(reason.starts_with("the time does not rise"), "{reason}");
}

/// A step by less than the stages that decode a jump is a slower level of the buffer.
#[test]
fn targets_are_known_until_jumps_wait_for_the_decoder() {
    let mut points = vec![16.0_f64];
    while points[points.len() - 1] < 32768.0 {
        points.push((points[points.len() - 1] * 17.0 / 16.0).ceil());
    }
    let time = |ends: [(f64, f64); 3]| {
        move |x: f64| 0.3 * ends.iter().find(|(end, _)| x <= *end).map_or(16.0, |e| e.1)
    };
    let known = time([(1030.0, 0.5), (4096.0, 1.03), (1e9, 1.4)]);
    let reason = of_launches("branch.targets", &points, known).unwrap_err();
    assert!(reason.starts_with("the time rises by less than 5 cycles"), "{reason}");
    let forgotten = time([(128.0, 1.0), (5000.0, 2.0), (12000.0, 3.5)]);
    let found = of_launches("branch.targets", &points, forgotten).unwrap();
    assert!((11000.0..12000.0).contains(&found.value), "{found:?}");
    let late = time([(128.0, 1.0), (5000.0, 2.0), (24000.0, 3.5)]);
    let reason = of_launches("branch.targets", &points, late).unwrap_err();
    assert!(reason.starts_with("the time still rises in the last octave"), "{reason}");
    // Some sets of the buffer are full before the others.
    let spread = |x: f64| 0.3 * (2.0 + 11.0 * misses_of_random_sets(x, 12288.0, 12.0));
    let found = of_launches("branch.targets", &points, spread).unwrap();
    assert!((found.value / 12288.0 - 1.0).abs() <= 0.08, "{found:?}");
}

/// The share of misses if `x` entries are visited in turn, and each is in a random one of the sets
/// of `ways` entries, which replace the oldest entry: an entry stays if its set has at most `ways`.
fn misses_of_random_sets(x: f64, entries: f64, ways: f64) -> f64 {
    let others = x * ways / entries;
    let (mut term, mut fewer) = ((-others).exp(), 0.0);
    for n in 0..ways as u32 {
        fewer += term;
        term *= others / f64::from(n + 1);
    }
    1.0 - fewer
}

/// The points of `pages`.
fn page_numbers() -> Vec<f64> {
    (3..13).flat_map(|octave| (8..16).map(move |e| f64::from(e << octave) / 8.0)).collect()
}

/// Whatever a second level of translations does, its number of entries is right or has no value.
/// Kind 0 has a sharp end, 1 selects sets at random, and 2 replaces entries at random. The points
/// reach more than an octave beyond the end of all of them.
#[test]
fn second_levels_of_translations_are_right_or_unknown() {
    let mut random = Rng::with_seed(5);
    let points = page_numbers();
    let mut found_of = [[0; 3]; 3];
    let mut all_of = [[0; 3]; 3];
    for trial in 0..300 {
        let entries = 512.0 + 2300.0 * random.f64();
        let place = random.usize(0..3);
        let ways = [8.0, 12.0, 16.0][place];
        let kind = trial % 3;
        all_of[kind][place] += 1;
        let misses = |x: f64| match kind {
            0 => f64::from(u8::from(x > entries)),
            1 => misses_of_random_sets(x, entries, ways),
            _ => cyclic_misses(64.0 * x / entries * ways, ways, true),
        };
        let walk = 10.0 + 30.0 * random.f64();
        let time = |x: f64| {
            let first = if x <= 96.0 { 1.7 } else { 4.0 };
            first + walk * misses(x) * (1.0 + 0.1 * (x / entries).max(1.0).log2())
        };
        if let Ok(found) = of_launches("tlb2.entries", &points, time) {
            let [low, high] = found.interval;
            assert!((low..=high).contains(&entries), "{kind} {entries} {ways} {found:?}");
            found_of[kind][place] += 1;
            // Neighbouring points are 6 to 12 % apart.
            let error = (found.value / entries - 1.0).abs();
            assert!(error <= 0.13, "{kind} {entries} {ways} {found:?}");
        }
    }
    let is_share = |kind: usize, place: usize, percent: usize| {
        100 * found_of[kind][place] >= percent * all_of[kind][place] && all_of[kind][place] >= 20
    };
    let counts = format!("{found_of:?} of {all_of:?}");
    assert!((0..3).all(|place| is_share(0, place, 95)), "{counts}");
    // The climb of random sets is short enough only with many ways.
    assert!(is_share(1, 2, 30) && found_of[1][0] == 0, "{counts}");
    // That of random replacement never is.
    assert_eq!(found_of[2], [0; 3], "{counts}");
}

/// Where parts of one huge page miss, the processor holds translations of small ones.
#[test]
fn huge_pages_of_a_host_with_small_ones_are_refused() {
    let mut points: Vec<f64> = (4..160).map(f64::from).collect();
    points.push(1000.0);
    let time = |reference: f64| {
        move |x: f64| match x {
            1000.0 => reference,
            x if x <= 32.0 => 1.7,
            _ => 4.0,
        }
    };
    let found = of_launches("tlb1.huge_entries", &points, time(1.7)).unwrap();
    assert_eq!(found.value, 32.0);
    let reason = of_launches("tlb1.huge_entries", &points, time(4.0)).unwrap_err();
    assert_eq!(reason, "parts of one huge page miss, too: the host gives small pages");
}

/// Lines of the second cache, whose first eight are in the first one. With pages of the host that
/// are small, some of them select other sets: the step of a Skylake with 16 ways was at 19 lines.
#[test]
fn ways_of_second_cache_need_huge_pages_of_the_host() {
    let mut points: Vec<f64> = (1..=40).map(f64::from).collect();
    points.extend([1000.0, 1001.0]);
    let time = |ways: f64, parts: f64| {
        move |x: f64| match x {
            1001.0 => parts,
            x if x <= 8.0 => 1.7,
            1000.0 => 5.9,
            x if x <= ways => 5.9,
            _ => 25.0,
        }
    };
    assert_eq!(of_launches("l2.ways", &points, time(16.0, 1.7)).unwrap().value, 16.0);
    let reason = of_launches("l2.ways", &points, time(19.0, 5.4)).unwrap_err();
    assert_eq!(reason, "parts of one huge page miss, too: the host gives small pages");
    let reason = of_launches("l2.ways", &points, time(40.0, 1.7)).unwrap_err();
    assert_eq!(reason, "no load takes longer than one that hits: the lines share no set");
}

/// The time of a chain is a clock rate only where it takes a cycle, and nothing competes with it.
#[test]
fn clock_beside_vectors_is_no_conflict_of_units() {
    let of = |alone: f64, wide: f64, narrow: f64| {
        let time = move |x: f64| 0.3 * [alone, wide, narrow][x as usize - 1];
        of_launches("clock.wide_vectors", &[1.0, 2.0, 3.0], time)
    };
    let found = of(1.0, 1.25, 1.0).unwrap();
    assert!((found.value * 0.3 * 1.25 - 1.0).abs() <= 0.03, "{found:?}");
    assert!(of(1.0, 1.0, 1.0).is_ok());
    let reason = of(1.0, 1.25, 1.25).unwrap_err();
    assert!(reason.starts_with("the chain and the vectors compete"), "{reason}");
    let reason = of(1.1, 1.25, 1.1).unwrap_err();
    assert!(reason.starts_with("the chain alone takes 1.1"), "{reason}");
    // A curve of an earlier version has no control.
    let time = |x: f64| 0.3 * if x < 2.0 { 1.0 } else { 1.25 };
    let reason = of_launches("clock.wide_vectors", &[1.0, 2.0], time).unwrap_err();
    assert_eq!(reason, "the curve has no point 3");
}

/// The middle of a gradual climb counts, with the interval of the climb.
#[test]
fn gradual_climbs_have_wide_intervals() {
    let points: Vec<f64> = (8..69).map(|i| (f64::from(i) / 4.0).exp2().round()).collect();
    let time = |x: f64| 1.0 + 13.0 / (1.0 + (25000.0 / x).powi(4));
    let found = of_launches("branch.pattern", &points, time).unwrap();
    let [low, high] = found.interval;
    assert!((19000.0..=27000.0).contains(&found.value), "{found:?}");
    assert!(low < 20000.0 && high > 30000.0 && high < 3.0 * low, "{found:?}");
    // A second predictor takes a cycle longer, from a period of 500 on.
    let of_two = |end: f64| {
        let slower = |x: f64| 0.35 / (1.0 + (500.0 / x).powi(3));
        let missed = move |x: f64| 2.4 / (1.0 + (end / x).powi(8));
        of_launches("branch.pattern", &points, |x| 0.44 + slower(x) + missed(x))
    };
    let found = of_two(25000.0).unwrap();
    assert!((21000.0..=27000.0).contains(&found.value), "{found:?}");
    let reason = of_two(1e9).unwrap_err();
    assert!(reason.starts_with("the time rises by less than 3 cycles"), "{reason}");
    let reason = of_two(110_000.0).unwrap_err();
    assert!(reason.starts_with("the time still rises in the last octave"), "{reason}");
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

/// A competitor that takes a part of a cache lengthens some points before its end.
#[test]
fn steps_after_disturbed_points_are_refused() {
    let points: Vec<f64> = (30..56).map(|i| (f64::from(i) / 2.0).exp2().round()).collect();
    let (first, second, third) = (points[2], points[8], points[16]);
    let time = move |x: f64| match x {
        x if x <= first => 1.0,
        x if x <= second => 3.5,
        x if x <= third => 13.0,
        _ => 150.0,
    };
    let found = of_launches("l3.size", &points, time).unwrap();
    assert_eq!(found.value, third);
    let disturbed = [points[13], points[14]];
    let with = move |x: f64| if disturbed.contains(&x) { 50.0 } else { time(x) };
    let reason = of_launches("l3.size", &points, with).unwrap_err();
    assert!(reason.starts_with("the step lies anywhere from"), "{reason}");
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

/// A curve over the number of processors has one point on one processor.
#[test]
fn bandwidth_of_one_processor_is_found() {
    let bandwidth = parameter("memory.bandwidth").unwrap();
    let pass = Pass { x: 1.0, ns: 64.0, cycle_ns: Some(0.3), is_quiet: Some(true) };
    let found = find(bandwidth, &[vec![pass; 8], vec![pass; 8]]).unwrap();
    assert!((found.value - 16_000.0).abs() < 1e-6, "{found:?}");
}
