//! The location where a run was read, as commands for the reader need it.

use yamba_record::Run;

/// The location where a run was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunLocation {
    /// The default store.
    #[default]
    Usual,
    /// Another store, as an argument of `--store`.
    Store(String),
    /// A run document, by its path.
    File(String),
}

impl RunLocation {
    /// The options that select the store.
    pub(crate) fn store(&self) -> Vec<&str> {
        match self {
            RunLocation::Store(store) => vec!["--store", store],
            RunLocation::Usual | RunLocation::File(_) => Vec::new(),
        }
    }

    /// The argument that selects the run.
    pub(crate) fn run<'a>(&'a self, run: &'a Run) -> &'a str {
        match self {
            RunLocation::File(path) => path,
            RunLocation::Usual | RunLocation::Store(_) => &run.id,
        }
    }

    /// Whether it is a database, which may need a password.
    pub(crate) fn is_database(&self) -> bool {
        matches!(self, RunLocation::Store(store) if store.starts_with("postgresql://"))
    }
}
