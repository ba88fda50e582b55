//! The caches of a machine from curves of load latency against buffer size.
//!
//! The lowest latency of each size counts, since disturbances only add time. Made monotone, the
//! curve has steps: each level of the hierarchy is a plateau, and a cache ends where a third of the
//! step to the next plateau is climbed.

use std::collections::BTreeMap;

use fastrand::Rng;
use yamba_stats::{Plateau, plateaus, quantile};

use yamba_discover::Pass;

/// Plateaus are flat within about this share.
const FLAT: f64 = 0.15;

/// Least ratio of the latencies of two levels. Neighbouring levels of processors differ by 2.5 and
/// more; a load that misses the buffer of address translations takes about half as long again.
const LEAST_STEP: f64 = 1.8;

/// The share of the step to the next level that is climbed at the end of a cache. A buffer of the
/// cache's size has some misses already, since its lines do not fill all sets alike: 0.03 of the
/// step with 48 KiB and 0.24 with 2 MiB (Granite Rapids), 0.48 with 1 MiB (Zen 4, a host with small
/// pages). A third finds these within an eighth.
const OF_STEP: f64 = 1.0 / 3.0;

/// A curve with a greater share of contended passes shows what the neighbour left of the caches. It
/// does not count alone while another curve is quieter.
const MOST_CONTENDED: f64 = 0.9;

const RESAMPLES: usize = 200;
const CONFIDENCE: f64 = 0.95;
const SEED: u64 = 1;

/// The data caches, and the memory behind them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caches {
    /// The levels, from the first.
    pub levels: Vec<CacheLevel>,
    /// Latency of a load from memory: that of the last plateau. If the largest buffer fits into a
    /// cache, this is the latency of that cache. `None` if the curve has no plateau.
    pub memory_ns: Option<f64>,
    /// The lowest latency in ns of each size in bytes, made monotone.
    pub curve: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CacheLevel {
    /// The buffer size at which a third of the step to the next level is climbed.
    pub bytes: f64,
    /// Latency of a load within the level.
    pub latency_ns: f64,
    /// Latency of a load within the next level, or from memory.
    pub next_ns: f64,
    /// The 95 % interval of `bytes` from resampled curves. For a single curve: the sizes between
    /// which the cache ends.
    pub interval: [f64; 2],
    /// The size in each curve alone. `None` if that curve does not pass a third of the step, or
    /// does not count because of neighbours.
    pub of_curves: Vec<Option<f64>>,
    /// Whether a neighbour may have left less of the cache: each pass at the end of the level is
    /// contended, or only one of several curves has enough quiet passes.
    pub is_contended: bool,
}

/// Infers the caches from all `curves` together. They have the same form but need not have the same
/// sizes.
pub fn caches(curves: &[Vec<Pass>]) -> Caches {
    let is_quieter = |curve: &Vec<Pass>| contended_share(curve) <= MOST_CONTENDED;
    let is_any_quieter = curves.iter().any(is_quieter);
    let alone = curves.iter().map(|curve| {
        let counts = is_quieter(curve) || !is_any_quieter;
        counts.then(|| Passes::new(curve))
    });
    let alone: Vec<Option<Passes>> = alone.collect();
    let counting: Vec<&Passes> = alone.iter().flatten().collect();
    let all = Passes::new(&curves.concat()).monotone();
    let levels = all.levels();
    let level = |steps: &[Plateau]| {
        let end_ns = steps[0].level + OF_STEP * (steps[1].level - steps[0].level);
        let edge = all.edge(end_ns)?;
        let size = |passes: &Option<Passes>| passes.as_ref()?.size(end_ns);
        Some(CacheLevel {
            bytes: edge.bytes,
            latency_ns: steps[0].level,
            next_ns: steps[1].level,
            interval: interval(&counting, end_ns).unwrap_or(edge.between),
            of_curves: alone.iter().map(size).collect(),
            is_contended: edge.is_contended || counting.len() < curves.len().min(2),
        })
    };
    Caches {
        levels: levels.windows(2).filter_map(level).collect(),
        memory_ns: levels.last().map(|t| t.level),
        curve: all.bytes.iter().copied().zip(all.ns.clone()).collect(),
    }
}

fn contended_share(curve: &[Pass]) -> f64 {
    let contended = curve.iter().filter(|p| p.is_quiet == Some(false));
    contended.count() as f64 / curve.len().max(1) as f64
}

