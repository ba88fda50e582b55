//! Formats a comparison as a table.

use yamba_record::number::{number, scale};

use crate::cli::output;
use yamba_compare::{Comparison, Entry, GeometricMean, LEAST_DEVIATION, Word};
use yamba_compare::{Gate, Remeasured, Slower, Ungated};

/// With fewer launches per side, the confidence interval is wide.
const USUAL_LAUNCHES: usize = 6;

/// If many benchmarks lack a ratio for the same reason, this many are named.
const NAMED: usize = 8;

pub(super) fn text(found: &Comparison, a: &str, b: &str) -> String {
    let mut out = format!("A  {}\nB  {}\n", side(a, &found.a.id), side(b, &found.b.id));
    for mean in &found.means {
        let same = found.benchmarks.iter();
        let rows: Vec<&Entry> = same
            .filter(|e| e.ratio.is_some() && e.kind() == mean.kind)
            .collect();
        out.push('\n');
        out.push_str(&section(&rows, mean));
    }
    let mut lines = left_out(found);
    lines.extend(explained(found));
    lines.extend(summary(found));
    lines.extend(found.remeasured.as_ref().map(remeasured));
    if let Some(gate) = &found.gate {
        lines.extend(judged(found, gate));
    }
    if !lines.is_empty() {
        out.push('\n');
        out.push_str(&lines.join("\n"));
        out.push('\n');
    }
    out
}

fn side(reference: &str, id: &str) -> String {
    if id.is_empty() || id == reference {
        reference.to_owned()
    } else {
        format!("{reference} ({id})")
    }
}

fn section(entries: &[&Entry], mean: &GeometricMean) -> String {
    let kind = &mean.kind;
    let better = entries.iter().find_map(|e| e.better);
    let heading = match better {
        Some(better) => format!("{kind} ({better} is better)"),
        None => kind.clone(),
    };
    let titles = ["A", "B", "B/A", "interval", "p", "n", ""];
    let mut rows = vec![row(heading, titles.map(str::to_owned))];
    rows.extend(entries.iter().map(|e| cells(e)));
    let mut last = ["", "", "", "", "", "", ""].map(str::to_owned);
    last[2] = share(mean.ratio);
    let of = match entries.iter().any(|e| e.stored.is_some()) {
        true if mean.is_remeasured => ", re-measured",
        true => ", as the runs have them",
        false => "",
    };
    let title = format!("geometric mean of {}{of}", mean.benchmarks);
    rows.push(row(title, last));
    output::columns(&rows)
}

fn row(first: String, rest: [String; 7]) -> Vec<String> {
    std::iter::once(first).chain(rest).collect()
}

fn cells(entry: &Entry) -> Vec<String> {
    let [low, high] = entry.interval.unwrap_or_default();
    row(
        entry.label.clone(),
        [
            figure(entry, entry.a),
            figure(entry, entry.b),
            entry.ratio.map_or_else(String::new, share),
            format!("[{}, {}]", share(low), share(high)),
            entry.p.map_or_else(String::new, probability),
            launches(entry.launches),
            verdict(entry).to_owned(),
        ],
    )
}

fn verdict(entry: &Entry) -> &'static str {
    match entry.verdict {
        Word::Same => "~",
        Word::Faster => "faster",
        Word::Slower => "slower",
        Word::Unknown if entry.suspect => "suspect",
        Word::Unknown => "unknown",
    }
}

fn figure(entry: &Entry, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let (factor, unit) = scale(value, entry.unit.as_deref().unwrap_or_default());
    let text = format!("{} {unit}", number(value * factor));
    text.trim_end().to_owned()
}

