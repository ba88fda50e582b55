//! `yamba gc predict`

use std::path::PathBuf;

use clap::Args;
use yamba_harness::Stop;
use yamba_jvm::gc::predict::Prediction;
use yamba_session::gc::{PredictRequest, predict};

use super::{CollectorOption, JdkOption, Shown};
use crate::cli::{Answer, Failure, output, quantity};
use crate::views;

/// Predict collections, their processor time and pauses
///
/// Both the smallest and the largest size of the heap are that of `--heap`. Costs of a collector
/// that are missing are measured once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc predict app.gc
  yamba gc predict app.gc --heap 128M --collector serial --collector g1 --json
  yamba gc predict app.gc --heap 256M --measure --runs 5
  yamba gc predict app.gc -o page.html
  yamba gc predict app.gc --costs other-machine.json     costs that `yamba gc characterise --json` printed")]
pub(super) struct Predict {
    /// The profile of an application, `yamba-gc-profile/1`
    #[arg(value_name = "FILE")]
    profile: PathBuf,
    /// Size of the heap: 128M, 2G; may be repeated [default: up to five sizes above the live set]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    heap: Vec<u64>,
    #[command(flatten)]
    collectors: CollectorOption,
    #[command(flatten)]
    jdk: JdkOption,
    /// Costs from a file, `yamba-gc-costs/1`, in place of those of this machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["jdk", "measure"])]
    costs: Option<PathBuf>,
    /// Run the application with each collector and heap, and print the errors
    #[arg(long)]
    measure: bool,
    /// Runs of each measurement, whose medians count
    #[arg(long, value_name = "N", default_value = "3", requires = "measure")]
    runs: std::num::NonZero<usize>,
    /// Write a page of curves over the heap size to this file
    #[arg(short, long, value_name = "FILE.html", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

impl Predict {
    pub(super) fn run(self, stop: &Stop) -> Result<Answer, Failure> {
        output::check(self.output.as_deref())?;
        let request = PredictRequest {
            profile: self.profile,
            heaps: self.heap,
            collectors: self.collectors.chosen(),
            jdk: self.jdk.jdk,
            costs: self.costs,
            measured_runs: if self.measure { self.runs.get() } else { 0 },
        };
        let found = predict(&request, stop, &Shown::default())?;
        let is_unmeasured = |p: &Prediction| p.collections.measured.is_none();
        let lacks_all = self.measure && found.predictions.iter().all(is_unmeasured);
        match &self.output {
            Some(path) => output::page(&yamba_report::page(&views::gc::page(&found)), path),
            None => output::json_or_view(self.json, &found, views::gc::view),
        }?;
        Ok(if lacks_all { Answer::No } else { Answer::Done })
    }
}
