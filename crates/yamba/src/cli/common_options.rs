//! Options that several commands have: `--target`, `--placement` and `--name`.

use clap::{Args, ValueEnum};
use yamba_harness::Placement;
use yamba_lang::{Analysis, Target};
use yamba_session as session;
use yamba_store::Store;

use super::{Failure, StoreOption, run_ref, tag};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum HowPlaced {
    /// On one processor that is chosen, with all its own threads; several processes or threads on
    /// one each
    Pinned,
    /// Wherever the system puts it
    Free,
}

impl HowPlaced {
    /// The placement of a run. Without the option, a benchmark whose own threads run while it is
    /// timed is free.
    pub(super) fn placement(how: Option<HowPlaced>) -> Placement {
        match how {
            None => Placement::Automatic,
            Some(HowPlaced::Pinned) => Placement::Pinned,
            Some(HowPlaced::Free) => Placement::Free,
        }
    }
}

/// The option that every command shares that stores one run.
#[derive(Args)]
pub(super) struct RunName {
    /// Name the run, as `yamba tag` does
    ///
    /// Letters, digits and . _ / -. A name that a stored run has is refused.
    #[arg(long, value_name = "NAME", conflicts_with = "dry_run")]
    name: Option<String>,
}

impl RunName {
    /// The tags of the run. Fails if the name is invalid or in use, so that nothing is measured in
    /// vain.
    pub(super) fn tags(&self, store: &StoreOption) -> Result<Vec<String>, Failure> {
        let Some(name) = &self.name else {
            return Ok(Vec::new());
        };
        tag::check(name)?;
        if let Ok(Some(mut store)) = Store::existing(&store.choice().location()?)
            && let Some(id) = store.holder(name)?
        {
            let id = run_ref::plain(&id);
            return Err(Failure::new(format!("--name {name}: the run {id} has this name")).help(
                format!("choose another name, or take it away: `yamba tag {id} {name} --remove`"),
            ));
        }
        Ok(vec![name.clone()])
    }
}
