//! The folders of the suite are its groups, in the order in which a reader wants them. A folder that is not named here is a group, too, under its own name.

use yamba_lang::{Analysis, ClassId};

const TITLES: [(&str, &str); 10] = [
    ("cpu", "Processor"),
    ("memory", "Memory"),
    ("process", "Processes and system calls"),
    ("ipc", "Communication on one machine"),
    ("file", "Files"),
    ("network", "Network"),
    ("remote", "Files of another host"),
    ("time", "Clocks and waiting"),
    ("selftest", "Known answers"),
    ("", "Other"),
];

/// The name of the folder that a class's file lies in; empty for a file without one.
pub fn folder(analysis: &Analysis, class: ClassId) -> &str {
    let path = &analysis.sources.file(analysis.class(class).file).path;
    let mut parts = path.rsplit(['/', '\\']);
    parts.next();
    parts.next().unwrap_or_default()
}

/// What a person calls the group.
pub fn title(folder: &str) -> &str {
    let known = TITLES.iter().find(|(name, _)| *name == folder);
    known.map_or(folder, |(_, title)| title)
}

/// Where it stands among the others; those that nobody has placed come last.
pub fn place(folder: &str) -> usize {
    let known = TITLES.iter().position(|(name, _)| *name == folder);
    known.unwrap_or(TITLES.len())
}
