//! `--target ISA-OS`, and the target of this machine.

use clap::Args;
use yamba_lang::{Analysis, Target};

use super::Failure;
use yamba_session as session;

/// The option that every command about a platform shares.
#[derive(Args)]
pub(super) struct TargetOption {
    /// The platform, for example aarch64-linux [default: this machine]
    #[arg(long, value_name = "ISA-OS")]
    pub(super) target: Option<String>,
}

impl TargetOption {
    /// The named target, or this machine's.
    pub(super) fn resolve(&self, analysis: &Analysis) -> Result<Target, Failure> {
        session::target(self.target.as_deref(), analysis)
    }
}
