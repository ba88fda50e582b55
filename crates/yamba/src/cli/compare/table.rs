//! Formats a comparison as a table.

use indexmap::IndexMap;
use yamba_record::number::number;
use yamba_report::{figure, share, short_label};

use crate::cli::output;
use crate::wrap::wrap;
use yamba_compare::{
    ComparedEntry, Comparison, Gate, GeometricMean, LEAST_DEVIATION, Remeasured, Slower,
};
use yamba_compare::{Ungated, Word};

/// With fewer launches per side, the confidence interval is wide.
const USUAL_LAUNCHES: usize = 6;

/// Marks a disturbed figure.
const DISTURBED: &str = " ?";

/// If many benchmarks lack a ratio for the same reason, this many are named.
const NAMED: usize = 8;

/// Formats the comparison for a terminal of this width.
pub(super) fn text(found: &Comparison, a: &str, b: &str, width: Option<usize>) -> String {
    let mut out = format!("A  {}\nB  {}\n", side(a, &found.a.id), side(b, &found.b.id));
    let with_ratio = with_ratio(found);
    for mean in &found.geometric_means {
        let same = with_ratio.iter().filter(|e| e.kind() == mean.kind);
        let rows: Vec<&ComparedEntry> = same.copied().collect();
        out.push('\n');
        out.push_str(&section(&rows, mean, width));
    }
    let mut lines = undecided(found);
    lines.extend(closing(found));
    if let Some(gate) = &found.gate {
        lines.extend(not_covered(gate));
        lines.push(last(found, gate));
        lines.extend(gate.slower.iter().map(|of| slower(of, gate)));
    }
    // A name or unit from a document must not break the line.
    let lines = lines.iter().map(|line| line.replace(char::is_control, " "));
    let lines = lines.flat_map(|line| {
        let parts = wrap(&line, width.unwrap_or(usize::MAX), "  ");
        parts.iter().map(ToString::to_string).collect::<Vec<_>>()
    });
    let lines: Vec<String> = lines.collect();
    format!("{out}\n{}\n", lines.join("\n"))
}

fn with_ratio(found: &Comparison) -> Vec<&ComparedEntry> {
    let all = found.benchmarks.iter();
    all.filter(|e| e.ratio.is_some()).collect()
}

/// The benchmarks that could not be compared, and those whose verdict is qualified, by reason.
pub(super) fn undecided(found: &Comparison) -> Vec<String> {
    let reasons = |has_ratio: bool| {
        let all = found.benchmarks.iter();
        let all = all.filter(move |e| e.ratio.is_some() == has_ratio);
        all.filter_map(|e| Some((e.reason.clone()?, short_label(&e.label))))
    };
    let alone = found.unmatched.iter().map(|e| (e.reason.to_owned(), short_label(&e.of.label())));
    let mut lines = by_reason("not compared, ", reasons(false).chain(alone));
    lines.extend(by_reason("", reasons(true)));
    lines
}

/// Sentences about the comparison as a whole: counts, confidence, launches.
pub(super) fn closing(found: &Comparison) -> Vec<String> {
    let mut lines = summary(found, &with_ratio(found));
    lines.extend(found.remeasured.as_ref().map(remeasured));
    lines
}

pub(super) fn side(reference: &str, id: &str) -> String {
    if id.is_empty() || id == reference {
        reference.to_owned()
    } else {
        format!("{reference} ({id})")
    }
}

fn section(entries: &[&ComparedEntry], mean: &GeometricMean, width: Option<usize>) -> String {
    let mut heading = mean.kind.clone();
    if let Some(better) = entries.iter().find_map(|e| e.better) {
        heading = format!("{heading} ({better} is better)");
    }
    let titles = [&heading, "A", "B", "B/A", "interval", "p", "n", ""];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|e| cells(e)));
    let of = if !entries.iter().any(|e| e.stored.is_some()) {
        ""
    } else if mean.is_remeasured {
        ", re-measured"
    } else {
        ", as the runs have them"
    };
    let title = format!("geometric mean of {}{of}", mean.benchmarks);
    rows.push(vec![title, String::new(), String::new(), share(mean.ratio)]);
    output::table(&rows, width)
}

pub(super) fn cells(entry: &ComparedEntry) -> Vec<String> {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let figure = |value: Option<f64>, is_disturbed: bool| {
        let mark = if is_disturbed { DISTURBED } else { "" };
        value.map_or("-".to_owned(), |v| figure(v, unit) + mark)
    };
    let [low, high] = entry.confidence_interval.unwrap_or_default();
    let [a, b] = entry.launches;
    vec![
        short_label(&entry.label),
        figure(entry.a, entry.disturbed[0]),
        figure(entry.b, entry.disturbed[1]),
        entry.ratio.map_or_else(String::new, share),
        format!("[{}, {}]", share(low), share(high)),
        entry.p.map_or_else(String::new, probability),
        if a == b { a.to_string() } else { format!("{a}+{b}") },
        verdict(entry).to_owned(),
    ]
}

