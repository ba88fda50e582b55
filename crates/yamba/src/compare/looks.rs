//! Measuring anew in several looks: more launches of what is still undecided. Pure.
//!
//! Who looks again and again at growing data and stops when it pleases errs more often than he says. So the probability of a false alarm is spent: with K planned looks each
//! has K-th part of it, and a p-value is K times the least of those of its looks, each adjusted by Holm's method over all benchmarks that are measured anew. By
//! Boole's inequality any benchmark is called slower or faster without a reason with a probability of at most [`FAMILY`], whatever hangs together with what and
//! whenever it was stopped. That is the discrete spending of K. K. Gordon Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983) 659-663, with the levels
//! themselves spent, as E. Slud and L. J. Wei, "Two-Sample Repeated Significance Tests Based on the Modified Wilcoxon Statistic", JASA 77 (1982) 862-868, do, and without a profit from how the
//! looks hang together, which would have to be known. The intervals, of the confidence that belongs to one look, are repeated ones: C. Jennison and B. W. Turnbull,
//! "Interim Analyses: The Repeated Confidence Interval Approach", JRSS B 51 (1989) 305-361.

use std::collections::BTreeMap;

use yamba_stats::holm;

use super::FAMILY;
use super::comparison::{Comparison, Entry, Word};

/// So many times what is undecided is looked at; each look has twice the launches of the one before.
pub const PLANNED: usize = 3;

/// What the looks of one comparison have said.
#[derive(Clone, Debug)]
pub struct Looks {
    limit: f64,
    known: BTreeMap<String, Known>,
    made: usize,
}

/// What they said of one benchmark.
#[derive(Clone, Copy, Debug)]
struct Known {
    launches: [usize; 2],
    /// The least p-value of a look in which b was less, and of one in which it was more.
    p: [f64; 2],
}

impl Looks {
    /// Before the first, for a gate with this limit.
    pub fn new(limit: f64) -> Looks {
        Looks {
            limit,
            known: BTreeMap::new(),
            made: 0,
        }
    }

    /// Takes a look at what is known now. Of what has no launch more than at the look before nothing new is learnt.
    pub fn look(&mut self, found: &Comparison) {
        let entries: Vec<&Entry> = found
            .benchmarks
            .iter()
            .filter(|e| e.alone.is_some())
            .collect();
        let p = |entry: &&Entry| match self.is_new(entry) {
            true => entry.alone.map_or(1.0, |ratio| ratio.p),
            false => 1.0,
        };
        let p: Vec<f64> = entries.iter().map(p).collect();
        for (entry, p) in entries.iter().zip(holm(&p).unwrap_or_default()) {
            let known = self.known.entry(entry.place()).or_insert(Known {
                launches: [0, 0],
                p: [1.0, 1.0],
            });
            known.launches = entry.launches;
            let least = &mut known.p[usize::from(entry.is_above_one())];
            *least = least.min(p * PLANNED as f64);
        }
        self.made += 1;
    }

    fn is_new(&self, entry: &Entry) -> bool {
        let known = self.known.get(&entry.place());
        known.is_none_or(|known| known.launches != entry.launches)
    }

    /// Whether more launches could tell on which side of the limit it is.
    pub fn is_open(&self, entry: &Entry) -> bool {
        self.made < PLANNED && self.reaches_beyond(entry)
    }

    /// Whether it may be beyond the limit: it is neither below, nor above and shown to differ.
    fn reaches_beyond(&self, entry: &Entry) -> bool {
        entry.slowdowns_alone().is_some_and(|[low, high]| {
            let limit = entry.limit(self.limit);
            high > limit && !(low > limit && self.p(entry) <= FAMILY)
        })
    }

    /// The p-value over all looks in which it was on the side of 1 on which it is now.
    fn p(&self, entry: &Entry) -> f64 {
        let known = self.known.get(&entry.place());
        known.map_or(1.0, |known| known.p[usize::from(entry.is_above_one())])
    }

