//! `yamba machine`

mod facts;
mod layout;
mod page;

use std::io;

use clap::Args;

use super::{Failure, output};
use page::show;
use yamba_machine::probe;
use yamba_toolchain::build::host;

/// Describe this machine, disturbances of a measurement, and limits of what can be measured
///
/// Each disturbance comes with the command that removes it. The same facts are recorded in every run. No fact names the
/// machine or its owner.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba machine                    facts, disturbances and how to remove them
  yamba machine --json             the `machine` of a run's document
  yamba machine --json | jq '.details.disturbances[].name'")]
pub(super) struct Machine {
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Machine {
    pub(super) fn run(self) -> Result<(), Failure> {
        let target = host();
        let machine = probe(&target.isa, &target.system);
        let colour = output::colour_on(&io::stdout());
        output::json_or_text(self.json, &machine, |machine| {
            show(machine, colour, output::width())
        })
    }
}
