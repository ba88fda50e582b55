//! A comparison of two runs: tables by kind of figure in a terminal, and a comment on a pull
//! request.

mod verdict;

use indexmap::IndexMap;
use yamba_compare::{
    ComparedEntry, Comparison, Gate, GeometricMean, LEAST_DEVIATION, Remeasured, Slower, Ungated,
    Word,
};
use yamba_record::number::{listed, number};
use yamba_report::{Part, Table, Text, VerdictKind, View, figure, share, short_label};

pub use verdict::side_by_side;
use verdict::verdict;

/// With fewer launches per side, the confidence interval is wide.
const USUAL_LAUNCHES: usize = 6;

/// Marks a disturbed figure.
const DISTURBED: &str = " ?";

/// A figure is a median, and the ratio is one of means.
const MEANING_OF_RATIO: &str =
    "B/A is the ratio of the launches' geometric means, which need not be that of the figures";

/// If many benchmarks lack a ratio for the same reason, this many are named.
const NAMED: usize = 8;

/// Titles of the columns after the first one.
const TITLES: [&str; 7] = ["A", "B", "B/A", "interval", "p", "n", ""];

/// Titles of the columns of a comment.
const COMMENT_TITLES: [&str; 7] = ["Benchmark", "A", "B", "B/A", "Interval", "p", "Verdict"];

/// The comparison. `a` and `b` name the runs as the user did.
pub fn view(found: &Comparison, a: &str, b: &str) -> View {
    let sides = [("A", side(a, &found.a.id)), ("B", side(b, &found.b.id))];
    let sides = sides.map(|(name, run)| (name, run.into()));
    let mut view = View::new(format!("{b} compared with {a}")).section("", [Part::facts(sides)]);
    let with_ratio = with_ratio(found);
    for mean in &found.geometric_means {
        let same = with_ratio.iter().filter(|e| e.kind() == mean.kind).copied();
        view = view.section("", [Part::Table(kind(&same.collect::<Vec<_>>(), mean))]);
    }
    let mut lines = [undecided(found), closing(found)].concat();
    lines.extend(gate_lines(found));
    view.section("", Part::lines(lines))
}

/// The result of the gate, if there is one.
pub fn gate_lines(found: &Comparison) -> Vec<String> {
    let Some(gate) = &found.gate else {
        return Vec::new();
    };
    let mut lines = not_covered(gate);
    lines.push(last(found, gate));
    lines.extend(gate.slower.iter().map(|entry| slower(entry, gate)));
    lines
}

/// The comment: the result in one line, what differs, what is undecided, and the rest folded.
pub fn comment(found: &Comparison, a: &str, b: &str) -> View {
    let differs = |entry: &&ComparedEntry| {
        !matches!(verdict(entry).0, VerdictKind::Same | VerdictKind::Undecided)
    };
    let (mut changed, others): (Vec<&ComparedEntry>, Vec<&ComparedEntry>) =
        found.benchmarks.iter().partition(differs);
    // Slower benchmarks come first, then the others; within both the greatest difference.
    let size = |entry: &ComparedEntry| entry.ratio.map_or(0.0, |r| r.ln().abs());
    changed.sort_by(|x, y| {
        let is_slower = |e: &ComparedEntry| verdict(e).0 == VerdictKind::Slower;
        let by_kind = is_slower(y).cmp(&is_slower(x));
        by_kind.then(size(y).total_cmp(&size(x)))
    });
    let gate = found.gate.iter();
    let mut parts = Part::lines(gate.map(|gate| Text::strong(last(found, gate))));
    parts.push(Part::Line(
        Text::from("A is ")
            + Text::code(side(a, &found.a.id))
            + ", B is "
            + Text::code(side(b, &found.b.id))
            + ". A latency is better below 1, a bandwidth or a rate above 1. "
            + MEANING_OF_RATIO
            + ".",
    ));
    parts.extend(comment_table(&changed));
    let mut notes: Vec<String> = verdict::reasons_of_undecided(found).into_iter().collect();
    notes.extend(found.gate.iter().flat_map(not_covered));
    notes.extend(verdict::remarks(found));
    if !notes.is_empty() {
        parts.push(list(notes));
    }
    let same: Vec<&ComparedEntry> = others.into_iter().filter(|e| e.ratio.is_some()).collect();
    let of_one_program = same.iter().filter(|e| e.differs_in_one_program()).count();
    let mut title = format!("{} without a shown difference", same.len() - of_one_program);
    if of_one_program > 0 {
        title += &format!(", {of_one_program} of the same program");
    }
    title += ", and how they were compared";
    let mut folded: Vec<Part> = comment_table(&same).into_iter().collect();
    folded.push(list([undecided(found), closing(found)].concat()));
    parts.push(Part::Folded(title, folded));
    View::new(format!("Performance: {}", verdict::summary(found))).section("", parts)
}

