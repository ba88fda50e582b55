//! The files of `runtime/support` that a program needs: those whose headers its C++ includes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The subfolder of these files in the runtime's folder, as it appears in `#include`.
const FOLDER: &str = "support/";

/// The sources of the headers that `text` includes, directly or through these files.
pub(super) fn sources(text: &str, runtime: &Path) -> io::Result<Vec<PathBuf>> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut unread = included(text);
    while let Some(name) = unread.pop() {
        let path = |end: &str| runtime.join(FOLDER).join(format!("{name}{end}"));
        // A missing header is left for the compiler to report.
        if known.contains(&name) || !path(".h").is_file() {
            continue;
        }
        for end in [".h", ".cc"] {
            if path(end).is_file() {
                unread.extend(included(&fs::read_to_string(path(end))?));
            }
        }
        known.insert(name);
    }
    let all = known.iter().map(|name| runtime.join(FOLDER).join(format!("{name}.cc")));
    Ok(all.filter(|path| path.is_file()).collect())
}

/// The names, without `.h`, of the support headers that a text includes.
fn included(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        let path = rest.strip_prefix(['<', '"'])?.split(['>', '"']).next()?;
        path.strip_prefix(FOLDER)?.strip_suffix(".h")
    });
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_included_headers_are_found_through_other_headers_and_sources() {
        let folder = tempfile::tempdir().unwrap();
        let support = folder.path().join("support");
        fs::create_dir(&support).unwrap();
        let files = [
            ("a.h", "#include \"support/b.h\"\n"),
            ("a.cc", "#include \"support/a.h\"\n"),
            ("b.h", "  # include <support/only_header.h>\n"),
            ("b.cc", "#include <support/c.h>\n#include \"support/b.h\"\n"),
            ("c.h", ""),
            ("c.cc", ""),
            ("only_header.h", ""),
            ("unused.h", ""),
            ("unused.cc", ""),
        ];
        for (name, text) in files {
            fs::write(support.join(name), text).unwrap();
        }
        let found = |text: &str| sources(text, folder.path()).unwrap();
        let expected = ["a.cc", "b.cc", "c.cc"].map(|name| support.join(name));
        assert_eq!(found("int x;\n#include <support/a.h>\n"), expected);
        assert_eq!(found("#include <support/c.h>\n"), expected[2..]);
        let none: [PathBuf; 0] = [];
        assert_eq!(found("// support/a.h\n#include <a.h>\n"), none);
        assert_eq!(found("#include <support/missing.h>\n"), none);
    }
}
