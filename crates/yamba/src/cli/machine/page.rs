//! The machine page: groups of labelled lines, then disturbances and limits of what can be
//! measured.

use yamba_record::Machine;
use yamba_record::machine::details::{Disturbance, Fix, Unmeasurable};

use super::facts;
use super::layout::Page;

/// Formats the page, with colours if `colour`, at most `width` columns wide. `now` is in seconds
/// since 1970.
pub(super) fn show(machine: &Machine, now: f64, colour: bool, width: Option<usize>) -> String {
    let mut page = Page::new(colour, width);
    if let Some(details) = machine.details.as_deref() {
        facts::processor(&mut page, machine, details);
        facts::measured_caches(&mut page, machine, now);
        facts::memory(&mut page, machine, details);
        facts::kernel(&mut page, machine, details);
        facts::timers(&mut page, details);
        facts::storage(&mut page, details);
        facts::rights(&mut page, machine, details);
        facts::load(&mut page, details);
        facts::core_pairs(&mut page, machine, now);
        facts::neighbours(&mut page, machine, now);
        omitted(&mut page, &details.omitted);
        disturbances(&mut page, &details.disturbances);
        cannot(&mut page, &details.unmeasurable);
    }
    page.text
}

fn omitted(page: &mut Page, files: &[String]) {
    if files.is_empty() {
        return;
    }
    page.section("Not understood");
    for file in files {
        page.line("", &format!("{file}: its facts are unknown"));
    }
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
    use yamba_record::machine::{Contention, CorePair, CorePairs, MeasuredCache, MeasuredCaches};

    use super::*;

    #[test]
    fn page_has_contention_of_each_processor() {
        let document = include_str!("../../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        let lines = |machine: &Machine| {
            let text = show(machine, 9000.0, false, None);
            let lines = text.lines().map(str::trim_end);
            let lines = lines.skip_while(|l| !l.starts_with("  neighbours"));
            let lines = lines.take_while(|l| !l.is_empty());
            lines.map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(
            lines(&machine),
            ["  neighbours        not known: no run has probed this machine"]
        );
        let contention = |contended, unix_s| Contention { contended, unix_s };
        machine.quiet_widths =
            [("2", 1702.4), ("10", 1690.0)].map(|(cpu, width)| (cpu.to_owned(), width)).into();
        machine.contention = [("2", contention(0.123, 8700.0)), ("3", contention(1.0, -1800.0))]
            .map(|(cpu, contention)| (cpu.to_owned(), contention))
            .into();
        assert_eq!(
            lines(&machine),
            [
                "  neighbours        processor 2: 12 % contended in the latest run, 5 min ago, quiet width 1702",
                "                    processor 3: 100 % contended in the latest run, 3 h ago, never quiet",
                "                    processor 10: quiet width 1690",
            ]
        );
    }

    #[test]
    fn page_has_tested_cores() {
        let document = include_str!("../../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        let mut line = |pairs: &[(u64, u64, Option<bool>)]| {
            let pairs = pairs.iter();
            let pair = |&(one, other, shared): &_| CorePair { one, other, shared };
            machine.core_pairs = Some(CorePairs { pairs: pairs.map(pair).collect(), unix_s: 0.0 });
            let text = show(&machine, 300.0, false, None);
            let mut lines = text.lines();
            let line = lines.find_map(|l| l.strip_prefix("  shared cores      "));
            line.unwrap().trim_end().to_owned()
        };
        assert_eq!(
            line(&[(0, 1, Some(false))]),
            "none, by a test of 1 pair of processors, 5 min ago"
        );
        assert_eq!(
            line(&[(0, 2, Some(true)), (1, 3, Some(true)), (0, 1, Some(false))]),
            "0 and 2, 1 and 3, by a test of 3 pairs of processors, 5 min ago"
        );
        assert_eq!(
            line(&[(0, 1, None), (0, 2, Some(true))]),
            "0 and 2, by a test of 2 pairs of processors, 5 min ago; 1 not known"
        );
        assert_eq!(
            line(&[(0, 1, None)]),
            "hidden by neighbours, by a test of 1 pair of processors, 5 min ago"
        );
    }

    #[test]
    fn page_has_measured_caches() {
        let document = include_str!("../../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        assert!(!show(&machine, 0.0, false, None).contains("measured caches"));
        let level = |bytes, latency_ns| MeasuredCache { bytes, latency_ns };
        machine.measured_caches = Some(MeasuredCaches {
            levels: vec![level(36_000.0, 1.08), level(15.0 * 1_048_576.0, 12.34)],
            memory_ns: 133.3,
            unix_s: -300.0,
        });
        let text = show(&machine, 0.0, false, None);
        let line = text.lines().find(|l| l.contains("measured caches"));
        assert_eq!(
            line.map(str::trim_end),
            Some(
                "  measured caches   35.16 KiB with 1.1 ns, 15 MiB with 12.3 ns, memory with 133 ns, 5 min ago"
            )
        );
    }

    #[test]
    fn page_fits_terminal_and_has_every_command() {
        for document in [
            include_str!("../../../../machine/src/samples/x86_64_laptop.json"),
            include_str!("../../../../machine/src/samples/aarch64_board.json"),
            include_str!("../../../../machine/src/samples/riscv64_guest.json"),
            include_str!("../../../../machine/src/samples/no_files.json"),
        ] {
            let machine: Machine = serde_json::from_str(document).unwrap();
            let text = show(&machine, 0.0, false, None);
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
