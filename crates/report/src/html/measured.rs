//! The first lines of the page: what was measured where and when.

use indexmap::IndexSet;
use maud::{Markup, html as markup};
use yamba_record::Run;
use yamba_record::machine::Machine;
use yamba_record::number::{bytes, counted, number};

use super::facts::{is_own, moment};
use super::head::{label, machine};

/// The head of the page names at most this number of benchmarks.
const NAMED: usize = 3;

/// A paragraph for each run. The machine of several runs is named once if it is the same.
pub fn measured(runs: &[Run]) -> Markup {
    let machines: IndexSet<String> = runs.iter().map(|r| described(&r.machine)).collect();
    let is_one = machines.len() == 1;
    markup! {
        div #runs.measured {
            @if is_one { @for machine in machines.iter().filter(|m| !m.is_empty()) { p { (machine) } } }
            @for (number, run) in runs.iter().enumerate() {
                p {
                    @if let Some(name) = name(runs, number) { strong { (name) } " · " }
                    @if !is_one { (machine(&run.machine)) ", " (described(&run.machine)) " · " }
                    (sentence(run))
                }
            }
        }
    }
}

/// The heading of one of several runs; the name that the user gave to a single one.
fn name(runs: &[Run], number: usize) -> Option<String> {
    match runs {
        [one] => one.tags.first().cloned(),
        _ => Some(label(runs, number)),
    }
}

/// The machine without its processor, in one line.
fn described(of: &Machine) -> String {
    let mut parts = Vec::new();
    parts.extend(of.memory.map(|m| format!("{} of memory", bytes(m))));
    let system = format!("{} {}", of.system, of.kernel);
    parts.extend((!system.trim().is_empty()).then(|| system.trim().to_owned()));
    if of.virtual_machine == Some(true) {
        parts.push("a virtual machine".to_owned());
    }
    parts.join(", ")
}

/// `125 benchmarks, 161 figures · 2026-11-23 19:30:21 UTC, in 92 s`; `1 benchmark (lat_pipe), 2
/// figures · ...`
fn sentence(run: &Run) -> String {
    let measured = || {
        let all = run.benchmarks.iter();
        all.filter(|b| !b.status.is_skipped())
    };
    let names: IndexSet<&str> = measured().map(|b| b.name.as_str()).collect();
    let figures = counted(measured().count(), "figure", "figures");
    let mut parts = vec![format!("{}, {figures}", benchmarks(&names))];
    if let Some(whose) = run.whose() {
        parts.push(whose);
    }
    let took = run.finished_unix_s.zip(run.started_unix_s);
    let took = took.map(|(end, start)| format!("in {}", duration(end - start)));
    let when = [run.started_unix_s.and_then(moment), took];
    let when: Vec<String> = when.into_iter().flatten().collect();
    parts.extend((!when.is_empty()).then(|| when.join(", ")));
    if is_own(run) && run.plan.launches > 0 {
        let launches = counted(run.plan.launches, "launch", "launches");
        parts.push(format!("{launches} of each, in fresh processes"));
    }
    parts.join(" · ")
}

/// The number of benchmarks, and their names if there are at most [`NAMED`].
fn benchmarks(names: &IndexSet<&str>) -> String {
    let count = counted(names.len(), "benchmark", "benchmarks");
    if names.is_empty() || names.len() > NAMED {
        return count;
    }
    let names: Vec<&str> = names.iter().copied().collect();
    format!("{count} ({})", names.join(", "))
}

/// `92 s`, `12 min`
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{} s", number((s * 10.0).round() / 10.0)),
        s if s < 180.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_benchmarks_are_named() {
        let of = |names: &[&'static str]| benchmarks(&names.iter().copied().collect());
        assert_eq!(of(&["sort"]), "1 benchmark (sort)");
        assert_eq!(of(&["a", "b", "c"]), "3 benchmarks (a, b, c)");
        assert_eq!(of(&["a", "b", "c", "d"]), "4 benchmarks");
        assert_eq!(of(&[]), "0 benchmarks");
    }

    #[test]
    fn durations_are_rounded() {
        assert_eq!([1.23, 92.02, 754.0].map(duration), ["1.2 s", "92 s", "13 min"]);
    }
}
