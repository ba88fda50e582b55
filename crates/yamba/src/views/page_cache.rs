//! The hits and misses of a page cache by its size.

use yamba_page_cache::PAGE_BYTES;
use yamba_page_cache::forecast::{AtSize, Forecast};
use yamba_record::number::{bytes, counted};
use yamba_report::{Part, Table, View};

pub fn view(found: &Forecast) -> View {
    let titles = ["page cache", "hits", "ideal LRU", "missing pages", "from storage", "requests"];
    let accesses = format!(
        "{}: {} to {} of different pages",
        found.application,
        counted(found.accesses, "access", "accesses"),
        bytes(found.pages as u64 * PAGE_BYTES)
    );
    let share = found.sampled_share;
    let estimated = (share < 1.0)
        .then(|| format!("ideal LRU: estimated from {:.2} % of the pages", 100.0 * share));
    let mut parts = vec![
        Part::Line(accesses.into()),
        Part::Table(Table::new(&titles, found.sizes.iter().map(row))),
    ];
    parts.extend(Part::lines(missing(found.left_out, found.unknown).chain(estimated)));
    View::new(format!("page cache of {}", found.application)).section("", parts)
}

/// Sentences about accesses that a document lacks.
pub fn missing(left_out: u64, unknown: u64) -> impl Iterator<Item = String> {
    let reasons = [
        (left_out, "the document has its largest size"),
        (unknown, "their place in the file is unknown"),
    ];
    let present = reasons.into_iter().filter(|(missing, _)| *missing > 0);
    present.map(|(missing, reason)| {
        let is = if missing == 1 { "is" } else { "are" };
        format!("{} {is} missing: {reason}", counted(missing, "access", "accesses"))
    })
}

fn row(at: &AtSize) -> Vec<String> {
    let missing = at.read.pages + at.mapped.pages - at.read.hits - at.mapped.hits;
    let percent =
        |ratio: Option<f64>| ratio.map_or("-".to_owned(), |r| format!("{:.1} %", 100.0 * r));
    vec![
        bytes(at.bytes),
        percent(at.hit_ratio),
        percent(at.lru_hit_ratio),
        missing.to_string(),
        bytes(at.device_bytes),
        at.requests.to_string(),
    ]
}
