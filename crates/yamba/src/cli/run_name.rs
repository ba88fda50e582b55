//! `--name`: a name for the run that a command is about to measure.

use clap::Args;
use yamba_store::Store;

use super::{Failure, StoreOption, run_ref, tag};

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
            && let Some(run) = store.runs()?.into_iter().find(|run| run.head.tags.contains(name))
        {
            let id = run_ref::plain(&run.id);
            return Err(Failure::new(format!("--name {name}: the run {id} has this name")).help(
                format!("choose another name, or take it away: `yamba tag {id} {name} --remove`"),
            ));
        }
        Ok(vec![name.clone()])
    }
}
