//! The figures that people quote, as cards at the top of the page.

use std::collections::HashSet;

use maud::{Markup, html as markup};
use yamba_record::{Benchmark, Run};

use super::rows::PointRow;
use super::sweep::IN_MEMORY;
use super::table::{figure, interval_text};
use super::verdict::{PairVerdict, SideBySide, ratio_text};
use crate::letters::letter;

/// Tag of benchmarks whose figure is quoted.
const HEADLINE: &str = "headline";

/// Maximum number of cards.
const MOST: usize = 12;

/// One benchmark of a topic.
struct Candidate<'a, 'r> {
    topic: &'a str,
    row: &'a PointRow<'r>,
    is_tagged: bool,
}

/// The section with the cards. Empty without a figure.
pub fn section(
    runs: &[Run],
    groups: &[(String, Vec<PointRow>)],
    comparison: Option<&SideBySide>,
) -> Markup {
    let chosen = chosen(groups);
    markup! {
        @if !chosen.is_empty() {
            section aria-labelledby="headlines" {
                h2 #headlines { "Headline figures" }
                div.cards { @for card in &chosen { (self::card(runs, card, comparison)) } }
            }
        }
    }
}

/// Up to twelve benchmarks in the order of the topics: those with the tag, then the first others of
/// each topic in turn.
fn chosen<'a, 'r>(groups: &'a [(String, Vec<PointRow<'r>>)]) -> Vec<Candidate<'a, 'r>> {
    let mut topics: Vec<Vec<Candidate>> =
        groups.iter().map(|(t, rows)| candidates(t, rows)).collect();
    let tagged = topics.iter().flatten().filter(|c| c.is_tagged).count();
    let mut free = MOST.saturating_sub(tagged);
    let mut kept: HashSet<usize> = HashSet::new();
    let longest = topics.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        for candidate in topics.iter().filter_map(|t| t.iter().filter(|c| !c.is_tagged).nth(turn)) {
            if free > 0 && kept.insert(candidate.row.place) {
                free -= 1;
            }
        }
    }
    let mut chosen: Vec<Candidate> = topics.drain(..).flatten().collect();
    chosen.retain(|c| c.is_tagged || kept.contains(&c.row.place));
    chosen.truncate(MOST);
    chosen
}

/// The benchmarks of a topic with a figure, each with the row of its card.
fn candidates<'a, 'r>(topic: &'a str, rows: &'a [PointRow<'r>]) -> Vec<Candidate<'a, 'r>> {
    let mut seen = HashSet::new();
    let first = rows.iter().filter(|row| seen.insert(row.name));
    let shown = first.filter_map(|first| {
        let row = quoted(rows.iter().filter(|row| row.name == first.name).collect())?;
        let has_tag = |b: &Benchmark| b.declaration.provenance.tags.iter().any(|t| t == HEADLINE);
        Some(Candidate { topic, row, is_tagged: row.present().any(has_tag) })
    });
    shown.collect()
}

/// The row that a benchmark's card shows: the first one with a figure. Of a sweep over sizes of
/// memory it is the last one, whose buffer exceeds the caches.
fn quoted<'a, 'r>(mut rows: Vec<&'a PointRow<'r>>) -> Option<&'a PointRow<'r>> {
    rows.retain(|row| row.present().any(|b| b.median.is_some()));
    let is_in_memory = |b: &Benchmark| b.declaration.provenance.tags.iter().any(|t| t == IN_MEMORY);
    let first = rows.first()?;
    if first.present().any(is_in_memory) { rows.last().copied() } else { Some(first) }
}

fn card(runs: &[Run], card: &Candidate, comparison: Option<&SideBySide>) -> Markup {
    let row = card.row;
    let about = row.present().find_map(|b| b.declaration.provenance.summary.as_deref());
    let verdict = comparison.and_then(|c| c.verdict(runs, row));
    markup! {
        a.card href={ "#entry-" (row.place) } {
            span.topic { (card.topic) }
            span.about { (spans(about.unwrap_or(row.name))) }
            @for (number, entry) in row.entries.iter().enumerate() {
                @if let Some(entry) = entry {
                    span.value {
                        @if runs.len() > 1 { span.run { (letter(number)) } " " }
                        strong { (figure(entry)) }
                        @if let Some(text) = interval_text(entry) { " " small { (text) } }
                        @if let Some(mark) = mark(entry) { " " span.mark { (mark) } }
                    }
                }
            }
            @if let Some(verdict) = verdict { (difference(verdict)) }
            span.which { (row.name) @if !row.settings.is_empty() { " " (row.short_point()) } }
        }
    }
}

/// A text in which words between backquotes are code.
fn spans(text: &str) -> Markup {
    markup! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn difference(verdict: &PairVerdict) -> Markup {
    markup! {
        @if let Some(text) = ratio_text(verdict) {
            span.ratio { "B/A " (text) " " span.verdict.(verdict.kind.class()) { (verdict.word) } }
        }
    }
}

/// The exception of a figure.
fn mark(entry: &Benchmark) -> Option<&'static str> {
    match (entry.valid, entry.interference.is_disturbed) {
        (false, _) => Some("invalid"),
        (true, true) => Some("disturbed"),
        (true, false) => None,
    }
}
