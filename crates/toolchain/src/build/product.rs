//! The result of a build, as stored in a manifest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use yamba_record::run::BuildInputs;

/// The result of a build without its files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Product {
    /// A hash of all inputs that affect the program's behaviour.
    pub(super) identity: String,
    pub(super) inputs: BuildInputs,
    /// The texts of the included files, by hash.
    pub(super) texts: BTreeMap<String, String>,
}
