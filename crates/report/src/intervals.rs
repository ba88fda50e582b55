//! The kinds of figures and intervals in runs: the title of their column, and their explanation.

use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Run};

use crate::letters::letter;

/// Mark for an interval within launches.
pub const WITHIN: &str = "†";

/// The title of the column of intervals. It has a percentage if that is one for all intervals.
pub fn title(runs: &[Run]) -> &'static str {
    let entries = || runs.iter().flat_map(|run| &run.benchmarks).filter(has_interval);
    let are_all = |is_meant: &dyn Fn(IntervalScope) -> bool| {
        entries().next().is_some() && entries().all(|b| b.interval_scope.is_some_and(is_meant))
    };
    if are_all(&|scope| scope != IntervalScope::BetweenRuns) {
        "95 % interval"
    } else if are_all(&|scope| scope == IntervalScope::BetweenRuns) {
        "90 % interval"
    } else {
        "Interval"
    }
}

/// Sentences about the figures and intervals of runs.
pub fn explanation(runs: &[Run]) -> String {
    let mut sentences = Vec::new();
    let is_other = |run: &Run| run.producer.imported.is_some();
    match runs.iter().filter(|run| is_other(run)).count() {
        0 => sentences.push("Each figure is a median.".to_owned()),
        others if others == runs.len() => {}
        _ => sentences.push("Figures that Yamba measured are medians.".to_owned()),
    }
    for (number, run) in runs.iter().enumerate().filter(|(_, run)| is_other(run)) {
        let of_run = if runs.len() > 1 { format!(" of {}", letter(number)) } else { String::new() };
        let version = &run.producer.version;
        sentences.push(format!(
            "The figures{of_run} are from the results of {version}: medians, means or single numbers."
        ));
    }
    sentences.extend(meanings(runs));
    sentences.join(" ")
}

/// `An interval is ...; of few launches, ...`. `None` without a known kind of interval.
fn meanings(runs: &[Run]) -> Option<String> {
    let has = |scope: &IntervalScope| {
        let mut entries = runs.iter().flat_map(|run| &run.benchmarks).filter(has_interval);
        entries.any(|b| b.interval_scope == Some(*scope))
    };
    let scopes: Vec<IntervalScope> = IntervalScope::ALL.into_iter().filter(has).collect();
    let each = scopes.iter().map(|scope| match scope {
        IntervalScope::BetweenRuns if scopes.len() > 1 => {
            format!("of few launches, {}", scope.meaning())
        }
        IntervalScope::WithinLaunches => format!("marked {WITHIN}, {}", scope.meaning()),
        _ => scope.meaning().to_owned(),
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("An interval is {}.", each.join("; ")))
}

fn has_interval(benchmark: &&Benchmark) -> bool {
    benchmark.confidence_interval.is_some()
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;
    use yamba_record::run::{Imported, Status};

    use super::*;

    fn run(scopes: &[Option<IntervalScope>]) -> Run {
        let mut run = Run::new(Machine::default());
        run.benchmarks = scopes
            .iter()
            .map(|scope| {
                let mut made = Benchmark::ended("x", Status::Ok, Vec::new());
                (made.median, made.confidence_interval) = (Some(1.0), Some([0.9, 1.1]));
                made.interval_scope = *scope;
                made
            })
            .collect();
        run
    }

    #[test]
    fn percentage_is_that_of_all_intervals() {
        use IntervalScope::{BetweenLaunches, BetweenRuns, WithinLaunches};
        for (scopes, expected) in [
            (&[Some(BetweenLaunches), Some(WithinLaunches)][..], "95 % interval"),
            (&[Some(BetweenRuns)], "90 % interval"),
            (&[Some(BetweenRuns), Some(BetweenLaunches)], "Interval"),
            (&[None], "Interval"),
            (&[], "Interval"),
        ] {
            assert_eq!(title(&[run(scopes)]), expected, "{scopes:?}");
        }
    }

    #[test]
    fn each_kind_of_interval_is_explained() {
        use IntervalScope::{BetweenLaunches, BetweenRuns, WithinLaunches};
        let of = |scopes: &[IntervalScope]| {
            explanation(&[run(&scopes.iter().copied().map(Some).collect::<Vec<_>>())])
        };
        assert_eq!(
            of(&[BetweenRuns]),
            "Each figure is a median. An interval is one that holds the figure of the next run of this kind in 90 % of cases."
        );
        assert_eq!(
            of(&[BetweenLaunches, BetweenRuns, WithinLaunches]),
            "Each figure is a median. An interval is a distribution-free 95 % confidence interval between launches; of few launches, one that holds the figure of the next run of this kind in 90 % of cases; marked †, a 95 % confidence interval within launches, which says nothing of other runs."
        );
    }

    #[test]
    fn figures_of_another_program_are_not_called_medians() {
        let mut other = run(&[]);
        other.producer.version = "Catch2 3".to_owned();
        other.producer.imported = Some(Imported::default());
        assert_eq!(
            explanation(&[run(&[]), other.clone()]),
            "Figures that Yamba measured are medians. The figures of B are from the results of Catch2 3: medians, means or single numbers."
        );
        assert_eq!(
            explanation(&[other]),
            "The figures are from the results of Catch2 3: medians, means or single numbers."
        );
    }
}
