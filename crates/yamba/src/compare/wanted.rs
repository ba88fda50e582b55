//! Which earlier runs a comparison wants: so many of each of its programs, whatever else was measured more often. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use yamba_record::{Benchmark, Run};

use super::has_figure;
use super::pairing::{in_order, paired};

/// A program and its point.
type Key = (String, String);

/// A benchmark is given up when so many runs of it had nothing that is wanted: its programs are new, or long ago.
const MOST_MISSES: usize = 50;

/// What is wanted still.
pub struct Wanted {
    short: BTreeMap<Key, Short>,
    /// Of each name of these, the runs in which nothing of it was wanted.
    misses: BTreeMap<String, usize>,
    /// What was given up, until less is asked for.
    given_up: BTreeMap<Key, Short>,
}

struct Short {
    name: String,
    /// So many runs are too few.
    by: usize,
}

impl Wanted {
    /// So many runs of each program of the benchmarks that have a figure in both.
    pub fn of(a: &Run, b: &Run, runs: usize) -> Wanted {
        let both = paired(&a.benchmarks, &b.benchmarks).both.into_iter();
        let with_figure = both.filter(|(_, x, y)| has_figure(x) && has_figure(y));
        let each = with_figure.flat_map(|(_, x, y)| [x, y]);
        let short = |b: &Benchmark| Short {
            name: b.name.clone(),
            by: runs,
        };
        let mut wanted = Wanted {
            short: each.filter_map(|b| Some((key(b)?, short(b)))).collect(),
            misses: BTreeMap::new(),
            given_up: BTreeMap::new(),
        };
        wanted.begin_anew();
        wanted
    }

    /// Asks for so many runs fewer of each, and forgets what was missed.
    pub fn lower(&mut self, by: usize) {
        self.short.append(&mut self.given_up);
        for short in self.short.values_mut() {
            short.by = short.by.saturating_sub(by);
        }
        self.short.retain(|_, short| short.by > 0);
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        let names = self.short.values().map(|short| short.name.clone());
        self.misses = names.map(|name| (name, 0)).collect();
    }

    /// Whether there is enough of all.
    pub fn is_met(&self) -> bool {
        self.short.is_empty()
    }

    /// Whether a run with benchmarks of these names may have something that is wanted.
    pub fn may_be_among(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.misses.contains_key(name))
    }

    /// Whether a run has something that is wanted.
    pub fn is_in(&self, run: &Run) -> bool {
        keys(run).iter().any(|key| self.short.contains_key(key))
    }

    /// Leaves of the runs of one moment what is wanted and all of them have, and counts it as one run; its names.
    pub fn take(&mut self, runs: &mut [Run]) -> BTreeSet<String> {
        let of_all = runs.iter().map(keys).reduce(|x, y| &x & &y);
        let mut taken = of_all.unwrap_or_default();
        taken.retain(|key| self.short.contains_key(key));
        let is_taken = |b: &Benchmark| key(b).is_some_and(|key| taken.contains(&key));
        for run in runs {
            run.benchmarks.retain(is_taken);
        }
        let names = taken.iter().map(|key| self.short[key].name.clone());
        let names = names.collect();
        self.short.retain(|key, short| {
            short.by -= usize::from(taken.contains(key));
            short.by > 0
        });
        self.drop_names();
        names
    }

    /// Counts for each of these names that nothing of it was wanted.
    pub fn miss<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        let names: BTreeSet<&String> = names.collect();
        for name in names {
            let Some(misses) = self.misses.get_mut(name) else {
                continue;
            };
            *misses += 1;
            if *misses == MOST_MISSES {
                let all = mem::take(&mut self.short).into_iter();
                let (of_it, others): (BTreeMap<Key, Short>, BTreeMap<Key, Short>) =
                    all.partition(|(_, short)| short.name == *name);
                self.short = others;
                self.given_up.extend(of_it);
            }
        }
        self.drop_names();
    }

    /// Those of which nothing is wanted any more.
    fn drop_names(&mut self) {
        let names: BTreeSet<&String> = self.short.values().map(|short| &short.name).collect();
        self.misses.retain(|name, _| names.contains(name));
    }
}

/// None where no program is known.
fn key(benchmark: &Benchmark) -> Option<Key> {
    Some((benchmark.about.program.clone()?, in_order(benchmark)))
}

