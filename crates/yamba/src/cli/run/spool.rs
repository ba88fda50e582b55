//! A file for what the store does not take while a run is measured: should this process die, what was measured is there.

use std::fs;
use std::path::{Path, PathBuf};

use yamba_record::{Benchmark, Run};
use yamba_store::{Location, Store};

/// A store of its own among the temporary files.
pub(super) struct Spool {
    store: Store,
    id: String,
    path: PathBuf,
}

impl Spool {
    /// With the run in it, and none of its entries.
    ///
    /// # Errors
    /// Why there can be none.
    pub(super) fn begin(run: &Run<()>) -> Result<Spool, String> {
        let file = tempfile::Builder::new()
            .prefix(&format!("yamba-unstored-{}-", run.id))
            .suffix(".sqlite")
            .tempfile();
        let file = file.map_err(|e| e.to_string())?.into_temp_path();
        let begun = Store::open(&Location::File(file.to_path_buf())).and_then(|mut store| {
            store.begin(run)?;
            Ok(store)
        });
        Ok(Spool {
            store: begun.map_err(|e| e.to_string())?,
            id: run.id.clone(),
            path: file.keep().map_err(|e| e.to_string())?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// Why it cannot.
    pub(super) fn put(&mut self, place: usize, benchmark: &Benchmark) -> Result<(), String> {
        let done = self.store.put(&self.id, place, benchmark);
        done.map_err(|e| e.to_string())
    }

    /// All that is in it is elsewhere. When a store is closed, SQLite removes what lies beside it.
    pub(super) fn remove(self) {
        drop(self.store);
        // A file that is left is one too many, and no harm.
        let _ = fs::remove_file(self.path);
    }
}
