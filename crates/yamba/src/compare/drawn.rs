//! Whole gates over things that do not differ, their launches drawn from those of real runs: how often does one fail? Pure.

use yamba_record::run::Launch;
use yamba_record::{Benchmark, Machine, Run, Status};
use yamba_stats::median;

use super::comparison::{Comparison, Terms, comparison};
use super::floors::Floors;
use super::gate::is_candidate;
use super::looks::{Looks, PLANNED};
use super::noise::Noise;
use super::unit::Choice;
use fastrand::Rng;

/// What is measured anew has so many launches a side at the first look.
const FIRST: usize = 12;

/// What was drawn.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Launches a side of what a gate is given.
    pub launches: usize,
    /// Its limit: 0.03 for 3 %.
    pub limit: f64,
    /// Comparisons.
    pub rounds: usize,
    /// Decides what is drawn.
    pub seed: u64,
}

/// In how many comparisons something was said of what does not differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// A benchmark was suspected before anything was measured anew.
    pub suspected: usize,
    /// A benchmark was called slower or faster after all looks.
    pub called: usize,
    /// The gate failed: one was called slower, and by more than the limit.
    pub failed: usize,
    /// Benchmarks that were measured anew, in all comparisons.
    pub anew: usize,
}

/// Draws both sides of each comparison with replacement from all launches that a benchmark has, and so what its gate measures anew, with all the time that it wants. What hangs together within a run does not within what is
/// drawn: that is the test of the procedure with launches like these, not of the machine's drift.
pub fn drawn_gates(all: &[Noise], plan: &Plan) -> Drawn {
    let pools: Vec<Vec<f64>> = all.iter().map(|noise| noise.runs.concat()).collect();
    let pools: Vec<Vec<f64>> = pools.into_iter().filter(|p| !p.is_empty()).collect();
    let mut random = Rng::with_seed(plan.seed);
    let mut drawn = Drawn::default();
    for _ in 0..plan.rounds {
        let mut draw = |of: usize, count: usize| -> Vec<Launch> {
            let pool = &pools[of];
            let one = |_| Launch {
                median: Some(pool[random.u64(..pool.len() as u64) as usize]),
                ..Launch::default()
            };
            (0..count).map(one).collect()
        };
        let everything: Vec<usize> = (0..pools.len()).collect();
        let mut sides = [(); 2].map(|()| {
            let each = everything.iter();
            run(each
                .map(|i| benchmark(*i, draw(*i, plan.launches)))
                .collect())
        });
        let stored = compared(&sides, 1);
        let suspected = stored.benchmarks.iter().any(|e| e.suspect);
        let entries = everything.iter().zip(&stored.benchmarks);
        let candidates = entries.filter(|(_, e)| is_candidate(e, plan.limit));
        let candidates: Vec<usize> = candidates.map(|(i, _)| *i).collect();
        sides = [(); 2].map(|()| {
            run(candidates
                .iter()
                .map(|i| benchmark(*i, Vec::new()))
                .collect())
        });
        let found = looked_at(&mut sides, &candidates, plan.limit, &mut draw);
        let called = || found.benchmarks.iter().filter(|e| e.suspect);
        drawn.suspected += usize::from(suspected);
        drawn.called += usize::from(called().next().is_some());
        let is_failure = called().any(|e| e.slowdown() > Some(plan.limit));
        drawn.failed += usize::from(is_failure);
        drawn.anew += candidates.len();
    }
    drawn
}

/// Looks until nothing is open any more, or as often as planned, with twice the launches each time.
fn looked_at(
    sides: &mut [Run; 2],
    of: &[usize],
    limit: f64,
    draw: &mut dyn FnMut(usize, usize) -> Vec<Launch>,
) -> Comparison {
    let mut looks = Looks::new(limit);
    let mut open: Vec<usize> = (0..of.len()).collect();
    loop {
        for side in sides.iter_mut() {
            for &place in &open {
                let launches = &mut side.benchmarks[place].launches;
                let more = launches.len().max(FIRST);
                launches.extend(draw(of[place], more));
            }
        }
        let mut found = compared(sides, PLANNED);
        looks.look(&found);
        open = (0..of.len())
            .filter(|place| looks.is_open(&found.benchmarks[*place]))
            .collect();
        if open.is_empty() {
            looks.conclude(&mut found);
            return found;
        }
    }
}

fn compared([a, b]: &[Run; 2], looks: usize) -> Comparison {
    let terms = Terms {
        floors: &Floors::default(),
        units: &|_: &Benchmark, _: &Benchmark| Choice::OWN,
        looks,
    };
    comparison(a, b, &terms)
}

fn run(benchmarks: Vec<Benchmark>) -> Run {
    Run {
        benchmarks,
        ..Run::new(Machine::default())
    }
}

fn benchmark(which: usize, launches: Vec<Launch>) -> Benchmark {
    let medians: Vec<f64> = launches.iter().filter_map(|l| l.median).collect();
    Benchmark {
        status: Status::Ok,
        figure: Some("latency".to_owned()),
        unit: Some("ns".to_owned()),
        median: median(&medians),
        launches,
        ..crate::run::no_figure(&format!("x{which}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{normal, recorded};
    use super::*;

    #[test]
    fn gates_over_launches_of_a_real_machine_seldom_fail() {
        let all: Vec<Noise> = recorded().into_iter().step_by(4).collect();
        let plan = Plan {
            launches: 6,
            limit: 0.03,
            rounds: 300,
            seed: 1,
        };
        let drawn = drawn_gates(&all, &plan);
        assert!(drawn.anew > 300, "{drawn:?}");
        // 1 % of 300, and three standard deviations of as many.
        assert!(
            drawn.called <= 8 && drawn.failed <= drawn.called,
            "{drawn:?}"
        );
    }

    /// Where all that is drawn lies together nothing is measured anew; where half of the launches are far off, what is left of it is decided by the looks.
    #[test]
    fn what_is_drawn_is_what_there_is() {
        let mut random = Rng::with_seed(1);
        let mut noise = |spread: f64| Noise {
            key: "x".to_owned(),
            runs: vec![
                (0..40)
                    .map(|_| (spread * normal(&mut random)).exp())
                    .collect(),
            ],
        };
        let plan = Plan {
            launches: 6,
            limit: 0.03,
            rounds: 50,
            seed: 1,
        };
        let [steady, wild] = [0.001, 0.2].map(|spread| drawn_gates(&[noise(spread)], &plan));
        assert_eq!((steady.anew, steady.failed), (0, 0));
        assert!(wild.anew > 25 && wild.failed <= 3, "{wild:?}");
    }
}
