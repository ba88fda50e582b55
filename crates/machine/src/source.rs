//! Sources of facts: the files of this system, or in tests the saved files of some machine.

use std::fs;
use std::str::FromStr;

/// A source of files. A missing or unreadable file gives `None`.
pub(super) trait Source {
    /// The content of a file as bytes.
    fn bytes(&self, path: &str) -> Option<Vec<u8>>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &str) -> Vec<String>;
    /// The path with symbolic links resolved.
    fn resolve(&self, path: &str) -> Option<String>;

    /// The content of a file as text.
    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The trimmed content of a file with one line. `None` if it is empty.
    fn word(&self, path: &str) -> Option<String> {
        let text = self.read(path)?;
        let word = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!word.is_empty()).then(|| word.to_owned())
    }

    /// The content of a file as a number.
    fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.word(path)?.parse().ok()
    }

    /// The content of a file as a boolean: 0 is false. Module parameters use `Y` and `N`.
    fn is_on(&self, path: &str) -> Option<bool> {
        match self.word(path)?.as_str() {
            "0" | "N" => Some(false),
            "Y" => Some(true),
            other => other.parse::<i64>().ok().map(|n| n != 0),
        }
    }
}

/// This machine.
pub(super) struct Here;

impl Source for Here {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn resolve(&self, path: &str) -> Option<String> {
        fs::canonicalize(path).ok()?.to_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn missing_or_empty_file_gives_none() {
        let sample = Sample::new("== /a\n\n== /b\nY\n== /c\n-1\n== /d\n0\n");
        assert_eq!(sample.word("/a"), None);
        assert_eq!(sample.word("/x"), None);
        assert_eq!(sample.is_on("/b"), Some(true));
        assert_eq!(sample.number::<i64>("/c"), Some(-1));
        assert_eq!(sample.number::<u64>("/c"), None);
        assert_eq!(sample.is_on("/d"), Some(false));
    }
}
