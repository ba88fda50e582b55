//! How much two sides of one program differ that were measured in turn, and what that makes of a gate's limit. Pure.
//!
//! A comparison in turn knows how much its launches vary, and what drifts falls on both its sides alike. It does not know what else makes two sides differ that are the same: a lucky stretch of some launches in a row, which its statistics
//! takes for independent ones. Pairs of one program, measured in turn as a gate does, show that: their difference is noise, all of it.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::{Benchmark, Run};
use yamba_stats::{launch_ratio, student_t_quantile};

use super::comparison::Comparison;
use super::floors::is_of_here;
use super::pairing::{in_order, paired};
use super::unit::{Medians, Unit};
use super::{ALONE, has_figure, least_floor};

/// Fewer pairs say too little: of so many the limit is 3.4 times their deviation, of three it would be 4.5 times what may be nothing by chance.
pub const FEWEST_PAIRS: usize = 5;

/// One program passes its own limit for nothing in one of a hundred comparisons at most.
const HOLDS: f64 = 0.99;

/// What is known of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Turns {
    /// The standard deviation of the logarithm of the ratio of two sides of one program: 0.01 for 1 %.
    pub deviation: f64,
    /// Pairs that it comes from.
    pub pairs: usize,
}

impl Turns {
    /// Of the [`difference`]s of so many pairs, whose truth is 0: their mean is known, so each is a degree of freedom.
    pub fn of(differences: &[f64]) -> Option<Turns> {
        let pairs = differences.len();
        let squares: f64 = differences.iter().map(|d| d * d).sum();
        (pairs >= FEWEST_PAIRS).then(|| Turns {
            deviation: (squares / pairs as f64).sqrt(),
            pairs,
        })
    }

    /// How much slower one program seems than itself in one of a hundred comparisons: Student's t for what so few pairs say.
    pub fn slowdown(&self) -> f64 {
        let times = student_t_quantile(HOLDS, self.pairs as f64);
        times.map_or(0.0, |t| (t * self.deviation).exp() - 1.0)
    }
}

/// What a gate asks of each benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds {
    limit: f64,
    /// By the benchmark's place, in its own unit and in cycles.
    known: BTreeMap<String, [Option<Turns>; 2]>,
}

impl Thresholds {
    /// From `pairs` of the two sides of earlier runs, measured in turn. Those of another machine, of sides that are two programs, and of programs that are neither A's nor B's count for nothing.
    pub fn of(limit: f64, a: &Run, b: &Run, pairs: &[[Run; 2]]) -> Thresholds {
        let here = pairs
            .iter()
            .filter(|pair| pair.iter().all(|run| is_of_here(run, a, b)));
        let pairs: Vec<[ByPlace<'_>; 2]> = here.map(|pair| pair.each_ref().map(by_place)).collect();
        let both = paired(&a.benchmarks, &b.benchmarks).both.into_iter();
        let each = both.map(|(_, of_a, of_b)| {
            let place = in_order(of_a);
            let of_pair = |[x, y]: &[ByPlace<'_>; 2]| {
                of_one_program([*x.get(&place)?, *y.get(&place)?], [of_a, of_b])
            };
            let sides: Vec<[Medians; 2]> = pairs.iter().filter_map(of_pair).collect();
            let known = [Unit::Own, Unit::Cycles].map(|unit| {
                let differences = sides.iter().filter_map(|[x, y]| difference(x, y, unit));
                Turns::of(&differences.collect::<Vec<_>>())
            });
            (place, known)
        });
        Thresholds {
            limit,
            known: each.collect(),
        }
    }

    /// Tells each benchmark what is asked of it.
    pub fn set(&self, found: &mut Comparison) {
        for entry in found.benchmarks.iter_mut().filter(|e| e.better.is_some()) {
            let known = self.known.get(&entry.place());
            entry.turns =
                known.and_then(|known| known[usize::from(entry.compared_in() == Unit::Cycles)]);
            let noise = entry.turns.map_or(0.0, |turns| turns.slowdown());
            entry.threshold = Some(self.limit.max(noise));
        }
    }
}

/// What has a figure in a run, by its place.
type ByPlace<'a> = BTreeMap<String, &'a Benchmark>;

fn by_place(run: &Run) -> ByPlace<'_> {
    let mut all = BTreeMap::new();
    for benchmark in run.benchmarks.iter().filter(|b| has_figure(b)) {
        // Of what stands in a run twice, the first counts.
        all.entry(in_order(benchmark)).or_insert(benchmark);
    }
    all
}

