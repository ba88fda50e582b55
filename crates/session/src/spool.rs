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
    /// Whether it takes more.
    is_open: bool,
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
        let path = file.keep().map_err(|e| e.to_string())?;
        let begun = Store::open(&Location::File(path.clone())).and_then(|mut store| {
            store.begin(run)?;
            Ok(store)
        });
        match begun {
            Ok(store) => Ok(Spool {
                store,
                id: run.id.clone(),
                path,
                is_open: true,
            }),
            Err(e) => {
                remove_file(&path);
                Err(e.to_string())
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing after the first failure: what it has stays until the run ends.
    ///
    /// # Errors
    /// Why it cannot, once.
    pub(super) fn put(&mut self, place: usize, benchmark: &Benchmark) -> Result<(), String> {
        if !self.is_open {
            return Ok(());
        }
        let done = self.store.put(&self.id, place, benchmark);
        self.is_open = done.is_ok();
        done.map_err(|e| e.to_string())
    }

    /// All that is in it is elsewhere.
    pub(super) fn remove(self) {
        drop(self.store);
        remove_file(&self.path);
    }
}

/// With what lies beside it: SQLite removes that when a store is closed, but not from a full disk. A file that is left is one too many, and no harm.
fn remove_file(path: &Path) {
    for beside in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Machine, Status};

    use super::*;

    /// What it had stays, though it takes no more, and nothing of it is left in the end.
    #[test]
    fn a_failure_is_told_once_and_leaves_nothing() {
        let mut run = Run::new(Machine::default());
        run.id = "0123456789abcdef".to_owned();
        let entry = Benchmark::ended("x", Status::Skipped, Vec::new());
        let mut spool = Spool::begin(&run).unwrap();
        let path = spool.path().to_owned();
        assert!(spool.put(0, &entry).is_ok());
        spool.store.remove(&run.id).unwrap();
        assert!(spool.put(1, &entry).is_err());
        assert!(spool.put(2, &entry).is_ok());
        assert!(path.exists());
        // As it is left on a full disk.
        let beside = path.with_extension("sqlite-wal");
        spool.remove();
        fs::write(&path, "").unwrap();
        fs::write(&beside, "").unwrap();
        remove_file(&path);
        assert!(!path.exists() && !beside.exists());
    }
}
