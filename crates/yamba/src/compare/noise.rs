//! What a machine's noise makes of comparisons of a thing with itself. Pure.

use yamba_stats::{mean, variance};

use super::{Verdict, compare_launches, least_floor, logarithms, spread};
use crate::random::Random;

/// How much one benchmark varies here.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Name, parameters and number of processes.
    pub key: String,
    /// The launches' medians of each run.
    pub runs: Vec<Vec<f64>>,
}

impl Noise {
    /// The coefficient of variation from launch to launch within a run; none with fewer than two launches everywhere.
    pub fn between_launches(&self) -> Option<f64> {
        let each = self.runs.iter();
        let variances: Vec<f64> = each.filter_map(|r| spread(r)).collect();
        mean(&variances).map(f64::sqrt)
    }

    /// The coefficient of variation of the runs' means from run to run; none with fewer than two runs.
    pub fn between_runs(&self) -> Option<f64> {
        let each = self.runs.iter();
        let means: Vec<f64> = each.filter_map(|r| mean(&logarithms(r))).collect();
        variance(&means).map(f64::sqrt)
    }
}

/// The variance that a launch's logarithm has to be held to have, so that the mean of `launches` of them varies as runs do here:
/// a run is a little different as a whole from the next, which its own launches cannot show.
pub fn floor_of(noise: &Noise, launches: usize) -> f64 {
    let between = noise.between_runs().unwrap_or(0.0);
    least_floor(&noise.key).max(between * between * launches as f64)
}

/// Of all pairs of runs, in how many a comparison has a suspect: real launches of two different moments, so that a drift of the
/// machine from run to run shows.
pub fn pairs_with_a_suspect(all: &[Noise], floor: &dyn Fn(&str) -> f64) -> (usize, usize) {
    let runs = all.iter().map(|n| n.runs.len()).min().unwrap_or(0);
    let (mut suspects, mut pairs) = (0, 0);
    for i in 0..runs {
        for j in i + 1..runs {
            let sides = all
                .iter()
                .map(|n| (n.key.clone(), n.runs[i].clone(), n.runs[j].clone()));
            let compared = compare_launches(&sides.collect::<Vec<_>>(), floor);
            pairs += 1;
            suspects += usize::from(compared.iter().any(|c| c.verdict == Verdict::Suspect));
        }
    }
    (suspects, pairs)
}

/// How many of `rounds` comparisons of two sets of `launches` launches, drawn without replacement from all that each benchmark
/// has, raise an alarm anywhere. That says whether the test keeps what it promises for launches like these; a drift from run to
/// run falls on both sides alike.
pub fn resampled_alarms(
    all: &[Noise],
    launches: usize,
    rounds: usize,
    seed: u64,
    floor: &dyn Fn(&str) -> f64,
) -> usize {
    let mut random = Random::new(seed);
    let mut alarms = 0;
    for _ in 0..rounds {
        let pairs: Vec<_> = all
            .iter()
            .map(|noise| {
                let mut pool: Vec<f64> = noise.runs.concat();
                random.shuffle(&mut pool);
                let middle = launches.min(pool.len() / 2);
                let (a, b) = (pool[..middle].to_vec(), pool[middle..2 * middle].to_vec());
                (noise.key.clone(), a, b)
            })
            .collect();
        let compared = compare_launches(&pairs, floor);
        alarms += usize::from(compared.iter().any(|c| c.verdict == Verdict::Suspect));
    }
    alarms
}
