//! Formats a comparison as Markdown, for a comment on a pull request.

use yamba_compare::{ComparedEntry, Comparison};
use yamba_report::VerdictKind;
use yamba_report::markdown::{code, list, paragraph, strong, table, text};

use super::table::{cells, closing, last, not_covered, side, undecided};
use super::words::{not_decided, remarks, summary, verdict};

const HEAD: [&str; 7] = ["Benchmark", "A", "B", "B/A", "Interval", "p", "Verdict"];

/// The comment: the result in one line, what differs, what is not decided, and the rest folded.
pub(super) fn text_of(found: &Comparison, a: &str, b: &str) -> String {
    let kind = |entry: &&ComparedEntry| verdict(entry).0;
    let differs =
        |entry: &&ComparedEntry| !matches!(kind(entry), VerdictKind::Same | VerdictKind::Undecided);
    let all = found.benchmarks.iter();
    let (mut changed, others): (Vec<&ComparedEntry>, Vec<&ComparedEntry>) = all.partition(differs);
    // Slower benchmarks come first, then the others; within both the greatest difference.
    let size = |entry: &ComparedEntry| entry.ratio.map_or(0.0, |r| r.ln().abs());
    changed.sort_by(|x, y| {
        let is_slower = |e: &ComparedEntry| verdict(e).0 == VerdictKind::Slower;
        let by_kind = is_slower(y).cmp(&is_slower(x));
        by_kind.then(size(y).total_cmp(&size(x)))
    });
    let mut parts = vec![format!("### Performance: {}\n", text(&summary(found)))];
    if let Some(gate) = &found.gate {
        parts.push(paragraph(&strong(&last(found, gate))));
    }
    parts.push(paragraph(&format!(
        "A is {}, B is {}. A latency is better below 1, a bandwidth or a rate above 1.",
        code(&side(a, &found.a.id)),
        code(&side(b, &found.b.id))
    )));
    if !changed.is_empty() {
        parts.push(rows(&changed));
    }
    let mut notes: Vec<String> = not_decided(found).into_iter().collect();
    notes.extend(found.gate.iter().flat_map(not_covered));
    notes.extend(remarks(found));
    if !notes.is_empty() {
        parts.push(lines(&notes));
    }
    let same: Vec<&ComparedEntry> = others.into_iter().filter(|e| e.ratio.is_some()).collect();
    let title = format!("{} without a shown difference, and how they were compared", same.len());
    parts.push(format!("<details><summary>{title}</summary>\n"));
    if !same.is_empty() {
        parts.push(rows(&same));
    }
    parts.push(lines(&[undecided(found), closing(found)].concat()));
    parts.push("</details>\n".to_owned());
    parts.join("\n")
}

fn lines(all: &[String]) -> String {
    let all: Vec<String> = all.iter().map(|line| text(line)).collect();
    list(&all)
}

fn rows(entries: &[&ComparedEntry]) -> String {
    let row = |entry: &&ComparedEntry| {
        let [label, a, b, ratio, interval, p, ..] = &cells(entry)[..] else {
            return Vec::new();
        };
        let word = verdict(entry).1;
        let word = match verdict(entry).0 {
            VerdictKind::Slower => strong(word),
            _ => text(word),
        };
        let others = [a, b, ratio, interval, p].map(|cell| text(cell));
        [&[code(label)][..], &others, &[word]].concat()
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    table("", &HEAD, &rows)
}