fn verdict(entry: &ComparedEntry) -> &'static str {
    match entry.verdict {
        Word::Same => "~",
        Word::Faster => "faster",
        Word::Slower => "slower",
        Word::Unknown if entry.suspect => "suspect",
        Word::Unknown => "unknown",
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// One line for each reason, with the names of the benchmarks.
fn by_reason(before: &str, all: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut reasons: IndexMap<String, Vec<String>> = IndexMap::new();
    for (reason, name) in all {
        reasons.entry(reason).or_default().push(name);
    }
    let lines = reasons
        .iter()
        .map(|(reason, names)| format!("{before}{reason}: {}", output::listed(names, NAMED)));
    lines.collect()
}

fn summary(found: &Comparison, compared: &[&ComparedEntry]) -> Vec<String> {
    let count = compared.len();
    let of = |verdict: Word| compared.iter().filter(|e| e.verdict == verdict).count();
    let suspects = compared.iter().filter(|e| e.suspect).count();
    let (slower, faster) = (of(Word::Slower), of(Word::Faster));
    let Some(confidence) = found.confidence else {
        return vec!["nothing could be compared".to_owned()];
    };
    let differences = match (slower + faster, suspects) {
        (0, 0) => format!("no difference is shown in {count} compared"),
        (0, _) if found.remeasured.is_none() => format!(
            "{suspects} suspected of {count} compared: `--remeasure` re-measures both sides before it calls them slower or faster"
        ),
        _ => format!("{slower} slower, {faster} faster, {suspects} suspected of {count} compared"),
    };
    let mut lines = vec![
        differences,
        format!(
            "each interval has {} or more, so that all of them hold at once in {}",
            percent(confidence),
            percent(1.0 - found.familywise_error)
        ),
        format!("each launch is assumed to vary by {} at least", percent(LEAST_DEVIATION)),
    ];
    let has_few = |e: &&&ComparedEntry| e.launches.iter().any(|n| *n < USUAL_LAUNCHES);
    let few = compared.iter().filter(has_few).count();
    let disturbed = compared.iter().filter(|e| e.is_disturbed()).count();
    if disturbed > 0 {
        lines.push(format!(
            "{disturbed} with a disturbed figure (?): figures, ratio and mean may include the disturbance; the interval also holds the ratio of quiet machines, and p is of the one nearest to 1"
        ));
    }
    if few > 0 {
        lines.push(format!(
            "{few} of them have fewer than {USUAL_LAUNCHES} launches a side: their intervals are wide, and only great differences show"
        ));
    }
    lines
}

fn remeasured(of: &Remeasured) -> String {
    let mut line = format!("{} re-measured, ", of.benchmarks);
    if let Some(a) = &of.a {
        line += &format!("A as {}, ", a.id);
    }
    line += &format!("B as {}", of.b.id);
    if of.interrupted {
        line += ", stopped before it was done";
    }
    if let Some(confidence) = of.confidence {
        line += &format!("; of these each interval has {} or more", percent(confidence));
    }
    line
}

/// The benchmarks that a gate does not cover, by reason.
pub(super) fn not_covered(gate: &Gate) -> Vec<String> {
    let line = |before: &str, all: &[Ungated]| {
        let all = all.iter().map(|u| (u.reason.clone(), short_label(&u.label)));
        by_reason(before, all)
    };
    let mut lines = line("not gated, ", &gate.not_gated);
    lines.extend(line("lost, ", &gate.lost));
    lines.extend(line("undecided, ", &gate.unconfirmed));
    lines
}

fn slower(of: &Slower, gate: &Gate) -> String {
    let within = of
        .confidence_interval
        .map_or_else(String::new, |[low, high]| format!(" [{}, {}]", percent(low), percent(high)));
    let limit = if gate.limits.is_empty() {
        String::new()
    } else {
        format!(", limit {}", percent(of.limit))
    };
    format!("  {}  {} slower{within}{limit}", short_label(&of.label), percent(of.slowdown))
}

/// The gate's one-line result, which ends a log, and the number of benchmarks that it does not
/// cover.
pub(super) fn last(found: &Comparison, gate: &Gate) -> String {
    let limit = match gate.limit {
        Some(limit) if gate.limits.is_empty() => percent(limit),
        _ => "its limit".to_owned(),
    };
    let mut of_all = format!("{} of {} judged", gate.judged, gate.gated);
    for (count, what) in
        [(gate.undecided, "undecided"), (gate.lost.len(), "lost: no figure in B to compare")]
    {
        if count > 0 {
            of_all += &format!(", {count} {what}");
        }
    }
    let none = format!("nothing is shown to be slower by more than {limit}");
    match gate.slower.len() {
        0 if found.is_stopped() => {
            format!("gate stopped before it was done: until then {none}; {of_all}")
        }
        0 if gate.gated == 0 => "no gate: nothing could be judged".to_owned(),
        0 if gate.judged == 0 => format!("no gate: {of_all}"),
        0 if gate.passed => format!("gate passed: {none}; {of_all}"),
        0 => format!("gate failed: it is strict, and {none}; {of_all}"),
        n => {
            format!("gate failed: {n} slower, re-measured, and by more than {limit}; {of_all}")
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}
