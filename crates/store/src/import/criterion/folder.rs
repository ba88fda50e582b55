//! Finds the files of criterion's benchmarks in a folder.

use std::fs::{self, DirEntry};
use std::path::Path;

use super::super::{DocumentFault, text};

/// The folder with the files of the latest run of a benchmark.
const LATEST: &str = "new";

/// Maximum depth of a benchmark's folder: `GROUP/FUNCTION/VALUE`.
const DEEPEST: usize = 3;

/// Maximum number of entries that are searched.
const MOST_ENTRIES: usize = 100_000;

/// The text of the files of a benchmark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// The path of its folder, from the folder that was named.
    pub(crate) place: String,
    pub(crate) benchmark: Option<String>,
    pub(crate) sample: Option<String>,
    pub(crate) estimates: Option<String>,
}

/// The files of all benchmarks of a folder, and their number of bytes. Empty if it is no folder of
/// criterion.
///
/// # Errors
/// If a file cannot be read, or if there are more than `largest` bytes or too many entries.
pub(crate) fn read(path: &Path, largest: u64) -> Result<(Vec<Files>, u64), DocumentFault> {
    let mut search = Search { found: Vec::new(), entries: 0, length: 0, largest };
    search.folder(path, "", 0)?;
    Ok((search.found, search.length))
}

struct Search {
    found: Vec<Files>,
    entries: usize,
    length: u64,
    largest: u64,
}

impl Search {
    /// Searches a folder. `place` is its path from the folder that was named.
    fn folder(&mut self, path: &Path, place: &str, depth: usize) -> Result<(), DocumentFault> {
        // A folder that cannot be read is none of criterion, which writes all of them.
        let Ok(entries) = fs::read_dir(path) else {
            return Ok(());
        };
        let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut folders: Vec<String> = Vec::new();
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                let message = format!("is a folder with more than {MOST_ENTRIES} entries");
                return Err((message, Some("of criterion, name the folder target/criterion")));
            }
            if is_folder(&entry) {
                folders.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        folders.sort();
        for name in folders {
            let inner = path.join(&name);
            if name == LATEST {
                self.benchmark(&inner, place)?;
            } else if depth < DEEPEST {
                let place = if place.is_empty() { name } else { format!("{place}/{name}") };
                self.folder(&inner, &place, depth + 1)?;
            }
        }
        Ok(())
    }

    fn benchmark(&mut self, path: &Path, place: &str) -> Result<(), DocumentFault> {
        let files = Files {
            place: place.to_owned(),
            benchmark: self.file(path, "benchmark.json")?,
            sample: self.file(path, "sample.json")?,
            estimates: self.file(path, "estimates.json")?,
        };
        if files.benchmark.is_some() || files.sample.is_some() {
            self.found.push(files);
        }
        Ok(())
    }

    /// The text of a file. `None` without it.
    fn file(&mut self, folder: &Path, name: &str) -> Result<Option<String>, DocumentFault> {
        let path = folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = text::read(&path, self.largest - self.length)
            .map_err(|(fault, help)| (format!("{}: {fault}", path.display()), help))?;
        self.length += bytes.len() as u64;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
