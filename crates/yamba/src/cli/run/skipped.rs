//! The end of a long table: skipped benchmarks, one line per reason with its help text, and the number of figures.

use yamba_record::{Benchmark, Run, Status};

use crate::wrap::wrap;
use yamba_harness::is_not_begun;

/// Indentation of a note's continuation lines.
pub(super) const NOTE_INDENT: &str = "  ";

/// Groups pairs of benchmark name and reason by reason.
pub(super) fn by_reason<'a>(
    benchmarks: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in benchmarks {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons
}

/// The reason, without the benchmark's name at its start.
fn reason(benchmark: &Benchmark) -> &str {
    let reason = benchmark.notes.first().map_or("", String::as_str);
    let named = reason.strip_prefix(&benchmark.name);
    named.and_then(|r| r.strip_prefix(": ")).unwrap_or(reason)
}

/// The skipped benchmarks by reason.
pub(super) fn lines(run: &Run, width: usize) -> String {
    let is_skipped = |b: &&Benchmark| b.status == Status::Skipped && !is_not_begun(b);
    let skipped = run.benchmarks.iter().filter(is_skipped);
    let reasons = by_reason(skipped.map(|b| (b.name.as_str(), reason(b))));
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = "Skipped\n".to_owned();
    for (reason, names) in reasons {
        let text = format!("{}: {}", names.join(", "), reason.replace('\n', " "));
        for line in wrap(&text, width - 2, NOTE_INDENT) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    out
}

/// `Stopped before they began, points: 3 of lat_tcp, 1 of bw_tcp.`, or empty.
pub(super) fn not_begun(run: &Run) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for benchmark in run.benchmarks.iter().filter(|b| is_not_begun(b)) {
        match counts.iter_mut().find(|(name, _)| *name == benchmark.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&benchmark.name, 1)),
        }
    }
    let each = counts.iter().map(|(name, n)| format!("{n} of {name}"));
    let all: Vec<String> = each.collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("Stopped before they began, points: {}.", all.join(", ")),
    }
}

/// Counts the figures: `150 figures: 148 valid, 2 invalid, 1 crashed; 3 skipped.`
pub(super) fn sum(run: &Run) -> String {
    let count = |status| run.benchmarks.iter().filter(|b| b.status == status).count();
    let skipped = count(Status::Skipped);
    let mut words = vec![format!("{} valid", count(Status::Ok))];
    for (status, word) in [(Status::Invalid, "invalid"), (Status::Crashed, "crashed")] {
        if count(status) > 0 {
            words.push(format!("{} {word}", count(status)));
        }
    }
    let skipped_too = match skipped {
        0 => String::new(),
        _ => format!("; {skipped} skipped"),
    };
    let figures = run.benchmarks.len() - skipped;
    let noun = if figures == 1 { "figure" } else { "figures" };
    format!("{figures} {noun}: {}{skipped_too}.\n", words.join(", "))
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;

    use super::*;
    use yamba_harness::no_figure;

    #[test]
    fn what_was_not_begun_has_one_line() {
        let mut run = Run::new(Machine::default());
        assert_eq!(not_begun(&run), "");
        run.benchmarks = ["a", "b", "a"].map(no_figure).into();
        assert_eq!(
            not_begun(&run),
            "Stopped before they began, points: 2 of a, 1 of b."
        );
        assert_eq!(lines(&run, 80), "");
    }
}
