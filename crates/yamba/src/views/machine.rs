//! Facts of a machine, what disturbs a measurement, and what cannot be measured.

mod facts;

use yamba_record::Machine;
use yamba_record::machine::details::{Disturbance, Unmeasurable};
use yamba_report::{Part, Section, Text, Tone, View};

/// The machine. `now` is in seconds since 1970.
pub fn view(machine: &Machine, now: f64) -> View {
    let mut page = Page(View::new("machine"));
    if let Some(details) = machine.details.as_deref() {
        facts::processor(&mut page, machine, details);
        facts::measured_caches(&mut page, machine, now);
        facts::hardware(&mut page, machine, now);
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
    page.0
}

/// The sections written so far.
struct Page(View);

impl Page {
    fn section(&mut self, title: &str) {
        self.0.sections.push(Section { title: title.to_owned(), parts: Vec::new() });
    }

    /// Adds a label and its value. An empty value means that the system does not report it.
    fn line(&mut self, label: &str, value: &str) {
        self.fact(label.into(), if value.is_empty() { "not reported" } else { value });
    }

    /// Adds a label and the known parts of its value.
    fn parts(&mut self, label: &str, parts: impl IntoIterator<Item = Option<String>>) {
        let known: Vec<String> = parts.into_iter().flatten().collect();
        self.line(label, &known.join(", "));
    }

    fn fact(&mut self, label: Text, value: &str) {
        let fact = (label, value.into());
        match self.0.sections.last_mut().and_then(|section| section.parts.last_mut()) {
            Some(Part::Facts(facts)) => facts.push(fact),
            _ => self.add(Part::Facts(vec![fact])),
        }
    }

    fn add(&mut self, part: Part) {
        if let Some(section) = self.0.sections.last_mut() {
            section.parts.push(part);
        }
    }
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
        page.fact(Text::mark(Tone::Warning, one.name.replace('_', " ")), &one.text);
        page.add(Part::Fix(one.fix.clone()));
    }
}

fn cannot(page: &mut Page, all: &[Unmeasurable]) {
    page.section("Not measurable here");
    if all.is_empty() {
        page.line("", "nothing that was tried");
    }
    for one in all {
        page.add(Part::List(vec![format!("{}: {}", one.what, one.why).into()]));
        page.add(Part::Fix(one.fix.clone()));
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::hardware::{HardwareParameter, KeptParameter};
    use yamba_record::machine::details::Fix;
    use yamba_record::machine::{Contention, CorePair, CorePairs, MeasuredCache, MeasuredCaches};
    use yamba_report::terminal::{self, Terminal};

    use super::*;

    fn show(machine: &Machine, now: f64) -> String {
        terminal::text(&view(machine, now), Terminal { width: Some(96), has_colours: false })
    }

    #[test]
    fn page_has_contention_of_each_processor() {
        let document = include_str!("../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        let lines = |machine: &Machine| {
            let text = show(machine, 9000.0);
            let lines = text.lines().map(str::trim_end);
            let lines = lines.skip_while(|l| !l.starts_with("  neighbours"));
            let lines = lines.take_while(|l| !l.is_empty());
            lines.map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(
            lines(&machine),
            ["  neighbours        not known: no run has probed this machine"]
        );
        let contention =
            |contended, lengthening, unix_s| Contention { contended, lengthening, unix_s };
        machine.quiet_widths =
            [("2", 1702.4), ("10", 1690.0)].map(|(cpu, width)| (cpu.to_owned(), width)).into();
        machine.contention =
            [("2", contention(0.123, Some(0.082), 8700.0)), ("3", contention(1.0, None, -1800.0))]
                .map(|(cpu, contention)| (cpu.to_owned(), contention))
                .into();
        assert_eq!(
            lines(&machine),
            [
                "  neighbours        processor 2: 12 % contended 5 min ago, up to 8 % slower, quiet width 1702",
                "                    processor 3: 100 % contended 3 h ago, never quiet",
                "                    processor 10: quiet width 1690",
            ]
        );
    }

    #[test]
    fn page_has_tested_cores() {
        let document = include_str!("../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        let mut line = |pairs: &[(u64, u64, Option<bool>)]| {
            let pairs = pairs.iter();
            let pair = |&(one, other, shared): &_| CorePair { one, other, shared };
            machine.core_pairs = Some(CorePairs { pairs: pairs.map(pair).collect(), unix_s: 0.0 });
            let text = show(&machine, 300.0);
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
        let document = include_str!("../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        assert!(!show(&machine, 0.0).contains("measured caches"));
        let level = |bytes, latency_ns| MeasuredCache { bytes, latency_ns };
        machine.measured_caches = Some(MeasuredCaches {
            levels: vec![level(36_000.0, 1.08), level(15.0 * 1_048_576.0, 12.34)],
            memory_ns: 133.3,
            unix_s: -300.0,
        });
        let text = show(&machine, 0.0);
        let line = text.lines().find(|l| l.contains("measured caches"));
        assert_eq!(
            line.map(str::trim_end),
            Some(
                "  measured caches   35.16 KiB with 1.1 ns, 15 MiB with 12.3 ns, memory with 133 ns, 5 min ago"
            )
        );
    }

    #[test]
    fn page_has_claimed_beside_found() {
        let document = include_str!("../../../machine/src/samples/x86_64_laptop.json");
        let mut machine: Machine = serde_json::from_str(document).unwrap();
        let lines = |machine: &Machine| {
            let text = show(machine, 300.0);
            let lines = text.lines().skip_while(|l| *l != "Claimed and found").skip(1);
            let lines = lines.take_while(|l| !l.is_empty());
            lines.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(lines(&machine), ["not measured: run `yamba hardware`"]);
        let kept = |name: &str, found: Option<f64>| KeptParameter {
            parameter: HardwareParameter {
                name: name.to_owned(),
                found,
                ..HardwareParameter::default()
            },
            unix_s: 0.0,
        };
        machine.hardware = vec![
            kept("l1d.size", Some(49_152.0)),
            kept("l2.size", None),
            kept("rob.entries", Some(512.0)),
        ];
        let lines = lines(&machine);
        assert_eq!(lines[0], "parameter claimed found when");
        let line = |name: &str| lines.iter().find(|l| l.starts_with(name)).unwrap().as_str();
        assert!(line("l1d.size").ends_with(" KiB 48 KiB 5 min ago"), "{lines:?}");
        assert!(line("l2.size").ends_with(" cannot tell 5 min ago"), "{lines:?}");
        assert!(line("l3.size").ends_with(" MiB not measured"), "{lines:?}");
        assert!(!lines.iter().any(|l| l.starts_with("rob")), "{lines:?}");
    }

    #[test]
    fn page_fits_terminal_and_has_every_command() {
        for document in [
            include_str!("../../../machine/src/samples/x86_64_laptop.json"),
            include_str!("../../../machine/src/samples/aarch64_board.json"),
            include_str!("../../../machine/src/samples/riscv64_guest.json"),
            include_str!("../../../machine/src/samples/no_files.json"),
        ] {
            let machine: Machine = serde_json::from_str(document).unwrap();
            let text = show(&machine, 0.0);
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
