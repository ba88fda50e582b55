//! `--target ISA-OS`, and the target of this machine.

use clap::Args;
use yamba_lang::{Analysis, Target};

use super::failure::Failure;
use super::select::did_you_mean;
use crate::build::host;

/// The option that every command about a platform shares.
#[derive(Args)]
pub(super) struct TargetOption {
    /// The platform, for example aarch64-linux [default: this machine]
    #[arg(long, value_name = "ISA-OS")]
    target: Option<String>,
}

impl TargetOption {
    /// The named target, or this machine's.
    pub(super) fn resolve(&self, analysis: &Analysis) -> Result<Target, Failure> {
        let known = analysis.targets();
        let Some(text) = &self.target else {
            return Ok(host());
        };
        // An ISA alone means: with this machine's system.
        let full = if text.contains('-') {
            text.clone()
        } else {
            format!("{text}-{}", host().system)
        };
        let names: Vec<String> = known.iter().map(Target::to_string).collect();
        match known.into_iter().find(|t| t.to_string() == full) {
            Some(target) => Ok(target),
            None => Err(Failure::new(format!("no target {text}")).help(
                did_you_mean(&full, &names)
                    .unwrap_or(format!("the library has {}", names.join(", "))),
            )),
        }
    }
}
