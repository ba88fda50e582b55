//! The end of a long table: what was skipped, one line a reason with its mend, and how many figures there are.

use yamba_record::{Benchmark, Run, Status};

use super::table::wrap;

/// Each reason with the benchmarks that it keeps from being measured, of pairs of a benchmark's name and its reason.
pub fn by_reason<'a>(
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

/// A program says its own name first.
fn reason(benchmark: &Benchmark) -> &str {
    let reason = benchmark.notes.first().map_or("", String::as_str);
    let named = reason.strip_prefix(&benchmark.name);
    named.and_then(|r| r.strip_prefix(": ")).unwrap_or(reason)
}

/// What was skipped.
pub(super) fn lines(run: &Run, width: usize) -> String {
    let is_skipped = |b: &&Benchmark| b.status == Status::Skipped;
    let skipped = run.benchmarks.iter().filter(is_skipped);
    let reasons = by_reason(skipped.map(|b| (b.name.as_str(), reason(b))));
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = "Skipped\n".to_owned();
    for (reason, names) in reasons {
        let text = format!("{}: {}", names.join(", "), reason.replace('\n', " "));
        for line in wrap(&text, width - 2) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    out
}

/// `150 figures: 148 valid, 2 invalid, 1 crashed; 3 skipped.`
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
