//! `yamba machine`

use clap::Args;

use super::{Failure, output};
use yamba_harness::unix_s;
use yamba_session::machine;
use yamba_toolchain::build::host;

use crate::views;

/// The longest line. Longer ones are harder to read, even on a wider terminal.
const WIDTH: usize = 96;

/// A narrower terminal wraps the lines itself.
const LEAST_WIDTH: usize = 24;

/// Describe this machine and what would disturb a measurement
///
/// Also names the limits of what can be measured here. Each disturbance comes with the command that
/// removes it. Every run records these facts. No fact names the machine or its owner.
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
        let machine = machine(&host());
        let now = unix_s().unwrap_or(0.0);
        let width = output::width().unwrap_or(WIDTH).clamp(LEAST_WIDTH, WIDTH);
        output::json_or_text(self.json, &machine, |machine| {
            output::text_within(&views::machine::view(machine, now), Some(width))
        })
    }
}
