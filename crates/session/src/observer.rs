//! Progress, diagnostics and warnings of a use case, as callbacks to the caller.

use std::path::Path;

use yamba_lang::Diagnostic;
use yamba_lang::source::SourceMap;

use super::Failure;
use yamba_compare::identity::Difference;
use yamba_harness::Progress;

/// Presents the progress of a use case on a terminal, in an editor or in a log. No method may fail,
/// so an observer never changes a measurement.
pub trait Observer {
    /// `built` of `all` programs are built. The first call has `built` = 0.
    fn building(&self, built: usize, all: usize);

    /// The programs of the last [`building`](Observer::building) are built, or have failed.
    fn building_ended(&self);

    /// Errors and warnings about source files, in source order.
    fn diagnostics(&self, sources: &SourceMap, diagnostics: &[Diagnostic]);

    /// The program of one benchmark could not be built. The other benchmarks are measured.
    fn unbuilt(&self, failure: Failure);

    /// A condition that the user should know about and that does not end the use case.
    fn warning(&self, warning: &Warning<'_>);

    /// Creates the observer of the launches of the next runs.
    fn progress(&self) -> Box<dyn Progress>;
}

/// Why prebuilt programs are measured, although the user did not ask for them.
#[derive(Debug)]
pub enum NoUsualCompiler {
    /// There is no compiler.
    None {
        /// How to get one.
        help: String,
    },
    /// There is only that of a Python package, which would first compile its own libraries.
    PythonPackage,
}

/// A condition that does not end a use case but may be unexpected.
#[derive(Debug)]
pub enum Warning<'a> {
    /// Prebuilt programs are measured, for this reason.
    Prebuilt(&'a NoUsualCompiler),
    /// The run will not be stored.
    NotStored {
        /// Why.
        message: &'a str,
        /// How to fix it.
        help: Option<&'a str>,
    },
    /// The store rejects an entry of the run, which is retried when the run ends, or a run that has
    /// ended.
    NotStoredNow {
        /// Why.
        message: &'a str,
        /// How to fix it.
        help: Option<&'a str>,
    },
    /// Entries that the store rejects go to a temporary store until the run ends.
    Spooling {
        /// The id of the run.
        run: &'a str,
        /// The file of the temporary store.
        spool: &'a Path,
    },
    /// Entries that the store rejects cannot be written to a temporary store either.
    NoSpool { why: &'a str },
    /// The run has ended and the store does not have all of it, so its whole document was written
    /// to a file.
    Rescued {
        /// The id of the run.
        run: &'a str,
        /// The file of the document.
        document: &'a Path,
        /// Whether the store has a part of the run.
        is_partly_stored: bool,
        /// Whether [`NotStored`](Warning::NotStored) has announced it.
        is_expected: bool,
    },
    /// The run has ended, the store does not have all of it, and its document cannot be written to
    /// a file.
    NotRescued {
        /// The id of the run.
        run: &'a str,
        /// Why the document cannot be written.
        why: &'a str,
        /// The temporary store, if there is one.
        spool: Option<&'a Path>,
    },
    /// No benchmark of a comparison is re-measured.
    NothingRemeasured {
        /// Why.
        reason: &'a str,
    },
    /// Only B is re-measured, and compared with the stored figures of A.
    OnlyBRemeasured {
        /// Why A is not re-measured.
        reason: &'a str,
    },
    /// Both sides are re-measured on a machine or with a compiler that differs in this from the
    /// original one.
    RemeasuredElsewhere(&'a Difference),
    /// For these benchmarks, the programs rebuilt from stored sources differ from the measured
    /// programs.
    OtherPrograms(&'a [&'a str]),
}
