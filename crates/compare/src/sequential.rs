//! Comparisons that go on until they are decided: when to look at the launches, and what repeated
//! looks cost. Pure.
//!
//! Both sides are measured in rounds, so drift of the machine affects both alike, and a difference
//! is no mere suspicion. A test that is repeated after each round until it shows a difference would
//! show one sooner or later. So the probability of a false alarm is divided among all possible
//! looks: look k, from 1, gets 1 / (k (k + 1)) of it. These shares add up to 1, whatever the number
//! of looks (Bonferroni). The p-values that result are valid for any rule of stopping, so Holm's
//! correction for the number of benchmarks applies to them.
//!
//! Some benchmarks have two times, as by the place of their data in memory, and each process gets
//! one by chance. Six processes of one side may all be fast, and those of the other all slow, with
//! no spread from which a test could see that. So no p-value is below the probability of that,
//! 2^(1-2n) for n launches a side: with more than ten benchmarks nothing is slower or faster after
//! six rounds, with more than 218 nothing after nine.

use super::document::{ComparedEntry, Comparison, Interleaved, Word};
use super::unit::{Choice, Unit};

/// Why a benchmark is undecided whose interval still holds the limit.
const TOO_SHORT: &str = "the time was too short to decide";

/// The same if measuring ended before that time.
const ENDED_EARLY: &str = "measuring ended before it was decided";

/// Rounds before the first look. With fewer launches a side, only great differences show.
pub const FIRST_LOOK: u64 = 6;

/// The number of rounds at the look after the one at this number: half as many again.
pub fn next_look(rounds: u64) -> u64 {
    (rounds * 3).div_ceil(2)
}

/// How the launches of a benchmark are compared at its look of this number, from 1. Four times the
/// tests of the look: for the choice between launches and rounds, and for that between time on the
/// clock and processor time.
pub fn choice_at(look: usize) -> Choice {
    let looks = look.max(1) * (look.max(1) + 1);
    Choice { unit: Unit::Own, among: 4 * looks, looks: Some(looks) }
}

/// The question that a benchmark is measured to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// Whether it is slower by more than this limit of a gate: 0.05 for 5 %.
    Limit(f64),
    /// Whether it differs at all, or by no more than this in either direction.
    Resolution(f64),
}

impl Question {
    /// The difference that matters.
    pub fn size(self) -> f64 {
        match self {
            Question::Limit(size) | Question::Resolution(size) => size,
        }
    }
}

/// Whether further launches can change nothing: the whole interval of the slowdown answers the
/// question. A benchmark without a better direction has nothing to decide.
pub fn is_decided(entry: &ComparedEntry, question: Question) -> bool {
    let Some([low, high]) = entry.slowdowns() else {
        return entry.better.is_none();
    };
    match question {
        Question::Limit(limit) => (low > limit && entry.suspect) || high < limit,
        Question::Resolution(least) => {
            let is_within = -least < low && high < least;
            entry.suspect || is_within
        }
    }
}

/// Turns suspicions into verdicts: both sides were measured in the same rounds. `question` returns
/// that of an entry; an undecided entry gets the reason.
pub fn judge(
    found: &mut Comparison,
    interleaved: Interleaved,
    question: &dyn Fn(&ComparedEntry) -> Question,
) {
    let why = if interleaved.stopped.is_some() { ENDED_EARLY } else { TOO_SHORT };
    for entry in &mut found.benchmarks {
        if entry.is_one_program {
            entry.settle_one_program();
        } else if std::mem::take(&mut entry.suspect) {
            (entry.verdict, entry.reason) = match entry.direction() {
                Some(word) => (word, None),
                None => (Word::Unknown, Some("it has no better direction".to_owned())),
            };
        } else if entry.verdict == Word::Same && !is_decided(entry, question(entry)) {
            entry.verdict = Word::Unknown;
            entry.reason = Some(why.to_owned());
        }
    }
    found.interleaved = Some(interleaved);
}

#[cfg(test)]
mod tests {
    use super::super::comparison;
    use super::super::comparison::tests::run;
    use super::super::tests::{benchmark, normal};
    use super::*;

    #[test]
    fn shares_of_all_looks_add_up_to_one() {
        let shares: f64 = (1..100_000).map(|look| 4.0 / choice_at(look).among as f64).sum();
        assert!((shares - 1.0).abs() < 1e-4, "{shares}");
        let mut looks = vec![FIRST_LOOK];
        for _ in 0..6 {
            looks.push(next_look(*looks.last().unwrap()));
        }
        assert_eq!(looks, [6, 9, 14, 21, 32, 48, 72]);
    }

    /// Launches with a coefficient of variation of 1 %, from a seed.
    fn launches(random: &mut fastrand::Rng, count: u64, level: f64) -> Vec<f64> {
        (0..count).map(|_| level * (1.0 + 0.01 * normal(random))).collect()
    }