/// Formats a ratio. Two launches far apart can leave it completely open; beyond a factor of 1000 only the limit is shown.
fn share(ratio: f64) -> String {
    match ratio {
        r if r < 0.001 => "<0.001".to_owned(),
        r if r > 1000.0 => ">1000".to_owned(),
        r if (0.1..100.0).contains(&r) => format!("{r:.3}"),
        r => number(r),
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 {
        "<0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

fn launches([a, b]: [usize; 2]) -> String {
    if a == b {
        a.to_string()
    } else {
        format!("{a}+{b}")
    }
}

/// One line for each reason why benchmarks have no ratio.
fn left_out(found: &Comparison) -> Vec<String> {
    let without_ratio = found.benchmarks.iter().filter(|e| e.ratio.is_none());
    let of_both = without_ratio.filter_map(|e| Some((e.reason.clone()?, e.label.clone())));
    let alone = found
        .alone
        .iter()
        .map(|e| (e.reason.to_owned(), e.of.label()));
    by_reason("not compared, ", of_both.chain(alone))
}

/// One line for each remark about benchmarks that have a ratio.
fn explained(found: &Comparison) -> Vec<String> {
    let with_ratio = found.benchmarks.iter().filter(|e| e.ratio.is_some());
    by_reason(
        "",
        with_ratio.filter_map(|e| Some((e.reason.clone()?, e.label.clone()))),
    )
}

fn by_reason(before: &str, all: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (reason, name) in all {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let line = |(reason, names): (String, Vec<String>)| {
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown: Vec<String> = names.iter().take(NAMED).cloned().collect();
        let line = format!("{before}{reason}: {}{more}", shown.join(", "));
        // A name or unit from a document must not break the line.
        line.replace(char::is_control, " ")
    };
    reasons.into_iter().map(line).collect()
}

fn summary(found: &Comparison) -> Vec<String> {
    let compared: Vec<&Entry> = found
        .benchmarks
        .iter()
        .filter(|e| e.ratio.is_some())
        .collect();
    let count = compared.len();
    let of = |verdict: Word| compared.iter().filter(|e| e.verdict == verdict).count();
    let suspects = compared.iter().filter(|e| e.suspect).count();
    let (slower, faster) = (of(Word::Slower), of(Word::Faster));
    let Some(confidence) = found.confidence else {
        return vec!["nothing could be compared".to_owned()];
    };
    let mut lines = vec![match (slower + faster, suspects) {
        (0, 0) => format!("no difference is shown in {count} compared"),
        (0, _) if found.remeasured.is_none() => format!(
            "{suspects} suspected of {count} compared: `--again` re-measures both sides before it calls them slower or faster"
        ),
        _ => format!("{slower} slower, {faster} faster, {suspects} suspected of {count} compared"),
    }];
    lines.push(format!(
        "each interval has {} % or more, so that all of them hold at once in {} %",
        number(confidence * 100.0),
        number((1.0 - found.family) * 100.0)
    ));
    lines.push(format!(
        "each launch is assumed to vary by {} at least",
        percent(LEAST_DEVIATION)
    ));
    let few = compared
        .iter()
        .filter(|e| e.launches.iter().any(|n| *n < USUAL_LAUNCHES));
    match few.count() {
        0 => {}
        few => lines.push(format!(
            "{few} of them have fewer than {USUAL_LAUNCHES} launches a side: their intervals are wide, and only great differences show"
        )),
    }
    lines
}

fn remeasured(of: &Remeasured) -> String {
    let side = match &of.a {
        Some(a) => format!("A as {}, B as {}", a.id, of.b.id),
        None => format!("B as {}", of.b.id),
    };
    let confidence = of.confidence.map_or_else(String::new, |c| {
        format!(
            "; of these each interval has {} % or more",
            number(c * 100.0)
        )
    });
    let stopped = if of.interrupted {
        ", stopped before it was done"
    } else {
        ""
    };
    format!("{} re-measured, {side}{stopped}{confidence}", of.benchmarks)
}

/// The result of the gate, which ends a log.
fn judged(found: &Comparison, gate: &Gate) -> Vec<String> {
    let of = |all: &[Ungated]| -> Vec<(String, String)> {
        all.iter()
            .map(|u| (u.reason.clone(), u.label.clone()))
            .collect()
    };
    let mut lines = by_reason("not gated, ", of(&gate.not_gated).into_iter());
    lines.extend(by_reason("lost, ", of(&gate.lost).into_iter()));
    lines.extend(by_reason("undecided, ", of(&gate.unconfirmed).into_iter()));
    lines.push(last(found, gate));
    lines.extend(gate.slower.iter().map(slower));
    lines
}

fn slower(of: &Slower) -> String {
    let within = of.interval.map_or_else(String::new, |[low, high]| {
        format!(" [{}, {}]", percent(low), percent(high))
    });
    // A name from a document must not break the line.
    let label = of.label.replace(char::is_control, " ");
    format!("  {label}  {} slower{within}", percent(of.by))
}

/// The gate's one-line result, and the number of benchmarks that it does not cover.
fn last(found: &Comparison, gate: &Gate) -> String {
    let limit = percent(gate.limit);
    let of = |count: usize, what: &str| match count {
        0 => String::new(),
        _ => format!(", {count} {what}"),
    };
    let of_all = format!(
        "{} of {} judged{}{}",
        gate.judged,
        gate.gated,
        of(gate.undecided, "undecided"),
        of(gate.lost.len(), "lost: no figure in B to compare"),
    );
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
