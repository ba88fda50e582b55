//! Sources of facts: the files of this system, or in tests the saved files of some machine.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::str::FromStr;

use super::text::parsed_cpu_list;

/// A source of files. A missing or unreadable file gives `None`. Content that is not in the form
/// that the kernel writes gives `None`, too, and its file is named by [`Source::omit`].
pub(super) trait Source {
    /// The content of a file as bytes.
    fn bytes(&self, path: &str) -> Option<Vec<u8>>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &str) -> Vec<String>;
    /// The path with symbolic links resolved.
    fn resolve(&self, path: &str) -> Option<String>;
    /// Notes that the content of a file was not understood, so that a fact is missing.
    fn omit(&self, _path: &str) {}

    /// The content of a file as text.
    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_start_matches('\u{feff}').to_owned())
    }

    /// The whole lines of a file. Each ends with a line feed: one without is the beginning of a
    /// line.
    fn lines(&self, path: &str) -> Option<String> {
        let mut text = self.read(path)?.replace("\r\n", "\n");
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            self.omit(path);
            text.truncate(whole);
        }
        Some(text)
    }

    /// A value, or `None` with a note about its file.
    fn understood<T>(&self, path: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.omit(path);
        }
        value
    }

    /// The content of a file with one line, which a line feed or a zero byte ends. `None` if the
    /// line is empty.
    fn word(&self, path: &str) -> Option<String> {
        let text = self.read(path)?;
        let word = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if word.is_empty() && !text.is_empty() {
            return None;
        }
        let is_ended = text.ends_with(['\n', '\0']);
        let is_one_line = !word.contains('\n');
        self.understood(path, (is_ended && is_one_line).then(|| word.to_owned()))
    }

    /// The content of a file with a name, which has no white space.
    fn name(&self, path: &str) -> Option<String> {
        let word = self.word(path)?;
        let is_name = !word.contains(char::is_whitespace);
        self.understood(path, is_name.then_some(word))
    }

    /// The content of a file as a number.
    fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        let word = self.word(path)?;
        self.understood(path, word.parse().ok())
    }

    /// The numbers in some files; `None` if the content of one is not understood. Missing files do
    /// not count.
    fn numbers<T: FromStr>(&self, paths: impl IntoIterator<Item = String>) -> Option<Vec<T>> {
        let mut numbers = Vec::new();
        for path in paths {
            if self.bytes(&path).is_some_and(|bytes| bytes != b"\n") {
                numbers.push(self.number(&path)?);
            }
        }
        Some(numbers)
    }

    /// The content of a file as a boolean: 0 is false. Module parameters use `Y` and `N`.
    fn is_on(&self, path: &str) -> Option<bool> {
        let word = self.word(path)?;
        let is_on = match word.as_str() {
            "0" | "N" => Some(false),
            "Y" => Some(true),
            other => other.parse::<i64>().ok().map(|n| n != 0),
        };
        self.understood(path, is_on)
    }

    /// The content of a file as a list of processors, such as `0-3,8`.
    fn cpus(&self, path: &str) -> Option<String> {
        let word = self.word(path)?;
        let text = self.read(path)?;
        let is_alone = text.trim_end_matches(['\n', '\r']) == word;
        let is_list = is_alone && parsed_cpu_list(&word).is_some();
        self.understood(path, is_list.then_some(word))
    }
}

/// A source that collects the names of files whose content is not understood.
pub(super) struct Noted<'a, S> {
    source: &'a S,
    omitted: RefCell<BTreeSet<String>>,
}

impl<'a, S: Source> Noted<'a, S> {
    pub fn new(source: &'a S) -> Noted<'a, S> {
        Noted { source, omitted: RefCell::default() }
    }

    pub fn omitted(self) -> Vec<String> {
        self.omitted.into_inner().into_iter().collect()
    }
}

impl<S: Source> Source for Noted<'_, S> {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.source.bytes(path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.source.list(folder)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.source.resolve(path)
    }

    /// The path of a control group may name its user: only the file's own name is noted.
    fn omit(&self, path: &str) {
        let is_of_group = |name: &str| name.starts_with("cpu.") || name.starts_with("memory.");
        let name = path.rsplit('/').next().unwrap_or(path);
        let noted = if is_of_group(name) { name } else { path };
        self.omitted.borrow_mut().insert(noted.to_owned());
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
        let mut names: Vec<String> =
            entries.filter_map(|e| e.file_name().into_string().ok()).collect();
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
        assert_eq!(sample.numbers::<u64>(["/d".into(), "/x".into()]), Some(vec![0]));
        assert_eq!(sample.numbers::<u64>(["/d".into(), "/c".into()]), None);
    }
}