fn list(lines: Vec<String>) -> Part {
    Part::List(lines.into_iter().map(Text::from).collect())
}

/// The table of these entries in a comment; none without entries.
fn comment_table(entries: &[&ComparedEntry]) -> Option<Part> {
    let rows = entries.iter().map(|entry| {
        let (kind, word) = verdict(entry);
        let word = if kind == VerdictKind::Slower { Text::strong(word) } else { word.into() };
        let [label, a, b, ratio, interval, p, ..] = cells(entry);
        [Text::code(label)]
            .into_iter()
            .chain([a, b, ratio, interval, p].map(Text::from))
            .chain([word])
            .collect()
    });
    (!entries.is_empty()).then(|| Part::Table(Table::new(&COMMENT_TITLES, rows)))
}

fn with_ratio(found: &Comparison) -> Vec<&ComparedEntry> {
    let all = found.benchmarks.iter();
    all.filter(|e| e.ratio.is_some()).collect()
}

/// The benchmarks that could not be compared, and those whose verdict is qualified, by reason.
/// Those that the gate names with the same reason are left to it.
fn undecided(found: &Comparison) -> Vec<String> {
    let is_named = |e: &ComparedEntry| {
        let mut gated = found.gate.iter().flat_map(|gate| &gate.unconfirmed);
        gated.any(|u| u.label == e.label && Some(&u.reason) == e.reason.as_ref())
    };
    let reasons = |has_ratio: bool| {
        let all = found.benchmarks.iter();
        let all = all.filter(move |e| e.ratio.is_some() == has_ratio);
        let all = all.filter(|e| !is_named(e));
        all.filter_map(|e| Some((e.reason.clone()?, short_label(&e.label))))
    };
    let alone = found.unmatched.iter().map(|e| (e.reason.to_owned(), short_label(&e.of.label())));
    let mut lines = by_reason("not compared, ", reasons(false).chain(alone));
    lines.extend(by_reason("", reasons(true)));
    lines
}

/// Sentences about the comparison as a whole: counts, confidence, launches.
fn closing(found: &Comparison) -> Vec<String> {
    let mut lines = summary(found, &with_ratio(found));
    lines.extend(found.remeasured.as_ref().map(remeasured));
    if let Some(interleaved) = &found.interleaved {
        let rounds = interleaved.rounds;
        lines.push(format!("{rounds} rounds, each with one process of both sides in random order"));
        lines.extend(interleaved.failures.iter().cloned());
        lines.extend(interleaved.stopped.as_ref().map(|why| format!("stopped early: {why}")));
    }
    lines
}

fn side(reference: &str, id: &str) -> String {
    if id.is_empty() || id == reference {
        reference.to_owned()
    } else {
        format!("{reference} ({id})")
    }
}

/// The table of the entries of one kind of figure, with their mean.
fn kind(entries: &[&ComparedEntry], mean: &GeometricMean) -> Table {
    let mut heading = mean.kind.clone();
    if let Some(better) = entries.iter().find_map(|e| e.better) {
        heading = format!("{heading} ({better} is better)");
    }
    let basis = if !entries.iter().any(|e| e.stored.is_some()) {
        ""
    } else if mean.is_remeasured {
        ", re-measured"
    } else {
        ", as the runs have them"
    };
    let title = format!("geometric mean of {}{basis}", mean.benchmarks);
    let mean = vec![title, String::new(), String::new(), share(mean.ratio)];
    let rows = entries.iter().map(|entry| cells(entry).to_vec()).chain([mean]);
    Table::new(&[&[heading.as_str()][..], &TITLES].concat(), rows)
}

