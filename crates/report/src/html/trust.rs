//! Whether the figures can be trusted: their numbers by status, and the problems with their fixes,
//! the worst first.

use indexmap::IndexMap;
use maud::{Markup, html as markup};
use yamba_record::machine::details::Fix;
use yamba_record::number::counted;
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Note, Run, Status};

use super::facts::is_own;
use super::head::{WITHIN, label};
use super::rows::PointRow;
use crate::contention::{contended_sentence, disturbing_share};
use crate::letters::letter;
use crate::place::command_line;

/// Maximum number of benchmarks that a problem names.
const MOST_NAMED: usize = 6;

/// Launches below which an interval says little about the next run.
const USUAL_LAUNCHES: u64 = 6;

/// A reason not to trust figures.
struct Problem<'a> {
    text: String,
    /// Figures with the problem, each with its row on the page and its reason.
    figures: Vec<(usize, &'a str, String)>,
    fix: Option<String>,
}

impl Problem<'_> {
    fn new(text: String, fix: &str) -> Problem<'static> {
        Problem { text, figures: Vec::new(), fix: (!fix.is_empty()).then(|| fix.to_owned()) }
    }
}

/// Numbers of a run's figures.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    valid: usize,
    disturbed: usize,
    invalid: usize,
    crashed: usize,
    skipped: usize,
}

impl Counts {
    fn new(run: &Run) -> Counts {
        let mut counts = Counts::default();
        for benchmark in &run.benchmarks {
            let count = match benchmark.status {
                Status::Ok if benchmark.interference.is_disturbed => &mut counts.disturbed,
                Status::Ok => &mut counts.valid,
                Status::Invalid => &mut counts.invalid,
                Status::Crashed => &mut counts.crashed,
                Status::Skipped | Status::NotStarted => &mut counts.skipped,
            };
            *count += 1;
        }
        counts
    }

    fn all(&self) -> usize {
        self.valid + self.disturbed + self.invalid + self.crashed + self.skipped
    }

    /// The parts of the bar: class, name and count.
    fn parts(&self) -> [(&'static str, &'static str, usize); 5] {
        [
            ("valid", "valid and undisturbed", self.valid),
            ("disturbed", "disturbed", self.disturbed),
            ("invalid", "invalid", self.invalid),
            ("crashed", "crashed", self.crashed),
            ("skipped", "skipped", self.skipped),
        ]
    }

    /// `84 of 172 figures are valid and undisturbed; 76 disturbed, 1 invalid, 11 skipped.`
    fn sentence(&self) -> String {
        let all = self.all();
        let others = self.parts().into_iter().skip(1);
        let others: Vec<String> = others
            .filter(|(_, _, count)| *count > 0)
            .map(|(_, name, count)| format!("{count} {name}"))
            .collect();
        let figures = counted(all, "figure", "figures");
        match (all, self.valid) {
            (0, _) => "There is no figure.".to_owned(),
            (1, 1) => "The figure is valid and undisturbed.".to_owned(),
            (all, valid) if all == valid => format!("All {figures} are valid and undisturbed."),
            (_, 0) => format!("None of {figures} is valid and undisturbed: {}.", others.join(", ")),
            (_, 1) => format!("1 of {figures} is valid and undisturbed; {}.", others.join(", ")),
            (_, valid) => {
                format!("{valid} of {figures} are valid and undisturbed; {}.", others.join(", "))
            }
        }
    }
}

/// The section of all runs.
pub fn section(runs: &[Run], rows: &[&PointRow]) -> Markup {
    markup! {
        section aria-labelledby="trust" {
            h2 #trust { "Can these figures be trusted?" }
            @for (number, run) in runs.iter().enumerate() {
                (run_section(runs, number, run, rows))
            }
        }
    }
}

fn run_section(runs: &[Run], number: usize, run: &Run, rows: &[&PointRow]) -> Markup {
    let counts = Counts::new(run);
    let problems = problems(number, run, rows);
    let conditions = run.machine.details.as_deref().map_or(&[][..], |d| &d.disturbances);
    markup! {
        div.trust {
            p.counts {
                @if runs.len() > 1 { strong { (letter(number)) ": " } }
                strong { (counts.sentence()) }
            }
            (bar(&counts))
            @if !problems.is_empty() {
                ul.problems { @for problem in &problems { li { (shown(problem)) } } }
            }
            @if !conditions.is_empty() {
                details.folded {
                    summary {
                        (counted(conditions.len(), "condition", "conditions")) " of the machine that may change figures"
                        @if runs.len() > 1 { " (" (label(runs, number)) ")" }
                    }
                    ul.problems { @for condition in conditions { li { (condition.text) ". " (machine_fix(&condition.fix)) } } }
                }
            }
        }
    }
}

/// The shares of the counts as one bar. The sentence above says the same.
fn bar(counts: &Counts) -> Markup {
    let mut from = 0;
    let parts = counts.parts().map(|(class, _, count)| {
        from += count;
        (class, from - count, count)
    });
    markup! {
        @if counts.all() > 1 {
            svg.share viewBox={ "0 0 " (counts.all()) " 1" } preserveAspectRatio="none" aria-hidden="true" {
                @for (class, x, width) in parts { @if width > 0 { rect.(class) x=(x) width=(width) height="1" {} } }
            }
        }
    }
}

