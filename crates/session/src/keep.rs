//! Keeps a run in a store. Where that fails, measuring goes on; what could not be kept goes to a file meanwhile, and is tried again at the end.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run};
use yamba_store::{Store, StoreError};

use super::kept;
use super::spool::Spool;
use super::{Failure, Observer, StoreChoice, Warning};
use yamba_harness::{CompressedEntry, Keep, UsageError};
use yamba_toolchain::files::plain;

/// The store, if there is one, and what it could not take.
pub(super) struct RunKeeper<'o> {
    observer: &'o dyn Observer,
    store: Option<Store>,
    /// Whether the run is to be kept at all.
    is_wanted: bool,
    /// Whether somebody named the store: then nothing is measured without it.
    is_asked: bool,
    id: String,
    /// The run without its entries, until it begins a spool.
    head: Option<Run<()>>,
    missing: BTreeSet<usize>,
    has_warned: bool,
    spool: Option<Spool>,
}

impl<'o> RunKeeper<'o> {
    /// Opens the store. If it is the usual one, a run is worth more than its place in it.
    pub(super) fn open(
        choice: &StoreChoice,
        observer: &'o dyn Observer,
    ) -> Result<RunKeeper<'o>, Failure> {
        RunKeeper::opened(choice, choice.named().is_some(), observer)
    }

    /// Opens the store; where it cannot be had, what is measured becomes a file.
    pub(super) fn if_possible(
        choice: &StoreChoice,
        observer: &'o dyn Observer,
    ) -> Result<RunKeeper<'o>, Failure> {
        RunKeeper::opened(choice, false, observer)
    }

    /// For another run at the same time, in the same store if there is one.
    pub(super) fn another(&self, choice: &StoreChoice) -> Result<RunKeeper<'o>, Failure> {
        match self.store {
            Some(_) => RunKeeper::if_possible(choice, self.observer),
            None => Ok(RunKeeper {
                is_wanted: self.is_wanted,
                ..RunKeeper::none(self.observer)
            }),
        }
    }

    fn opened(
        choice: &StoreChoice,
        is_asked: bool,
        observer: &'o dyn Observer,
    ) -> Result<RunKeeper<'o>, Failure> {
        let mut keeper = RunKeeper::none(observer);
        keeper.is_wanted = true;
        keeper.is_asked = is_asked;
        match choice.open() {
            Ok(store) => keeper.store = Some(store),
            Err(failure) if keeper.is_asked => return Err(failure),
            Err(Failure::Sentence { message, help }) => {
                keeper.not_stored(&message, help.as_deref());
            }
            Err(failure) => return Err(failure),
        }
        Ok(keeper)
    }

    /// For what is not to be kept.
    pub(super) fn none(observer: &'o dyn Observer) -> RunKeeper<'o> {
        RunKeeper {
            observer,
            store: None,
            is_wanted: false,
            is_asked: false,
            id: String::new(),
            head: None,
            missing: BTreeSet::new(),
            has_warned: false,
            spool: None,
        }
    }

    fn not_stored(&mut self, message: &str, help: Option<&str>) {
        self.observer.warning(&Warning::NotStored { message, help });
        self.store = None;
    }

    /// The run has ended. In the store it counts as finished only if the store has all of it; else its document is a file. Whether the store has it.
    pub(super) fn finish(&mut self, run: &Run<CompressedEntry>) -> bool {
        if !self.is_wanted {
            return false;
        }
        let is_finished = self.is_finished(run);
        if is_finished || self.rescue(run) {
            self.spool.take().into_iter().for_each(Spool::remove);
        }
        is_finished
    }

    /// Writes the whole document. Whether it could.
    fn rescue(&self, run: &Run<CompressedEntry>) -> bool {
        let path = match kept::rescue(run) {
            Ok(path) => path,
            Err(e) => {
                self.observer.warning(&Warning::NotRescued {
                    run: &run.id,
                    why: &plain(&e),
                    spool: self.spool.as_ref().map(Spool::path),
                });
                return false;
            }
        };
        self.observer.warning(&Warning::Rescued {
            run: &run.id,
            document: &path,
            is_partly_stored: self.store.is_some(),
        });
        true
    }

    fn is_finished(&mut self, run: &Run<CompressedEntry>) -> bool {
        let Some(store) = &mut self.store else {
            return false;
        };
        store.call_again();
        let mut missing = self.missing.iter();
        let put = missing.try_for_each(|place| {
            let benchmark = run.benchmarks[*place].unpack();
            store.put(&run.id, *place, &benchmark)
        });
        match put.and_then(|()| store.finish(run)) {
            Ok(()) => true,
            Err(e) => {
                self.warn_once(&e);
                false
            }
        }
    }

    /// Into a file, so that it is somewhere.
    fn spool(&mut self, place: usize, benchmark: &Benchmark) {
        if let Some(head) = self.head.take() {
            match Spool::begin(&head) {
                Ok(spool) => {
                    self.observer.warning(&Warning::Spooling {
                        run: &head.id,
                        spool: spool.path(),
                    });
                    self.spool = Some(spool);
                }
                Err(why) => self.observer.warning(&Warning::NoSpool { why: &why }),
            }
        }
        let Some(spool) = &mut self.spool else {
            return;
        };
        if let Err(why) = spool.put(place, benchmark) {
            self.observer.warning(&Warning::NoSpool { why: &why });
        }
    }

    fn warn_once(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.has_warned, true) {
            self.observer.warning(&Warning::NotStoredNow(error));
        }
    }
}

impl Keep for RunKeeper<'_> {
    fn begin(&mut self, run: &Run<CompressedEntry>, _: &[usize]) -> Result<(), UsageError> {
        if !self.is_wanted {
            return Ok(());
        }
        let begun = match &mut self.store {
            Some(store) => store.begin(run),
            None => Ok(()),
        };
        match begun {
            Err(e) if self.is_asked => {
                let mend = e.mend().map_or(String::new(), |mend| format!("; {mend}"));
                return Err(UsageError(format!("{e}{mend}")));
            }
            Err(e) => self.not_stored(&e.to_string(), e.mend()),
            Ok(()) => {}
        }
        self.head = Some(run.clone().map(drop));
        self.id.clone_from(&run.id);
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
