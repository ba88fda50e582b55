//! The document of a run that the store does not take.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use yamba_record::system_error::reason;
use yamba_record::{Run, document};

use super::{Failure, Observer, StoreChoice, Warning};

impl StoreChoice {
    /// Stores a run that has ended. If the store cannot be opened or written, the document of the
    /// run goes to a file, of which the observer is warned. Returns whether the store has the run.
    ///
    /// # Errors
    /// If a fault has no message of its own.
    pub fn keep(&self, run: &Run, observer: &dyn Observer) -> Result<bool, Failure> {
        match self.open().and_then(|mut store| Ok(store.add(run)?)) {
            Ok(()) => Ok(true),
            Err(Failure::Sentence { message, help }) => {
                let help = help.as_deref();
                observer.warning(&Warning::NotStoredNow { message: &message, help });
                let unstored = Unstored { is_expected: true, ..Unstored::default() };
                unstored.rescue(run, observer);
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// The state of a run that has ended, and that the store does not have.
#[derive(Default)]
pub(super) struct Unstored<'a> {
    /// Whether the store has a part of the run.
    pub(super) is_partly_stored: bool,
    /// Whether a warning has said that the run is not stored.
    pub(super) is_expected: bool,
    /// The temporary store, if there is one.
    pub(super) spool: Option<&'a Path>,
}

impl Unstored<'_> {
    /// Writes the document of the run to a file, and says so. Returns whether that succeeded.
    pub(super) fn rescue(&self, run: &Run, observer: &dyn Observer) -> bool {
        let written = write(run).map_err(|e| reason(&e));
        observer.warning(&match &written {
            Ok(path) => Warning::Rescued {
                run: &run.id,
                document: path,
                is_partly_stored: self.is_partly_stored,
                is_expected: self.is_expected,
            },
            Err(why) => Warning::NotRescued { run: &run.id, why, spool: self.spool },
        });
        written.is_ok()
    }
}

/// Writes the whole document of a run to a new temporary file that is not deleted.
fn write(run: &Run) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix(&format!("yamba-run-{}-", run.id))
        .suffix(".json")
        .tempfile()?;
    let mut out = BufWriter::new(&mut file);
    document::write(run, &mut out)?;
    out.flush()?;
    drop(out);
    Ok(file.keep().map_err(|e| e.error)?.1)
}
