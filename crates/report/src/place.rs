//! The location where a run was read, and the commands that the reader can copy.

use yamba_record::{Benchmark, Run};

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

    /// Why `yamba show --raw` has no batch of a figure. `None` if it has some, or nothing was
    /// measured. Of a run in a store, the batches themselves are not read here.
    pub(crate) fn without_batches(&self, run: &Run, benchmark: &Benchmark) -> Option<&'static str> {
        let is_document = matches!(self, RunLocation::File(_));
        let is_measured = benchmark.launches.iter().any(|launch| launch.samples > 0);
        if run.producer.is_of_another_program() {
            Some("another program measured")
        } else if benchmark.details.command.is_some() {
            Some("whole runs of a command were timed")
        } else if is_document && is_measured && benchmark.records.is_empty() {
            Some("the document was written without --raw")
        } else {
            None
        }
    }

    /// Whether it is a database, which may need a password.
    pub(crate) fn is_database(&self) -> bool {
        matches!(self, RunLocation::Store(store) if store.starts_with("postgresql://"))
    }
}

/// Joins words to a shell command with quoting. A word with a zero byte, which no shell accepts,
/// becomes a question mark.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|w| shlex::try_quote(w).unwrap_or_else(|_| "?".into()));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_are_quoted() {
        assert_eq!(
            command_line(["yamba", "a;b", "n=$(x)", "c'd", "e f"]),
            "yamba 'a;b' 'n=$(x)' \"c'd\" 'e f'"
        );
        assert_eq!(command_line(["a\0b"]), "?");
    }
}
