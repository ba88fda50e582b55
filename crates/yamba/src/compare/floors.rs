//! The least noise that a benchmark is held to have, from earlier runs of the same program on the same machine. Pure.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::{Benchmark, Run};
use yamba_stats::{mean, variance};

use super::identity::differences;
use super::pairing::{in_order, paired};
use super::{LEAST_DEVIATION, has_figure, in_cycles, launch_cycles, logarithms, times};

/// Fewer runs say too little of how runs differ: with five, the standard deviation is known to a factor of about two.
const FEWEST_RUNS: usize = 5;

/// What is known of one benchmark's noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// The least standard deviation that the logarithm of a launch's median is held to have: 0.002 for 0.2 %.
    pub deviation: f64,
    /// Earlier runs that it comes from; 0: it is the fixed one.
    pub runs: usize,
}

impl Default for Floor {
    fn default() -> Floor {
        Floor {
            deviation: LEAST_DEVIATION,
            runs: 0,
        }
    }
}

/// The floors of a comparison's benchmarks, by their key. What is not among them has the fixed one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floors(BTreeMap<String, Floor>);

/// At how many moments the two sides of a comparison were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// In turn, so that what differs from run to run is the same for both.
    One,
    /// In two runs.
    Two,
}

impl Floors {
    /// From `earlier` runs; those of another machine or another program, and the two runs themselves, count for nothing. Nothing is known of two machines.
    pub fn of(a: &Run, b: &Run, earlier: &[Run], moments: Moments) -> Floors {
        if !differences(a, b).must.is_empty() {
            return Floors::default();
        }
        let counts = |run: &&Run| {
            let between = differences(run, b);
            let is_alike = between.must.is_empty() && between.should.is_empty();
            is_alike && run.id != a.id && run.id != b.id
        };
        let earlier: Vec<&Run> = earlier.iter().filter(counts).collect();
        let both = paired(&a.benchmarks, &b.benchmarks).both.into_iter();
        let each = both.filter_map(|(key, x, y)| Some((key, known(x, y, &earlier, moments)?)));
        Floors(each.collect())
    }

