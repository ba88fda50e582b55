//! The report of a fleet: slow nodes, classes of nodes, and the slowdowns that it could find.

use std::collections::BTreeMap;

use yamba_fleet::slow_nodes::{
    ClassOfNodes, DetectableSlowdown, Document, Job, Report, SlowNode, letter,
};
use yamba_record::number::{counted, listed, number};
use yamba_report::{HeatMap, Part, Span, Table, Text, View};

/// Number of figures that are named as evidence.
const NAMED: usize = 3;

/// Number of nodes that a list names.
const NODES: usize = 20;

/// The latest jobs whose history the page has.
const JOBS: usize = 30;

/// Units of a ratio on the page: 0.01 %.
const RATIO_UNIT: f64 = 1e4;

/// Units of a distance on the page: tenths of a standard deviation.
const SCORE_UNIT: f64 = 10.0;

/// The report as text, which has no heat map.
pub fn view(document: &Document, report: &Report) -> View {
    with_nodes(document, skipped(report), Vec::new())
}

/// The report as a page, with a heat map.
pub fn page(document: &Document, report: &Report) -> View {
    let skipped = skipped(report);
    let map = Part::HeatMap(heat_map(document, report, skipped));
    with_nodes(document, skipped, vec![map])
}

/// Number of earlier jobs that the history leaves out.
fn skipped(report: &Report) -> usize {
    report.jobs.len().saturating_sub(JOBS)
}

/// The report. `nodes` shows all nodes and resources.
fn with_nodes(document: &Document, skipped: usize, nodes: Vec<Part>) -> View {
    let mut of_classes = vec![Part::Table(classes(&document.classes))];
    of_classes.extend(Part::lines(document.classes.iter().flat_map(remarks)));
    View::new(format!("fleet {}", document.name))
        .section("", [Part::Line(head(document).into())])
        .section("Slow nodes", [slow(document, skipped)])
        .section("Nodes and resources", nodes)
        .section("Classes of nodes", of_classes)
        .section(
            "Smallest slowdown of a resource that is found in 95 of 100 cases",
            [Part::Table(detectable(&document.detectable))],
        )
        .section("Left out", Part::lines(absent(document)))
}

fn head(document: &Document) -> String {
    let last = document.jobs.last();
    let job = last.and_then(|job| job.job.as_ref());
    let job = job.map_or(String::new(), |job| format!(", job {job}"));
    let nodes = last.map_or(0, |job| job.nodes);
    let [resources, figures] = document.tests;
    let earlier = match document.jobs.len() {
        0 | 1 => String::new(),
        n => format!("; {} before", counted(n - 1, "job", "jobs")),
    };
    format!(
        "{}{job}: {}, {resources} tests of resources, {figures} of figures{earlier}",
        document.name,
        counted(nodes, "node", "nodes")
    )
}

/// Names and values of facts.
fn facts(facts: &BTreeMap<String, Option<String>>) -> String {
    let each = facts.iter().map(|(name, value)| {
        let value = value.as_deref().unwrap_or("unknown");
        format!("{name} {value}")
    });
    each.collect::<Vec<_>>().join(", ")
}

fn classes(classes: &[ClassOfNodes]) -> Table {
    let row = |class: &ClassOfNodes| {
        let differs = facts(&class.facts);
        let differs = if differs.is_empty() { "-".to_owned() } else { differs };
        vec![class.class.clone(), class.nodes.len().to_string(), differs]
    };
    Table::new(&["class", "nodes", "differs from other classes"], classes.iter().map(row))
        .caption("Nodes are compared with the nodes of their class.")
}

/// Modes of a class, and its nodes with a rare state.
fn remarks(class: &ClassOfNodes) -> Vec<String> {
    let modes = class.modes.iter().map(|of| {
        let each = of
            .modes
            .iter()
            .map(|(ratio, nodes)| format!("{} at {ratio:.3}", counted(*nodes, "node", "nodes")));
        let each: Vec<String> = each.collect();
        format!(
            "class {}, {}: {} modes: {}",
            class.class,
            of.resource,
            of.modes.len(),
            each.join(", ")
        )
    });
    let differing = class
        .differing
        .iter()
        .map(|node| format!("class {}: {} has {}", class.class, node.node, facts(&node.facts)));
    modes.chain(differing.take(NODES)).collect()
}

