//! Runs several programs in rounds, within a limit of time.

use std::time::{Duration, Instant};

use crate::run::jvm::Finished;

/// How often programs run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// Runs of each program at most.
    pub(crate) most: usize,
    /// Time after which no run begins, and which ends the last one. `None`: there is no limit.
    pub(crate) time: Option<Duration>,
    /// How many runs are made even if that takes longer, from the first one.
    pub(crate) least: usize,
}

/// The place of a run in all rounds.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The number of the run, from 1.
    pub number: usize,
    /// The number of all runs, if their time suffices.
    pub count: usize,
    /// Time until the limit. `None`: this run has none.
    pub left: Option<Duration>,
    /// Time of all runs so far.
    pub elapsed: Duration,
}

impl Step {
    /// Time until the last run ends if each takes as long as those so far. `None`: this is the
    /// first.
    pub fn expected(&self) -> Option<Duration> {
        let done = u32::try_from(self.number - 1).ok().filter(|n| *n > 0)?;
        let more = u32::try_from(self.count + 1 - self.number).ok()?;
        let all = self.elapsed / done * more;
        Some(self.left.map_or(all, |left| left.min(all)))
    }
}

/// Runs each of several `programs` once in each round. So the runs of a program lie apart: the
/// speed of a shared host changes within minutes. A program that fails does not run again, since it
/// would fail again, perhaps after a minute. For each program, its runs and the reason for its
/// failure; neither, if the time did not suffice for it.
pub(crate) fn in_rounds<T>(
    rounds: Rounds,
    programs: &[T],
    mut run: impl FnMut(&T, Step) -> Result<Finished, String>,
) -> Vec<(Vec<Finished>, Option<String>)> {
    let begun = Instant::now();
    let mut all: Vec<_> = programs.iter().map(|_| (Vec::new(), None)).collect();
    let count = rounds.most * programs.len();
    for (at, index) in (0..rounds.most).flat_map(|_| 0..programs.len()).enumerate() {
        let limit = rounds.time.filter(|_| at >= rounds.least);
        let step = Step {
            number: at + 1,
            count,
            left: limit.map(|time| time.saturating_sub(begun.elapsed())),
            elapsed: begun.elapsed(),
        };
        if step.left == Some(Duration::ZERO) {
            break;
        }
        let (runs, failure) = &mut all[index];
        if failure.is_some() {
            continue;
        }
        let result = run(&programs[index], step);
        let is_over = limit.is_some_and(|time| begun.elapsed() >= time);
        match result {
            Ok(finished) => runs.push(finished),
            // The limit of time ended it.
            Err(_) if is_over => break,
            Err(reason) => *failure = Some(reason),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const ALL: Rounds = Rounds { most: 3, time: None, least: 0 };

    #[test]
    fn program_that_fails_does_not_run_again() {
        let order = RefCell::new(Vec::new());
        let found = in_rounds(ALL, &["a", "b"], |name, step| {
            order.borrow_mut().push((*name, step.number));
            let is_second_of_b = step.number == 4;
            if is_second_of_b {
                return Err("out of memory".to_owned());
            }
            Ok(Finished::default())
        });
        let expected = [("a", 1), ("b", 2), ("a", 3), ("b", 4), ("a", 5)];
        assert_eq!(order.take(), expected);
        let counts = found.iter().map(|(runs, failure)| (runs.len(), failure.as_deref()));
        assert!(counts.eq([(3, None), (1, Some("out of memory"))]));
    }

    /// Runs without a duration, after the limit.
    #[test]
    fn no_run_begins_after_the_limit_except_for_the_needed_ones() {
        let runs = |least| {
            let rounds = Rounds { time: Some(Duration::ZERO), least, ..ALL };
            let found = in_rounds(rounds, &["a", "b"], |_, _| Ok(Finished::default()));
            found.iter().map(|(runs, _)| runs.len()).collect::<Vec<_>>()
        };
        assert_eq!(runs(0), [0, 0]);
        assert_eq!(runs(1), [1, 0]);
        assert_eq!(runs(2), [1, 1]);
    }

    #[test]
    fn run_that_the_limit_ends_is_no_failure() {
        let rounds = Rounds { time: Some(Duration::from_millis(5)), ..ALL };
        let found = in_rounds(rounds, &["a", "b"], |_, step| {
            std::thread::sleep(step.left.unwrap());
            Err("killed".to_owned())
        });
        assert!(found.iter().all(|(runs, failure)| runs.is_empty() && failure.is_none()));
    }

    #[test]
    fn rest_is_expected_from_the_runs_so_far() {
        let step = Step { number: 3, count: 6, left: None, elapsed: Duration::from_secs(4) };
        assert_eq!(step.expected(), Some(Duration::from_secs(8)));
        let left = Some(Duration::from_secs(5));
        assert_eq!(Step { left, ..step }.expected(), left);
        assert_eq!(Step { number: 1, ..step }.expected(), None);
    }
}
