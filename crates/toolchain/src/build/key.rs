//! Hashes of a build's inputs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use super::tool::Tool;

/// Hexadecimal digits of a key, which names a cache folder.
pub(super) const DIGITS: usize = 32;

/// A hash of the inputs that a program depends on.
pub(super) struct Key(blake3::Hasher);

impl Key {
    pub(super) fn new() -> Key {
        Key(blake3::Hasher::new())
    }

    /// Adds a text, preceded by its length. So different sequences of texts never yield the same
    /// bytes.
    pub(super) fn add(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Adds a tool's path, size and date. Another version of the tool differs in size or date.
    pub(super) fn add_tool(&mut self, tool: &Tool) -> io::Result<()> {
        let real = fs::canonicalize(&tool.path)?;
        let about = fs::metadata(&real)?;
        let changed = about.modified()?.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        self.bytes(real.as_os_str().as_encoded_bytes());
        self.add(&format!("{} {changed} {}", about.len(), tool.arguments.join(" ")));
        Ok(())
    }

    /// Adds every file of a folder by name and content. Each folder is read once per process.
    pub(super) fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(folder) {
            let mut key = Key::new();
            key.read_folder(folder, folder)?;
            known.insert(folder.to_path_buf(), key.finish());
        }
        self.add(&known[folder]);
        Ok(())
    }

    fn read_folder(&mut self, folder: &Path, root: &Path) -> io::Result<()> {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.read_folder(&path, root)?;
            } else {
                let name = path.strip_prefix(root).unwrap_or(&path);
                self.bytes(name.as_os_str().as_encoded_bytes());
                self.bytes(&fs::read(&path)?);
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> String {
        self.0.finalize().to_hex()[..DIGITS].to_owned()
    }
}

/// The first 16 digits of a hash, enough to distinguish files.
pub(super) fn short(hash: &str) -> String {
    hash.chars().take(16).collect()
}
