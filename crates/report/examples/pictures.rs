//! Makes the pictures of docs/report-page.md from one run or two.
//! Usage: cargo run --release -p yamba-report --example pictures -- DOCUMENT... FOLDER

use std::path::Path;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use yamba_record::Run;

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
    let Some((folder, documents)) = arguments.split_last().filter(|(_, d)| !d.is_empty()) else {
        eprintln!("usage: pictures DOCUMENT... FOLDER");
        return ExitCode::from(2);
    };
    let runs: Vec<Run> = documents.iter().map(|path| document(path)).collect();
    let folder = Path::new(folder);
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);

    let mut page = Page::of(&mut browser, &runs[..1], &[]);
    page.window(1000, 520);
    page.value("document.querySelector('#group-0').scrollIntoView()");
    picture(&mut page, &folder.join("report-table.png"));
    page.window(1000, 800);
    point_at_chart(&mut page);
    picture(&mut page, &folder.join("report-charts.png"));
    page.call(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    page.window(1000, 560);
    page.click(&format!("th.name[data-v='{SHOWN}'] button"));
    page.value(&format!(
        "document.querySelector(\"th.name[data-v='{SHOWN}']\").scrollIntoView()"
    ));
    picture(&mut page, &folder.join("report-behind.png"));
    drop(page);

    let mut page = Page::of(&mut browser, &runs, &[]);
    page.window(390, 640);
    page.value("document.querySelector('#group-0').scrollIntoView()");
    picture(&mut page, &folder.join("report-phone.png"));
    ExitCode::SUCCESS
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
    let shot = page.call(
        "Page.captureScreenshot",
        json!({"format": "png", "optimizeForSpeed": false}),
    );
    let Value::String(data) = &shot["data"] else {
        panic!("no picture: {shot}");
    };
    std::fs::write(path, STANDARD.decode(data).unwrap())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    println!("{}", path.display());
}

fn document(path: &str) -> Run {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    yamba_record::document::read(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}
