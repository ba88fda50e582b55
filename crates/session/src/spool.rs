//! A temporary file for entries that the store rejects during a run. If this process dies, the
//! entries survive in the file.

use std::fs;
use std::path::{Path, PathBuf};

use yamba_record::{Benchmark, RunHead};
use yamba_store::{Location, Store};

/// A temporary store for the entries of one run.
pub(super) struct Spool {
    store: Store,
    id: String,
    path: PathBuf,
    /// Whether it accepts more entries; false after the first failure.
    is_open: bool,
}

impl Spool {
    /// Creates the file and stores the run in it, without entries.
    ///
    /// # Errors
    /// Why the file cannot be created.
    pub(super) fn begin(head: &RunHead) -> Result<Spool, String> {
        let file = tempfile::Builder::new()
            .prefix(&format!("yamba-unstored-{}-", head.id))
            .suffix(".sqlite")
            .tempfile();
        let file = file.map_err(|e| e.to_string())?.into_temp_path();
        let path = file.keep().map_err(|e| e.to_string())?;
        let begun = Store::open(&Location::File(path.clone())).and_then(|mut store| {
            store.begin(head)?;
            Ok(store)
        });
        let begun = begun.inspect_err(|_| remove_file(&path));
        Ok(Spool {
            store: begun.map_err(|e| e.to_string())?,
            id: head.id.clone(),
            path,
            is_open: true,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Stores an entry. After the first failure, does nothing: the entries so far stay until the
    /// run ends.
    ///
    /// # Errors
    /// The reason of the first failure. Later calls return `Ok`.
    pub(super) fn put(&mut self, place: usize, benchmark: &Benchmark) -> Result<(), String> {
        if !self.is_open {
            return Ok(());
        }
        let done = self.store.put(&self.id, place, benchmark);
        self.is_open = done.is_ok();
        done.map_err(|e| e.to_string())
    }

    /// Deletes the file. Call it when the entries are stored elsewhere.
    pub(super) fn remove(self) {
        drop(self.store);
        remove_file(&self.path);
    }
}

/// Deletes a SQLite file with its `-wal` and `-shm` files, which SQLite does not delete from a full
/// disk. Errors are ignored: a leftover file does no harm.
fn remove_file(path: &Path) {
    for beside in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Machine, Run, Status};

    use super::*;

    /// The entries before a failure stay readable, and `remove_file` deletes all files.
    #[test]
    fn spool_failure_is_reported_once_and_leaves_no_file() {
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
        // A full disk leaves the `-wal` file behind.
        let beside = path.with_extension("sqlite-wal");
        spool.remove();
        fs::write(&path, "").unwrap();
        fs::write(&beside, "").unwrap();
        remove_file(&path);
        assert!(!path.exists() && !beside.exists());
    }
}
