//! Which store keeps runs: the named one, else that of `YAMBA_STORE`, else a file in the user's data folder.

use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy;
use yamba_store::{Location, Store};

use super::Failure;

/// The store in which runs are kept.
#[derive(Clone, Debug, Default)]
pub struct StoreChoice {
    /// A file, or a database as `postgresql://USER@HOST/DATABASE`; the usual store without it.
    pub named: Option<OsString>,
}

/// The file that keeps runs where neither the caller nor `YAMBA_STORE` names a store.
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

    /// Where it is.
    ///
    /// # Errors
    /// When a URL is none of a database, or no folder can be found.
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

    /// Opens the store that is there.
    ///
    /// # Errors
    /// Also when there is none: reading makes no store.
    pub fn existing(&self) -> Result<Store, Failure> {
        let location = self.location()?;
        Store::existing(&location)?.ok_or_else(|| {
            Failure::new(format!("{location}: no run is kept there yet"))
                .help("`yamba run NAME` measures and keeps one; --store or YAMBA_STORE names another store")
        })
    }

    /// Opens the store, and makes it first if there is none.
    ///
    /// # Errors
    /// When it can be neither opened nor made.
    pub fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.location()?)?)
    }
}
