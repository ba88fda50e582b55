//! `yamba page-cache`

use std::path::PathBuf;

use clap::Args;
use yamba_page_cache::forecast::{AtSize, Forecast};
use yamba_record::number::bytes;
pub(super) use yamba_session::page_cache::read;
use yamba_session::page_cache::{Request, forecast};

use super::output::{counted, percent, table};
use super::{Failure, output, quantity};

/// Predict page-cache hits with less or more memory
///
/// `yamba trace --files` records the accesses. The hit ratio of an ideal LRU cache comes from stack
/// distances. That of Linux comes from a simulation of its two lists and of its read-ahead, which
/// begins with an empty cache.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba trace --files grep.files -o grep.vector -- grep -r pattern /usr/include
  yamba page-cache grep.files                         eight sizes, up to all of the reused data
  yamba page-cache grep.files --memory 64M --memory 1G
  yamba page-cache grep.files --read-ahead 128K --json
  yamba predict grep.vector --files grep.files --memory 64M   with the time of the reads")]
pub(super) struct PageCache {
    /// Document of an application's file accesses, `yamba-files/1`
    #[arg(value_name = "FILES")]
    files: PathBuf,
    /// Memory for the page cache: 512M, 2G; may be repeated [default: eighths of the reused data]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    memory: Vec<u64>,
    /// Largest read-ahead of all devices, as in /sys/block/NAME/queue/read_ahead_kb [default: that
    /// of the traced machine, else 128K]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    read_ahead: Option<u64>,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

impl PageCache {
    pub(super) fn run(self) -> Result<(), Failure> {
        let found = forecast(&Request {
            files: self.files,
            memory: self.memory,
            read_ahead: self.read_ahead,
        })?;
        output::json_or_text(self.json, &found, |found| text(found, output::width()))
    }
}

fn text(found: &Forecast, width: Option<usize>) -> String {
    let titles = ["page cache", "hits", "ideal LRU", "missing pages", "from storage", "requests"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(found.sizes.iter().map(row));
    let mut text = format!(
        "{}: {} to {} of different pages\n",
        super::run_ref::plain(&found.application),
        counted(found.accesses as usize, "access", "accesses"),
        bytes(found.pages as u64 * yamba_page_cache::PAGE_BYTES)
    );
    text += &table(&rows, width);
    for line in missing(found.left_out, found.unknown) {
        text += &format!("{line}\n");
    }
    if found.sampled_share < 1.0 {
        let percent = 100.0 * found.sampled_share;
        text += &format!("ideal LRU: estimated from {percent:.2} % of the pages\n");
    }
    text
}

/// Sentences about accesses that a document lacks.
pub(super) fn missing(left_out: u64, unknown: u64) -> impl Iterator<Item = String> {
    let reasons = [
        (left_out, "the document has its largest size"),
        (unknown, "their place in the file is unknown"),
    ];
    let present = reasons.into_iter().filter(|(missing, _)| *missing > 0);
    present.map(|(missing, reason)| {
        let accesses = counted(missing as usize, "access is", "accesses are");
        format!("{accesses} missing: {reason}")
    })
}

fn row(at: &AtSize) -> Vec<String> {
    let missing = at.read.pages + at.mapped.pages - at.read.hits - at.mapped.hits;
    vec![
        bytes(at.bytes),
        percent(at.hit_ratio, 1),
        percent(at.lru_hit_ratio, 1),
        missing.to_string(),
        bytes(at.device_bytes),
        at.requests.to_string(),
    ]
}