/// Name, figures, ratio with interval, p, launches, and verdict.
fn cells(entry: &ComparedEntry) -> [String; 8] {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let figure = |value: Option<f64>, is_disturbed: bool| {
        let mark = if is_disturbed { DISTURBED } else { "" };
        value.map_or("-".to_owned(), |v| figure(v, unit) + mark)
    };
    let [low, high] = entry.confidence_interval.unwrap_or_default();
    let [a, b] = entry.launches;
    let word = match entry.verdict {
        Word::Same if entry.differs_in_one_program() => verdict::SAME_PROGRAM,
        Word::Same => "~",
        Word::Faster => "faster",
        Word::Slower => "slower",
        Word::Unknown if entry.suspect => "suspect",
        Word::Unknown => "undecided",
    };
    [
        short_label(&entry.label),
        figure(entry.a, entry.disturbed[0]),
        figure(entry.b, entry.disturbed[1]),
        entry.ratio.map_or_else(String::new, share),
        format!("[{}, {}]", share(low), share(high)),
        entry.p.map_or_else(String::new, probability),
        if a == b { a.to_string() } else { format!("{a}+{b}") },
        word.to_owned(),
    ]
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
    let lines =
        reasons.iter().map(|(reason, names)| format!("{before}{reason}: {}", listed(names, NAMED)));
    lines.collect()
}

/// How a suspect of these runs is confirmed.
const REMEASURE: &str =
    "`--remeasure` re-measures both sides before it calls them slower or faster";

/// How such a suspect is confirmed if the runs kept no sources.
const MEASURE_TOGETHER: &str =
    "their runs kept no sources; `yamba ab` measures two programs or commands together";

fn summary(found: &Comparison, compared: &[&ComparedEntry]) -> Vec<String> {
    let count = compared.len();
    let of = |verdict: Word| compared.iter().filter(|e| e.verdict == verdict).count();
    let suspects = compared.iter().filter(|e| e.suspect).count();
    let (slower, faster) = (of(Word::Slower), of(Word::Faster));
    let Some(confidence) = found.confidence else {
        return vec!["nothing could be compared".to_owned()];
    };
    let undecided = of(Word::Unknown) - suspects;
    let of_one_program = compared.iter().filter(|e| e.differs_in_one_program()).count();
    let differences = match (slower + faster, suspects) {
        _ if found.interleaved.is_some() => {
            format!("{slower} slower, {faster} faster, {undecided} undecided of {count} compared")
        }
        (0, 0) if of_one_program == 0 => format!("no difference is shown in {count} compared"),
        (0, 1..) if found.remeasured.is_none() => {
            let has_sources = compared.iter().any(|e| e.suspect && e.has_sources);
            let how = if has_sources { REMEASURE } else { MEASURE_TOGETHER };
            format!("{suspects} suspected of {count} compared: {how}")
        }
        _ => format!("{slower} slower, {faster} faster, {suspects} suspected of {count} compared"),
    };
    let differences = match of_one_program {
        0 => differences,
        n => format!("{differences}; {n} of the same program"),
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
    lines.extend(differs_from_figures(compared).then(|| MEANING_OF_RATIO.to_owned()));
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

/// Whether a reader can see that a ratio is not that of the figures beside it.
fn differs_from_figures(compared: &[&ComparedEntry]) -> bool {
    compared.iter().any(|entry| {
        let of_figures = entry.a.zip(entry.b).map(|(a, b)| share(b / a));
        of_figures.is_some_and(|shown| Some(shown) != entry.ratio.map(share))
    })
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
fn not_covered(gate: &Gate) -> Vec<String> {
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
fn last(found: &Comparison, gate: &Gate) -> String {
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
    if found.interleaved.as_ref().is_some_and(|i| !i.failures.is_empty()) {
        of_all += ", processes failed";
    }
    let none = format!("nothing is shown to be slower by more than {limit}");
    match gate.slower.len() {
        0 if found.is_stopped() => {
            format!("gate stopped before it was done: until then {none}; {of_all}")
        }
        0 if gate.gated == 0 => "no gate: nothing could be judged".to_owned(),
        0 if gate.judged == 0 && gate.passed => format!("no gate: {of_all}"),
        0 if gate.passed => format!("gate passed: {none}; {of_all}"),
        0 => format!("gate failed: it is strict, and {none}; {of_all}"),
        n => {
            let how = if found.interleaved.is_some() { "" } else { ", re-measured," };
            format!("gate failed: {n} slower{how} and by more than {limit}; {of_all}")
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}
