//! Rules that derive disturbances and missing capabilities from the facts, each with its fix.
//!
//! A rule only uses probed facts. An unknown fact triggers no rule.

mod cannot;
mod disk;
mod kernel;
mod rights;
mod sharing;
mod speed;
#[cfg(test)]
mod tests;

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::{Cannot, Disturbance, Mend};

/// The facts that rules use.
struct Facts<'a> {
    machine: &'a Machine,
    details: &'a Details,
}

type Rule = fn(&Facts<'_>) -> Option<Disturbance>;

/// The rules in display order; the most harmful disturbance comes first.
const RULES: [Rule; 27] = [
    sharing::emulated,
    sharing::load,
    sharing::one_processor,
    sharing::stolen,
    sharing::quota,
    sharing::smt,
    sharing::little_memory,
    sharing::swap,
    speed::governor,
    speed::turbo,
    speed::profile,
    speed::battery,
    speed::heat,
    speed::deep_sleep,
    kernel::clock_source,
    kernel::counter,
    kernel::huge_pages,
    kernel::node_balancing,
    kernel::merging,
    kernel::watchdog,
    kernel::one_layout,
    rights::realtime,
    rights::realtime_share,
    rights::locked_memory,
    disk::in_memory,
    disk::busy,
    disk::read_ahead,
];

/// Conditions that would disturb a measurement.
pub(super) fn disturbances(machine: &Machine) -> Vec<Disturbance> {
    with(machine, |facts| {
        RULES.iter().filter_map(|rule| rule(facts)).collect()
    })
}

/// Quantities that cannot be measured here.
pub(super) fn cannot(machine: &Machine) -> Vec<Cannot> {
    with(machine, |facts| {
        cannot::RULES
            .iter()
            .filter_map(|rule| rule(facts))
            .collect()
    })
}

fn with<T>(machine: &Machine, find: impl Fn(&Facts<'_>) -> Vec<T>) -> Vec<T> {
    match machine.details.as_deref() {
        Some(details) => find(&Facts { machine, details }),
        None => Vec::new(),
    }
}

/// A disturbance with a command as its fix.
fn with_command(name: &str, text: impl Into<String>, command: impl Into<String>) -> Disturbance {
    Disturbance {
        name: name.to_owned(),
        text: text.into(),
        mend: Mend::Command(command.into()),
    }
}

/// A disturbance with advice as its fix.
fn with_advice(name: &str, text: impl Into<String>, advice: impl Into<String>) -> Disturbance {
    Disturbance {
        name: name.to_owned(),
        text: text.into(),
        mend: Mend::Advice(advice.into()),
    }
}
