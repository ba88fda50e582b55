//! Measures how a machine's noise affects comparisons without a difference. Pure.

use yamba_stats::{launch_level, mean, variance};

use super::{Pair, has_suspect, spread};
use fastrand::Rng;

/// The variation of one benchmark on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// The launches' medians of each run. A run without a figure has an empty entry, so that an
    /// index means the same run for all benchmarks.
    pub runs: Vec<Vec<f64>>,
}

impl Noise {
    /// The coefficient of variation between the launches of a run. None if no run has two launches.
    pub fn between_launches(&self) -> Option<f64> {
        let each = self.runs.iter();
        let variances: Vec<f64> = each.filter_map(|r| spread(r)).collect();
        mean(&variances).map(f64::sqrt)
    }

    /// The coefficient of variation between the levels of runs, which the launches of one run
    /// cannot show. None with fewer than two runs.
    pub fn between_runs(&self) -> Option<f64> {
        let levels: Vec<f64> = self.runs.iter().filter_map(|r| launch_level(r)).collect();
        variance(&levels).map(f64::sqrt)
    }
}

/// The number of pairs of runs whose comparison has a suspect, and the number of all pairs. The
/// launches of a pair are of different moments, so that a drift of the machine between runs shows.
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

/// The number of alarms in `rounds` comparisons of two sets of `launches` launches, drawn without
/// replacement from all launches of each benchmark. It shows whether the test keeps its false-alarm
/// rate for launches like these. A drift between runs affects both sets alike.
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
