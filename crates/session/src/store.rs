//! Chooses the store of runs: the named one, else that of `YAMBA_STORE`, else a file in the user's
//! data folder.

use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy;
use yamba_predict::machine_name;
use yamba_store::{Listed, Location, Store};

use super::Failure;

/// The user's choice of a store.
#[derive(Clone, Debug, Default)]
pub struct StoreChoice {
    /// A file, or a database as `postgresql://USER@HOST/DATABASE`; `None`: `YAMBA_STORE` or the
    /// default store.
    pub named: Option<OsString>,
}

/// The default store, used if neither the caller nor `YAMBA_STORE` names one.
pub fn usual_store() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.data_dir().join("yamba/results.sqlite"))
}

impl StoreChoice {
    /// The store that the caller or `YAMBA_STORE` names.
    pub fn named(&self) -> Option<OsString> {
        let variable = || std::env::var_os("YAMBA_STORE").filter(|v| !v.is_empty());
        self.named.clone().or_else(variable)
    }

    /// The location of the store.
    ///
    /// # Errors
    /// If a URL is not one of a database, or the user has no data folder.
    pub fn location(&self) -> Result<Location, Failure> {
        if let Some(named) = self.named() {
            return Ok(Location::parse(&named)?);
        }
        let usual = usual_store().ok_or_else(|| {
            Failure::new("there is no home folder to keep runs in")
                .help("name a file with --store FILE or YAMBA_STORE")
        })?;
        Ok(Location::File(usual))
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// If there is no such store: reading does not create one.
    pub fn existing(&self) -> Result<Store, Failure> {
        let location = self.location()?;
        Store::existing(&location)?.ok_or_else(|| {
            Failure::new(format!("{location}: no run is kept there yet"))
                .help("`yamba run NAME` measures and keeps one; --store or YAMBA_STORE names another store")
        })
    }

    /// Opens the store before a measurement, if the user or the environment names one: nothing must
    /// be measured in vain.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn check(&self) -> Result<(), Failure> {
        if self.named().is_some() {
            self.open()?;
        }
        Ok(())
    }

    /// Opens the store; creates it if it does not exist.
    ///
    /// # Errors
    /// If it can be neither opened nor created.
    pub fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.location()?)?)
    }
}

/// The stored runs of the machine with this name, the latest first. A damaged run has none.
pub(super) fn runs_of_machine(store: &mut Store, name: &str) -> Result<Vec<Listed>, Failure> {
    let mut runs = store.runs()?;
    runs.retain(|run| machine_name(&run.head.machine).as_deref() == Some(name));
    Ok(runs)
}
