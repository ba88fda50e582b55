//! Tests of the page of predictions.

use serde_json::{Value, json};
use yamba_report::{MeasuredBar, PredictedBar, PredictedPart, PredictedTime, predictions};

use crate::chromium;
use crate::made_up::HOSTILE;
use crate::page::Page;

/// Twelve primitives, the second one without costs, and a measured time that is the longest.
fn sample(system: &str) -> PredictedBar {
    let part = |i: u32| PredictedPart {
        name: format!("call_{i}"),
        ns: f64::from(1300 - 100 * i),
        is_covered: i != 2,
    };
    let parts: Vec<PredictedPart> = (1..=12).map(part).collect();
    let total: f64 = parts.iter().map(|part| part.ns).sum();
    PredictedBar {
        application: HOSTILE.to_owned(),
        system: system.to_owned(),
        time: PredictedTime::Kernel,
        unit: "request".to_owned(),
        parts,
        total_ns: total,
        interval_ns: Some([0.9 * total, 1.1 * total]),
        text: "7.8 us [7.02, 8.58]".to_owned(),
        measured: Some(MeasuredBar {
            ns: 2.0 * total,
            interval_ns: Some([1.9 * total, 2.1 * total]),
            text: "15.6 us; the prediction is -50.0 % off".to_owned(),
        }),
        rows: vec![
            ["primitive", "size", "count", ""].map(str::to_owned).to_vec(),
            ["call_1", "4Ki", "3", "of any kind"].map(str::to_owned).to_vec(),
        ],
        remarks: vec!["user time: 5 us".to_owned()],
    }
}

/// The least contrast of a number with the part of the bar below it.
const CONTRAST: &str = "(() => {
    const rgb = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
    const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const fill = (e) => light(rgb(getComputedStyle(e).fill));
    const parts = [...document.querySelectorAll('rect[class*=p]')].filter((r) => /\\bp[0-9]$/.test(r.getAttribute('class')));
    const text = fill(document.querySelector('.stacks text'));
    return Math.min(...parts.map(fill).map((part) => (Math.max(part, text) + 0.05) / (Math.min(part, text) + 0.05)));
})()";

/// Left and right end of an element, in CSS pixels.
fn ends(page: &mut Page, selector: &str) -> [f64; 2] {
    let [x, _, width, _] = page.place(selector);
    [x, x + width]
}

#[test]
#[ignore = "needs Chromium"]
fn predictions_are_drawn_to_scale_and_readable_in_both_schemes() {
    let text = predictions(&[sample("a"), sample("b")], &["a is first".to_owned()], None);
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    let mut page = Page::open(&mut browser, &text);
    let resources = page.value("performance.getEntriesByType('resource').length");
    assert_eq!(resources, 0);
    for (scheme, is_dark) in [("light", false), ("dark", true)] {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        page.call("Emulation.setEmulatedMedia", json!({"features": features}));
        let contrast = page.value(CONTRAST).as_f64().unwrap();
        assert!(contrast >= 4.5, "{scheme}: contrast {contrast}");
        let back = page.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(back != "rgb(255, 255, 255)", is_dark, "{scheme}: {back}");
        for width in [390, 900, 1400] {
            page.window(width, 800);
            let sideways =
                "document.documentElement.scrollWidth === document.documentElement.clientWidth";
            page.until(sideways);
        }
    }
    let [begin, end] = ends(&mut page, ".stacks rect.part.p1");
    let [measured_begin, measured_end] = ends(&mut page, ".stacks rect.measured");
    assert!((begin - measured_begin).abs() < 2.0);
    // The first part is 1200 of 7800 ns, the measured time 15600 ns.
    let ratio = (end - begin) / (measured_end - measured_begin);
    assert!((ratio - 1200.0 / 15_600.0).abs() < 0.01, "{ratio}");
    let names = page.texts(".legend li");
    let is_said = |name: &str| names.iter().any(|text| text.contains(name));
    assert!(is_said("call_1") && is_said("hatched") && is_said("measured"), "{names:?}");
    assert!(page.text("h1").contains(HOSTILE));
    assert_eq!(page.value("document.images.length"), Value::from(0));
    assert_eq!(page.faults(), [""; 0]);
}