    /// A family of benchmarks of two equal sides, in which each launch takes one of two times that
    /// differ by 10 %, each as likely, and varies by 0.1 % beside. Returns whether any is slower or
    /// faster at one of the first three looks.
    fn has_alarm(random: &mut fastrand::Rng, benchmarks: usize) -> bool {
        let mut sides = [vec![Vec::new(); benchmarks], vec![Vec::new(); benchmarks]];
        let (mut rounds, mut look) = (FIRST_LOOK, 1);
        while look <= 3 {
            for launches in sides.iter_mut().flatten() {
                let new = rounds as usize - launches.len();
                let mode = |random: &mut fastrand::Rng| if random.bool() { 100.0 } else { 110.0 };
                let time =
                    |random: &mut fastrand::Rng| mode(random) * (1.0 + 0.001 * normal(random));
                launches.extend((0..new).map(|_| time(random)));
            }
            let [a, b] = [0, 1].map(|side| {
                let all = sides[side].iter().enumerate();
                run(all.map(|(n, launches)| benchmark(&n.to_string(), launches)).collect())
            });
            let found = comparison(&a, &b, &|_, _| choice_at(look));
            if found.benchmarks.iter().any(|entry| entry.suspect) {
                return true;
            }
            (rounds, look) = (next_look(rounds), look + 1);
        }
        false
    }

    #[test]
    fn benchmarks_with_two_times_raise_few_alarms() {
        // At most 1 % of the families are expected. More alarms than these have a probability of
        // less than 0.4 %. Without the rule, more than 3 of the first 40 families have one.
        for (benchmarks, families, most) in [(400, 40, 3), (100, 100, 4), (8, 200, 7)] {
            let mut random = fastrand::Rng::with_seed(9);
            let alarms = (0..families).filter(|_| has_alarm(&mut random, benchmarks)).count();
            assert!(alarms <= most, "{benchmarks}: {alarms} of {families}");
        }
    }

    /// Eight benchmarks, of which one is slower by 5 %: the rule for two times costs no round.
    #[test]
    fn slow_one_of_eight_benchmarks_is_found_at_the_first_look() {
        let mut random = fastrand::Rng::with_seed(10);
        let mut is_found = |_: &i32| {
            let mut side = |level: f64| {
                let level = |n: i32| if n == 0 { level } else { 100.0 };
                let all = (0..8).map(|n| {
                    benchmark(&n.to_string(), &launches(&mut random, FIRST_LOOK, level(n)))
                });
                run(all.collect())
            };
            let (a, b) = (side(100.0), side(105.0));
            let found = comparison(&a, &b, &|_, _| choice_at(1));
            found.benchmarks[0].suspect
        };
        let found = (0..100).filter(|n| is_found(n)).count();
        assert!(found >= 80, "{found}");
    }

    /// Measures two sides until they are decided, as `yamba ab` does. Returns the verdict and the
    /// number of rounds.
    fn measured(random: &mut fastrand::Rng, level: f64, question: Question) -> (Word, u64) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let (mut rounds, mut look) = (FIRST_LOOK, 1);
        loop {
            a.extend(launches(random, rounds - a.len() as u64, 100.0));
            b.extend(launches(random, rounds - b.len() as u64, 100.0 * level));
            let (a, b) = (run(vec![benchmark("x", &a)]), run(vec![benchmark("x", &b)]));
            let mut found = comparison(&a, &b, &|_, _| choice_at(look));
            let is_over = rounds > 200;
            if is_over || is_decided(&found.benchmarks[0], question) {
                judge(&mut found, Interleaved { rounds, ..Interleaved::default() }, &|_| question);
                return (found.benchmarks[0].verdict, rounds);
            }
            (rounds, look) = (next_look(rounds), look + 1);
        }
    }

    #[test]
    fn equal_sides_raise_few_alarms_and_slow_ones_are_found() {
        let mut random = fastrand::Rng::with_seed(7);
        let question = Question::Resolution(0.005);
        let mut is_alarm = |_: &i32| {
            let (verdict, _) = measured(&mut random, 1.0, question);
            matches!(verdict, Word::Slower | Word::Faster)
        };
        let alarms = (0..1000).filter(|n| is_alarm(n)).count();
        // 10 are expected at most; 20 or more have a probability of 0.3 %.
        assert!(alarms < 20, "{alarms}");
        let found = (0..100)
            .filter(|_| measured(&mut random, 1.02, Question::Resolution(0.01)).0 == Word::Slower);
        assert!(found.count() >= 95);
    }

    #[test]
    fn limit_is_decided_by_the_whole_interval() {
        let mut random = fastrand::Rng::with_seed(8);
        let limit = Question::Limit(0.03);
        let (verdict, few) = measured(&mut random, 1.2, limit);
        assert_eq!((verdict, few), (Word::Slower, FIRST_LOOK));
        let (_, many) = measured(&mut random, 1.04, limit);
        assert!(many > few, "{many}");
    }
}
