//! The location where a run was read, as commands for the reader need it.

use yamba_record::Run;

/// The location where a run was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The default store.
    #[default]
    Usual,
    /// Another store, as an argument of `--store`.
    Store(String),
    /// A run document, by its path.
    File(String),
}

impl Place {
    /// The options that select the store.
    pub(crate) fn store(&self) -> Vec<&str> {
        match self {
            Place::Store(store) => vec!["--store", store],
            Place::Usual | Place::File(_) => Vec::new(),
        }
    }

    /// The argument that selects the run.
    pub(crate) fn run<'a>(&'a self, run: &'a Run) -> &'a str {
        match self {
            Place::File(path) => path,
            Place::Usual | Place::Store(_) => &run.id,
        }
    }

    /// Whether it is a database, which may need a password.
    pub(crate) fn is_database(&self) -> bool {
        matches!(self, Place::Store(store) if store.starts_with("postgresql://"))
    }
}
