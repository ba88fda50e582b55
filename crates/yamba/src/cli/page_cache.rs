//! `yamba page-cache`

use std::path::PathBuf;

use clap::Args;
use yamba_page_cache::PAGE_BYTES;
pub(super) use yamba_session::page_cache::read;
use yamba_session::page_cache::{Request, forecast};

use super::{Failure, output, quantity};
use crate::views;

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
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Vec<u64>,
    /// Largest read-ahead of all devices, as in /sys/block/NAME/queue/read_ahead_kb [default: that
    /// of the traced machine, else 128K]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    read_ahead: Option<u64>,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// Parses the memory for the page cache, which holds whole pages.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    match quantity::bytes(text)? {
        size if size < PAGE_BYTES => Err(format!("write a size of at least a page, {PAGE_BYTES}")),
        size => Ok(size),
    }
}

impl PageCache {
    pub(super) fn run(self) -> Result<(), Failure> {
        let found = forecast(&Request {
            files: self.files,
            memory: self.memory,
            read_ahead: self.read_ahead,
        })?;
        output::json_or_view(self.json, &found, views::page_cache::view)
    }
}
