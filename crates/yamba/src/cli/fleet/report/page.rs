//! The report as a page.

use yamba_fleet::slow_nodes::{Document, Report, letter};
use yamba_report::{FleetPage, HeatMap};

use super::table;

/// The latest jobs whose history the page has.
const JOBS: usize = 30;

/// Units of a ratio on the page: 0.01 %.
const RATIO_UNIT: f64 = 1e4;

/// Units of a distance on the page: tenths of a standard deviation.
const SCORE_UNIT: f64 = 10.0;

/// The page of a report.
pub(super) fn page(of: &Document, report: &Report) -> String {
    let lines = |text: &str| text.lines().filter(|l| !l.is_empty()).map(str::to_owned).collect();
    let skipped = report.jobs.len().saturating_sub(JOBS);
    let histories = of.slow.iter().map(|slow| slow.history[skipped..].to_vec());
    yamba_report::fleet(&FleetPage {
        name: of.name.clone(),
        facts: lines(&table::head(of)),
        slow: table::slow(of),
        histories: histories.collect(),
        classes: table::classes(&of.classes),
        remarks: of.classes.iter().flat_map(table::remarks).collect(),
        detectable: table::detectable(&of.detectable),
        absent: lines(&table::absent(of)),
        map: heat_map(of, report, skipped),
    })
}

fn heat_map(of: &Document, report: &Report, skipped: usize) -> HeatMap {
    let Some(last) = report.jobs.last().map(|job| &job.job) else {
        return HeatMap::default();
    };
    let by_class = last.classes.iter().enumerate();
    let order: Vec<(usize, String)> = by_class
        .flat_map(|(class, of)| of.nodes.iter().map(move |node| (*node, letter(class))))
        .collect();
    let jobs = &report.jobs[skipped..];
    let scores = order.iter().flat_map(|(node, _)| &last.states[*node]);
    let slow = of.slow.iter().filter_map(|slow| {
        let node = order.iter().position(|(node, _)| last.nodes[*node] == slow.node)?;
        let resource = last.resources.iter().position(|name| *name == slow.resource)?;
        Some([node, resource])
    });
    HeatMap {
        nodes: order.iter().map(|(node, _)| last.nodes[*node].clone()).collect(),
        classes: order.iter().map(|(_, class)| class.clone()).collect(),
        resources: last.resources.clone(),
        figures: last
            .figures
            .iter()
            .map(|(key, of)| (yamba_report::short_label(key), *of))
            .collect(),
        jobs: jobs.iter().map(|job| job.name.clone().unwrap_or_default()).collect(),
        ratios: jobs.iter().map(|job| ratios(&job.job, last, &order)).collect(),
        scores: scores.map(|state| state.map(|s| (s.score * SCORE_UNIT).round() as i32)).collect(),
        letters: order.iter().map(|(node, _)| letters(&last.figure_scores[*node])).collect(),
        slow: slow.collect(),
    }
}

/// The ratios of a job in the order of nodes and resources of the last one.
fn ratios(
    of: &yamba_fleet::slow_nodes::Job,
    last: &yamba_fleet::slow_nodes::Job,
    order: &[(usize, String)],
) -> Vec<Option<i32>> {
    let index = |names: &[String]| -> std::collections::HashMap<String, usize> {
        names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect()
    };
    let (nodes, resources) = (index(&of.nodes), index(&of.resources));
    let mut found = Vec::with_capacity(order.len() * last.resources.len());
    for (node, _) in order {
        let own = nodes.get(&last.nodes[*node]);
        for resource in &last.resources {
            let state = own.and_then(|node| of.states[*node][*resources.get(resource)?]);
            found.push(state.map(|s| ((s.ratio - 1.0) * RATIO_UNIT).round() as i32));
        }
    }
    found
}

/// A letter for each figure: see [`HeatMap::letters`].
fn letters(scores: &[Option<f32>]) -> String {
    let letter = |score: f32| {
        let step = (score * 12.0 / 5.0).round().clamp(-12.0, 12.0);
        char::from(b'm'.saturating_add_signed(step as i8))
    };
    scores.iter().map(|score| score.map_or('.', letter)).collect()
}
