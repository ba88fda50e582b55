//! The machine as a person reads it: groups of labelled lines, then what disturbs and what cannot be measured.

mod facts;
mod page;

use yamba_record::Machine;
use yamba_record::machine::details::{Cannot, Disturbance, Mend};

use page::Page;

/// The text; with colours for a terminal that has them, and no wider than it.
pub fn show(machine: &Machine, colour: bool, width: Option<usize>) -> String {
    let mut page = Page::new(colour, width);
    if let Some(details) = machine.details.as_deref() {
        facts::processor(&mut page, machine, details);
        facts::memory(&mut page, machine, details);
        facts::kernel(&mut page, machine, details);
        facts::timers(&mut page, details);
        facts::storage(&mut page, details);
        facts::rights(&mut page, machine, details);
        facts::load(&mut page, details);
        disturbances(&mut page, &details.disturbances);
        cannot(&mut page, &details.cannot);
    }
    page.text
}

fn disturbances(page: &mut Page, all: &[Disturbance]) {
    page.section("What would disturb a measurement");
    if all.is_empty() {
        page.line("", "nothing that can be seen from here");
    }
    for one in all {
        page.warn(&one.name.replace('_', " "), &one.text);
        mend(page, &one.mend);
    }
}

fn cannot(page: &mut Page, all: &[Cannot]) {
    page.section("What cannot be measured here");
    if all.is_empty() {
        page.line("", "nothing that was tried");
    }
    for one in all {
        page.item(&format!("{}: {}", one.what, one.why));
        mend(page, &one.mend);
    }
}

fn mend(page: &mut Page, mend: &Mend) {
    match mend {
        Mend::Command(command) => page.command(command),
        Mend::Advice(advice) => page.advice(advice),
    }
}
