//! Rules that derive disturbances and missing capabilities from the facts, each with its fix.
//!
//! A rule only uses probed facts. An unknown fact triggers no rule.

mod disk;
mod kernel;
mod rights;
mod sharing;
mod speed;
#[cfg(test)]
mod tests;
mod unmeasurable;

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::{Disturbance, Fix, Unmeasurable};

/// The facts that rules use.
struct Facts<'a> {
    machine: &'a Machine,
    details: &'a Details,
}

/// A sentence and its fix.
type Finding = (String, Fix);

type Rule = fn(&Facts<'_>) -> Option<Finding>;

/// The rules by the name of the disturbance, in display order; the most harmful one comes first.
const RULES: [(&str, Rule); 28] = [
    ("emulated", sharing::emulated),
    ("load", sharing::load),
    ("traced", kernel::traced),
    ("one_processor", sharing::one_processor),
    ("stolen", sharing::stolen),
    ("quota", sharing::quota),
    ("smt", sharing::smt),
    ("little_memory", sharing::little_memory),
    ("swap", sharing::swap),
    ("governor", speed::governor),
    ("turbo", speed::turbo),
    ("profile", speed::profile),
    ("battery", speed::battery),
    ("heat", speed::heat),
    ("deep_sleep", speed::deep_sleep),
    ("clock_source", kernel::clock_source),
    ("counter", kernel::counter),
    ("huge_pages", kernel::huge_pages),
    ("node_balancing", kernel::node_balancing),
    ("merging", kernel::merging),
    ("watchdog", kernel::watchdog),
    ("one_layout", kernel::one_layout),
    ("realtime", rights::realtime),
    ("realtime_share", rights::realtime_share),
    ("locked_memory", rights::locked_memory),
    ("scratch_in_memory", disk::in_memory),
    ("disk_busy", disk::busy),
    ("read_ahead", disk::read_ahead),
];

/// Conditions that would disturb a measurement.
pub(super) fn disturbances(machine: &Machine) -> Vec<Disturbance> {
    found(machine, &RULES, |name, text, fix| Disturbance { name, text, fix })
}

/// Quantities that cannot be measured here.
pub(super) fn cannot(machine: &Machine) -> Vec<Unmeasurable> {
    found(machine, &unmeasurable::RULES, |what, why, fix| Unmeasurable { what, why, fix })
}

fn found<T>(
    machine: &Machine,
    rules: &[(&str, Rule)],
    make: impl Fn(String, String, Fix) -> T,
) -> Vec<T> {
    let Some(details) = machine.details.as_deref() else {
        return Vec::new();
    };
    let facts = Facts { machine, details };
    let found = rules.iter().filter_map(|(name, rule)| {
        let (text, fix) = rule(&facts)?;
        Some(make((*name).to_owned(), text, fix))
    });
    found.collect()
}

/// A finding with a command as its fix.
fn command(text: impl Into<String>, command: impl Into<String>) -> Finding {
    (text.into(), Fix::Command(command.into()))
}

/// A finding with advice as its fix.
fn advice(text: impl Into<String>, advice: impl Into<String>) -> Finding {
    (text.into(), Fix::Advice(advice.into()))
}
