//! Saves a run to a store while it is measured. If the store fails, measuring goes on: the failed
//! entries go to a spool file and are retried at the end.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run, RunHead};
use yamba_store::{Store, StoreError};

use super::rescue::Unstored;
use super::spool::Spool;
use super::{Failure, Observer, StoreChoice, Warning};
use yamba_harness::{RunSink, UsageError};

/// Writes one run to the store, if any, and spools the entries that the store rejects.
pub(super) struct StoreSink<'o> {
    observer: &'o dyn Observer,
    store: Option<Store>,
    /// Whether the run is to be saved at all.
    is_wanted: bool,
    /// Whether the user named the store. If so, a store that cannot be opened is an error.
    is_asked: bool,
    id: String,
    /// The run without its entries; taken when a spool file is created.
    head: Option<RunHead>,
    missing: BTreeSet<usize>,
    has_warned: bool,
    /// Whether a warning has said that there is no store, so that no other warning has to.
    is_without_store: bool,
    spool: Option<Spool>,
}

impl<'o> StoreSink<'o> {
    /// A sink for a second run that is measured at the same time; it uses the same store, if any.
    pub(super) fn another(&self, choice: &StoreChoice) -> Result<StoreSink<'o>, Failure> {
        match self.store {
            Some(_) => StoreSink::open(choice, false, self.observer),
            None => Ok(StoreSink { is_wanted: self.is_wanted, ..StoreSink::none(self.observer) }),
        }
    }

    /// Opens the store. If that fails, it is an error if `is_asked`. Otherwise warns, and the run
    /// is written to a file at the end.
    pub(super) fn open(
        choice: &StoreChoice,
        is_asked: bool,
        observer: &'o dyn Observer,
    ) -> Result<StoreSink<'o>, Failure> {
        let mut sink = StoreSink { is_wanted: true, is_asked, ..StoreSink::none(observer) };
        match choice.open() {
            Ok(store) => sink.store = Some(store),
            Err(failure) if sink.is_asked => return Err(failure),
            Err(Failure::Sentence { message, help }) => {
                sink.not_stored(&message, help.as_deref());
            }
            Err(failure) => return Err(failure),
        }
        Ok(sink)
    }

    /// A sink that saves nothing.
    pub(super) fn none(observer: &'o dyn Observer) -> StoreSink<'o> {
        StoreSink {
            observer,
            store: None,
            is_wanted: false,
            is_asked: false,
            id: String::new(),
            head: None,
            missing: BTreeSet::new(),
            has_warned: false,
            is_without_store: false,
            spool: None,
        }
    }

    fn not_stored(&mut self, message: &str, help: Option<&str>) {
        self.observer.warning(&Warning::NotStored { message, help });
        self.is_without_store = true;
        self.store = None;
    }

    /// Ends the run. If the store does not have all entries, writes the whole document to a file.
    /// Returns whether the store has the complete run.
    pub(super) fn finish(&mut self, run: &Run) -> bool {
        if !self.is_wanted {
            return false;
        }
        let is_finished = self.is_finished(run);
        if is_finished || self.rescue(run) {
            self.spool.take().into_iter().for_each(Spool::remove);
        }
        is_finished
    }

    /// Writes the whole document to a file. Returns whether that succeeded.
    fn rescue(&mut self, run: &Run) -> bool {
        let unstored = Unstored {
            is_partly_stored: self.store.as_mut().is_some_and(|store| store.may_hold(&run.id)),
            is_expected: self.is_without_store,
            spool: self.spool.as_ref().map(Spool::path),
        };
        unstored.rescue(run, self.observer)
    }

    fn is_finished(&mut self, run: &Run) -> bool {
        let Some(store) = &mut self.store else {
            return false;
        };
        store.call_again();
        let mut missing = self.missing.iter();
        let put = missing.try_for_each(|place| store.put(&run.id, *place, &run.benchmarks[*place]));
        let finished = put.and_then(|()| store.finish(run));
        finished.inspect_err(|e| self.warn_once(e)).is_ok()
    }

    /// Writes an entry that the store rejected to the spool file.
    fn spool(&mut self, place: usize, benchmark: &Benchmark) {
        if let Some(head) = self.head.take() {
            match Spool::begin(&head) {
                Ok(spool) => {
                    if !self.is_without_store {
                        self.observer
                            .warning(&Warning::Spooling { run: &head.id, spool: spool.path() });
                    }
                    self.spool = Some(spool);
                }
                Err(why) => self.observer.warning(&Warning::NoSpool { why: &why }),
            }
        }
        if let Some(spool) = &mut self.spool
            && let Err(why) = spool.put(place, benchmark)
        {
            self.observer.warning(&Warning::NoSpool { why: &why });
        }
    }

    /// Whether the store has another run with a name of this one, which began meanwhile.
    fn has_taken_name(&mut self, head: &RunHead) -> bool {
        let Some(store) = &mut self.store else {
            return false;
        };
        head.tags.iter().any(|tag| store.holder(tag).is_ok_and(|holder| holder.is_some()))
    }

    fn warn_once(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let help = error.help_text();
            self.observer.warning(&Warning::NotStoredNow { message: &error.to_string(), help });
        }
    }
}

impl RunSink for StoreSink<'_> {
    fn begin(&mut self, head: &RunHead, _: &[usize]) -> Result<(), UsageError> {
        if !self.is_wanted {
            return Ok(());
        }
        let begun = match &mut self.store {
            Some(store) => store.begin(head),
            None => Ok(()),
        };
        match begun {
            Err(e) if self.is_asked || self.has_taken_name(head) => {
                let help = e.help_text().map_or(String::new(), |help| format!("; {help}"));
                return Err(UsageError(format!("{e}{help}")));
            }
            Err(e) => self.not_stored(&e.to_string(), e.help_text()),
            Ok(()) => {}
        }
        self.head = Some(head.clone());
        self.id.clone_from(&head.id);
        Ok(())
    }

    fn entry(&mut self, place: usize, benchmark: &Benchmark) {
        if !self.is_wanted {
            return;
        }
        if let Some(store) = &mut self.store {
            match store.put(&self.id, place, benchmark) {
                Ok(()) => {
                    self.missing.remove(&place);
                    return;
                }
                Err(e) => {
                    self.missing.insert(place);
                    self.warn_once(&e);
                }
            }
        }
        self.spool(place, benchmark);
    }

    fn is_wanted(&self) -> bool {
        self.is_wanted
    }
}
