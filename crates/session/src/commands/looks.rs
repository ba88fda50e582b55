//! Compares timed commands with their reference, at looks whose number does not raise the
//! probability of a false alarm. Pure.

use std::collections::BTreeSet;

use yamba_compare::sequential::{FIRST_LOOK, Question, choice_at, is_decided, judge, next_look};
use yamba_compare::{ComparedEntry, Comparison, Interleaved, Word, comparison};
use yamba_record::{Benchmark, Run};
use yamba_stats::median;

use super::figures::interval;
use crate::limits::{Limit, limit_of};

/// The looks at the commands of a run.
pub(super) struct Looks {
    /// The number of the latest look, from 1, and of the rounds before it.
    look: usize,
    rounds: u64,
    /// The number of rounds at the next look. `None`: the user has fixed the number of rounds, and
    /// there is one look at the end.
    next: Option<u64>,
}

impl Looks {
    pub fn new(is_fixed: bool) -> Looks {
        Looks { look: 0, rounds: 0, next: (!is_fixed).then_some(FIRST_LOOK) }
    }

    /// Whether the results are to be looked at after these rounds.
    pub fn is_next(&mut self, rounds: u64) -> bool {
        let is_next = self.next == Some(rounds);
        if is_next {
            self.next = Some(next_look(rounds));
        }
        is_next
    }

    /// Whether each command with a limit is decided: the first entry is the reference.
    pub fn is_decided(&mut self, rounds: u64, benchmarks: &[Benchmark], limits: &[Limit]) -> bool {
        if limits.is_empty() {
            return false;
        }
        (self.look, self.rounds) = (self.look + 1, rounds);
        let found = compared(benchmarks, self.look);
        found.benchmarks.iter().all(|entry| {
            let limit = limit_of(limits, &entry.of.name);
            entry.ratio.is_none() || limit.is_none_or(|l| is_decided(entry, Question::Limit(l)))
        })
    }

    /// The comparison at the end, with verdicts.
    pub fn judged(&self, run: &Run, rounds: u64, limits: &[Limit]) -> Comparison {
        // Without new rounds, this is the latest look again.
        let look = self.look + usize::from(rounds != self.rounds);
        let mut found = compared(&run.benchmarks, look);
        for reference in [&mut found.a, &mut found.b] {
            reference.id.clone_from(&run.id);
        }
        let stopped = run.interrupted.then(|| "interrupted".to_owned());
        // Without a limit there is no question, so that nothing is undecided.
        judge(&mut found, Interleaved { rounds, stopped, failures: Vec::new() }, &|entry| {
            let limit = limit_of(limits, &entry.of.name);
            Question::Limit(limit.unwrap_or(f64::INFINITY))
        });
        found
    }
}

/// Each command compared with the reference. The result holds for each time that the subtracted
/// start of the shell may have taken.
fn compared(benchmarks: &[Benchmark], look: usize) -> Comparison {
    let mut found = with_shell(benchmarks, look, None);
    let has_shell = |entry: &Benchmark| {
        entry.details.command.as_ref().is_some_and(|command| command.shell.is_some())
    };
    if !benchmarks.iter().any(has_shell) {
        return found;
    }
    for end in [0, 1] {
        let at_end = with_shell(benchmarks, look, Some(end));
        for (entry, other) in found.benchmarks.iter_mut().zip(at_end.benchmarks) {
            widen(entry, &other);
        }
    }
    found
}

/// Makes the entry's result hold for the other one, too.
fn widen(entry: &mut ComparedEntry, other: &ComparedEntry) {
    let both = entry.confidence_interval.zip(other.confidence_interval);
    entry.confidence_interval = both.map(|([a, b], [c, d])| [a.min(c), b.max(d)]);
    if entry.confidence_interval.is_none() {
        entry.ratio = None;
        entry.reason = entry.reason.take().or(other.reason.clone());
    }
    entry.p = entry.p.zip(other.p).map(|(p, q)| p.max(q));
    if entry.suspect != other.suspect {
        (entry.suspect, entry.verdict) = (false, Word::Same);
    }
}

