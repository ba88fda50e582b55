//! The report of a fleet as a page: slow nodes, a heat map of nodes and resources, the history of
//! each node.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use serde::Serialize;

use super::preamble::preamble;
use super::{STYLE, json};

const FLEET_STYLE: &str = include_str!("../../assets/fleet.css");
const FLEET_SCRIPT: &str = include_str!("../../assets/fleet.js");

/// The content of the page.
#[derive(Clone, Debug, Default)]
pub struct FleetPage {
    /// The fleet.
    pub name: String,
    /// Sentences about fleet and job.
    pub facts: Vec<String>,
    /// The slow nodes; the first row has the titles.
    pub slow: Vec<Vec<String>>,
    /// For each slow node: its ratio in each job.
    pub histories: Vec<Vec<Option<f64>>>,
    /// The classes; the first row has the titles.
    pub classes: Vec<Vec<String>>,
    /// Sentences about modes and rare states.
    pub remarks: Vec<String>,
    /// The smallest slowdowns; the first row has the titles.
    pub detectable: Vec<Vec<String>>,
    /// Sentences about nodes and figures that are absent.
    pub absent: Vec<String>,
    /// The heat map.
    pub map: HeatMap,
}

/// The data of the heat map. Lists over nodes and resources have the resources of the first node
/// first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatMap {
    /// The nodes, class by class.
    pub nodes: Vec<String>,
    /// The class of each node.
    pub classes: Vec<String>,
    /// The resources.
    pub resources: Vec<String>,
    /// The figures, and the index of the resource of each.
    pub figures: Vec<(String, usize)>,
    /// The names of the jobs.
    pub jobs: Vec<String>,
    /// For each job: the node's time divided by that of its class, minus 1, in units of 0.01 %.
    /// `None` if it is unknown.
    pub ratios: Vec<Vec<Option<i32>>>,
    /// For the last job: the distance from the class in tenths of a standard deviation.
    pub scores: Vec<Option<i32>>,
    /// For each node: a letter for each figure, from `a` (five deviations faster) by `m` (as its
    /// class) to `y` (five slower, or more), or `.` if it is unknown.
    pub letters: Vec<String>,
    /// The slow nodes: index of the node and of the resource.
    pub slow: Vec<[usize; 2]>,
}

