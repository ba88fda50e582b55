//! `yamba gc characterise`

use clap::Args;
use yamba_session::gc::{CostsRequest, characterise};

use super::{CollectorOption, JdkOption, Shown};
use crate::cli::{Failure, output};
use crate::views;

/// Measure what the collectors of a JDK cost here
///
/// Small Java programs with known live objects (lists, trees, arrays, wide fan-in, blocks of bytes)
/// run with each collector. A fit gives the fixed cost of a collection, and the cost of each live
/// byte by shape. The costs are kept for later predictions. Half of the benchmarks run for 60 s
/// with each collector, as often as the time suffices; the deviation between their runs is part of
/// the intervals of predictions.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc characterise                       all collectors, 60 s each
  yamba gc characterise --collector serial --thorough
  yamba gc characterise --jdk /opt/jdk-25 --json")]
pub(super) struct Characterise {
    #[command(flatten)]
    collectors: CollectorOption,
    #[command(flatten)]
    jdk: JdkOption,
    /// All benchmarks, three times each, without a limit of time: narrower intervals
    #[arg(long)]
    thorough: bool,
    /// Measure again what was measured before
    #[arg(long)]
    force: bool,
    /// One JSON document, `yamba-gc-costs/1`
    #[arg(long)]
    json: bool,
}

impl Characterise {
    pub(super) fn run(self) -> Result<(), Failure> {
        let request = CostsRequest {
            jdk: self.jdk.jdk,
            collectors: self.collectors.chosen(),
            is_thorough: self.thorough,
            is_forced: self.force,
        };
        let found = characterise(&request, &Shown::default())?;
        output::json_or_view(self.json, &found, views::gc::costs::view)
    }
}
