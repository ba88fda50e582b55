//! A comparison as a person reads it.

use yamba_record::number::{number, scale};

use super::super::output;
use crate::compare::{Alone, Comparison, Entry, named};

/// With fewer launches a side an interval is wide.
const USUAL_LAUNCHES: usize = 6;

/// Benchmarks that are named one by one where many have no ratio for the same reason.
const NAMED: usize = 8;

pub(super) fn text(found: &Comparison, a: &str, b: &str) -> String {
    let mut out = format!("A  {}\nB  {}\n", side(a, &found.a.id), side(b, &found.b.id));
    for mean in &found.means {
        let same = found.benchmarks.iter();
        let rows: Vec<&Entry> = same
            .filter(|e| e.ratio.is_some() && e.kind() == mean.kind)
            .collect();
        out.push('\n');
        out.push_str(&section(&rows, &mean.kind, mean.ratio));
    }
    let lines = left_out(found).into_iter().chain(summary(found));
    let lines: Vec<String> = lines.collect();
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

fn section(entries: &[&Entry], kind: &str, mean: f64) -> String {
    let better = entries.iter().find_map(|e| e.better);
    let heading = match better {
        Some(better) => format!("{kind} ({better} is better)"),
        None => kind.to_owned(),
    };
    let titles = ["A", "B", "B/A", "interval", "p", "n", ""];
    let mut rows = vec![row(heading, titles.map(str::to_owned))];
    rows.extend(entries.iter().map(|e| cells(e)));
    let mut last = ["", "", "", "", "", "", ""].map(str::to_owned);
    last[2] = share(mean);
    rows.push(row(format!("geometric mean of {}", entries.len()), last));
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
            (if entry.suspect { "suspect" } else { "~" }).to_owned(),
        ],
    )
}

fn figure(entry: &Entry, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let (factor, unit) = scale(value, entry.unit.as_deref().unwrap_or_default());
    let text = format!("{} {unit}", number(value * factor));
    text.trim_end().to_owned()
}

/// A ratio. Two launches that lie far apart can leave open everything: beyond a thousand that is all there is to say.
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

/// A line for each reason.
fn left_out(found: &Comparison) -> Vec<String> {
    let of_both = found.benchmarks.iter();
    let without_ratio = of_both.filter_map(|e| Some((e.reason.clone()?, e.label.clone())));
    let alone = found.alone.iter().map(|e| (e.reason.to_owned(), name(e)));
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (reason, name) in without_ratio.chain(alone) {
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
        format!("not compared, {reason}: {}{more}", shown.join(", "))
    };
    reasons.into_iter().map(line).collect()
}

fn name(alone: &Alone) -> String {
    named(&alone.name, &alone.parameters, alone.processes)
}

fn summary(found: &Comparison) -> Vec<String> {
    let compared: Vec<&Entry> = found
        .benchmarks
        .iter()
        .filter(|e| e.ratio.is_some())
        .collect();
    let (count, suspects) = (
        compared.len(),
        compared.iter().filter(|e| e.suspect).count(),
    );
    let Some(confidence) = found.confidence else {
        return vec!["nothing could be compared".to_owned()];
    };
    let mut lines = vec![match suspects {
        0 => format!("no difference is shown in {count} compared"),
        _ => format!(
            "{suspects} suspected of {count} compared: measure both again before you call them slower or faster"
        ),
    }];
    lines.push(format!(
        "each interval has {} %, so that all of them hold at once in {} %",
        number(confidence * 100.0),
        number((1.0 - found.family) * 100.0)
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
