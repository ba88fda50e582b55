//! XML of Catch2 (`-r xml`), of versions 2 and 3:
//! <https://github.com/catchorg/Catch2/blob/devel/docs/benchmarks.md>. The name of a benchmark
//! contains those of its test case and sections. The figure is the mean of its samples, which one
//! process takes: the file has nothing else.

use std::collections::{BTreeSet, HashSet};

use roxmltree::{Document, Node, NodeId, ParsingOptions};
use serde_json::json;
use yamba_record::{Run, Status};

use super::foreign::{Figure, Number, Results};
use super::words::number;
use super::{DocumentFault, quoted};

/// The root of version 2, and that of version 3.
const ROOTS: [&str; 2] = ["Catch", "Catch2TestRun"];

/// The unit of all values, in a comment.
const UNIT: &str = "nano seconds";

/// Maximum number of elements, attributes and texts.
const MOST_NODES: u32 = 1_000_000;

/// Maximum number of sections around a benchmark.
const DEEPEST: usize = 100;

/// Whether the beginning of a file is XML.
pub(super) fn is_it(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    start.starts_with(b"<?xml")
        || ROOTS.iter().any(|r| start.starts_with(format!("<{r}").as_bytes()))
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, is other XML, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = text.trim_start();
    let document = Document::parse_with_options(text, options).map_err(|e| {
        (format!("is no XML: {e}"), Some("it was cut short or is damaged; get it again"))
    })?;
    let root = document.root_element();
    if !ROOTS.contains(&root.tag_name().name()) {
        let message = format!("is XML with the root {}", quoted(root.tag_name().name()));
        return Err((message, Some("of XML, only that of Catch2 (`-r xml`) is read")));
    }
    let mut results = Results::new("catch2", name, String::new());
    let version = root.attribute("catch2-version").unwrap_or_default();
    results.producer = format!("Catch2 {version}").trim_end().to_owned();
    let mut kept = Vec::new();
    // Also those without a figure, so that a second result never stands for the first.
    let mut known = BTreeSet::new();
    let elements = || root.descendants().filter(Node::is_element);
    let failed: HashSet<NodeId> = elements().filter(has_failed).map(|case| case.id()).collect();
    let mut lines = Lines { text, at: 0, number: 1 };
    for node in elements() {
        let place = format!("line {}", lines.number_at(node.range().start));
        if failed.contains(&node.id()) {
            let case = quoted(node.attribute("name").unwrap_or_default());
            results.leave_out(&place, &format!("the test case {case} failed"));
        }
        if !node.has_tag_name("BenchmarkResults") {
            continue;
        }
        let number = full_name(node).and_then(|name| {
            if !known.insert(name.clone()) {
                return Err(format!("{} stands again; the first counts", quoted(&name)));
            }
            let number = benchmark(node, &name, &failed);
            number.map_err(|reason| format!("{}: {reason}", quoted(&name)))
        });
        match number {
            Ok(number) => {
                kept.push(shown(&number));
                results.push(number)?;
            }
            Err(reason) => results.leave_out(&place, &reason),
        }
    }
    // The file names folders of the machine.
    results.set_text(format!("[{}]\n", kept.join(",\n")));
    results.run()
}

/// Counts the lines of a text up to places that grow.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl Lines<'_> {
    fn number_at(&mut self, place: usize) -> usize {
        let between = self.text.get(self.at..place).unwrap_or_default();
        self.number += between.matches('\n').count();
        self.at = place;
        self.number
    }
}

/// The part of the file behind a figure.
fn shown(number: &Number) -> String {
    json!({"name": number.name, "mean_ns": number.value.as_ref().ok()}).to_string()
}

/// The figure of a benchmark. The error says why it has none.
fn benchmark(node: Node<'_, '_>, name: &str, failed: &HashSet<NodeId>) -> Result<Number, String> {
    let value = match child(node, "failed")? {
        Some(failed) => {
            let message = failed.attribute("message").unwrap_or("without a reason");
            Err((Status::Crashed, message.to_owned()))
        }
        None => Ok(mean(node)?),
    };
    let mut notes = Vec::new();
    if value.is_ok() {
        let samples = samples(node)?;
        notes.push(format!("the mean of {samples} samples in one process, of about six digits"));
        if node.ancestors().any(|part| failed.contains(&part.id())) {
            notes.push("its test case failed".to_owned());
        }
    }
    Ok(Number { notes, ..Number::new(name, Figure::Latency, "ns", value) })
}

/// The names of test case, sections and benchmark.
fn full_name(node: Node<'_, '_>) -> Result<String, String> {
    let mut names = Vec::new();
    for part in node.ancestors() {
        let is_case = part.has_tag_name("TestCase");
        if part != node && !is_case && !part.has_tag_name("Section") {
            return Err(format!("a benchmark in {}", quoted(part.tag_name().name())));
        }
        names.push(part.attribute("name").ok_or("a part without a name")?);
        if is_case {
            names.reverse();
            return Ok(names.join(" / "));
        }
        if names.len() > DEEPEST {
            return Err(format!("a benchmark in more than {DEEPEST} sections"));
        }
    }
    Err("a benchmark outside of a test case".to_owned())
}

/// The element of a name. The error: it stands twice.
fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Result<Option<Node<'a, 'i>>, String> {
    let mut named = node.children().filter(|child| child.has_tag_name(name));
    match (named.next(), named.next()) {
        (first, None) => Ok(first),
        _ => Err(format!("{name} stands twice")),
    }
}

fn mean(node: Node<'_, '_>) -> Result<f64, String> {
    let mean = child(node, "mean")?.ok_or("no mean in it")?;
    let value = |name: &str| {
        let text = mean.attribute(name).ok_or_else(|| format!("its mean has no {name}"))?;
        number(text).ok_or_else(|| format!("{name} of its mean is {}", quoted(text)))
    };
    let (mean, low, high) = (value("value")?, value("lowerBound")?, value("upperBound")?);
    if !(low..=high).contains(&mean) {
        return Err(format!("its mean {mean} does not lie between {low} and {high}"));
    }
    let is_unit = |child: &Node<'_, '_>| {
        child.is_comment() && child.text().is_some_and(|text| text.contains(UNIT))
    };
    match node.children().any(|child| is_unit(&child)) {
        true => Ok(mean),
        false => Err("no unit in it".to_owned()),
    }
}

fn samples(node: Node<'_, '_>) -> Result<u64, String> {
    let text = node.attribute("samples").ok_or("no samples in it")?;
    let samples = text.parse().ok().filter(|samples| *samples > 0);
    samples.ok_or_else(|| format!("its number of samples is {}", quoted(text)))
}

/// Whether a node is a test case that failed.
fn has_failed(node: &Node<'_, '_>) -> bool {
    let is_failure = |child: Node<'_, '_>| {
        child.has_tag_name("OverallResult") && child.attribute("success") == Some("false")
    };
    node.has_tag_name("TestCase") && node.children().any(is_failure)
}

#[cfg(test)]
mod tests;