/// The interval of the size from curves drawn with replacement. `None` if too few curves pass a
/// third of the step.
fn interval(curves: &[&Passes], end_ns: f64) -> Option<[f64; 2]> {
    if curves.len() < 2 {
        return None;
    }
    let mut random = Rng::with_seed(SEED);
    let mut resample = || {
        let drawn = (0..curves.len()).map(|_| curves[random.usize(..curves.len())]);
        Passes::merged(drawn).size(end_ns)
    };
    let sizes: Vec<f64> = (0..RESAMPLES).filter_map(|_| resample()).collect();
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some([quantile(&sizes, tail)?, quantile(&sizes, 1.0 - tail)?])
}

/// The passes of one size.
#[derive(Clone, Copy, Debug)]
struct Lowest {
    /// The lowest latency. A neighbour only lengthens it, so a contended pass can have it, too.
    ns: f64,
    /// Whether each pass is contended.
    is_contended: bool,
}

/// The lowest latencies by size in bytes.
#[derive(Clone, Debug, Default)]
struct Passes(BTreeMap<u64, Lowest>);

impl Passes {
    fn new(points: &[Pass]) -> Passes {
        let mut passes = Passes::default();
        for point in points {
            let pass = Lowest { ns: point.ns, is_contended: point.is_quiet == Some(false) };
            passes.add(point.x as u64, pass);
        }
        passes
    }

    fn merged<'a>(all: impl IntoIterator<Item = &'a Passes>) -> Passes {
        let mut merged = Passes::default();
        for passes in all {
            for (bytes, lowest) in &passes.0 {
                merged.add(*bytes, *lowest);
            }
        }
        merged
    }

    fn add(&mut self, bytes: u64, new: Lowest) {
        let known = self.0.entry(bytes).or_insert(new);
        known.ns = known.ns.min(new.ns);
        known.is_contended &= new.is_contended;
    }

    /// The size at which the curve passes `end_ns`. `None` if it does not.
    fn size(&self, end_ns: f64) -> Option<f64> {
        Some(self.monotone().edge(end_ns)?.bytes)
    }

    /// Makes the curve monotone. A larger size is never faster: a latency above that of a larger
    /// size is a disturbance.
    fn monotone(&self) -> MonotoneCurve {
        let mut curve = MonotoneCurve::default();
        let mut least = f64::INFINITY;
        for (bytes, lowest) in self.0.iter().rev() {
            least = least.min(lowest.ns);
            curve.bytes.push(*bytes as f64);
            curve.ns.push(least);
            curve.is_contended.push(lowest.is_contended);
        }
        curve.bytes.reverse();
        curve.ns.reverse();
        curve.is_contended.reverse();
        curve
    }
}

/// A curve that never falls.
#[derive(Debug, Default)]
struct MonotoneCurve {
    bytes: Vec<f64>,
    ns: Vec<f64>,
    is_contended: Vec<bool>,
}

/// The end of a level.
struct Edge {
    bytes: f64,
    /// The sizes before and behind it.
    between: [f64; 2],
    is_contended: bool,
}

impl MonotoneCurve {
    /// The plateaus of the levels. Of two plateaus that are no two levels, the wider one stays.
    fn levels(&self) -> Vec<Plateau> {
        let mut levels = plateaus(&self.ns, FLAT).unwrap_or_default();
        let width = |t: &Plateau| self.bytes[t.last] / self.bytes[t.first];
        let step = |t: &[Plateau]| t[1].level / t[0].level;
        loop {
            let steps = levels.windows(2).map(step).enumerate();
            let Some((place, least)) = steps.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                return levels;
            };
            if least >= LEAST_STEP {
                return levels;
            }
            let is_first_narrower = width(&levels[place]) < width(&levels[place + 1]);
            levels.remove(if is_first_narrower { place } else { place + 1 });
        }
    }

    /// Where the curve passes `end_ns`, between two sizes on a logarithmic axis. `None` if it does
    /// not.
    fn edge(&self, end_ns: f64) -> Option<Edge> {
        let after = self.ns.partition_point(|ns| *ns <= end_ns);
        let before = after.checked_sub(1)?;
        let between = [self.bytes[before], *self.bytes.get(after)?];
        let climbed = (end_ns - self.ns[before]) / (self.ns[after] - self.ns[before]);
        Some(Edge {
            bytes: between[0] * (between[1] / between[0]).powf(climbed),
            between,
            is_contended: self.is_contended[before] || self.is_contended[after],
        })
    }
}
