//! Where a run was read, as commands that are to be copied name it.

use yamba_record::Run;

/// Where a run was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The store that is meant where nothing is said.
    #[default]
    Usual,
    /// Another one, as `--store` takes it.
    Store(String),
    /// A document, by its path.
    File(String),
}

impl Place {
    /// What a command says of the store.
    pub(crate) fn store(&self) -> Vec<&str> {
        match self {
            Place::Store(store) => vec!["--store", store],
            Place::Usual | Place::File(_) => Vec::new(),
        }
    }

    /// What a command calls the run; none if it has no name.
    pub(crate) fn run<'a>(&'a self, run: &'a Run) -> Option<&'a str> {
        match self {
            Place::File(path) => Some(path),
            Place::Usual | Place::Store(_) => Some(run.id.as_str()).filter(|id| !id.is_empty()),
        }
    }

    /// Whether it is a database, which may want a password.
    pub(crate) fn is_database(&self) -> bool {
        matches!(self, Place::Store(store) if store.starts_with("postgresql://"))
    }
}
