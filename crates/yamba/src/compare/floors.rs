//! The least noise that a benchmark is held to have, from earlier runs of the same program on the same machine. Pure.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::{Benchmark, Run};

use super::identity::differences;
use super::noise::between_runs;
use super::pairing::{in_order, paired};
use super::unit::{Choice, Medians, Unit};
use super::{LEAST_DEVIATION, has_figure};

/// Fewer runs say too little of how runs differ. What they say is taken as known: with five of them, that raises the alarms of a large comparison thirtyfold (simulated: runs that differ by 2 %,
/// launches by 0.2 %, p = 0.0001), with ten by half.
pub const FEWEST_RUNS: usize = 10;

/// What is known of one benchmark's noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

impl Floors {
    /// From `earlier` runs, in the unit that `units` says; those of another machine or another program, and the two runs themselves, count for nothing. Nothing is known of
    /// two machines.
    pub fn of(
        a: &Run,
        b: &Run,
        earlier: &[Run],
        units: &dyn Fn(&Benchmark, &Benchmark) -> Choice,
    ) -> Floors {
        if !differences(a, b).must.is_empty() {
            return Floors::default();
        }
        let earlier: Vec<&Run> = earlier.iter().filter(|run| is_of_here(run, a, b)).collect();
        let both = paired(&a.benchmarks, &b.benchmarks).both.into_iter();
        let each =
            both.filter_map(|(key, x, y)| Some((key, known([x, y], units(x, y).unit, &earlier)?)));
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

/// Whether a run is of the machine of B as it was then, and is neither A nor B: those would make noise of their own difference.
pub fn is_of_here<T>(run: &Run<T>, a: &Run, b: &Run) -> bool {
    let between = differences(run, b);
    let is_alike = between.must.is_empty() && between.should.is_empty();
    is_alike && run.id != a.id && run.id != b.id
}

fn known([a, b]: [&Benchmark; 2], unit: Unit, earlier: &[&Run]) -> Option<Floor> {
    let launches = |of: &Benchmark| Medians::of(of).within(unit).to_vec();
    let mut programs = vec![&a.about.program, &b.about.program];
    programs.dedup();
    let of_program = |program: &&Option<String>| -> Vec<Vec<f64>> {
        let all = earlier.iter().flat_map(|run| &run.benchmarks);
        let same = all.filter(|c| {
            c.about.program == **program && in_order(c) == in_order(a) && has_figure(c)
        });
        same.map(launches).collect()
    };
    let known = programs.iter().filter(|p| p.is_some());
    let between = between_runs(&known.map(of_program).collect::<Vec<_>>())?;
    if between.degrees + 1 < FEWEST_RUNS {
        return None;
    }
    Some(Floor {
        deviation: between.floor(launches(a).len().max(launches(b).len())),
        runs: between.runs,
    })
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::{compared, run};
    use super::super::tests::benchmark;
    use super::super::unit::of_pair;
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
        let levels = [
            100.0, 103.0, 106.0, 97.0, 94.0, 100.0, 103.0, 106.0, 97.0, 94.0, 100.0,
        ];
        let each = levels.iter().enumerate();
        each.map(|(i, level)| of(program, &format!("{program}{i}"), *level))
            .collect()
    }

    fn floor(a: &Run, b: &Run, earlier: &[Run]) -> Floor {
        Floors::of(a, b, earlier, &of_pair).get("x")
    }

    #[test]
    fn what_runs_differ_by_is_no_difference() {
        let (a, b) = (of("p", "a", 100.0), of("p", "b", 105.0));
        let two = floor(&a, &b, &earlier("p"));
        // The mean of three launches then varies by 4.2 %.
        assert_eq!(two.runs, 11);
        assert!(
            (two.deviation / 3f64.sqrt() - 0.042).abs() < 0.002,
            "{two:?}"
        );
        let found = |floors: &Floors| compared(&a, &b, floors).benchmarks[0].suspect;
        assert!(found(&Floors::default()));
        assert!(!found(&Floors::of(&a, &b, &earlier("p"), &of_pair)));
    }

    #[test]
    fn other_programs_and_machines_say_nothing() {
        let (a, b) = (of("p", "a", 100.0), of("p", "b", 105.0));
        let fixed = Floor::default();
        assert_eq!(floor(&a, &b, &earlier("q")), fixed);
        assert_eq!(floor(&a, &b, &earlier("p")[..9]), fixed);
        let mut elsewhere = earlier("p");
        elsewhere
            .iter_mut()
            .for_each(|r| r.machine.kernel = "6.2".to_owned());
        let (mut a_there, mut b_there) = (a.clone(), b.clone());
        for run in [&mut a_there, &mut b_there] {
            run.machine.kernel = "6.1".to_owned();
        }
        assert_eq!(floor(&a_there, &b_there, &elsewhere), fixed);
        // A and B themselves would make noise of their own difference.
        let mut own = earlier("p");
        own[0].id = "a".to_owned();
        own[1].id = "b".to_owned();
        assert_eq!(floor(&a, &b, &own), fixed);
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
        let two = floor(&a, &b, &all);
        assert_eq!(two.runs, 22);
        assert!(
            (two.deviation / 3f64.sqrt() - 0.042).abs() < 0.002,
            "{two:?}"
        );
    }
}
