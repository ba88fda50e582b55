//! The suite's folders are its groups, listed here in display order. A folder that is not listed is
//! a group under its own name.

use yamba_lang::{Analysis, ClassId};

const TITLES: [(&str, &str); 11] = [
    ("cpu", "Processor"),
    ("memory", "Memory"),
    ("process", "Processes and system calls"),
    ("ipc", "Communication on one machine"),
    ("file", "Files"),
    ("network", "Network"),
    ("remote", "Files of another host"),
    ("time", "Clocks and waiting"),
    ("hardware", "Parameters of the processor"),
    ("selftest", "Known answers"),
    ("", "Your benchmarks"),
];

/// The name of the folder that holds the class's file; empty for a file in the current folder.
pub fn folder(analysis: &Analysis, class: ClassId) -> &str {
    folder_of(&analysis.sources.file(analysis.class(class).file).path)
}

fn folder_of(path: &str) -> &str {
    let mut parts = path.rsplit(['/', '\\']);
    parts.next();
    let folder = parts.next().unwrap_or_default();
    if matches!(folder, "." | "..") { "" } else { folder }
}

/// Whether a folder of the suite has this name.
pub fn is_known(folder: &str) -> bool {
    !folder.is_empty() && TITLES.iter().any(|(name, _)| *name == folder)
}

/// The display title of a group.
pub fn title(folder: &str) -> &str {
    let known = TITLES.iter().find(|(name, _)| *name == folder);
    known.map_or(folder, |(_, title)| title)
}

/// The group's position in display order. Groups that are not listed come last.
pub fn place(folder: &str) -> usize {
    let known = TITLES.iter().position(|(name, _)| *name == folder);
    known.unwrap_or(TITLES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_have_a_heading_of_their_own() {
        for (path, heading) in [
            ("suite/cpu/lat_call.yamba", "Processor"),
            ("mine.yamba", "Your benchmarks"),
            ("./mine.yamba", "Your benchmarks"),
            ("../mine.yamba", "Your benchmarks"),
            ("parser/mine.yamba", "parser"),
        ] {
            assert_eq!(title(folder_of(path)), heading, "{path}");
        }
    }
}