/// Of what has a figure.
fn keys(run: &Run) -> BTreeSet<Key> {
    let with_figure = run.benchmarks.iter().filter(|b| has_figure(b));
    with_figure.filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;

    use super::super::comparison::tests::run;
    use super::super::tests::benchmark;
    use super::*;

    /// A run with benchmarks as `lat_x=p`: their names and programs.
    fn of(each: &str) -> Run {
        let made = each.split_whitespace().map(|one| {
            let (name, program) = one.split_once('=').unwrap();
            let mut made = benchmark(name, &[1.0, 1.01]);
            made.about.program = Some(program.to_owned());
            made
        });
        run(made.collect())
    }

    /// The names of what is taken of runs of one moment.
    fn taken(wanted: &mut Wanted, mut runs: Vec<Run>) -> Vec<String> {
        let names = wanted.take(&mut runs);
        let left = runs[0].benchmarks.iter().map(|b| b.name.clone());
        let left: Vec<String> = left.collect();
        assert_eq!(names, left.iter().cloned().collect());
        left
    }

    #[test]
    fn what_was_measured_most_often_keeps_nothing_else_out() {
        let both = of("x=p y=q");
        let mut wanted = Wanted::of(&both, &both, 2);
        let names = |name: &str| [name.to_owned()];
        for _ in 0..2 {
            assert_eq!(taken(&mut wanted, vec![of("x=p")]), ["x"]);
        }
        assert_eq!(taken(&mut wanted, vec![of("x=p")]), [""; 0]);
        assert!(!wanted.is_met() && !wanted.is_in(&of("x=p")));
        assert!(!wanted.may_be_among(&names("x")) && wanted.may_be_among(&names("y")));
        for _ in 0..2 {
            assert_eq!(taken(&mut wanted, vec![of("x=p y=q")]), ["y"]);
        }
        assert!(wanted.is_met());
    }

    #[test]
    fn both_programs_of_a_benchmark_are_wanted_and_no_others() {
        let (a, b) = (of("x=p only_a=a"), of("x=q only_b=b"));
        let mut wanted = Wanted::of(&a, &b, 1);
        for other in ["x=r", "only_a=a", "only_b=b", "y=p"] {
            assert_eq!(taken(&mut wanted, vec![of(other)]), [""; 0], "{other}");
        }
        let mut disturbed = of("x=p");
        disturbed.benchmarks[0].is_disturbed = true;
        assert_eq!(taken(&mut wanted, vec![disturbed]), [""; 0]);
        assert_eq!(taken(&mut wanted, vec![of("x=q")]), ["x"]);
        assert_eq!(taken(&mut wanted, vec![of("x=p")]), ["x"]);
        assert!(wanted.is_met());
    }

    #[test]
    fn a_name_is_given_up_alone_and_only_until_less_is_asked_for() {
        let both = of("x=p y=q");
        let mut wanted = Wanted::of(&both, &both, 3);
        assert_eq!(taken(&mut wanted, vec![of("y=q")]), ["y"]);
        let x = "x".to_owned();
        for _ in 1..MOST_MISSES {
            wanted.miss([&x, &x].into_iter());
        }
        assert!(wanted.is_in(&of("x=p")));
        wanted.miss([&x].into_iter());
        assert!(!wanted.is_in(&of("x=p")) && wanted.is_in(&of("y=q")));
        wanted.lower(2);
        assert!(wanted.is_in(&of("x=p")) && !wanted.is_in(&of("y=q")));
        assert!(!wanted.may_be_among(&["y".to_owned()]));
        assert_eq!(taken(&mut wanted, vec![of("x=p")]), ["x"]);
        assert!(wanted.is_met());
    }

    #[test]
    fn what_has_no_figure_wants_nothing() {
        let (a, mut b) = (of("x=p"), of("x=p"));
        b.benchmarks[0].status = Status::Crashed;
        assert!(Wanted::of(&a, &b, 1).is_met());
    }

    #[test]
    fn two_sides_count_once_and_for_what_is_of_one_program_in_both() {
        let both = of("x=p y=q");
        let mut wanted = Wanted::of(&both, &both, 2);
        let sides = || vec![of("x=p y=q"), of("x=p y=r")];
        assert_eq!(taken(&mut wanted, sides()), ["x"]);
        assert_eq!(taken(&mut wanted, sides()), ["x"]);
        assert_eq!(taken(&mut wanted, sides()), [""; 0]);
        assert!(wanted.is_in(&of("y=q")));
    }
}