fn slow(document: &Document, skipped: usize) -> Part {
    if !document.has_tests() {
        let nodes = document.jobs.last().map_or(0, |job| job.nodes);
        return Part::Line(format!("No node could be compared: that needs five nodes of a class with undisturbed figures, and the job has {}.", counted(nodes, "node", "nodes")).into());
    }
    if document.slow.is_empty() {
        return Part::Line("No node is slower than its class.".into());
    }
    let mut titles = vec![
        "node",
        "class",
        "resource",
        "ratio",
        "95 % interval",
        "false alarms",
        "slower",
        "since",
        "clearest",
    ];
    let mut rows: Vec<Vec<Text>> = document.slow.iter().map(|slow| row(document, slow)).collect();
    if document.jobs.len() > 1 {
        titles.push("jobs");
        for (row, slow) in rows.iter_mut().zip(&document.slow) {
            row.push(Text(vec![Span::History(slow.history[skipped..].to_vec())]));
        }
    }
    Part::Table(Table::new(&titles, rows).caption("The ratio is the node's time divided by that of its class. False alarms: at most this many nodes would be named by chance if the report named all evidence this strong."))
}

fn row(document: &Document, slow: &SlowNode) -> Vec<Text> {
    let [low, high] = slow.confidence_interval;
    let since = match &slow.slow_since {
        Some(job) if document.jobs.len() > 1 => job.clone(),
        _ => "-".to_owned(),
    };
    let cells = [
        slow.node.clone(),
        slow.class.clone(),
        slow.resource.clone(),
        format!("{:.3}", slow.ratio),
        format!("[{low:.3}, {high:.3}]"),
        format!("{:.1e}", slow.false_alarms),
        format!("{} of {}", slow.slower, slow.figures),
        since,
        most(slow),
    ];
    cells.map(Text::from).to_vec()
}

/// The figures that differ most, and the facts by which the node differs.
fn most(slow: &SlowNode) -> String {
    let figures = slow.most.iter().take(NAMED).map(|figure| {
        let name = yamba_report::short_label(&figure.figure);
        format!("{name} {:.3}", figure.ratio)
    });
    let mut parts: Vec<String> = figures.collect();
    let more = slow.most.len().saturating_sub(NAMED);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    if !slow.differs.is_empty() {
        parts.push(format!("({})", facts(&slow.differs)));
    }
    parts.join(", ")
}

fn detectable(all: &[DetectableSlowdown]) -> Table {
    let percent = |share: f64| format!("{} %", number((share * 1e4).round() / 1e2));
    let row = |one: &DetectableSlowdown| {
        let slowdown = one.slowdown.map(|s| percent(s - 1.0));
        vec![
            one.class.clone(),
            one.resource.clone(),
            one.nodes.to_string(),
            one.spread.map_or("-".to_owned(), percent),
            slowdown.unwrap_or("too few nodes".to_owned()),
        ]
    };
    Table::new(&["class", "resource", "nodes", "spread", "slowdown"], all.iter().map(row))
        .caption("The slowdown is that of all figures of the resource. The spread is the standard deviation between nodes of the class.")
}

/// Missing and failed nodes, and figures that do not count.
fn absent(document: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    if !document.missing.is_empty() {
        lines.push(format!("missing: {}", listed(&document.missing, NODES)));
    }
    let failed = document.failed.iter();
    lines.extend(failed.map(|failed| format!("failed: {}: {}", failed.node, failed.reason)));
    if !document.left_out.is_empty() {
        let each = document.left_out.iter().map(|(reason, count)| format!("{count} {reason}"));
        let each: Vec<String> = each.collect();
        lines.push(format!("figures that do not count: {}", each.join(", ")));
    }
    lines
}

/// The heat map of the last job, with the ratios of the jobs that are not skipped.
fn heat_map(document: &Document, report: &Report, skipped: usize) -> HeatMap {
    let Some(last) = report.jobs.last().map(|job| &job.job) else {
        return HeatMap::default();
    };
    let by_class = last.classes.iter().enumerate();
    let order: Vec<(usize, String)> = by_class
        .flat_map(|(class, of)| of.nodes.iter().map(move |node| (*node, letter(class))))
        .collect();
    let jobs = &report.jobs[skipped..];
    let scores = order.iter().flat_map(|(node, _)| &last.states[*node]);
    let slow = document.slow.iter().filter_map(|slow| {
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
fn ratios(of: &Job, last: &Job, order: &[(usize, String)]) -> Vec<Option<i32>> {
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
