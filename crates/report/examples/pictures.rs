//! Makes the pictures of docs/report-page.md from the page of a run and the page of two runs.
//! Usage: cargo run -p yamba-report --example pictures -- ONE.html TWO.html FOLDER

use std::path::Path;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use page::Page;

// The tests use the other functions.
#[allow(dead_code)]
#[path = "../tests/browser/chromium.rs"]
mod chromium;
#[allow(dead_code)]
#[path = "../tests/browser/page.rs"]
mod page;

/// The pictured benchmark, a sweep over sizes.
const SHOWN: &str = "lat_mem_rd";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [one, two, folder] = &arguments[..] else {
        eprintln!("usage: pictures ONE.html TWO.html FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);

    let mut page = Page::open(&mut browser, &text_of(one));
    page.window(1100, 860);
    picture(&mut page, &folder.join("report-top.png"));
    page.window(1000, 520);
    show(&mut page, "section:has(table.figures)");
    picture(&mut page, &folder.join("report-table.png"));
    page.call(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    page.window(1000, 560);
    let name = format!("th.name[data-v='{SHOWN}']");
    page.click(&format!("{name} button"));
    show(&mut page, &name);
    picture(&mut page, &folder.join("report-behind.png"));
    drop(page);

    let mut page = Page::open(&mut browser, &text_of(two));
    page.window(1000, 470);
    point_at_chart(&mut page);
    picture(&mut page, &folder.join("report-charts.png"));
    page.point_at(0.0, 0.0);
    page.value("scrollTo(0, 0)");
    page.window(390, 900);
    picture(&mut page, &folder.join("report-phone.png"));
    ExitCode::SUCCESS
}

/// Scrolls so that an element is at the top of the window.
fn show(page: &mut Page, selector: &str) {
    let element = json!(selector);
    page.value(&format!("document.querySelector({element}).scrollIntoView()"));
}

/// Scrolls the chart into view and moves the pointer to its middle.
fn point_at_chart(page: &mut Page) {
    let mark = format!(
        "[...document.querySelectorAll('figcaption strong')].find(e => e.textContent === '{SHOWN}').closest('figure').id = 'shown'"
    );
    page.value(&mark);
    page.place("#shown");
    page.until("!!document.querySelector('#shown .u-over')");
    let [x, y, width, height] = page.place("#shown .u-over");
    page.point_at(x + width / 2.0, y + height / 2.0);
    page.until("document.querySelector('#shown .u-legend').innerText.includes('[')");
}

fn picture(page: &mut Page, path: &Path) {
    // Charts that come into view are drawn within a frame or two.
    page.value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))");
    let shot =
        page.call("Page.captureScreenshot", json!({"format": "png", "optimizeForSpeed": false}));
    let Value::String(data) = &shot["data"] else {
        panic!("no picture: {shot}");
    };
    std::fs::write(path, STANDARD.decode(data).unwrap())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    println!("{}", path.display());
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}
