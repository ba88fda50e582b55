//! `yamba rm`

use std::collections::BTreeSet;

use super::{Failure, StoreOption, output, run_ref};
use clap::Args;
use serde_json::json;

/// Remove stored runs for good
///
/// Nothing is asked. If any of the runs is unknown, none is removed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba rm latest                the last one was a mistake
  yamba rm 3f2a baseline         several, each by the beginning of its id or a tag")]
pub(super) struct Rm {
    /// The beginning of an id, a tag, `latest`, or `latest~N`
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// One JSON document: {removed}, the ids
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Rm {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut store = self.store.choice().existing()?;
        let mut ids = BTreeSet::new();
        for reference in &self.runs {
            ids.insert(store.find(reference)?);
        }
        store.remove_all(&ids.iter().map(String::as_str).collect::<Vec<_>>())?;
        output::json_or_text(self.json, &json!({"removed": ids}), |_| {
            let lines = ids.iter().map(|id| format!("removed {}\n", run_ref::plain(id)));
            lines.collect()
        })
    }
}
