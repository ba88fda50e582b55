//! What a machine's noise makes of comparisons of a thing with itself. Pure.

use yamba_stats::{launch_level, mean, variance};

use super::{Pair, has_suspect, spread};
use fastrand::Rng;

/// How much one benchmark varies here.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Name, parameters and number of processes.
    pub key: String,
    /// The launches' medians of each run; of a run in which it has no figure none, so that all benchmarks have the same run at the same place.
    pub runs: Vec<Vec<f64>>,
}

impl Noise {
    /// The coefficient of variation from launch to launch within a run; none with fewer than two launches everywhere.
    pub fn between_launches(&self) -> Option<f64> {
        let each = self.runs.iter();
        let variances: Vec<f64> = each.filter_map(|r| spread(r)).collect();
        mean(&variances).map(f64::sqrt)
    }

    /// The coefficient of variation of the runs' levels: a run differs a little from the next, which its own launches cannot show. None with fewer than two runs.
    pub fn between_runs(&self) -> Option<f64> {
        let levels: Vec<f64> = self.runs.iter().filter_map(|r| launch_level(r)).collect();
        variance(&levels).map(f64::sqrt)
    }
}

/// Of all pairs of runs, in how many a comparison has a suspect: real launches of two different moments, so that a drift of the
/// machine from run to run shows.
pub fn pairs_with_a_suspect(all: &[Noise]) -> (usize, usize) {
    let runs = all.iter().map(|n| n.runs.len()).max().unwrap_or(0);
    let (mut suspects, mut pairs) = (0, 0);
    for i in 0..runs {
        for j in i + 1..runs {
            let both = |n: &Noise| Some(Pair::new(&n.key, n.runs.get(i)?, n.runs.get(j)?));
            let sides = all.iter().filter_map(both);
            let sides = sides.filter(|pair| !pair.a.is_empty() && !pair.b.is_empty());
            pairs += 1;
            suspects += usize::from(has_suspect(&sides.collect::<Vec<_>>()));
        }
    }
    (suspects, pairs)
}

/// How many of `rounds` comparisons of two sets of `launches` launches, drawn without replacement from all that each benchmark
/// has, raise an alarm anywhere. That says whether the test keeps what it promises for launches like these; a drift from run to
/// run falls on both sides alike.
pub fn resampled_alarms(all: &[Noise], launches: usize, rounds: usize, seed: u64) -> usize {
    let mut random = Rng::with_seed(seed);
    let mut alarms = 0;
    for _ in 0..rounds {
        let pairs: Vec<_> = all
            .iter()
            .map(|noise| {
                let mut pool: Vec<f64> = noise.runs.concat();
                random.shuffle(&mut pool);
                let middle = launches.min(pool.len() / 2);
                Pair::new(&noise.key, &pool[..middle], &pool[middle..2 * middle])
            })
            .collect();
        alarms += usize::from(has_suspect(&pairs));
    }
    alarms
}