/// The page.
pub fn fleet(of: &FleetPage) -> String {
    let title = format!("fleet {}", of.name);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble(&title, &[STYLE, FLEET_STYLE], &[FLEET_SCRIPT]))
            body {
                a.skip href="#map" { "To the heat map" }
                header {
                    h1 { "Yamba: " (title) }
                    div.measured { @for line in &of.facts { p { (line) } } }
                }
                main {
                    section aria-labelledby="slow" {
                        h2 #slow { "Slow nodes" }
                        @if of.slow.len() > 1 { (slow(of)) } @else { p { "No node is slower than its class." } }
                    }
                    (map(of))
                    section aria-labelledby="classes" {
                        h2 #classes { "Classes of nodes" }
                        (table("Classes of nodes", "Nodes are compared with the nodes of their class.", &of.classes))
                        @for line in &of.remarks { p.prose { (line) } }
                    }
                    section aria-labelledby="detectable" {
                        h2 #detectable { "Smallest slowdown that is found" }
                        (table("Smallest slowdowns", "A node that is slower by this much in all figures of the resource is found in 95 of 100 cases. The spread is the standard deviation between nodes of the class.", &of.detectable))
                    }
                    @if !of.absent.is_empty() {
                        section aria-labelledby="absent" {
                            h2 #absent { "Missing" }
                            @for line in &of.absent { p.prose { (line) } }
                        }
                    }
                }
                footer { p { "Made by Yamba " (env!("CARGO_PKG_VERSION")) "." } }
                script #data type="application/json" { (PreEscaped(json(&of.map))) }
                script { (PreEscaped(FLEET_SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn table(name: &str, caption: &str, rows: &[Vec<String>]) -> Markup {
    markup! {
        div.wide role="region" aria-label=(name) tabindex="0" {
            table.fleet {
                caption { (caption) }
                @if let Some((titles, rows)) = rows.split_first() {
                    thead { tr { @for title in titles { th scope="col" { (title) } } } }
                    tbody { @for row in rows { tr { @for (cell, title) in row.iter().zip(titles) { td data-title=(title) { (cell) } } } } }
                }
            }
        }
    }
}

/// The slow nodes with their history.
fn slow(of: &FleetPage) -> Markup {
    let has_history = of.map.jobs.len() > 1;
    markup! {
        div.wide role="region" aria-label="Slow nodes" tabindex="0" {
            table.fleet {
                caption { "The ratio is the node's time divided by that of its class. False alarms: at most this many nodes would be named by chance if the report named all evidence this strong." }
                @if let Some((titles, rows)) = of.slow.split_first() {
                    thead { tr {
                        @for title in titles { th scope="col" { (title) } }
                        @if has_history { th scope="col" { "jobs" } }
                    } }
                    tbody {
                        @for (at, row) in rows.iter().enumerate() {
                            tr {
                                @for (cell, title) in row.iter().zip(titles) { td data-title=(title) { (cell) } }
                                @if has_history { td data-title="jobs" { (sparkline(&of.histories[at])) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Width of a job in a sparkline, and its height.
const STEP: usize = 8;
const HEIGHT: f64 = 24.0;

/// The ratio in each job as a bar that begins at the line of ratio 1: above it for a slower job,
/// below it for a faster one.
fn sparkline(history: &[Option<f64>]) -> Markup {
    let known = history.iter().flatten();
    let most = known.map(|ratio| ratio.ln().abs()).fold(0.01, f64::max);
    let middle = HEIGHT / 2.0;
    let bars = history.iter().enumerate().filter_map(|(job, ratio)| {
        let length = (*ratio)?.ln() / most * (middle - 1.0);
        Some((job * STEP, middle - length.max(0.0), length.abs().max(0.5)))
    });
    let known: Vec<String> = history
        .iter()
        .map(|ratio| ratio.map_or("unknown".to_owned(), |ratio| format!("{ratio:.3}")))
        .collect();
    let width = STEP * history.len();
    markup! {
        svg.jobs role="img" aria-label={ "Ratio by job: " (known.join(", ")) } width=(width) height=(HEIGHT) {
            line x1="0" x2=(width) y1=(middle) y2=(middle) {}
            @for (x, y, height) in bars { rect x=(x + 1) y=(format!("{y:.1}")) width=(STEP - 2) height=(format!("{height:.1}")) {} }
        }
    }
}

/// The heat map, which the script draws, and the details of the chosen node.
fn map(of: &FleetPage) -> Markup {
    markup! {
        section aria-labelledby="map" {
            h2 #map { "Nodes and resources" }
            p.prose { "Each column is a node, each row a resource. The colour is the distance from the node's class in standard deviations. Slow nodes have a mark above their column." }
            noscript { p { "The heat map is drawn by a script; the tables have the slow nodes." } }
            div.scale aria-hidden="true" {
                span { "faster" } span.steps { @for step in 0..=12 { i class={ "s" (step) } {} } } span { "slower" }
                span.sample { i.none {} " unknown" }
            }
            div #heat role="img" aria-label={ "Heat map of " (of.map.nodes.len()) " nodes and " (of.map.resources.len()) " resources. The tables have the slow nodes." } {}
            p #pointed aria-live="polite" { " " }
            div.choose hidden {
                label for="node" { "Node " }
                input #node list="nodes" autocomplete="off" spellcheck="false";
                datalist #nodes {}
            }
            div #chosen {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_history_is_drawn_to_scale() {
        let titles = ["node", "ratio"].map(str::to_owned).to_vec();
        let page = fleet(&FleetPage {
            name: "a<b".to_owned(),
            slow: vec![titles, ["</script><i>", "1.1"].map(str::to_owned).to_vec()],
            histories: vec![vec![Some(1.0), None, Some(1.21), Some(1.1)]],
            map: HeatMap {
                nodes: vec!["</script><i>".to_owned()],
                jobs: ["1", "2", "3", "4"].map(str::to_owned).to_vec(),
                ..HeatMap::default()
            },
            ..FleetPage::default()
        });
        assert!(page.contains("fleet a&lt;b") && !page.contains("</script><i>"));
        // 1.1 has half of the logarithm of 1.21, which fills the half of the height above the line;
        // 1 is a line.
        let heights: Vec<&str> = page
            .split("<rect")
            .skip(1)
            .filter_map(|r| r.split("height=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(heights, ["0.5", "11.0", "5.5"]);
        assert!(page.contains("Ratio by job: 1.000, unknown, 1.210, 1.100"));
    }
}
