//! Keeps a run in a store. Where that fails, measuring goes on; what could not be kept goes to a file meanwhile, and is tried again at the end.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run};
use yamba_report::command_line;
use yamba_store::{Store, StoreError};

use super::super::failure::Failure;
use super::super::kept;
use super::super::output;
use super::super::store_option::StoreOption;
use super::spool::Spool;
use crate::files::plain;
use crate::run::{Keep, Packed, UsageError};

/// The store, if there is one, and what it could not take.
pub(in crate::cli) struct Keeper {
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

impl Keeper {
    /// Opens the store. If it is the usual one, a run is worth more than its place in it.
    pub(super) fn open(option: &StoreOption) -> Result<Keeper, Failure> {
        Keeper::opened(option, option.named().is_some())
    }

    /// Opens the store; where it cannot be had, what is measured becomes a file.
    pub(in crate::cli) fn if_possible(option: &StoreOption) -> Result<Keeper, Failure> {
        Keeper::opened(option, false)
    }

    /// For another run at the same time, in the same store if there is one.
    pub(in crate::cli) fn another(&self, option: &StoreOption) -> Result<Keeper, Failure> {
        match self.store {
            Some(_) => Keeper::if_possible(option),
            None => Ok(Keeper {
                is_wanted: self.is_wanted,
                ..Keeper::none()
            }),
        }
    }

    fn opened(option: &StoreOption, is_asked: bool) -> Result<Keeper, Failure> {
        let mut keeper = Keeper::none();
        keeper.is_wanted = true;
        keeper.is_asked = is_asked;
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
            is_wanted: false,
            is_asked: false,
            id: String::new(),
            head: None,
            missing: BTreeSet::new(),
            has_warned: false,
            spool: None,
        }
    }

    fn not_stored(&mut self, message: &str, help: Option<String>) {
        warn(&format!("this run is not stored: {message}"), help);
        self.store = None;
    }

    /// The run has ended. In the store it counts as finished only if the store has all of it; else its document is a file. Whether the store has it.
    pub(in crate::cli) fn finish(&mut self, run: &Run<Packed<Benchmark>>) -> bool {
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
    fn rescue(&self, run: &Run<Packed<Benchmark>>) -> bool {
        let path = match kept::rescue(run) {
            Ok(path) => path,
            Err(e) => {
                let text = "nor can its document be written among the temporary files";
                let help = self.spool.as_ref().map(|spool| {
                    let shown = shown(&run.id, spool);
                    format!("{shown} shows what had been written there")
                });
                warn(&format!("{text}: {}", plain(&e)), help);
                return false;
            }
        };
        let import = command(&["import", &path.to_string_lossy()]);
        let import = format!("{import} stores it");
        let (how, help) = match self.store {
            Some(_) => (
                "; what the store has of it is not all",
                format!(
                    "when the store can take it, `yamba rm {}`; then {import}",
                    run.id
                ),
            ),
            None => ("", format!("when there is a store, {import}")),
        };
        warn(
            &format!("the whole run is in {}{how}", path.display()),
            Some(help),
        );
        true
    }

    fn is_finished(&mut self, run: &Run<Packed<Benchmark>>) -> bool {
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
                    let path = spool.path().display();
                    let text = format!("what is not stored is in {path} until the run ends");
                    let help = format!("if it is killed, {}", shown(&head.id, &spool));
                    warn(&text, Some(help));
                    self.spool = Some(spool);
                }
                Err(e) => without_spool(&e),
            }
        }
        let Some(spool) = &mut self.spool else {
            return;
        };
        if let Err(e) = spool.put(place, benchmark) {
            without_spool(&e);
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
    fn begin(&mut self, run: &Run<Packed<Benchmark>>, _: &[usize]) -> Result<(), UsageError> {
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
            Err(e) => self.not_stored(&e.to_string(), e.mend().map(str::to_owned)),
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

/// As a shell takes it.
fn command(words: &[&str]) -> String {
    let line = command_line(["yamba"].iter().chain(words).copied());
    format!("`{line}`")
}

/// The command that shows what is in the spool.
fn shown(id: &str, spool: &Spool) -> String {
    command(&["show", id, "--store", &spool.path().to_string_lossy()])
}

fn without_spool(why: &str) {
    warn(
        &format!("from now on, until the run ends, what is not stored is kept nowhere: {why}"),
        None,
    );
}

fn warn(text: &str, help: Option<String>) {
    let help = help.map(|h| format!("help: {h}\n")).unwrap_or_default();
    output::note(&format!("warning: {text}\n{help}"));
}
