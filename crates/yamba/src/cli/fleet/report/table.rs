//! The report as text.

use std::collections::BTreeMap;

use yamba_fleet::slow_nodes::{ClassOfNodes, DetectableSlowdown, Document, SlowNode};
use yamba_record::number::number;

use crate::cli::output;
use crate::wrap::wrapped;

/// Number of figures that are named as evidence.
const NAMED: usize = 3;

/// Begins each continuation of a wrapped line.
const INDENT: &str = "  ";

/// Number of nodes that a list names.
const NODES: usize = 20;

/// The report for a terminal.
pub(super) fn text(of: &Document, width: Option<usize>) -> String {
    let mut out = wrapped(&head(of), width, INDENT);
    out.push_str(&section("classes", &classes(&of.classes), width));
    for line in of.classes.iter().flat_map(remarks) {
        out.push_str(&wrapped(&line, width, INDENT));
    }
    if of.slow.is_empty() {
        out.push_str("\nno node is slower than its class\n");
    } else {
        out.push_str(&section("slow nodes", &slow(of), width));
    }
    let title = "the smallest slowdown of a resource that is found in 95 of 100 cases";
    out.push_str(&section(title, &detectable(&of.detectable), width));
    out.push_str(&wrapped(&absent(of), width, INDENT));
    out
}

fn section(title: &str, rows: &[Vec<String>], width: Option<usize>) -> String {
    let title = wrapped(title, width, INDENT);
    format!("\n{title}{}", output::table(rows, width))
}

pub(super) fn head(of: &Document) -> String {
    let last = of.jobs.last();
    let job = last.and_then(|job| job.job.as_ref());
    let job = job.map_or(String::new(), |job| format!(", job {job}"));
    let nodes = last.map_or(0, |job| job.nodes);
    let [resources, figures] = of.tests;
    let earlier = match of.jobs.len() {
        0 | 1 => String::new(),
        n => format!("; {} before", output::counted(n - 1, "job", "jobs")),
    };
    format!(
        "{}{job}: {}, {resources} tests of resources, {figures} of figures{earlier}\n",
        of.name,
        output::counted(nodes, "node", "nodes")
    )
}

/// Names and values of facts.
pub(super) fn facts(facts: &BTreeMap<String, Option<String>>) -> String {
    let each = facts.iter().map(|(name, value)| {
        let value = value.as_deref().unwrap_or("unknown");
        format!("{name} {value}")
    });
    each.collect::<Vec<_>>().join(", ")
}

pub(super) fn classes(classes: &[ClassOfNodes]) -> Vec<Vec<String>> {
    let mut rows =
        vec![["class", "nodes", "differs from other classes"].map(str::to_owned).to_vec()];
    rows.extend(classes.iter().map(|class| {
        let differs = facts(&class.facts);
        let differs = if differs.is_empty() { "-".to_owned() } else { differs };
        vec![class.class.clone(), class.nodes.len().to_string(), differs]
    }));
    rows
}

/// Modes of a class, and its nodes with a rare state.
pub(super) fn remarks(class: &ClassOfNodes) -> Vec<String> {
    let modes = class.modes.iter().map(|of| {
        let each = of.modes.iter().map(|(ratio, nodes)| {
            format!("{} at {ratio:.3}", output::counted(*nodes, "node", "nodes"))
        });
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

/// The titles and rows of the slow nodes.
pub(super) fn slow(of: &Document) -> Vec<Vec<String>> {
    let titles = [
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
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(of.slow.iter().map(|slow| row(of, slow)));
    rows
}

fn row(of: &Document, slow: &SlowNode) -> Vec<String> {
    let [low, high] = slow.confidence_interval;
    let since = match &slow.slow_since {
        Some(job) if of.jobs.len() > 1 => job.clone(),
        _ => "-".to_owned(),
    };
    vec![
        slow.node.clone(),
        slow.class.clone(),
        slow.resource.clone(),
        format!("{:.3}", slow.ratio),
        format!("[{low:.3}, {high:.3}]"),
        format!("{:.1e}", slow.false_alarms),
        format!("{} of {}", slow.slower, slow.figures),
        since,
        most(slow),
    ]
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

pub(super) fn detectable(all: &[DetectableSlowdown]) -> Vec<Vec<String>> {
    let titles = ["class", "resource", "nodes", "spread", "slowdown"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(|one| {
        let percent = |share: f64| format!("{} %", number((share * 1e4).round() / 1e2));
        let slowdown = one.slowdown.map(|s| percent(s - 1.0));
        vec![
            one.class.clone(),
            one.resource.clone(),
            one.nodes.to_string(),
            one.spread.map_or("-".to_owned(), percent),
            slowdown.unwrap_or("too few nodes".to_owned()),
        ]
    }));
    rows
}

/// Missing and failed nodes, and figures that do not count.
pub(super) fn absent(of: &Document) -> String {
    let mut lines = Vec::new();
    if !of.missing.is_empty() {
        let names: Vec<&str> = of.missing.iter().map(String::as_str).collect();
        lines.push(format!("\nmissing: {}", output::listed(&names, NODES)));
    }
    for failed in &of.failed {
        lines.push(format!("failed: {}: {}", failed.node, failed.reason));
    }
    if !of.left_out.is_empty() {
        let each = of.left_out.iter().map(|(reason, count)| format!("{count} {reason}"));
        let each: Vec<String> = each.collect();
        lines.push(format!("\nfigures that do not count: {}", each.join(", ")));
    }
    lines.join("\n")
}
