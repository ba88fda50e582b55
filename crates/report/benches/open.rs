//! Measures generation time, load time and size of a page of whole runs. Usage: cargo bench -p
//! yamba-report --bench open -- DOCUMENT...

use std::path::Path;
use std::time::Instant;

use yamba_record::Run;

// The tests use the other functions.
#[allow(dead_code)]
#[path = "../tests/browser/chromium.rs"]
mod chromium;
#[allow(dead_code)]
#[path = "../tests/browser/page.rs"]
mod page;

const TIMES: usize = 11;

/// Time from the navigation request to the end of the load event, scripts included, in ms.
const LOADED: &str = "performance.getEntriesByType('navigation')[0].loadEventEnd";

fn main() {
    let documents = std::env::args().skip(1).filter(|a| a != "--bench");
    let runs: Vec<Run> = documents.map(|path| document(Path::new(&path))).collect();
    let start = Instant::now();
    let page = yamba_report::html(&runs, &[], &[], None);
    println!("made in {:.0} ms, {} bytes", start.elapsed().as_secs_f64() * 1e3, page.len());
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    let mut times: Vec<f64> = (0..TIMES)
        .map(|_| page::Page::of(&mut browser, &runs, &[]).value(LOADED).as_f64().unwrap())
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "opened {TIMES} times: median {:.0} ms, least {:.0} ms, greatest {:.0} ms",
        times[TIMES / 2],
        times[0],
        times[TIMES - 1]
    );
}

fn document(path: &Path) -> Run {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    yamba_record::document::read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
