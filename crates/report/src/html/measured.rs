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
    let machines: IndexSet<String> = runs.iter().map(|r| whole(&r.machine)).collect();
    let is_one = machines.len() == 1;
    // The title names the processor of one machine.
    let common = runs.first().filter(|_| is_one).map(|run| described(&run.machine));
    markup! {
        div #runs.measured {
            @for machine in common.iter().filter(|m| !m.is_empty()) { p { (machine) } }
            @for (number, run) in runs.iter().enumerate() {
                p {
                    @if let Some(name) = name(runs, number) { strong { (name) } " · " }
                    @if !is_one { (whole(&run.machine)) " · " }
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

/// The machine in one line.
fn whole(of: &Machine) -> String {
    let parts = [machine(of), described(of)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The machine without its processor, in one line. Unknown facts are omitted.
pub fn described(of: &Machine) -> String {
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
    if is_own(run) {
        parts.extend(launches(run).map(|n| format!("{n} of each, in fresh processes")));
    }
    parts.join(" · ")
}

/// `6 launches`; `2 to 18 launches`. Only those with a figure count. `None` without any.
fn launches(run: &Run) -> Option<String> {
    let counts = run.benchmarks.iter().map(|b| {
        let medians = b.launches.iter().filter(|launch| launch.median.is_some());
        medians.count()
    });
    let counts: Vec<usize> = counts.filter(|count| *count > 0).collect();
    let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
    let most_in_words = counted(most, "launch", "launches");
    Some(if least == most { most_in_words } else { format!("{least} to {most_in_words}") })
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
    use yamba_record::run::Launch;
    use yamba_record::{Benchmark, Status};

    use super::*;

    #[test]
    fn few_benchmarks_are_named() {
        let of = |names: &[&'static str]| benchmarks(&names.iter().copied().collect());
        assert_eq!(of(&["sort"]), "1 benchmark (sort)");
        assert_eq!(of(&["a", "b", "c"]), "3 benchmarks (a, b, c)");
        assert_eq!(of(&["a", "b", "c", "d"]), "4 benchmarks");
        assert_eq!(of(&[]), "0 benchmarks");
    }

    /// A run whose benchmarks have these numbers of launches with a figure, and one without.
    fn with_launches(counts: &[usize]) -> Run {
        let mut run = Run::new(Machine::default());
        run.plan.launches = 2;
        run.benchmarks = counts
            .iter()
            .map(|count| {
                let mut made = Benchmark::ended("x", Status::Ok, Vec::new());
                made.launches = vec![Launch { median: Some(1.0), ..Launch::default() }; *count];
                made.launches.push(Launch::default());
                made
            })
            .collect();
        run
    }

    #[test]
    fn launches_are_those_with_a_figure() {
        let of = |counts: &[usize]| launches(&with_launches(counts));
        assert_eq!(of(&[6, 6, 0]).as_deref(), Some("6 launches"));
        assert_eq!(of(&[1]).as_deref(), Some("1 launch"));
        assert_eq!(of(&[1, 2]).as_deref(), Some("1 to 2 launches"));
        assert_eq!(of(&[18, 2, 6]).as_deref(), Some("2 to 18 launches"));
        assert_eq!(of(&[0]), None);
    }

    #[test]
    fn unknown_facts_of_a_machine_leave_no_commas() {
        let mut run = with_launches(&[]);
        assert_eq!(whole(&run.machine), "an unknown machine");
        run.machine.system = "linux".to_owned();
        run.machine.cpus = 1;
        assert_eq!(whole(&run.machine), "an unknown machine, 1 processor, linux");
    }

    #[test]
    fn durations_are_rounded() {
        assert_eq!([1.23, 92.02, 754.0].map(duration), ["1.2 s", "92 s", "13 min"]);
    }
}
