//! Tests of the page of a fleet.

use serde_json::{Value, json};
use yamba_report::{HeatMap, Part, Span, Table, Text, View};

use crate::chromium;
use crate::made_up::HOSTILE;
use crate::page::Page;

/// Nodes of the fleet; the second one is slow in `Memory`.
const NODES: usize = 40;
const SLOW: usize = 1;

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Two jobs. Each node has two resources with a figure each.
fn sample() -> View {
    let name = |node: usize| match node {
        SLOW => HOSTILE.to_owned(),
        node => format!("n{node}"),
    };
    let is_slow = |node: usize| node == SLOW;
    let ratios = |slow: i32| {
        (0..NODES)
            .flat_map(move |node| {
                [Some(if is_slow(node) { slow } else { 0 }), (node > 0).then_some(10)]
            })
            .collect()
    };
    let scores = (0..NODES)
        .flat_map(|node| [Some(if is_slow(node) { 80 } else { 0 }), (node > 0).then_some(-10)]);
    let map = HeatMap {
        nodes: (0..NODES).map(name).collect(),
        classes: vec!["A".to_owned(); NODES],
        resources: strings(&["Memory", "Processor"]),
        figures: vec![("lat_mem".to_owned(), 0), ("add".to_owned(), 1)],
        jobs: strings(&["first", "second"]),
        ratios: vec![ratios(0), ratios(2000)],
        scores: scores.collect(),
        letters: (0..NODES)
            .map(|node| if is_slow(node) { "yl" } else { "ml" }.to_owned())
            .collect(),
        slow: vec![[SLOW, 0]],
    };
    let history = Text(vec![Span::History(vec![Some(1.0), Some(1.2)])]);
    let slow = vec![HOSTILE.into(), "1.200".into(), history];
    let classes = Table::new(&["class", "nodes"], [vec!["A", "40"]]).caption("Classes");
    View::new(format!("fleet {HOSTILE}"))
        .section("", Part::lines(["40 nodes"]))
        .section("Slow nodes", [Part::Table(Table::new(&["node", "ratio", "jobs"], [slow]))])
        .section("Nodes and resources", [Part::HeatMap(map)])
        .section("Classes of nodes", [Part::Table(classes)])
        .section("Left out", Part::lines(["missing: n99"]))
}

/// The colours of the cells of a node in the heat map, `Memory` first.
fn cells(page: &mut Page, node: usize) -> [String; 2] {
    let script = format!(
        "(() => {{ const c = document.querySelector('#heat canvas');
            const cell = Math.max(3, Math.min(24, Math.floor(Math.max(200, document.getElementById('heat').clientWidth) / {NODES})));
            // A copy, which may be read as often as a test likes.
            const copy = Object.assign(document.createElement('canvas'), {{ width: c.width, height: c.height }}).getContext('2d', {{ willReadFrequently: true }});
            copy.drawImage(c, 0, 0);
            const at = (y) => [...copy.getImageData({node} * cell + 1, y, 1, 1).data].join();
            return [at(8 + 5), at(8 + 14 + 5)]; }})()"
    );
    serde_json::from_value(page.value(&script)).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn heat_map_marks_slow_node_and_shows_its_history() {
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    let mut page = Page::open(&mut browser, &yamba_report::page(&sample()));
    assert_eq!(page.value("performance.getEntriesByType('resource').length"), 0);
    assert!(page.text("h1").contains(HOSTILE));
    assert_eq!(page.value("document.images.length"), Value::from(0));
    let [slow, other] = [cells(&mut page, SLOW), cells(&mut page, 2)];
    assert_ne!(slow[0], other[0], "the slow cell has its own colour");
    assert_eq!(slow[1], other[1]);
    // The slow node is chosen at first: its ratio in each job, and its figures.
    assert!(page.text("#chosen h3").contains(HOSTILE));
    assert_eq!(page.texts("#chosen h4")[0], "Memory: 1.200");
    assert!(page.texts("#chosen li")[0].starts_with("lat_mem (Memory): 5 deviations or more"));
    assert_eq!(
        page.value("document.querySelector('#chosen svg').getAttribute('aria-label')"),
        "first: 1.000, second: 1.200"
    );
    another_node_is_chosen(&mut page);
    page_is_readable(&mut page);
    assert_eq!(page.faults(), [""; 0]);
}

fn another_node_is_chosen(page: &mut Page) {
    let [x, y, width, _] = page.place("#heat canvas");
    let cell = width / NODES as f64;
    page.point_at(x + 5.5 * cell, y + 8.0 + 14.0 + 5.0);
    page.until("document.getElementById('pointed').textContent.startsWith('n5 (class A), Processor: 1.001, -1.0 deviations')");
    page.value("(i => { i.value = 'n7'; i.dispatchEvent(new Event('change')); })(document.getElementById('node'))");
    assert!(page.text("#chosen h3").starts_with("n7, class A"));
    assert_eq!(page.texts("#chosen li").len(), 0);
}

/// Both colour schemes, and windows from a telephone's to a wide one.
fn page_is_readable(page: &mut Page) {
    for (scheme, is_dark) in [("light", false), ("dark", true)] {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        page.call("Emulation.setEmulatedMedia", json!({"features": features}));
        let back = page.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(back != "rgb(255, 255, 255)", is_dark, "{scheme}: {back}");
        for width in [390, 900, 1400] {
            page.window(width, 800);
            page.until(
                "document.documentElement.scrollWidth === document.documentElement.clientWidth",
            );
        }
    }
}