fn shown(problem: &Problem) -> Markup {
    let more = problem.figures.len().saturating_sub(MOST_NAMED);
    markup! {
        (problem.text)
        @for (i, (place, name, reason)) in problem.figures.iter().take(MOST_NAMED).enumerate() {
            @if i > 0 { ";" } " " a href={ "#entry-" (place) } { (name) }
            @if !reason.is_empty() { " (" (reason) ")" }
        }
        @if more > 0 { " and " (more) " more" }
        @if !problem.figures.is_empty() { "." }
        @if let Some(fix) = &problem.fix { " " span.fix { strong { "Fix:" } " " (fix) } }
    }
}

pub fn machine_fix(fix: &Fix) -> Markup {
    markup! {
        span.fix {
            strong { "Fix:" } " "
            @match fix {
                Fix::Command(command) => code { (command) },
                Fix::Advice(advice) => { (advice) },
            }
        }
    }
}

fn problems<'a>(number: usize, run: &Run, rows: &[&'a PointRow<'a>]) -> Vec<Problem<'a>> {
    let mut all = Vec::new();
    if run.interrupted {
        let command = command_line(run.producer.arguments.iter().map(String::as_str));
        let text = "The run was stopped before it was done.".to_owned();
        all.push(Problem::new(text, &format!("run yamba {command} again.")));
    }
    for (status, what, fix) in [
        (Status::Crashed, "Crashed:", "see its details below."),
        (
            Status::Invalid,
            "Invalid, because evidence contradicts the name of the figure:",
            "do not use it; its evidence is in its details below.",
        ),
    ] {
        let figures = with_status(number, rows, status);
        if !figures.is_empty() {
            all.push(Problem { text: what.to_owned(), figures, fix: Some(fix.to_owned()) });
        }
    }
    if let Some(sentence) = contended_sentence(run) {
        let is_disturbing = run.benchmarks.iter().any(|b| disturbing_share(b).is_some());
        let fix = "measure again when the host is quiet, or on a machine that nothing else uses.";
        all.push(Problem::new(sentence, if is_disturbing { fix } else { "" }));
    }
    all.extend(otherwise_disturbed(run));
    all.extend(few_launches(run));
    match run.benchmarks.iter().filter(|b| b.status.is_skipped()).count() {
        0 => {}
        1 => all.push(Problem::new("1 was skipped; the reason is below.".to_owned(), "")),
        n => all.push(Problem::new(format!("{n} were skipped; the reasons are below."), "")),
    }
    all
}

/// The figures of a run with a status, with the first reason of each.
fn with_status<'a>(
    number: usize,
    rows: &[&'a PointRow<'a>],
    status: Status,
) -> Vec<(usize, &'a str, String)> {
    let own = rows.iter().filter_map(|row| Some((*row, row.entries[number]?)));
    let own = own.filter(|(_, entry)| entry.status == status);
    own.map(|(row, entry)| (row.place, row.name, reason(entry))).collect()
}

fn reason(entry: &Benchmark) -> String {
    entry.reason().map_or(String::new(), Note::first_line)
}

/// The figures that something other than a neighbour disturbed, by kind.
fn otherwise_disturbed(run: &Run) -> Option<Problem<'static>> {
    let all = run.benchmarks.iter();
    let disturbed = all.filter(|b| {
        b.status == Status::Ok && b.interference.is_disturbed && disturbing_share(b).is_none()
    });
    let mut kinds: IndexMap<&str, usize> = IndexMap::new();
    let mut count = 0;
    for benchmark in disturbed {
        count += 1;
        for kind in benchmark.interference.disturbed.keys() {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{kind} in {n}")).collect();
    let by = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let figures = counted(count, "figure", "figures");
    (count > 0).then(|| {
        Problem::new(
            format!("Other work on the machine may be part of {figures}{by}."),
            "stop other programs and measure again.",
        )
    })
}

/// Intervals of few launches say little about the next run.
fn few_launches(run: &Run) -> Option<Problem<'static>> {
    let all = run.benchmarks.iter();
    let within = all.filter(|b| b.interval_scope == Some(IntervalScope::WithinLaunches));
    let count = within.count();
    if count == 0 || !is_own(run) {
        return None;
    }
    let fix = if run.producer.arguments.iter().any(|a| a == "--quick") {
        "measure without --quick."
    } else if run.plan.launches < USUAL_LAUNCHES {
        "measure with --launches 6 or more."
    } else {
        "measure again when the machine is quiet, so that more launches have undisturbed batches."
    };
    Some(Problem::new(
        format!(
            "The intervals of {} (marked {WITHIN}) come from few launches: the next run may differ by more.",
            counted(count, "figure", "figures")
        ),
        fix,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_has_the_counts_that_are_not_zero() {
        let counts = |valid, disturbed, invalid, skipped| Counts {
            valid,
            disturbed,
            invalid,
            skipped,
            crashed: 0,
        };
        for (counts, sentence) in [
            (
                counts(84, 76, 1, 11),
                "84 of 172 figures are valid and undisturbed; 76 disturbed, 1 invalid, 11 skipped.",
            ),
            (counts(3, 0, 0, 0), "All 3 figures are valid and undisturbed."),
            (counts(1, 0, 0, 0), "The figure is valid and undisturbed."),
            (counts(0, 2, 0, 0), "None of 2 figures is valid and undisturbed: 2 disturbed."),
            (counts(0, 0, 0, 0), "There is no figure."),
        ] {
            assert_eq!(counts.sentence(), sentence);
        }
    }
}
