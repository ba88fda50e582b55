//! `yamba fleet`

mod report;

use clap::{Args, Subcommand};

use super::{Answer, Failure};

/// Measure many machines, and find the slow ones
///
/// `report` says which node is slower than others of its kind.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba fleet report june                                 which node of the fleet is slow?")]
pub(super) struct Fleet {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Report(report::FleetReport),
}

impl Fleet {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self.action {
            Action::Report(report) => report.run().map(|()| Answer::Done),
        }
    }
}
