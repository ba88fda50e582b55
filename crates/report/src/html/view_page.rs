//! A view as a page.

use std::ops::RangeFrom;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use super::matrix::matrix;
use super::preamble::{finished, preamble};
use super::trust::machine_fix;
use super::{CHARTS, PLOT_SCRIPT, PLOT_STYLE, STYLE, json, placeholder};
use crate::chart::{Chart, Drawn};
use crate::markdown::paragraphs;
use crate::view::{HeatMap, Part, Section, Span, Table, Text, View};

pub(super) const VIEW_STYLE: &str = include_str!("../../assets/view.css");
const MAP_SCRIPT: &str = include_str!("../../assets/heat_map.js");

/// A view as one page. A first section without a heading is its header.
pub fn page(view: &View) -> String {
    let mut parts = view.sections.iter().flat_map(|section| &section.parts);
    let map = parts.find_map(|part| if let Part::HeatMap(map) = part { Some(map) } else { None });
    let charts = charts(&view.sections);
    let drawn: Vec<Drawn> = charts.iter().map(|chart| chart.drawn()).collect();
    let (mut styles, mut scripts) = (vec![STYLE, VIEW_STYLE], Vec::new());
    if !charts.is_empty() {
        // The page's own style overrides that of the charts.
        styles.insert(0, PLOT_STYLE);
        scripts.extend([PLOT_SCRIPT, CHARTS]);
    }
    scripts.extend(map.map(|_| MAP_SCRIPT));
    let (header, sections) = match view.sections.split_first() {
        Some((first, rest)) if first.title.is_empty() => (Some(first), rest),
        _ => (None, &view.sections[..]),
    };
    let mut numbers = 0..;
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble(&view.title, &styles, &scripts))
            body {
                a.skip href="#section-1" { "To the first section" }
                header {
                    h1 { "Yamba: " (view.title) }
                    @if let Some(header) = header { div.measured { (all_parts(header, &mut numbers)) } }
                }
                main {
                    @for (number, section) in (1..).zip(sections) { (titled(number, section, &mut numbers)) }
                }
                footer { p {
                    "Made by Yamba " (env!("CARGO_PKG_VERSION")) "."
                    @if !charts.is_empty() { " Charts: uPlot 1.6.32, MIT licence, © Leon Sorokin." }
                } }
                @if !charts.is_empty() { script #charts type="application/json" { (PreEscaped(json(&drawn))) } }
                @if let Some(map) = map { script #data type="application/json" { (PreEscaped(json(map))) } }
                @for script in scripts { script { (PreEscaped(script)) } }
            }
        }
    };
    finished(page)
}

/// A section under its heading.
fn titled(number: usize, section: &Section, numbers: &mut RangeFrom<usize>) -> Markup {
    let id = format!("section-{number}");
    markup! {
        section aria-labelledby=(id) {
            h2 id=(id) { (section.title) }
            (all_parts(section, numbers))
        }
    }
}

/// The charts of sections, in the order in which they are numbered.
pub(super) fn charts(sections: &[Section]) -> Vec<&Chart> {
    sections.iter().flat_map(|section| charts_of_parts(&section.parts)).collect()
}

fn charts_of_parts(parts: &[Part]) -> Vec<&Chart> {
    let charts = parts.iter().flat_map(|part| match part {
        Part::Charts(own) => own.iter().collect(),
        Part::Folded(_, parts) => charts_of_parts(parts),
        _ => Vec::new(),
    });
    charts.collect()
}

/// Sections on the page of a run. `numbers` are those of their charts.
pub(super) fn sections(all: &[Section], mut numbers: RangeFrom<usize>) -> Markup {
    markup! {
        @for (number, section) in (1..).zip(all) {
            @if section.title.is_empty() { (all_parts(section, &mut numbers)) } @else { (titled(number, section, &mut numbers)) }
        }
    }
}

/// The parts of a section. `numbers` are those of the charts that follow.
fn all_parts(section: &Section, numbers: &mut RangeFrom<usize>) -> Markup {
    markup! { @for part in &section.parts { (one_part(section, part, numbers)) } }
}

