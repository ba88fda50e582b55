//! The costs of collectors: those of each sort of collection by the shape of the live objects, and
//! how exactly they were measured.

use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::{CollectorCosts, Costs, Terms};
use yamba_record::number::counted;
use yamba_report::{Part, Table, View};

pub fn view(costs: &Costs) -> View {
    let mut parts = vec![
        Part::Line(format!("JDK {} on {}", costs.jvm, costs.machine).into()),
        Part::Table(figures(costs)),
    ];
    for (name, collector) in &costs.collectors {
        parts.extend(Part::lines([accuracy(name, collector)]));
        parts.extend(Part::lines(refinement(name, collector)));
    }
    let skipped = costs.skipped.iter().map(|(name, reason)| format!("{name}: skipped: {reason}"));
    parts.extend(Part::lines(skipped));
    View::new(format!("costs of garbage collection with JDK {}", costs.jvm)).section("", parts)
}

fn figures(costs: &Costs) -> Table {
    let titles = ["collector", "collection", "time", "fixed (us)", "shape", "ns/byte"];
    let present = Collector::ALL.iter().filter_map(|c| costs.collectors.get_key_value(c.name()));
    Table::new(&titles, present.flat_map(|(name, collector)| rows(name, collector)))
}

/// A row for each sort of collection and shape.
fn rows(name: &str, collector: &CollectorCosts) -> Vec<Vec<String>> {
    let sorts = [
        ("young", "processor", &collector.young_cpu),
        ("young", "pause", &collector.young_pause),
        ("full", "processor", &collector.full_cpu),
        ("full", "pause", &collector.full_pause),
        ("cycle", "processor", &collector.cycle_cpu),
        ("cycle", "pause", &collector.cycle_pause),
    ];
    let row = |(sort, time, terms): (&str, &str, &Terms), index: usize, shape: &str, ns: f64| {
        let fixed = if index == 0 { format!("{:.0}", terms.fixed_ns / 1e3) } else { String::new() };
        [name, sort, time, &fixed, shape, &format!("{ns:.3}")].map(str::to_owned).to_vec()
    };
    let rows = sorts.iter().flat_map(|sort| {
        let shapes = sort.2.ns_per_byte.iter().enumerate();
        shapes.map(|(index, (shape, ns))| row(*sort, index, shape, *ns))
    });
    rows.collect()
}

/// How exactly the costs were measured.
fn accuracy(name: &str, collector: &CollectorCosts) -> String {
    let help = if collector.is_thorough { "" } else { "; --thorough measures more" };
    format!(
        "{name}: {}, whose times differ by {:.0} % between runs{help}",
        counted(collector.observations, "benchmark", "benchmarks"),
        100.0 * collector.deviation
    )
}

/// The costs of refinement. `None`: the collector does not refine cards.
fn refinement(name: &str, collector: &CollectorCosts) -> Option<String> {
    let costs = collector.refinement?;
    let card = costs.bytes_per_card.map_or_else(
        || "no card was refined".to_owned(),
        |bytes| format!("a card takes as long as the copy of {bytes:.0} bytes"),
    );
    Some(format!(
        "{name}: refinement takes {:.0} us for each collection after which its thread wakes up; {card}",
        costs.wake_ns / 1e3
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yamba_report::terminal::{self, Terminal};
    use yamba_report::{markdown, page};

    use super::*;

    fn costs() -> Costs {
        let none = json!({"fixed_ns": 0.0, "ns_per_byte": {}});
        let young = json!({"fixed_ns": 250_000.0, "ns_per_byte": {"list": 1.5, "tree": 0.25}});
        let collector = |is_thorough: bool| {
            json!({
                "young_cpu": young, "young_pause": none, "full_cpu": none, "full_pause": none,
                "cycle_cpu": none, "cycle_pause": none,
                "observations": 12, "deviation": 0.051, "is_thorough": is_thorough,
            })
        };
        let mut g1 = collector(false);
        g1["refinement"] = json!({"wake_ns": 8000.0, "bytes_per_card": 700.0});
        let costs = json!({
            "schema": "yamba-gc-costs/1", "jvm": "17.0.15+6", "machine": "Z80, 2 processors",
            "collectors": {"g1": g1, "serial": collector(true)},
            "skipped": {"z": "the JDK lacks it"},
        });
        serde_json::from_value(costs).unwrap()
    }

    #[test]
    fn terminal_has_a_row_for_each_shape_and_how_exact_it_is() {
        let text = terminal::text(&view(&costs()), Terminal::default());
        let expected = "\
JDK 17.0.15+6 on Z80, 2 processors
collector  collection  time       fixed (us)  shape  ns/byte
serial     young       processor  250         list   1.500
serial     young       processor              tree   0.250
g1         young       processor  250         list   1.500
g1         young       processor              tree   0.250
g1: 12 benchmarks, whose times differ by 5 % between runs; --thorough measures more
g1: refinement takes 8 us for each collection after which its thread wakes up; a card takes as long as the copy of 700 bytes
serial: 12 benchmarks, whose times differ by 5 % between runs
z: skipped: the JDK lacks it
";
        assert_eq!(text, expected);
    }

    #[test]
    fn markdown_has_the_rows_and_the_page_has_the_skipped_collectors() {
        let view = view(&costs());
        assert!(
            markdown::document(&view, 1).contains("| serial | young | processor | 250 | list |")
        );
        assert!(page(&view).contains("z: skipped: the JDK lacks it"));
    }
}
