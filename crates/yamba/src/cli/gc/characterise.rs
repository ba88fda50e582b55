//! `yamba gc characterise`

use clap::Args;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::{CollectorCosts, Costs, Terms};
use yamba_session::gc::{CostsRequest, characterise};

use super::{CollectorOption, JdkOption, Shown};
use crate::cli::{Failure, output};

/// Measure what the collectors of a JDK cost here
///
/// Small Java programs with known live objects (lists, trees, arrays, wide fan-in, blocks of bytes)
/// run with each collector. A fit gives the fixed cost of a collection, and the cost of each live
/// byte by shape. The costs are kept for later predictions. Half of the benchmarks run for 60 s
/// with each collector, as often as the time suffices; the deviation between their runs is part of
/// the intervals of predictions.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc characterise                       all collectors, 60 s each
  yamba gc characterise --collector serial --thorough
  yamba gc characterise --jdk /opt/jdk-25 --json")]
pub(super) struct Characterise {
    #[command(flatten)]
    collectors: CollectorOption,
    #[command(flatten)]
    jdk: JdkOption,
    /// All benchmarks, three times each, without a limit of time: narrower intervals
    #[arg(long)]
    thorough: bool,
    /// Measure again what was measured before
    #[arg(long)]
    force: bool,
    /// One JSON document, `yamba-gc-costs/1`
    #[arg(long)]
    json: bool,
}

impl Characterise {
    pub(super) fn run(self) -> Result<(), Failure> {
        let request = CostsRequest {
            jdk: self.jdk.jdk,
            collectors: self.collectors.chosen(),
            is_thorough: self.thorough,
            is_forced: self.force,
        };
        let found = characterise(&request, &Shown::default())?;
        output::json_or_text(self.json, &found, text)
    }
}

fn text(costs: &Costs) -> String {
    let mut text = format!("JDK {} on {}\n", costs.jvm, costs.machine);
    let titles = ["collector", "collection", "time", "fixed (us)", "shape", "ns/byte"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    let present = Collector::ALL.iter().filter_map(|c| costs.collectors.get_key_value(c.name()));
    for (name, of) in present {
        rows.extend(rows_of(name, of));
    }
    text += &output::table(&rows, output::width());
    for (name, of) in &costs.collectors {
        text += &accuracy(name, of);
        text += &of.refinement.map_or(String::new(), |costs| {
            let of_card = costs.bytes_per_card.map_or_else(
                || "no card was refined".to_owned(),
                |bytes| format!("a card takes as long as the copy of {bytes:.0} bytes"),
            );
            format!(
                "{name}: refinement takes {:.0} us for each collection after which its thread wakes up; {of_card}\n",
                costs.wake_ns / 1e3
            )
        });
    }
    for (name, reason) in &costs.skipped {
        text += &format!("{name}: skipped: {reason}\n");
    }
    text
}

/// How exactly the costs were measured.
fn accuracy(name: &str, of: &CollectorCosts) -> String {
    let help = if of.is_thorough { "" } else { "; --thorough measures more" };
    format!(
        "{name}: {} benchmarks, whose times differ by {:.0} % between runs{help}\n",
        of.observations,
        100.0 * of.deviation
    )
}

fn rows_of(name: &str, of: &CollectorCosts) -> Vec<Vec<String>> {
    let sorts = [
        ("young", "processor", &of.young_cpu),
        ("young", "pause", &of.young_pause),
        ("full", "processor", &of.full_cpu),
        ("full", "pause", &of.full_pause),
        ("cycle", "processor", &of.cycle_cpu),
        ("cycle", "pause", &of.cycle_pause),
    ];
    let mut rows = Vec::new();
    for (sort, time, terms) in sorts.into_iter().filter(|(_, _, terms)| is_used(terms)) {
        for (i, (shape, ns)) in terms.ns_per_byte.iter().enumerate() {
            let fixed = if i == 0 { format!("{:.0}", terms.fixed_ns / 1e3) } else { String::new() };
            rows.push(
                [name, sort, time, &fixed, shape, &format!("{ns:.3}")].map(str::to_owned).to_vec(),
            );
        }
    }
    rows
}

fn is_used(terms: &Terms) -> bool {
    !terms.ns_per_byte.is_empty()
}
