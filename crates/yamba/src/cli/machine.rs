//! `yamba machine`

mod facts;
mod layout;
mod page;

use std::io;

use clap::Args;

use super::{Answer, Failure, output};
use page::show;
use yamba_machine::probe;
use yamba_toolchain::build::host;

/// Show what this machine is, what would disturb a measurement, and what cannot be measured
///
/// Each disturbance comes with the command that mends it. The same facts are recorded in every run. Nothing names the
/// machine or its owner.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba machine                    facts, disturbances and their mends
  yamba machine --json             the `machine` of a run's document
  yamba machine --json | jq '.details.disturbances[].name'")]
pub(super) struct Machine {
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Machine {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let machine = {
            let target = host();
            probe(&target.isa, &target.system)
        };
        let text = match self.json {
            true => serde_json::to_string_pretty(&machine).unwrap_or_default() + "\n",
            false => show(&machine, output::colour_on(&io::stdout()), output::width()),
        };
        output::result(&text)?;
        Ok(Answer::Done)
    }
}
