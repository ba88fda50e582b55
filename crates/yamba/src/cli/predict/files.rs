//! `yamba predict --files --memory`: the time of file reads with a page cache of some size.

use std::path::PathBuf;

use clap::Args;
use yamba_predict::file_time::FileTime;
use yamba_record::number::{bytes, counted, number};
use yamba_report::{MissRatios, figure, interval};
use yamba_session::predict::file_reads::{FileReads, MissCurves};

use super::words::disturbed;
use crate::cli::{Failure, page_cache, quantity};

#[derive(Args)]
#[command(next_help_heading = "Reads of files")]
pub(super) struct FileOptions {
    /// The accesses of the application to files, `yamba-files/1`: predicts the time of its reads
    #[arg(long, value_name = "FILES", requires = "memory")]
    files: Option<PathBuf>,
    /// Memory for the page cache: 512M; may be repeated
    #[arg(long, value_name = "SIZE", requires = "files", value_parser = page_cache::memory)]
    memory: Vec<u64>,
    /// Largest read-ahead of all devices [default: that of the traced machine]
    #[arg(long, value_name = "SIZE", requires = "files", value_parser = quantity::bytes, hide_short_help = true)]
    read_ahead: Option<u64>,
    /// A measured hit ratio of the page cache, SIZE=PERCENT, for the chart of `--page`: 64M=71.5%;
    /// may be repeated
    #[arg(long, value_name = "POINT", requires_all = ["files", "page"], value_parser = measured_hits, hide_short_help = true)]
    measured_hits: Vec<(u64, f64)>,
}

/// Reads `64M=71.5%`: bytes and a share from 0 to 1.
fn measured_hits(text: &str) -> Result<(u64, f64), String> {
    const FORM: &str = "write SIZE=PERCENT, as 64M=71.5%";
    let (size, percent) = text.split_once('=').ok_or(FORM)?;
    let percent = percent.trim().strip_suffix('%').ok_or(FORM)?;
    let ratio = percent.parse::<f64>().map_err(|_| FORM)? / 100.0;
    if !(0.0..=1.0).contains(&ratio) {
        return Err(format!("{percent} % is no share of hits: {FORM}"));
    }
    Ok((quantity::bytes(size)?, ratio))
}

impl FileOptions {
    /// The file reads to predict. `None` without `--files`.
    pub(super) fn reads(&self) -> Result<Option<FileReads>, Failure> {
        let accesses = self.files.as_deref().map(page_cache::read).transpose()?;
        Ok(accesses.map(|accesses| FileReads {
            accesses,
            memory: self.memory.clone(),
            read_ahead: self.read_ahead,
        }))
    }

    /// The miss ratios for the page.
    pub(super) fn miss_ratios(&self, reads: &FileReads) -> MissRatios {
        let MissCurves { lru, linux } = reads.miss_curves();
        MissRatios {
            application: reads.accesses.application.clone(),
            lru,
            linux,
            measured: self.measured_hits.iter().map(|(bytes, hits)| (*bytes, 1.0 - hits)).collect(),
        }
    }
}

/// A file time as a sentence.
pub(super) fn sentence(time: &FileTime) -> String {
    let ns = |value| figure(value, "ns");
    let pages = match time.hit_ratio {
        Some(ratio) => format!("{:.1} % of {} pages hit", 100.0 * ratio, number(time.pages)),
        None => "no page is read".to_owned(),
    };
    let at_least = if time.missing_accesses > 0 { "at least " } else { "" };
    let mut sentence = format!(
        "file reads of {} with {} of page cache on {}: {at_least}{} {} each {}: {} from memory, {} more from storage; {pages}, {} requests to the device",
        time.application,
        bytes(time.memory_bytes),
        time.system,
        ns(time.ns()),
        interval(time.interval_ns, time.ns(), "ns"),
        time.unit,
        ns(time.from_memory_ns),
        ns(time.from_storage_ns),
        number(time.requests),
    );
    if time.missing_accesses > 0 {
        let missing = counted(time.missing_accesses, "access", "accesses");
        sentence += &format!("; {missing} of the application not in the trace");
    }
    match disturbed(&time.disturbed) {
        Some(line) => format!("{sentence}; {line}"),
        None => sentence,
    }
}
