//! How a caller follows a use case.

use std::path::Path;

use yamba_lang::Diagnostic;
use yamba_lang::source::SourceMap;
use yamba_store::StoreError;

use super::Failure;
use yamba_compare::identity::Difference;
use yamba_harness::Progress;

/// Shows on a terminal, in an editor or in a log what happens while a use case runs. No method may fail: what the observer does with an event never changes a
/// measurement.
pub trait Observer {
    /// `built` of `all` programs are built. The first call has `built` = 0.
    fn building(&self, built: usize, all: usize);

    /// The programs of the last [`building`](Observer::building) are built, or have failed.
    fn building_ended(&self);

    /// Errors and warnings about source files, in the order of their places.
    fn diagnostics(&self, sources: &SourceMap, diagnostics: &[Diagnostic]);

    /// The program of one benchmark could not be built. The other benchmarks are measured.
    fn unbuilt(&self, failure: Failure);

    /// Something that the user should know, and that does not end the use case.
    fn warning(&self, warning: &Warning<'_>);

    /// Follows the launches of the runs that come next.
    fn progress(&self) -> Box<dyn Progress>;
}

/// What does not end a use case, but may be unexpected.
#[derive(Debug)]
pub enum Warning<'a> {
    /// The run will not be stored.
    NotStored {
        /// Why.
        message: &'a str,
        /// How to fix it.
        help: Option<&'a str>,
    },
    /// The store refuses a part of the run now. It is asked again when the run ends.
    NotStoredNow(&'a StoreError),
    /// What the store refuses goes to a temporary store until the run ends.
    Spooling {
        /// The id of the run.
        run: &'a str,
        /// The file of the temporary store.
        spool: &'a Path,
    },
    /// What the store refuses cannot be written to a temporary store either.
    NoSpool {
        /// Why.
        why: &'a str,
    },
    /// The run has ended, and its whole document is in a file because the store does not have all of it.
    Rescued {
        /// The id of the run.
        run: &'a str,
        /// The file of the document.
        document: &'a Path,
        /// Whether the store has a part of the run.
        is_partly_stored: bool,
    },
    /// The run has ended, the store does not have all of it, and its document cannot be written.
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
        /// Why A is not.
        reason: &'a str,
    },
    /// Both sides of a comparison are re-measured on a machine or with a compiler that differs from theirs in this.
    RemeasuredElsewhere(&'a Difference),
    /// The programs that were rebuilt from the stored sources of these benchmarks are not the programs that were measured.
    OtherPrograms(&'a [&'a str]),
}
