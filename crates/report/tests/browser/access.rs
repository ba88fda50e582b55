//! The page as a screen reader has it: the tree of names and roles that the browser makes of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::made_up::study;
use crate::page::Page;
use crate::{on_page_with, some};

/// What a screen reader tells of one element.
struct Node {
    role: String,
    name: String,
    is_focusable: bool,
    children: Vec<String>,
}

impl Node {
    fn of(told: &Value) -> Node {
        let text = |what: &Value| what["value"].as_str().unwrap_or_default().to_owned();
        let mut properties = told["properties"].as_array().into_iter().flatten();
        let children = told["childIds"].as_array().into_iter().flatten();
        Node {
            role: text(&told["role"]),
            name: text(&told["name"]),
            is_focusable: properties
                .any(|p| p["name"] == "focusable" && p["value"]["value"] == true),
            children: children.map(|c| c.as_str().unwrap().to_owned()).collect(),
        }
    }
}

/// <https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/>
struct Tree {
    root: String,
    nodes: BTreeMap<String, Node>,
}

impl Tree {
    fn of(page: &mut Page) -> Tree {
        let answer = page.call("Accessibility.getFullAXTree", json!({}));
        let all = answer["nodes"].as_array().unwrap();
        let id = |n: &Value| n["nodeId"].as_str().unwrap().to_owned();
        Tree {
            root: id(&all[0]),
            nodes: all.iter().map(|n| (id(n), Node::of(n))).collect(),
        }
    }

    /// An element's own, in their order.
    fn within<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        let own = node.children.iter().filter_map(|c| self.nodes.get(c));
        own.flat_map(|c| std::iter::once(c).chain(self.within(c)))
            .collect()
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

/// What has no meaning without a name.
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

/// Each table has headings of its columns, and each of its rows says what it is of.
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
            // What stands behind a figure has a row of its own.
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
fn everything_has_a_name_and_tables_have_headers() {
    on_page_with(&[some(), some()], &[study()], |page| {
        page.place(".plot");
        page.until("!!document.querySelector('.plot .u-over')");
        // On a phone rows are cards: what they are to a screen reader stays.
        for width in [1200, 390] {
            page.window(width, 900);
            let tree = Tree::of(page);
            has_names(&tree);
            let [chart] = charts(&tree)[..] else {
                panic!("{:?}", charts(&tree));
            };
            assert!(chart.contains("latency (us) against size"), "{chart}");
            // Facts, the study, figures, what was skipped.
            has_headers(&tree, 4);
        }
        page.click("th.name button");
        page.until("document.querySelectorAll('.behind').length > 0");
        let tree = Tree::of(page);
        has_names(&tree);
        // With the evidence of either run.
        has_headers(&tree, 6);
    });
}

/// All that can be clicked, in its order; where among it the focus is.
const CONTROLS: &str = "(() => {
    const all = [...document.querySelectorAll('a[href], button, input, summary, [tabindex]')].filter((e) => e.checkVisibility());
    return [all.length, all.indexOf(document.activeElement)];
})()";

#[test]
fn the_keyboard_reaches_every_control() {
    on_page_with(&[some()], &[study()], |page| {
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
        // Headings and names of benchmarks, the filter, charts to be saved, contents.
        assert!(count > 25, "{count}");
    });
}

/// The text of the row of a name.
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
fn words_tell_what_colours_tell() {
    on_page_with(&[some()], &[study()], |page| {
        let tree = Tree::of(page);
        for (name, words) in [
            ("lat_wrong", "invalid"),
            ("lat_wrong", "faults is 1, expected 7"),
            ("lat_alone", " valid"),
            ("Load", "within"),
            ("Absent", "skipped"),
        ] {
            let text = row_of(&tree, name);
            assert!(text.contains(words), "{name}: {text}");
        }
    });
}