/// The launches of both sides of a pair, if they are of one program, and that is one of `of`.
fn of_one_program(pair: [&Benchmark; 2], of: [&Benchmark; 2]) -> Option<[Medians; 2]> {
    let [program, other] = pair.map(|side| &side.about.program);
    let is_own = program.is_some() && of.iter().any(|b| b.about.program == *program);
    (is_own && program == other).then(|| pair.map(Medians::of))
}

/// The logarithm of what one side is of the other, as a gate computes it.
pub fn difference(one: &Medians, other: &Medians, unit: Unit) -> Option<f64> {
    let (one, other) = (one.within(unit), other.within(unit));
    let ratio = launch_ratio(one, other, ALONE, least_floor(""))?;
    Some(ratio.ratio.ln())
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::{compared, run, scaled};
    use super::super::floors::Floors;
    use super::*;

    fn side(program: &str, id: &str, factor: f64) -> Run {
        let mut made = scaled("x", factor);
        made.about.program = Some(program.to_owned());
        let mut run = run(vec![made]);
        run.id = id.to_owned();
        run.machine.kernel = "6.1".to_owned();
        run
    }

    fn pairs(program: &str, differences: &[f64]) -> Vec<[Run; 2]> {
        let each = differences.iter();
        each.map(|by| [side(program, "1", 1.0), side(program, "2", by.exp())])
            .collect()
    }

    fn threshold(pairs: &[[Run; 2]]) -> (f64, Option<Turns>) {
        let (a, b) = (side("p", "a", 1.0), side("q", "b", 1.0));
        let mut found = compared(&a, &b, &Floors::default());
        Thresholds::of(0.03, &a, &b, pairs).set(&mut found);
        let x = &found.benchmarks[0];
        (x.threshold.unwrap(), x.turns)
    }

    #[test]
    fn a_noisy_benchmark_has_a_threshold_of_its_own() {
        let (of_both, turns) = threshold(&pairs("p", &[0.02, -0.02, 0.02, 0.02, -0.02]));
        let turns = turns.unwrap();
        assert!((turns.deviation - 0.02).abs() < 1e-9 && turns.pairs == 5);
        // The 99th percentile of Student's t with five degrees of freedom is 3.365.
        assert!(
            (of_both - (3.365_f64 * 0.02).exp() + 1.0).abs() < 1e-4,
            "{of_both}"
        );
        // A steady one has the gate's.
        assert_eq!(threshold(&pairs("q", &[0.001; 5])).0, 0.03);
    }

    #[test]
    fn too_little_or_others_say_nothing() {
        let noisy = [0.2; 8];
        assert_eq!(threshold(&pairs("p", &noisy[..4])), (0.03, None));
        assert_eq!(threshold(&pairs("other", &noisy)), (0.03, None));
        let mut of_two = pairs("p", &noisy);
        for pair in &mut of_two {
            pair[1].benchmarks[0].about.program = Some("q".to_owned());
        }
        assert_eq!(threshold(&of_two), (0.03, None));
        let mut elsewhere = pairs("p", &noisy);
        elsewhere
            .iter_mut()
            .flatten()
            .for_each(|run| run.machine.kernel = "6.2".to_owned());
        assert_eq!(threshold(&elsewhere), (0.03, None));
    }
}