    /// Puts what all looks say in the place of what the last one does. What was measured since that, before it was stopped, has a look too: one of those that were planned.
    pub fn conclude(&mut self, found: &mut Comparison) {
        if self.made < PLANNED {
            self.look(found);
        }
        for entry in found.benchmarks.iter_mut().filter(|e| e.alone.is_some()) {
            let p = self.p(entry);
            entry.p = Some(p);
            entry.suspect = p <= FAMILY;
            entry.verdict = match entry.suspect {
                true => Word::Unknown,
                false => Word::Same,
            };
            entry.is_open = self.reaches_beyond(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::run::Launch;
    use yamba_record::{Benchmark, Run};

    use super::super::comparison::tests::run;
    use super::super::floors::Floors;
    use super::super::tests::{benchmark, normal, recorded, uniform};
    use super::super::unit::Choice;
    use super::super::{Terms, comparison};
    use super::*;
    use fastrand::Rng;

    /// Where launches come from: of each benchmark its side b is slower by a factor.
    struct Source<'a> {
        draw: &'a mut dyn FnMut(usize) -> f64,
        factors: &'a [f64],
    }

    impl Source<'_> {
        fn launches(&mut self, of: usize, factor: f64, count: usize) -> Vec<Launch> {
            let launch = |_| Launch {
                median: Some((self.draw)(of) * factor),
                ..Launch::default()
            };
            (0..count).map(launch).collect()
        }

        fn run(&self) -> Run {
            let named = |i| benchmark(&format!("x{i}"), &[]);
            run((0..self.factors.len()).map(named).collect())
        }

        /// The comparison after so many looks at most, with twelve launches at the first.
        fn measured(&mut self, limit: f64, most: usize) -> (Comparison, Looks) {
            let (mut a, mut b) = (self.run(), self.run());
            let mut looks = Looks::new(limit);
            let mut open: Vec<usize> = (0..self.factors.len()).collect();
            loop {
                for &i in &open {
                    let more = a.benchmarks[i].launches.len().max(12);
                    let of_a = self.launches(i, 1.0, more);
                    a.benchmarks[i].launches.extend(of_a);
                    let of_b = self.launches(i, self.factors[i], more);
                    b.benchmarks[i].launches.extend(of_b);
                }
                let mut found = compared(&a, &b);
                looks.look(&found);
                open = (0..found.benchmarks.len())
                    .filter(|i| looks.is_open(&found.benchmarks[*i]))
                    .collect();
                if open.is_empty() || looks.made == most {
                    looks.conclude(&mut found);
                    return (found, looks);
                }
            }
        }
    }

    fn compared(a: &Run, b: &Run) -> Comparison {
        let terms = Terms {
            floors: &Floors::default(),
            units: &|_: &Benchmark, _: &Benchmark| Choice::OWN,
            looks: PLANNED,
        };
        comparison(a, b, &terms)
    }

    /// In how many of `trials` the first of ten benchmarks, slower by `slower`, fails a gate with this limit after `looks`, and how many launches a side it took in the mean.
    fn found(slower: f64, limit: f64, looks: usize, trials: usize) -> (usize, f64) {
        let mut random = Rng::with_seed(1);
        // Launches vary by 3 %, and one in twenty has shared its core.
        let mut draw = |_| {
            let shared = if uniform(&mut random) < 0.05 {
                1.8
            } else {
                1.0
            };
            (0.03 * normal(&mut random)).exp() * shared
        };
        let mut factors = [1.0; 10];
        factors[0] += slower;
        let mut source = Source {
            draw: &mut draw,
            factors: &factors,
        };
        let (mut found, mut launches) = (0, 0);
        for _ in 0..trials {
            let (compared, _) = source.measured(limit, looks);
            let first = &compared.benchmarks[0];
            found += usize::from(first.suspect && first.slowdown().unwrap() > limit);
            launches += first.launches[0];
        }
        (found, launches as f64 / trials as f64)
    }

    #[test]
    fn more_looks_find_what_one_does_not() {
        let (once, _) = found(0.05, 0.03, 1, 100);
        let (often, launches) = found(0.05, 0.03, PLANNED, 100);
        assert!(once < 50 && often > 90, "{once} {often}");
        assert!(launches < 48.0, "{launches}");
    }

    /// By just the limit it is slower or not: looking again may not decide that for the slower.
    #[test]
    fn at_the_limit_one_in_two_is_found() {
        let (found, _) = found(0.05, 0.05, PLANNED, 200);
        assert!((60..=130).contains(&found), "{found} of 200");
    }

    /// Comparisons of 20 benchmarks of a real machine with themselves, their launches drawn from all of both runs: whichever looks are made, at most 1 % call any slower or faster.
    #[test]
    fn looking_again_raises_no_more_alarms() {
        let pools: Vec<Vec<f64>> = recorded()
            .into_iter()
            .step_by(4)
            .map(|n| n.runs.concat())
            .collect();
        let mut random = Rng::with_seed(2);
        let mut draw = |of: usize| {
            let pool = &pools[of];
            pool[random.u64(..pool.len() as u64) as usize]
        };
        let factors = vec![1.0; pools.len()];
        let mut source = Source {
            draw: &mut draw,
            factors: &factors,
        };
        let alarms = (0..1000).filter(|_| {
            let (found, looks) = source.measured(0.03, PLANNED);
            assert!(looks.made <= PLANNED);
            found.benchmarks.iter().any(|e| e.suspect)
        });
        let alarms = alarms.count();
        assert!(alarms <= 10, "{alarms} of 1000");
    }

    #[test]
    fn what_has_no_new_launches_is_not_tested_again() {
        let side = |factor: f64| {
            let six = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0];
            run(vec![benchmark("x", &six.map(|x| x * factor))])
        };
        let found = compared(&side(1.0), &side(1.03));
        let mut looks = Looks::new(0.02);
        looks.look(&found);
        let p = looks.p(&found.benchmarks[0]);
        let alone = found.benchmarks[0].alone.unwrap().p;
        assert!((p - alone * PLANNED as f64).abs() < 1e-12 && p < FAMILY);
        // With a clear difference and both ends of its interval above the limit it is decided.
        assert!(!looks.is_open(&found.benchmarks[0]));
        let mut wide = Looks::new(0.03);
        wide.look(&found);
        assert!(wide.is_open(&found.benchmarks[0]));
        // Beyond what its own noise makes of the limit it cannot be: that is decided, too.
        let mut noisy = found.benchmarks[0].clone();
        let [low, high] = noisy.slowdowns_alone().unwrap();
        noisy.threshold = Some(high + 0.001);
        assert!(!wide.is_open(&noisy));
        noisy.threshold = Some((low + high) / 2.0);
        assert!(wide.is_open(&noisy));
        for _ in 1..PLANNED {
            wide.look(&found);
        }
        assert!(!wide.is_open(&found.benchmarks[0]));
        assert_eq!(wide.p(&found.benchmarks[0]), p);
        // Stopped before the first look.
        let (mut unseen, mut stopped) = (Looks::new(0.5), found.clone());
        unseen.conclude(&mut stopped);
        assert_eq!(stopped.benchmarks[0].p, Some(p));
        let mut concluded = found.clone();
        wide.conclude(&mut concluded);
        assert!(concluded.benchmarks[0].is_open && concluded.benchmarks[0].suspect);
    }
}
