//! Charts of the curves from which figures are inferred.

use yamba_record::Run;
use yamba_record::event::LowestCurve;
use yamba_record::number::number;

use super::chart::{Chart, Curve, Point, entries, of_run, parameters};
use super::levels;
use super::rows::PointRow;
use crate::ticks::ends;

/// The chart of a benchmark's recorded curves. `None` if it has none.
pub fn chart(runs: &[Run], rows: &[&PointRow]) -> Option<Chart> {
    let mut curves = Vec::new();
    let mut unit = "";
    for (run, benchmark) in entries(runs, rows) {
        let Some(lowest) = &benchmark.lowest_curve else {
            continue;
        };
        unit = &lowest.x_unit;
        let name = parameters(rows, benchmark, |_, differs| differs);
        curves.push(curve(of_run(runs, run, &name), lowest));
    }
    curves.retain(Curve::is_sweep);
    if curves.is_empty() {
        return None;
    }
    let (least, most) = ends(curves.iter().flat_map(|c| &c.points).map(|p| p.x));
    let levels = levels::levels(runs, least, most);
    Some(Chart {
        log: true,
        about_levels: levels::caption(&levels),
        levels: levels.into_iter().map(|l| (l.bytes, l.name)).collect(),
        ..Chart::new(
            rows[0].name,
            "lowest latency",
            "ns",
            &format!("size ({unit})"),
            curves,
        )
    })
}

fn curve(name: String, lowest: &LowestCurve) -> Curve {
    let points = lowest.x.iter().zip(&lowest.ns);
    let points = points.map(|(x, ns)| Point {
        x: *x,
        y: *ns,
        confidence_interval: None,
        is_within: false,
        is_disturbed: false,
        text: format!("{} ns", number(*ns)),
    });
    Curve {
        name,
        points: points.collect(),
        line: None,
    }
}
