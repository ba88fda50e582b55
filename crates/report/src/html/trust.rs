//! Whether the figures can be trusted: their numbers by status, and the problems with their fixes,
//! the worst first.

use indexmap::IndexMap;
use maud::{Markup, html as markup};
use yamba_record::machine::details::Fix;
use yamba_record::number::counted;
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Note, Run, Status};

use super::facts::{is_own, unfinished};
use super::head::label;
use super::rows::PointRow;
use crate::contention::{contended_sentence, disturbing_share};
use crate::intervals::WITHIN;
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
    /// Figures of another program. Nothing shows whether they are valid and undisturbed.
    unknown: usize,
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
                Status::Ok if !is_own(run) => &mut counts.unknown,
                Status::Ok => &mut counts.valid,
                Status::Invalid => &mut counts.invalid,
                Status::Crashed => &mut counts.crashed,
                Status::Skipped | Status::NotStarted => &mut counts.skipped,
            };
            *count += 1;
        }
        counts
    }

    /// The number of figures. A skipped benchmark has none.
    fn figures(&self) -> usize {
        self.all() - self.skipped
    }

    fn all(&self) -> usize {
        self.parts().iter().map(|(_, _, count)| count).sum()
    }

    /// The parts of the bar: class, name and count.
    fn parts(&self) -> [(&'static str, &'static str, usize); 6] {
        [
            ("unknown", "measured by another program", self.unknown),
            ("valid", "valid and undisturbed", self.valid),
            ("disturbed", "disturbed", self.disturbed),
            ("invalid", "invalid", self.invalid),
            ("crashed", "crashed", self.crashed),
            ("skipped", "skipped", self.skipped),
        ]
    }

    /// The numbers of other figures than the first of [`parts`](Counts::parts): `76 disturbed, 1
    /// invalid`.
    fn others(&self, first: usize) -> String {
        let figures = self.parts().into_iter().take_while(|(name, _, _)| *name != "skipped");
        let others = figures.skip(first).filter(|(_, _, count)| *count > 0);
        let others: Vec<String> =
            others.map(|(_, name, count)| format!("{count} {name}")).collect();
        others.join(", ")
    }

    /// `2 figures, 1 skipped. Measured by lmbench3.0: Yamba knows nothing of disturbance.`
    fn sentence_of_other_program(&self, version: &str) -> String {
        let figures = counted(self.unknown, "figure", "figures");
        let others = self.others(1);
        let others = if others.is_empty() { others } else { format!(", {others}") };
        let skipped = self.and_skipped();
        format!(
            "{figures}{others}{skipped}. Measured by {version}: Yamba knows nothing of disturbance."
        )
    }

    /// `; 11 skipped`
    fn and_skipped(&self) -> String {
        if self.skipped > 0 { format!("; {} skipped", self.skipped) } else { String::new() }
    }

    /// `84 of 161 figures are valid and undisturbed; 76 disturbed, 1 invalid; 11 skipped.`
    fn sentence(&self) -> String {
        let others = self.others(2);
        let figures = counted(self.figures(), "figure", "figures");
        let sentence = match (self.figures(), self.valid) {
            (0, _) => "There is no figure".to_owned(),
            (1, 1) => "The figure is valid and undisturbed".to_owned(),
            (all, valid) if all == valid => format!("All {figures} are valid and undisturbed"),
            (_, 0) => format!("None of {figures} is valid and undisturbed: {others}"),
            (_, 1) => format!("1 of {figures} is valid and undisturbed; {others}"),
            (_, valid) => format!("{valid} of {figures} are valid and undisturbed; {others}"),
        };
        format!("{sentence}{}.", self.and_skipped())
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
    let sentence = match is_own(run) {
        true => counts.sentence(),
        false => counts.sentence_of_other_program(&run.producer.version),
    };
    let problems = problems(number, run, rows);
    let conditions = run.machine.details.as_deref().map_or(&[][..], |d| &d.disturbances);
    markup! {
        div.trust {
            p.counts {
                @if runs.len() > 1 { strong { (letter(number)) ": " } }
                strong { (sentence) }
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
    if let Some(text) = unfinished(run) {
        let fix = format!("run yamba {} again.", command_without_name(run));
        all.push(Problem::new(text.to_owned(), &fix));
    }
    all.extend(bad_figures(number, rows));
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

/// The command of a run without the name that it gave to the run, which another run cannot have.
fn command_without_name(run: &Run) -> String {
    let mut words = run.producer.arguments.iter().map(String::as_str);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--" => kept.extend(std::iter::once(word).chain(words.by_ref())),
            "--name" => drop(words.next()),
            _ if word.starts_with("--name=") => {}
            _ => kept.push(word),
        }
    }
    command_line(kept)
}

/// A kind of bad figures: its text, its fix and its condition.
type Kind<'a> = (&'a str, &'a str, &'a dyn Fn(&Benchmark) -> bool);

/// The crashed and the invalid figures of a run, with the first reason of each.
fn bad_figures<'a>(number: usize, rows: &[&'a PointRow<'a>]) -> impl Iterator<Item = Problem<'a>> {
    let is_contradicted = |b: &Benchmark| b.details.evidence.values().any(|e| e.outside > 0);
    let is_invalid = |b: &Benchmark| b.status == Status::Invalid;
    let kinds: [Kind; 3] = [
        ("Crashed:", "see its details below.", &|b| b.status == Status::Crashed),
        (
            "Invalid, because evidence contradicts the name of the figure:",
            "do not use it; its evidence is in its details below.",
            &|b| is_invalid(b) && is_contradicted(b),
        ),
        ("Invalid:", "do not use it; the reason is in its details below.", &|b| {
            is_invalid(b) && !is_contradicted(b)
        }),
    ];
    let problems = kinds.map(|(text, fix, is_meant)| {
        let own = rows.iter().filter_map(|row| Some((*row, row.entries[number]?)));
        let own = own.filter(|(_, entry)| is_meant(entry));
        let figures = own.map(|(row, entry)| (row.place, row.name, reason(entry))).collect();
        Problem { figures, ..Problem::new(text.to_owned(), fix) }
    });
    problems.into_iter().filter(|problem| !problem.figures.is_empty())
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
    } else if unfinished(run).is_some() {
        "measure to the end."
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
    use yamba_record::Machine;
    use yamba_record::run::Imported;

    use super::*;

    #[test]
    fn one_sentence_has_the_counts_that_are_not_zero() {
        let counts = |valid, disturbed, invalid, skipped| Counts {
            valid,
            disturbed,
            invalid,
            skipped,
            ..Counts::default()
        };
        for (counts, sentence) in [
            (
                counts(84, 76, 1, 11),
                "84 of 161 figures are valid and undisturbed; 76 disturbed, 1 invalid; 11 skipped.",
            ),
            (counts(3, 0, 0, 0), "All 3 figures are valid and undisturbed."),
            (counts(1, 0, 0, 0), "The figure is valid and undisturbed."),
            (counts(0, 2, 0, 0), "None of 2 figures is valid and undisturbed: 2 disturbed."),
            (counts(1, 0, 0, 1), "The figure is valid and undisturbed; 1 skipped."),
            (counts(0, 0, 0, 0), "There is no figure."),
            (counts(0, 0, 0, 2), "There is no figure; 2 skipped."),
        ] {
            assert_eq!(counts.sentence(), sentence);
        }
    }

    #[test]
    fn figures_of_another_program_are_not_called_undisturbed() {
        let figure = |status: Status| Benchmark::ended("x", status, Vec::new());
        let mut run = Run::new(Machine::default());
        run.benchmarks = vec![figure(Status::Ok), figure(Status::Ok), figure(Status::Crashed)];
        run.producer.version = "lmbench3.0".to_owned();
        run.producer.imported = Some(Imported::default());
        let page = run_section(std::slice::from_ref(&run), 0, &run, &[]).into_string();
        let sentence =
            "2 figures, 1 crashed. Measured by lmbench3.0: Yamba knows nothing of disturbance.";
        assert!(page.contains(sentence), "{page}");
        assert!(!page.contains("undisturbed") && !page.contains(r#"class="valid""#), "{page}");
    }
}