fn one_part(section: &Section, part: &Part, numbers: &mut RangeFrom<usize>) -> Markup {
    markup! {
        @match part {
            Part::Line(line) => p.prose { (text(line)) },
            Part::List(lines) => ul { @for line in lines { li { (text(line)) } } },
            Part::Facts(facts) => dl { @for (name, value) in facts { dt { (text(name)) } dd { (text(value)) } } },
            Part::Fix(fix) => p { (machine_fix(fix)) },
            Part::Table(table) => (table_markup(&section.title, table)),
            Part::Markdown(markdown) => @for paragraph in paragraphs(markdown) { p.prose { (paragraph) } },
            Part::Folded(title, parts) => details {
                summary { (title) }
                @for part in parts { (one_part(section, part, numbers)) }
            },
            Part::Charts(own) => {
                noscript { p { "Curves are drawn by a script; the tables have the same figures." } }
                div.charts { @for (chart, number) in own.iter().zip(numbers.by_ref()) { (placeholder(number, chart)) } }
            },
            Part::HeatMap(map) => (heat_map(map)),
            Part::Matrix(map) => (matrix(map)),
        }
    }
}

fn text(text: &Text) -> Markup {
    markup! {
        @for span in &text.0 {
            @match span {
                Span::Plain(text) => (text),
                Span::Strong(text) | Span::Mark(_, text) => strong { (text) },
                Span::Code(text) => code { (text) },
                Span::History(ratios) => (sparkline(ratios)),
            }
        }
    }
}

fn table_markup(title: &str, table: &Table) -> Markup {
    markup! {
        div.wide role="region" aria-label=(title) tabindex="0" {
            table.view {
                @if !table.caption.is_empty() { caption { (table.caption) } }
                thead { tr { @for title in &table.titles { th scope="col" { (title) } } } }
                tbody { @for row in &table.rows { tr {
                    @for (cell, title) in row.iter().zip(&table.titles) { td data-title=(title) { (text(cell)) } }
                } } }
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
fn heat_map(map: &HeatMap) -> Markup {
    markup! {
        p.prose { "Each column is a node, each row a resource. The colour is the distance from the node's class in standard deviations. Slow nodes have a mark above their column." }
        noscript { p { "The heat map is drawn by a script; the tables have the slow nodes." } }
        div.scale aria-hidden="true" {
            span { "faster" } span.steps { @for step in 0..=12 { i class={ "s" (step) } {} } } span { "slower" }
            span.sample { i.none {} " unknown" }
        }
        div #heat role="img" aria-label={ "Heat map of " (map.nodes.len()) " nodes and " (map.resources.len()) " resources. The tables have the slow nodes." } {}
        p #pointed aria-live="polite" { " " }
        div.choose hidden {
            label for="node" { "Node " }
            input #node list="nodes" autocomplete="off" spellcheck="false";
            datalist #nodes {}
        }
        div #chosen {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Curve, Point};

    #[test]
    fn texts_are_escaped_and_history_is_drawn_to_scale() {
        let history = vec![Some(1.0), None, Some(1.21), Some(1.1)];
        let row = vec![Text::from("</script><i>"), Text(vec![Span::History(history)])];
        let map = HeatMap { nodes: vec!["</script><i>".to_owned()], ..HeatMap::default() };
        let parts = [Part::Table(Table::new(&["node", "jobs"], [row])), Part::HeatMap(map)];
        let page = page(&View::new("fleet a<b").section("Slow", parts));
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

    #[test]
    fn page_has_the_points_of_charts() {
        let curve = Curve::new("<serial>", [Point::new(64.0, 12.5, Some([11.0, 14.0]))]);
        let chart = Chart::logarithmic("pause", "heap (MiB)", "ms", vec![curve]);
        let charts = || Part::Charts(vec![chart.clone()]);
        let folded = Part::Folded("More of them".to_owned(), vec![charts()]);
        let sections = [folded, charts()];
        let view = View::new("collections").section("", [charts()]).section("More", sections);
        let page = page(&view);
        let data = page.split("id=\"charts\" type=\"application/json\">").nth(1).unwrap();
        let data = data.split("</script>").next().unwrap();
        let drawn: Vec<serde_json::Value> = serde_json::from_str(data).unwrap();
        assert_eq!(drawn.len(), 3);
        assert!(page.contains("12.5") && page.contains("data-chart=\"2\""), "{page}");
        assert!(!page.contains("data-chart=\"3\""), "{page}");
        assert!(!page.contains("<serial>") && page.contains("u003cserial"));
    }
}