    /// The floor of a benchmark.
    pub fn get(&self, key: &str) -> Floor {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// The same as the variance that [`super::compare_launches`] asks for.
    pub fn variance(&self, key: &str) -> f64 {
        self.get(key).deviation.powi(2)
    }
}

/// The variance of a launch within its run, and with two moments what runs differ by beyond that: the mean of n launches then has the variance of a run's.
///
/// One-way analysis of variance with random effects (S. R. Searle, G. Casella and C. E. McCulloch, *Variance Components* (1992), section 3.6): of runs with n launches the
/// means vary by `between + within / n`.
fn known(a: &Benchmark, b: &Benchmark, earlier: &[&Run], moments: Moments) -> Option<Floor> {
    let of: fn(&Benchmark) -> Vec<f64> = match in_cycles(a, b) {
        true => launch_cycles,
        false => times,
    };
    let (mut within, mut squares, mut degrees, mut runs) = (Vec::new(), 0.0, 0, 0);
    let mut programs = vec![&a.about.program, &b.about.program];
    programs.dedup();
    for program in programs.into_iter().filter(|p| p.is_some()) {
        let same = earlier.iter().flat_map(|run| &run.benchmarks);
        let same = same
            .filter(|c| c.about.program == *program && in_order(c) == in_order(a) && has_figure(c));
        let launches = same.map(|c| logarithms(&of(c))).filter(|l| l.len() > 1);
        let launches: Vec<Vec<f64>> = launches
            .filter(|l| l.iter().all(|x| x.is_finite()))
            .collect();
        let means: Vec<f64> = launches.iter().filter_map(|l| mean(l)).collect();
        let each = launches
            .iter()
            .filter_map(|l| Some((variance(l)?, l.len() as f64)));
        within.extend(each);
        runs += means.len();
        let more = means.len().saturating_sub(1);
        degrees += more;
        squares += variance(&means).unwrap_or(0.0) * more as f64;
    }
    if degrees + 1 < FEWEST_RUNS {
        return None;
    }
    let in_a_run = mean(&within.iter().map(|(v, _)| *v).collect::<Vec<_>>())?;
    let of_means = mean(&within.iter().map(|(v, n)| v / n).collect::<Vec<_>>())?;
    let between = (squares / degrees as f64 - of_means).max(0.0);
    let launches = of(a).len().max(of(b).len()) as f64;
    let least = match moments {
        Moments::One => in_a_run,
        Moments::Two => in_a_run + launches * between,
    };
    Some(Floor {
        deviation: least.sqrt().max(LEAST_DEVIATION),
        runs,
    })
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::run;
    use super::super::tests::benchmark;
    use super::*;

    /// A run whose launches are all about `level`.
    fn of(program: &str, id: &str, level: f64) -> Run {
        let mut made = benchmark("x", &[0.999, 1.0, 1.001].map(|x| x * level));
        made.about.program = Some(program.to_owned());
        let mut run = run(vec![made]);
        run.id = id.to_owned();
        run
    }

    /// Runs that differ by about 3 %, each with launches that differ by a tenth of that.
    fn earlier(program: &str) -> Vec<Run> {
        let levels = [100.0, 103.0, 106.0, 97.0, 94.0, 100.0];
        let each = levels.iter().enumerate();
        each.map(|(i, level)| of(program, &format!("{program}{i}"), *level))
            .collect()
    }

    fn floor(a: &Run, b: &Run, earlier: &[Run], moments: Moments) -> Floor {
        Floors::of(a, b, earlier, moments).get("x")
    }

    #[test]
    fn what_runs_differ_by_is_no_difference() {
        let (a, b) = (of("p", "a", 100.0), of("p", "b", 105.0));
        let two = floor(&a, &b, &earlier("p"), Moments::Two);
        // The mean of three launches then varies by 4.2 %.
        assert_eq!(two.runs, 6);
        assert!(
            (two.deviation / 3f64.sqrt() - 0.042).abs() < 0.002,
            "{two:?}"
        );
        let one = floor(&a, &b, &earlier("p"), Moments::One);
        assert_eq!(one.deviation, LEAST_DEVIATION);
        let found =
            |floors: &Floors| super::super::comparison(&a, &b, floors).benchmarks[0].suspect;
        assert!(found(&Floors::default()));
        assert!(!found(&Floors::of(&a, &b, &earlier("p"), Moments::Two)));
    }

    #[test]
    fn other_programs_and_machines_say_nothing() {
        let (a, b) = (of("p", "a", 100.0), of("p", "b", 105.0));
        let fixed = Floor::default();
        assert_eq!(floor(&a, &b, &earlier("q"), Moments::Two), fixed);
        assert_eq!(floor(&a, &b, &earlier("p")[..4], Moments::Two), fixed);
        let mut elsewhere = earlier("p");
        elsewhere
            .iter_mut()
            .for_each(|r| r.machine.kernel = "6.2".to_owned());
        let (mut a_there, mut b_there) = (a.clone(), b.clone());
        for run in [&mut a_there, &mut b_there] {
            run.machine.kernel = "6.1".to_owned();
        }
        assert_eq!(floor(&a_there, &b_there, &elsewhere, Moments::Two), fixed);
        // A and B themselves would make noise of their own difference.
        let mut own = earlier("p");
        own[0].id = "a".to_owned();
        own[1].id = "b".to_owned();
        assert_eq!(floor(&a, &b, &own, Moments::Two), fixed);
    }

    /// Two programs may differ by any factor: that is no noise of either.
    #[test]
    fn each_program_has_its_own_level() {
        let mut all = earlier("p");
        all.extend(earlier("q").into_iter().map(|mut run| {
            let launches = run.benchmarks[0].launches.iter_mut();
            launches.for_each(|l| l.median = l.median.map(|m| m * 10.0));
            run
        }));
        let (a, b) = (of("p", "a", 100.0), of("q", "b", 1000.0));
        let two = floor(&a, &b, &all, Moments::Two);
        assert_eq!(two.runs, 12);
        assert!(
            (two.deviation / 3f64.sqrt() - 0.042).abs() < 0.002,
            "{two:?}"
        );
    }
}
