//! Charts of the curves from which figures are inferred.

use std::collections::BTreeMap;

use yamba_record::Run;
use yamba_record::number::number;

use super::curves::entries;
use super::levels::{self, Contents};
use super::rows::PointRow;
use crate::chart::{Chart, Curve, Point};
use crate::hardware;
use crate::letters::run_letter;
use crate::ticks::ends;

/// The names of curves over sizes of code begin with this text.
const OF_CODE: &str = "l1i.";

/// The lowest latency in ns of each size.
type Lowest = BTreeMap<u64, f64>;

/// The chart of a benchmark's recorded curves: one for each run, with the lowest latency of each
/// size in any entry. `None` if it has none.
pub fn chart(runs: &[Run], rows: &[&PointRow]) -> Option<Chart> {
    if rows.iter().flat_map(|row| row.present()).any(|b| hardware::is_drawn(runs, b)) {
        return None;
    }
    let mut of_runs: BTreeMap<usize, Lowest> = BTreeMap::new();
    let mut unit = "";
    let mut contents = Contents::Data;
    for (run, benchmark) in entries(runs, rows) {
        let Some(recorded) = &benchmark.details.lowest_curve else {
            continue;
        };
        unit = &recorded.x_unit;
        if recorded.name.starts_with(OF_CODE) {
            contents = Contents::Code;
        }
        let lowest = of_runs.entry(run).or_default();
        for (x, ns) in recorded.x.iter().zip(&recorded.ns) {
            let known = lowest.entry(*x as u64).or_insert(*ns);
            *known = known.min(*ns);
        }
    }
    let each = of_runs.iter();
    let mut curves: Vec<Curve> =
        each.map(|(run, lowest)| curve(run_letter(runs, *run, ""), lowest)).collect();
    curves.retain(Curve::is_sweep);
    if curves.is_empty() {
        return None;
    }
    // Other points are no sizes of memory.
    let is_size = unit == "B";
    let (least, most) = ends(curves.iter().flat_map(|c| &c.points).map(|p| p.x));
    let levels = if is_size { levels::levels(runs, contents, least, most) } else { Vec::new() };
    let across = if is_size { "size (B)" } else { unit };
    Some(Chart {
        log: true,
        about_levels: levels::caption(&levels),
        levels: levels.into_iter().map(|l| (l.bytes, l.name)).collect(),
        ..Chart::new(rows[0].name, "lowest latency", "ns", across, curves)
    })
}

fn curve(name: String, lowest: &Lowest) -> Curve {
    let points = lowest.iter().map(|(x, ns)| Point {
        text: format!("{} ns", number(*ns)),
        ..Point::new(*x as f64, *ns, None)
    });
    Curve::new(name, points)
}
