//! The end of a long table: skipped benchmarks, one line per reason with its help text, and the
//! number of figures.

use indexmap::{IndexMap, IndexSet};
use yamba_record::number::counted;
use yamba_record::{Benchmark, Run, Status};

use yamba_report::wrap;

/// Indentation of a note's continuation lines.
pub(super) const NOTE_INDENT: &str = "  ";

/// Groups pairs of benchmark name and reason: for each reason the names, joined.
pub(super) fn by_reason<'a>(
    benchmarks: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(&'a str, String)> {
    let mut reasons: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
    for (name, reason) in benchmarks {
        reasons.entry(reason).or_default().insert(name);
    }
    let joined = |names: IndexSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let each = reasons.into_iter();
    each.map(|(reason, names)| (reason, joined(names))).collect()
}

/// The reason, without the benchmark's name at its start.
fn reason(benchmark: &Benchmark) -> String {
    let reason = benchmark.reason();
    reason.map_or(String::new(), |note| note.text_without(&benchmark.name))
}

/// The skipped benchmarks by reason.
pub(super) fn lines(run: &Run, width: usize) -> String {
    let skipped = run.benchmarks.iter().filter(|b| b.status == Status::Skipped);
    let skipped: Vec<(&str, String)> = skipped.map(|b| (b.name.as_str(), reason(b))).collect();
    let reasons = by_reason(skipped.iter().map(|(name, reason)| (*name, reason.as_str())));
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = "Skipped\n".to_owned();
    for (reason, names) in reasons {
        let text = format!("{names}: {}", reason.replace('\n', " "));
        for line in wrap(&text, width - 2, NOTE_INDENT) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    out
}

/// `Stopped before they began, points: 3 of lat_tcp, 1 of bw_tcp.`, or empty. In a run that was not
/// stopped, the launches of these points are lost.
pub(super) fn not_started_line(run: &Run) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for benchmark in run.benchmarks.iter().filter(|b| b.status == Status::NotStarted) {
        *counts.entry(&benchmark.name).or_default() += 1;
    }
    let each = counts.iter().map(|(name, n)| format!("{n} of {name}"));
    match each.collect::<Vec<_>>().join(", ").as_str() {
        "" => String::new(),
        all if run.interrupted => format!("Stopped before they began, points: {all}."),
        all => format!("Without a launch, points: {all}."),
    }
}

/// Counts the figures: `150 figures: 148 valid, 2 invalid, 1 crashed; 3 skipped.`
pub(super) fn sum(run: &Run) -> String {
    let count = |status| run.benchmarks.iter().filter(|b| b.status == status).count();
    let skipped = count(Status::Skipped) + count(Status::NotStarted);
    let mut words = vec![format!("{} valid", count(Status::Ok))];
    for (status, word) in [(Status::Invalid, "invalid"), (Status::Crashed, "crashed")] {
        if count(status) > 0 {
            words.push(format!("{} {word}", count(status)));
        }
    }
    let figures = counted(run.benchmarks.len() - skipped, "figure", "figures");
    let mut text = format!("{figures}: {}", words.join(", "));
    if skipped > 0 {
        text.push_str(&format!("; {skipped} skipped"));
    }
    text + ".\n"
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;

    use super::*;
    use yamba_harness::not_started;

    #[test]
    fn entries_not_started_share_one_line() {
        let mut run = Run::new(Machine::default());
        assert_eq!(not_started_line(&run), "");
        run.benchmarks = ["a", "b", "a"].map(not_started).into();
        assert_eq!(not_started_line(&run), "Without a launch, points: 2 of a, 1 of b.");
        run.interrupted = true;
        assert_eq!(not_started_line(&run), "Stopped before they began, points: 2 of a, 1 of b.");
        assert_eq!(lines(&run, 80), "");
    }
}
