//! Verdicts of a comparison in words, for the page of two runs and for a comment in Markdown.

use indexmap::IndexMap;
use yamba_compare::pairing::ONLY_IN_A;
use yamba_compare::unit::choose_unit;
use yamba_compare::{ComparedEntry, Comparison, ONE_PROGRAM, Unmatched, Word, comparison, pairing};
use yamba_record::{Benchmark, Run};
use yamba_report::{PairVerdict, SideBySide, VerdictKind};

/// Maximum number of reasons that one sentence lists.
const MOST_REASONS: usize = 4;

/// The verdict on one program whose launches differ.
pub(super) const SAME_PROGRAM: &str = "same program";

/// The verdict on an entry. A difference that was not re-measured only seems to be one.
pub(super) fn verdict(entry: &ComparedEntry) -> (VerdictKind, &'static str) {
    match entry.verdict {
        Word::Same if entry.differs_in_one_program() => (VerdictKind::Same, SAME_PROGRAM),
        Word::Same => (VerdictKind::Same, "no difference shown"),
        Word::Slower => (VerdictKind::Slower, "slower"),
        Word::Faster => (VerdictKind::Faster, "faster"),
        Word::Unknown if entry.suspect => suspicion(entry),
        Word::Unknown => (VerdictKind::Undecided, "undecided"),
    }
}

fn suspicion(entry: &ComparedEntry) -> (VerdictKind, &'static str) {
    let is_more = entry.ratio.is_some_and(|r| r > 1.0);
    match entry.better {
        Some("less") if is_more => (VerdictKind::Slower, "seems slower"),
        Some("more") if !is_more => (VerdictKind::Slower, "seems slower"),
        Some(_) => (VerdictKind::Faster, "seems faster"),
        None => (VerdictKind::Differs, "seems to differ"),
    }
}

/// The numbers of verdicts on the benchmarks of B, and the number of those that it lacks: `3 seem
/// slower, 120 without a shown difference, 2 undecided; 1 only in A`.
pub(super) fn summary(found: &Comparison) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for entry in &found.benchmarks {
        *counts.entry(verdict(entry).1).or_default() += 1;
    }
    *counts.entry("undecided").or_default() += unmatched_in_b(found).count();
    let count = |word: &str| counts.get(word).copied().unwrap_or_default();
    let seem = |n: usize| if n == 1 { "seems" } else { "seem" };
    let [maybe_slower, maybe_faster, maybe_differ] =
        ["seems slower", "seems faster", "seems to differ"].map(count);
    let parts = [
        (count("slower"), "slower".to_owned()),
        (count("faster"), "faster".to_owned()),
        (maybe_slower, format!("{} slower", seem(maybe_slower))),
        (maybe_faster, format!("{} faster", seem(maybe_faster))),
        (maybe_differ, format!("{} to differ", seem(maybe_differ))),
        (count(SAME_PROGRAM), "of the same program".to_owned()),
        (count("no difference shown"), "without a shown difference".to_owned()),
        (count("undecided"), "undecided".to_owned()),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, text)| format!("{count} {text}")).collect();
    let of_b = if parts.is_empty() { "nothing to compare".to_owned() } else { parts.join(", ") };
    match found.unmatched.iter().filter(|alone| alone.reason == ONLY_IN_A).count() {
        0 => of_b,
        n => format!("{of_b}; {n} only in A"),
    }
}

/// The benchmarks of B without a partner in A.
fn unmatched_in_b(found: &Comparison) -> impl Iterator<Item = &Unmatched> {
    found.unmatched.iter().filter(|alone| alone.side == "b")
}

/// The reasons for undecided benchmarks of B, the most frequent first: `138 undecided: disturbed in
/// B (58), one launch in A (19) and 2 other reasons`.
pub(super) fn reasons_of_undecided(found: &Comparison) -> Option<String> {
    let mut reasons: IndexMap<&str, usize> = IndexMap::new();
    let undecided = found.benchmarks.iter();
    let undecided = undecided.filter(|e| verdict(e).0 == VerdictKind::Undecided);
    let of_entries = undecided.map(|e| e.reason.as_deref().unwrap_or("no reason is known"));
    for reason in of_entries.chain(unmatched_in_b(found).map(|u| u.reason)) {
        *reasons.entry(reason).or_default() += 1;
    }
    let all: usize = reasons.values().sum();
    reasons.sort_by(|_, x, _, y| y.cmp(x));
    let others = match reasons.len().saturating_sub(MOST_REASONS) {
        0 => String::new(),
        1 => " and 1 other reason".to_owned(),
        n => format!(" and {n} other reasons"),
    };
    let shown = reasons.iter().take(MOST_REASONS);
    let shown: Vec<String> = shown.map(|(reason, n)| format!("{reason} ({n})")).collect();
    (all > 0).then(|| format!("{all} undecided: {}{others}.", shown.join("; ")))
}

/// Remarks on the comparison as a whole. Differences between the machines come first.
pub(super) fn remarks(found: &Comparison) -> Vec<String> {
    let machine = &found.machine;
    let mut all = Vec::new();
    if !machine.identity.is_empty() {
        all.push("These are two machines: only times are compared, and the machines are part of each ratio.".to_owned());
    }
    let differences = machine.identity.iter().chain(&machine.state);
    all.extend(differences.map(|d| format!("The {}.", d.describe("in A", "in B"))));
    let of_one_program = found.benchmarks.iter().filter(|e| e.differs_in_one_program()).count();
    if of_one_program > 0 {
        let differ = if of_one_program == 1 { "differs" } else { "differ" };
        all.push(format!("{of_one_program} {differ}, but {ONE_PROGRAM}."));
    }
    // Two machines cannot be re-measured together.
    let is_one_machine = machine.identity.is_empty() && found.remeasured.is_none();
    if is_one_machine && found.benchmarks.iter().any(|e| e.suspect) {
        all.push("A difference that only seems to be one may be drift of the machine. Re-measuring both sides decides: yamba compare A B --remeasure.".to_owned());
    }
    all
}

/// The comparison of two runs for their page. `None` if they have no benchmark in common.
pub fn side_by_side(a: &Run, b: &Run) -> Option<SideBySide> {
    let mut found = comparison(a, b, &choose_unit);
    found.settle_one_programs();
    let both = pairing::paired(&a.benchmarks, &b.benchmarks).both;
    let pairs = both.iter().zip(&found.benchmarks);
    let pairs: Vec<PairVerdict> = pairs
        .filter_map(|((_, of_a, of_b), entry)| {
            let (kind, word) = verdict(entry);
            let reason = entry.reason.clone().filter(|_| kind == VerdictKind::Undecided);
            Some(PairVerdict {
                entries: [place(a, of_a)?, place(b, of_b)?],
                ratio: entry.ratio,
                confidence_interval: entry.confidence_interval,
                kind,
                word: reason.unwrap_or_else(|| word.to_owned()),
            })
        })
        .collect();
    (!pairs.is_empty()).then(|| SideBySide {
        summary: format!("Of B: {}.", summary(&found)),
        remarks: reasons_of_undecided(&found).into_iter().chain(remarks(&found)).collect(),
        pairs,
    })
}

fn place(run: &Run, benchmark: &Benchmark) -> Option<usize> {
    let mut all = run.benchmarks.iter();
    all.position(|b| std::ptr::eq(b, benchmark))
}
