//! `yamba fleet`

mod report;
mod run;

use clap::{Args, Subcommand};

use super::{Answer, Failure};

/// Measure many machines, and find the slow ones
///
/// `run` starts a bundle on each node, through Slurm, MPI or ssh, and stores the run of each.
/// `report` says which node is slower than others of its kind.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba fleet run --with slurm -N 100 --quick memory      the memory benchmarks on 100 nodes
  yamba fleet run --with ssh --host node1 --host node2 lat_pipe
  yamba fleet run --resume june                           the nodes that a fleet lacks
  yamba fleet report june                                 which node is slow?")]
pub(super) struct Fleet {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Run(run::Run),
    Report(report::FleetReport),
}

impl Fleet {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self.action {
            Action::Run(run) => run.run(),
            Action::Report(report) => report.run(),
        }
    }
}
