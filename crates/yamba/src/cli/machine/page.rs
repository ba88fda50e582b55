//! The machine page: groups of labelled lines, then disturbances and limits of what can be measured.

use yamba_record::Machine;
use yamba_record::machine::details::{Disturbance, Fix, Unmeasurable};

use super::facts;
use super::layout::Page;

/// Formats the page, with colours if `colour`, at most `width` columns wide.
pub(super) fn show(machine: &Machine, colour: bool, width: Option<usize>) -> String {
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
        cannot(&mut page, &details.unmeasurable);
    }
    page.text
}

fn disturbances(page: &mut Page, all: &[Disturbance]) {
    page.section("Disturbances of a measurement");
    if all.is_empty() {
        page.line("", "nothing that can be seen from here");
    }
    for one in all {
        page.warn(&one.name.replace('_', " "), &one.text);
        fix(page, &one.fix);
    }
}

fn cannot(page: &mut Page, all: &[Unmeasurable]) {
    page.section("Not measurable here");
    if all.is_empty() {
        page.line("", "nothing that was tried");
    }
    for one in all {
        page.item(&format!("{}: {}", one.what, one.why));
        fix(page, &one.fix);
    }
}

fn fix(page: &mut Page, fix: &Fix) {
    match fix {
        Fix::Command(command) => page.command(command),
        Fix::Advice(advice) => page.advice(advice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_fits_terminal_and_has_every_command() {
        for document in [
            include_str!("../../../../machine/src/samples/x86_64_laptop.json"),
            include_str!("../../../../machine/src/samples/aarch64_board.json"),
            include_str!("../../../../machine/src/samples/riscv64_guest.json"),
            include_str!("../../../../machine/src/samples/no_files.json"),
        ] {
            let machine: Machine = serde_json::from_str(document).unwrap();
            let text = show(&machine, false, None);
            let is_command = |line: &str| line.starts_with("    $ ");
            let mut prose = text.lines().filter(|l| !is_command(l));
            assert!(prose.all(|l| l.chars().count() <= 100), "{text}");
            let details = machine.details.as_deref().unwrap();
            let mut commands = 0;
            for fix in (details.disturbances.iter().map(|d| &d.fix))
                .chain(details.unmeasurable.iter().map(|c| &c.fix))
            {
                commands += usize::from(matches!(fix, Fix::Command(_)));
            }
            assert_eq!(text.lines().filter(|l| is_command(l)).count(), commands);
        }
    }
}
