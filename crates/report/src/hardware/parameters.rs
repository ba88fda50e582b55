//! Tables of parameters: found beside claimed.

use yamba_record::Run;
use yamba_record::hardware::HardwareParameter;
use yamba_record::number::{bytes, number};

use crate::letters::letter;
use crate::view::{Part, Table, Text};

/// The parameters that the curves of a run were read for, beside the claims of its machine.
pub(super) fn found_in(run: &Run) -> Vec<HardwareParameter> {
    let mut all: Vec<HardwareParameter> =
        run.benchmarks.iter().flat_map(|b| &b.details.hardware).cloned().collect();
    let place = |p: &HardwareParameter| {
        yamba_discover::PARAMETERS.iter().position(|known| known.name == p.name)
    };
    all.sort_by_key(place);
    for parameter in &mut all {
        parameter.claimed = run.machine.claimed(&parameter.name);
    }
    run.refuse_unclear(&mut all);
    all
}

/// The tables of one machine: what was found, and what was not.
pub fn parts(parameters: &[HardwareParameter]) -> Vec<Part> {
    let (found, unknown): (Vec<_>, Vec<_>) = parameters.iter().partition(|p| p.found.is_some());
    let titles = ["parameter", "found", "interval", "claimed", "what"];
    let mut parts = Vec::new();
    if !found.is_empty() {
        parts.push(Part::Table(Table::new(&titles, found.into_iter().map(row))));
    }
    if !unknown.is_empty() {
        let titles = ["cannot tell", "claimed", "reason"];
        parts.push(Part::Table(Table::new(&titles, unknown.into_iter().map(unknown_row))));
    }
    parts
}

/// One table of several machines, and the reasons of what was not found.
pub(super) fn side_by_side(machines: &[Vec<HardwareParameter>]) -> Vec<Part> {
    let mut names: Vec<&str> = machines.iter().flatten().map(|p| p.name.as_str()).collect();
    let order = |name: &str| yamba_discover::PARAMETERS.iter().position(|p| p.name == name);
    names.sort_by_key(|name| order(name));
    names.dedup();
    let letters: Vec<String> = (0..machines.len()).map(letter).collect();
    let titles = letters.iter().flat_map(|l| [l.clone(), format!("{l} claims")]);
    let titles: Vec<String> = ["parameter".to_owned()].into_iter().chain(titles).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).chain(["what"]).collect();
    let rows = names.iter().map(|name| {
        let of_machine = |machine: &Vec<HardwareParameter>| {
            let one = machine.iter().find(|p| p.name == *name);
            [one.map(found_text).unwrap_or_default(), one.map(claimed).unwrap_or_default()]
        };
        let cells = machines.iter().flat_map(of_machine);
        let (name, what) = ((*name).to_owned(), meaning(name).to_owned());
        [name].into_iter().chain(cells).chain([what]).collect::<Vec<String>>()
    });
    let reasons = letters.iter().zip(machines).flat_map(|(letter, machine)| {
        machine.iter().filter_map(move |p| {
            Some(Text::from(format!("{} of {letter}: {}", p.name, p.reason.as_ref()?)))
        })
    });
    let reasons: Vec<Text> = reasons.collect();
    let title = format!("Why {} have no value", reasons.len());
    let mut parts = vec![Part::Table(Table::new(&titles, rows))];
    if !reasons.is_empty() {
        parts.push(Part::Folded(title, vec![Part::List(reasons)]));
    }
    parts
}

fn row(p: &HardwareParameter) -> Vec<String> {
    let found = p.found.map(|found| value(found, &p.unit)).unwrap_or_default();
    vec![p.name.clone(), found, interval(p), claimed(p), meaning(&p.name).to_owned()]
}

fn unknown_row(p: &HardwareParameter) -> Vec<String> {
    vec![p.name.clone(), claimed(p), p.reason.clone().unwrap_or_default()]
}

/// The value with its interval.
fn found_text(p: &HardwareParameter) -> String {
    match (p.found, interval(p)) {
        (None, _) => "cannot tell".to_owned(),
        (Some(found), interval) if interval.is_empty() => value(found, &p.unit),
        (Some(found), interval) => format!("{} ({interval})", value(found, &p.unit)),
    }
}

/// The interval, unless it is the value alone.
fn interval(p: &HardwareParameter) -> String {
    let end = |end| if p.unit == "B" { bytes(end as u64) } else { number(end) };
    let ends = p.interval.filter(|[low, high]| low != high);
    ends.map(|ends| ends.map(end).join(" to ")).unwrap_or_default()
}

fn claimed(p: &HardwareParameter) -> String {
    p.claimed.map(|claimed| value(claimed, &p.unit)).unwrap_or_default()
}

/// A value with its unit. Bytes have prefixes.
pub fn value(value: f64, unit: &str) -> String {
    match unit {
        "B" => bytes(value as u64),
        _ => format!("{} {unit}", number(value)),
    }
}

/// The meaning of a parameter, in a few words. One parameter comes from no curve, and other
/// versions of Yamba have others.
fn meaning(name: &str) -> &'static str {
    let others = if name == "cores.siblings" { "processors on one core" } else { "" };
    yamba_discover::parameter(name).map_or(others, |p| p.meaning)
}
