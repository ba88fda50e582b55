//! Keeps a run in a store. Where that fails, measuring goes on, and what could not be kept is tried again at the end.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use yamba_record::{Benchmark, Run};
use yamba_store::{Store, StoreError};

use super::super::failure::Failure;
use super::super::kept;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::run::{Keep, Packed, UsageError};

/// The store, if there is one, and what it could not take.
pub(super) struct Keeper {
    store: Option<Store>,
    /// Whether somebody named the store: then nothing is measured without it.
    is_asked: bool,
    id: String,
    missing: BTreeSet<usize>,
    has_warned: bool,
}

impl Keeper {
    /// Opens the store. If it is the usual one, a run is worth more than its place in it.
    pub(super) fn open(option: &StoreOption) -> Result<Keeper, Failure> {
        let mut keeper = Keeper::none();
        keeper.is_asked = option.store.is_some();
        match option.open() {
            Ok(store) => keeper.store = Some(store),
            Err(failure) if keeper.is_asked => return Err(failure),
            Err(Failure::Sentence { message, help }) => keeper.not_stored(&message, help),
            Err(failure) => return Err(failure),
        }
        Ok(keeper)
    }

    /// For what is not to be kept.
    pub(super) fn none() -> Keeper {
        Keeper {
            store: None,
            is_asked: false,
            id: String::new(),
            missing: BTreeSet::new(),
            has_warned: false,
        }
    }

    fn not_stored(&mut self, message: &str, help: Option<String>) {
        warn(&format!("this run is not stored: {message}"), help);
        self.store = None;
    }

    /// The run has ended.
    pub(super) fn finish(mut self, run: &Run<Packed<Benchmark>>) {
        let Some(store) = &mut self.store else {
            return;
        };
        let finished = store.finish(run);
        if self.missing.is_empty() && finished.is_ok() {
            if io::stderr().is_terminal() {
                output::note(&format!("run {} stored\n", kept::short(&run.id, &[])));
            }
            return;
        }
        if let Err(e) = &finished {
            self.warn_once(e);
        }
        match rescue(run) {
            Ok(path) => warn(
                &format!("the whole run is in {} instead", path.display()),
                Some("`yamba import FILE` stores it when there is room".to_owned()),
            ),
            Err(e) => warn(
                &format!("nor can its document be written among the temporary files: {e}"),
                None,
            ),
        }
    }

    fn warn_once(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.has_warned, true) {
            warn(
                &format!("the run cannot be stored now: {error}"),
                error.mend().map(str::to_owned),
            );
        }
    }
}

impl Keep for Keeper {
    fn begin(&mut self, run: &Run<Packed<Benchmark>>) -> Result<(), UsageError> {
        self.id.clone_from(&run.id);
        let begun = match &mut self.store {
            Some(store) => store.begin(run),
            None => Ok(()),
        };
        match begun {
            Err(e) if self.is_asked => return Err(UsageError(e.to_string())),
            Err(e) => self.not_stored(&e.to_string(), e.mend().map(str::to_owned)),
            Ok(()) => {}
        }
        Ok(())
    }

    fn entry(&mut self, place: usize, benchmark: &Benchmark) -> bool {
        let Some(store) = &mut self.store else {
            return true;
        };
        match store.put(&self.id, place, benchmark) {
            Ok(()) => {
                self.missing.remove(&place);
                true
            }
            Err(e) => {
                self.missing.insert(place);
                self.warn_once(&e);
                false
            }
        }
    }
}

fn warn(text: &str, help: Option<String>) {
    let help = help.map(|h| format!("help: {h}\n")).unwrap_or_default();
    output::note(&format!("warning: {text}\n{help}"));
}

/// The whole document in a file of its own.
fn rescue(run: &Run<Packed<Benchmark>>) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix(&format!("yamba-run-{}-", run.id))
        .suffix(".json")
        .tempfile()?;
    let mut out = BufWriter::new(&mut file);
    serde_json::to_writer(&mut out, run)?;
    out.flush()?;
    drop(out);
    Ok(file.keep().map_err(|e| e.error)?.1)
}
