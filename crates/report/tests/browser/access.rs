//! Tests of the accessibility tree, which the browser provides to screen readers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::made_up::study;
use crate::page::Page;
use crate::{on_page_with, sample_run};

/// A node of the accessibility tree.
struct Node {
    role: String,
    name: String,
    is_focusable: bool,
    children: Vec<String>,
}

impl Node {
    fn of(node: &Value) -> Node {
        let text = |what: &Value| what["value"].as_str().unwrap_or_default().to_owned();
        let mut properties = node["properties"].as_array().into_iter().flatten();
        let children = node["childIds"].as_array().into_iter().flatten();
        Node {
            role: text(&node["role"]),
            name: text(&node["name"]),
            is_focusable: properties
                .any(|p| p["name"] == "focusable" && p["value"]["value"] == true),
            children: children.map(|c| c.as_str().unwrap().to_owned()).collect(),
        }
    }
}

/// The accessibility tree: <https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/>
struct Tree {
    root: String,
    nodes: BTreeMap<String, Node>,
}

impl Tree {
    fn of(page: &mut Page) -> Tree {
        let answer = page.call("Accessibility.getFullAXTree", json!({}));
        let all = answer["nodes"].as_array().unwrap();
        let id = |n: &Value| n["nodeId"].as_str().unwrap().to_owned();
        Tree { root: id(&all[0]), nodes: all.iter().map(|n| (id(n), Node::of(n))).collect() }
    }

    /// The children of a node, in order.
    fn within<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        let own = node.children.iter().filter_map(|c| self.nodes.get(c));
        own.flat_map(|c| std::iter::once(c).chain(self.within(c))).collect()
    }

    fn all(&self) -> Vec<&Node> {
        self.within(&self.nodes[&self.root])
    }

    fn of_role<'a>(&'a self, node: &'a Node, role: &str) -> Vec<&'a Node> {
        let mut all = self.within(node);
        all.retain(|n| n.role == role);
        all
    }

    fn text(&self, node: &Node) -> String {
        let words = self.of_role(node, "StaticText");
        let words: Vec<&str> = words.iter().map(|n| n.name.as_str()).collect();
        words.join(" ")
    }
}

/// Roles that need a name.
const NAMED: [&str; 11] = [
    "button",
    "columnheader",
    "heading",
    "image",
    "img",
    "link",
    "navigation",
    "region",
    "rowheader",
    "searchbox",
    "table",
];

fn has_names(tree: &Tree) {
    for node in tree.all() {
        let needs = node.is_focusable || NAMED.contains(&node.role.as_str());
        let is_named = !node.name.trim().is_empty();
        let text = tree.text(node);
        assert!(is_named || !needs, "a {} without a name: {text}", node.role);
    }
}

/// Checks that each table has column headers and each of its rows a row header.
fn has_headers(tree: &Tree, tables: usize) {
    let all = tree.all();
    let found = all.iter().filter(|n| n.role == "table");
    assert_eq!(found.clone().count(), tables);
    for table in found {
        let rows = tree.of_role(table, "row");
        let headings = tree.of_role(rows[0], "columnheader");
        assert!(headings.len() > 1, "{}", table.name);
        for row in rows {
            let count = |role| tree.of_role(row, role).len();
            let is_of_headings = count("columnheader") > 0 && count("cell") == 0;
            // The details of a figure are in a row of their own.
            let is_folded_out = count("cell") == 1 || count("table") > 0;
            let is_named = count("rowheader") == 1;
            let is_good = is_of_headings || is_folded_out || is_named;
            assert!(is_good, "{}: {}", table.name, tree.text(row));
        }
    }
}

fn charts(tree: &Tree) -> Vec<&str> {
    let all = tree.all();
    let images = all.iter().filter(|n| n.role.starts_with("im"));
    let names = images.map(|n| n.name.as_str());
    names.filter(|n| n.starts_with("Chart of ")).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn elements_have_names_and_tables_have_headers() {
    on_page_with(&[sample_run(), sample_run()], &[study()], |page| {
        page.place(".plot");
        page.until("!!document.querySelector('.plot .u-over')");
        // On a phone rows are displayed as cards, but the tree is the same.
        for width in [1200, 390] {
            page.window(width, 900);
            let tree = Tree::of(page);
            has_names(&tree);
            let [chart] = charts(&tree)[..] else {
                panic!("{:?}", charts(&tree));
            };
            assert!(chart.contains("latency (us) against size"), "{chart}");
            // The study, figures and the skipped benchmarks. Facts are folded.
            has_headers(&tree, 3);
        }
        page.click("th.name button");
        page.until("document.querySelectorAll('.behind').length > 0");
        let tree = Tree::of(page);
        has_names(&tree);
        // With the evidence tables of both runs.
        has_headers(&tree, 5);
        page.click("nav a[href='#facts']");
        has_headers(&Tree::of(page), 6);
    });
}

/// All visible controls in order, and the index of the focused one.
const CONTROLS: &str = "(() => {
    const all = [...document.querySelectorAll('a[href], button, input, summary, [tabindex]')].filter((e) => e.checkVisibility());
    return [all.length, all.indexOf(document.activeElement)];
})()";

#[test]
#[ignore = "needs Chromium"]
fn keyboard_reaches_every_control() {
    on_page_with(&[sample_run()], &[study()], |page| {
        let mut reached = Vec::new();
        let count = loop {
            page.press("Tab");
            let [count, place]: [i64; 2] = serde_json::from_value(page.value(CONTROLS)).unwrap();
            if place < 0 || reached.len() as i64 > count {
                break count;
            }
            reached.push(place);
        };
        let all: Vec<i64> = (0..count).collect();
        assert_eq!(reached, all, "in the order of the page, each once");
        // Headings and names of benchmarks, the filter, save buttons of charts, contents.
        assert!(count > 25, "{count}");
    });
}

/// The text of a benchmark's row.
fn row_of(tree: &Tree, name: &str) -> String {
    let all = tree.all();
    let rows = all.iter().filter(|n| n.role == "row");
    let is_it = |row: &&&Node| {
        let headers = tree.of_role(row, "rowheader");
        headers.iter().any(|h| h.name == name)
    };
    let found: Vec<_> = rows.filter(is_it).collect();
    assert_eq!(found.len(), 1, "{name}");
    tree.text(found[0])
}

#[test]
#[ignore = "needs Chromium"]
fn status_and_verdict_are_words() {
    on_page_with(&[sample_run()], &[study()], |page| {
        let tree = Tree::of(page);
        for (name, words) in [("lat_wrong", "invalid"), ("Load", "within"), ("Absent", "skipped")] {
            let text = row_of(&tree, name);
            assert!(text.contains(words), "{name}: {text}");
        }
        // A valid, undisturbed figure has no mark.
        let alone = row_of(&tree, "lat_alone");
        assert!(!alone.contains("valid"), "{alone}");
    });
}