/// Each command compared with the reference, which gets the name of the command. `end`: with the
/// least or greatest time of the shell instead of its median.
fn with_shell(benchmarks: &[Benchmark], look: usize, end: Option<usize>) -> Comparison {
    let (reference, others) =
        benchmarks.split_first().map_or((None, &[][..]), |(r, o)| (Some(r), o));
    let pairs = others.iter().zip(reference.into_iter().cycle()).map(|(of, reference)| {
        let mut base = Benchmark { name: of.name.clone(), ..reference.clone() };
        base.parameters = of.parameters.clone();
        [with_common(base, of, end), with_common(of.clone(), reference, end)]
    });
    let (a, b) = pairs.map(|[base, of]| (base, of)).unzip();
    comparison(&run(a), &run(b), &|_, _| choice_at(look))
}

fn run(benchmarks: Vec<Benchmark>) -> Run {
    Run { benchmarks, ..Run::new(Default::default()) }
}

/// The entry with the launches of the rounds that both have.
fn with_common(mut entry: Benchmark, other: &Benchmark, end: Option<usize>) -> Benchmark {
    let rounds: BTreeSet<u64> = other.launches.iter().map(|launch| launch.round).collect();
    entry.launches.retain(|launch| rounds.contains(&launch.round));
    // A disturbance affects both commands of a round alike.
    entry.interference.is_disturbed = false;
    let shift = end.map_or(0.0, |end| shell_error(&entry, end));
    for launch in &mut entry.launches {
        launch.median = launch.median.map(|time| time - shift);
    }
    entry
}

/// The least or greatest time that the shell may have taken, less the subtracted one, in ns. 0
/// without a shell.
fn shell_error(entry: &Benchmark, end: usize) -> f64 {
    let shell = entry.details.command.iter().filter(|command| command.shell.is_some());
    let times = shell.map(|command| &command.shell_ns);
    let error = |times: &Vec<f64>| Some(interval(times)?[end] - median(times)?);
    times.filter_map(error).next().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;
    use yamba_record::run::Launch;

    use super::*;

    /// Two commands in rounds; the second takes `ratio` as long.
    fn commands(rounds: u64, ratio: f64) -> Vec<Benchmark> {
        let mut random = fastrand::Rng::with_seed(3);
        let mut command = |name: &str, time: f64| {
            let mut entry = Benchmark::ended(name, Status::Ok, Vec::new());
            (entry.valid, entry.median) = (true, Some(time));
            entry.confidence_interval = Some([0.99 * time, 1.01 * time]);
            entry.unit = Some("ns".to_owned());
            entry.declaration.figure = Some("latency".to_owned());
            let launch = |round| {
                let median = Some(time * (0.99 + 0.02 * random.f64()));
                Launch { median, samples: 1, round, ..Launch::default() }
            };
            entry.launches = (0..rounds).map(launch).collect();
            entry
        };
        vec![command("a", 1e6), command("b", 1e6 * ratio)]
    }

    #[test]
    fn decided_look_is_that_of_the_verdict() {
        let limits = [(None, 0.05)];
        let mut decided = 0;
        for step in 0..40 {
            let commands = commands(6, 1.0 + 0.005 * f64::from(step));
            let mut looks = Looks::new(false);
            assert!(looks.is_next(6) && !looks.is_next(7));
            let is_decided = looks.is_decided(6, &commands, &limits);
            let found = looks.judged(&run(commands), 6, &limits);
            let is_unknown = found.benchmarks[0].verdict == Word::Unknown;
            assert!(!(is_decided && is_unknown), "{step}: {:?}", found.benchmarks[0]);
            decided += usize::from(is_decided);
        }
        assert!((1..40).contains(&decided), "{decided}");
    }

    #[test]
    fn common_rounds_are_compared_though_the_host_was_busy() {
        let mut commands = commands(8, 1.0);
        commands[1].launches.drain(..2);
        commands[1].interference.is_disturbed = true;
        let found = compared(&commands, 1);
        assert_eq!(found.benchmarks[0].launches, [6, 6]);
        assert_eq!(found.benchmarks[0].of.name, "b");
        assert!(found.benchmarks[0].ratio.is_some(), "{:?}", found.benchmarks[0]);
    }
}
