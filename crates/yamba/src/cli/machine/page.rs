//! The machine page: groups of labelled lines, then disturbances and limits of what can be measured.

use yamba_record::Machine;
use yamba_record::machine::details::{Cannot, Disturbance, Mend};

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
        cannot(&mut page, &details.cannot);
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
        mend(page, &one.mend);
    }
}

fn cannot(page: &mut Page, all: &[Cannot]) {
    page.section("Not measurable here");
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
            for mend in (details.disturbances.iter().map(|d| &d.mend))
                .chain(details.cannot.iter().map(|c| &c.mend))
            {
                commands += usize::from(matches!(mend, Mend::Command(_)));
            }
            assert_eq!(text.lines().filter(|l| is_command(l)).count(), commands);
        }
    }
}
