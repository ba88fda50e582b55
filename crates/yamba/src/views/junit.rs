//! A comparison as JUnit's XML, which CI systems show as tests:
//! <https://github.com/testmoapp/junitxml>. A benchmark that is slower is a failure, one without a
//! figure in B an error, and an undecided one is skipped.

use std::fmt::Write;

use yamba_compare::Which;
use yamba_compare::{ComparedEntry, Comparison, Word};
use yamba_report::{figure, share};

/// The result of a test case.
enum Outcome {
    Passed,
    Failure(String),
    Error(String),
    Skipped(String),
}

pub fn document(found: &Comparison) -> String {
    let mut cases: Vec<(String, Outcome)> =
        found.benchmarks.iter().map(|entry| (entry.label.clone(), outcome(found, entry))).collect();
    // Without a gate a lost benchmark is an error, too.
    let counts_lost = found.gate.as_ref().is_none_or(|gate| gate.strict);
    cases.extend(found.unmatched.iter().map(|alone| {
        let reason = alone.reason.to_owned();
        let outcome = if alone.is_owed && counts_lost {
            Outcome::Error(reason)
        } else {
            Outcome::Skipped(reason)
        };
        (alone.of.label(), outcome)
    }));
    cases.extend(of_measurement(found));
    let count = |is_it: fn(&Outcome) -> bool| cases.iter().filter(|(_, o)| is_it(o)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(|o| matches!(o, Outcome::Failure(_))),
        count(|o| matches!(o, Outcome::Error(_))),
        count(|o| matches!(o, Outcome::Skipped(_))),
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites {counts}>\n  <testsuite name=\"benchmarks\" {counts}>");
    for (name, outcome) in &cases {
        let name = escaped(name);
        let _ = write!(out, "    <testcase classname=\"benchmarks\" name=\"{name}\"");
        let element = match outcome {
            Outcome::Passed => {
                out.push_str("/>\n");
                continue;
            }
            Outcome::Failure(text) => ("failure", text),
            Outcome::Error(text) => ("error", text),
            Outcome::Skipped(text) => ("skipped", text),
        };
        let (element, text) = (element.0, escaped(element.1));
        let _ = writeln!(out, ">\n      <{element} message=\"{text}\"/>\n    </testcase>");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Cases for a measurement that ended early, and for its failed processes, which fail only a strict
/// gate: without them a failed job would have no cause in the file.
fn of_measurement(found: &Comparison) -> Vec<(String, Outcome)> {
    let is_strict = found.gate.as_ref().is_some_and(|gate| gate.strict);
    let interleaved = found.interleaved.iter();
    let early = interleaved.clone().filter_map(|i| i.stopped.as_ref());
    let early = early.map(|why| {
        let outcome = Outcome::Error(why.trim_end().to_owned());
        ("measurement ended early".to_owned(), outcome)
    });
    let failed = interleaved.flat_map(|i| &i.failures).map(|failure| {
        let outcome = if is_strict { Outcome::Error } else { Outcome::Skipped };
        ("failed processes".to_owned(), outcome(failure.clone()))
    });
    early.chain(failed).collect()
}

fn outcome(found: &Comparison, entry: &ComparedEntry) -> Outcome {
    let is_of = |which: &Which| *which == entry.of;
    let Some(gate) = &found.gate else {
        return match (&entry.reason, entry.verdict) {
            (_, Word::Slower) => Outcome::Failure(slower(entry)),
            (Some(reason), _) if entry.ratio.is_none() && entry.is_owed => {
                Outcome::Error(reason.clone())
            }
            (reason, Word::Unknown) => {
                Outcome::Skipped(reason.clone().unwrap_or_else(|| "undecided".to_owned()))
            }
            _ => Outcome::Passed,
        };
    };
    if gate.slower.iter().any(|slower| is_of(&slower.of)) {
        return Outcome::Failure(slower(entry));
    }
    let undecided = gate.unconfirmed.iter().find(|ungated| is_of(&ungated.of));
    let lost = gate.lost.iter().find(|ungated| is_of(&ungated.of));
    match (undecided, lost) {
        (Some(undecided), _) if gate.strict => Outcome::Failure(undecided.reason.clone()),
        (_, Some(lost)) if gate.strict => Outcome::Error(lost.reason.clone()),
        (Some(ungated), _) | (_, Some(ungated)) => Outcome::Skipped(ungated.reason.clone()),
        _ => match gate.not_gated.iter().find(|ungated| is_of(&ungated.of)) {
            Some(ungated) => Outcome::Skipped(ungated.reason.clone()),
            None => Outcome::Passed,
        },
    }
}

fn slower(entry: &ComparedEntry) -> String {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let side = |value: Option<f64>| value.map_or("-".to_owned(), |value| figure(value, unit));
    let ratio = entry.ratio.map_or_else(String::new, share);
    let interval = entry
        .confidence_interval
        .map_or_else(String::new, |[low, high]| format!(" [{}, {}]", share(low), share(high)));
    format!("{} in A, {} in B: B/A {ratio}{interval}", side(entry.a), side(entry.b))
}

/// The text within an attribute. Characters that XML cannot hold are left out.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().filter(|letter| !letter.is_control() || *letter == '\n') {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter => out.push(letter),
        }
    }
    out
}
