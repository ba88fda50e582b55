//! Saved files of other machines.

use std::collections::BTreeMap;

use super::source::Source;

/// A machine's files in one text: `== PATH` followed by the lines of the file, with `\0` for a zero
/// byte; `== PATH = HEX` for a file with these bytes; `== LINK -> PATH` for a symbolic link.
pub(super) struct Sample {
    files: BTreeMap<String, Vec<u8>>,
    links: Vec<(String, String)>,
}

impl Sample {
    pub fn new(text: &str) -> Sample {
        let mut sample = Sample { files: BTreeMap::new(), links: Vec::new() };
        for part in text.split("== ").skip(1) {
            let (head, lines) = part.split_once('\n').unwrap();
            if let Some((link, to)) = head.split_once(" -> ") {
                sample.links.push((link.to_owned(), to.to_owned()));
            } else if let Some((path, hex)) = head.split_once(" = ") {
                let digits = (0..hex.len()).step_by(2).map(|i| &hex[i..i + 2]);
                let bytes = digits.map(|d| u8::from_str_radix(d, 16).unwrap());
                sample.files.insert(path.to_owned(), bytes.collect());
            } else {
                let bytes = lines.replace("\\0", "\0").into_bytes();
                sample.files.insert(head.to_owned(), bytes);
            }
        }
        sample
    }
}

impl Source for Sample {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let inside = self.files.keys().filter_map(|p| {
            let rest = p.strip_prefix(folder)?.strip_prefix('/')?;
            rest.split('/').next().map(str::to_owned)
        });
        let mut names: Vec<String> = inside.collect();
        names.sort();
        names.dedup();
        names
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let link = self.links.iter().find(|(link, _)| link == path);
        match link {
            Some((_, to)) => Some(to.clone()),
            None => self.files.contains_key(path).then(|| path.to_owned()),
        }
    }
}
