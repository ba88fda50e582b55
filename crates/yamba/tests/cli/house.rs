//! Rules of the code base that no compiler checks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::root;

/// The workspace crates that each workspace crate may use, without their `yamba-` prefix. `yamba`
/// and `session` may use every crate.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("lang", &[]),
    ("codegen", &["lang"]),
    ("record", &[]),
    ("stats", &[]),
    ("discover", &["stats"]),
    ("machine", &["record"]),
    ("page-cache", &[]),
    ("store", &["record", "stats"]),
    ("report", &["record", "stats", "discover"]),
    ("compare", &["record", "stats"]),
    ("fleet", &["record", "stats", "machine", "compare"]),
    ("load", &["stats"]),
    ("predict", &["record", "stats"]),
    ("jvm", &["record", "machine", "predict"]),
    ("trace", &["machine", "predict", "page-cache"]),
    ("harness", &["record", "stats", "machine", "discover"]),
    ("toolchain", &["lang", "codegen", "record", "machine"]),
];

#[test]
fn crates_use_only_crates_of_lower_layers() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = folder.file_name().into_string().unwrap();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        for used in dependencies(&manifest) {
            let may_use = match name.as_str() {
                "yamba" => true,
                "session" => used != "yamba" && used != "report",
                _ => allowed[name.as_str()].contains(&used.as_str()),
            };
            assert!(may_use, "{name} may not use {used}");
        }
    }
}

/// The workspace crates in the `[dependencies]` of a manifest. Tests may use any crate.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut sections = manifest.split("\n[");
    let section = sections.find(|s| s.starts_with("dependencies]"));
    let lines = section.unwrap_or_default().lines();
    lines
        .filter_map(|l| l.split(['=', '.', ' ']).next())
        .filter_map(|name| name.strip_prefix("yamba-").or((name == "yamba").then_some(name)))
        .map(str::to_owned)
        .collect()
}

/// Counts the lines of each file up to its first test module. `scripts/product-lines` counts more
/// exactly, so its numbers may differ a little.
#[test]
fn no_crate_holds_more_than_a_quarter_of_the_product_lines() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let is_product = |path: &&PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.extension().is_some_and(|e| e == "rs") && !stem.ends_with("tests")
        };
        let of_crate = sources(&folder.path().join("src"));
        let count = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            product.lines().count()
        };
        let name = folder.file_name().into_string().unwrap();
        lines.insert(name, of_crate.iter().filter(is_product).map(count).sum());
    }
    let all: usize = lines.values().sum();
    for (name, own) in lines {
        assert!(own * 4 <= all, "{name} has {own} of {all} product lines");
    }
}

/// `cargo package` packs the folder of a crate, and what links in it name. A file that is embedded
/// from another folder would be missing there. Tests are not built of a package.
#[test]
fn embedded_files_are_within_their_crate() {
    let mut seen = 0;
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let folder = folder.path();
        for path in sources(&folder.join("src")) {
            if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for name in embedded(without_test_module(&text)) {
                let file = match name.strip_prefix("$CARGO_MANIFEST_DIR/") {
                    Some(name) => folder.join(name),
                    None => path.parent().unwrap().join(name),
                };
                let file = without_dots(&file);
                assert!(file.starts_with(&folder), "{}: {name}", path.display());
                assert!(file.exists(), "{}: {name}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} embedded files were found");
}

/// The text before a test module at its end.
fn without_test_module(text: &str) -> &str {
    let is_module = |rest: &str| {
        let item = rest.lines().find(|line| !line.starts_with("#["));
        item.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    match text.rsplit_once("\n#[cfg(test)]\n") {
        Some((product, rest)) if is_module(rest) => product,
        _ => text,
    }
}

/// The files and folders that a source embeds, such as `include_str!("FILE")`.
fn embedded(text: &str) -> impl Iterator<Item = &str> {
    text.split("include_").skip(1).filter_map(|rest| {
        let (kind, rest) = rest.split_once("!(\"")?;
        let is_macro = ["str", "bytes", "dir", "bytes_aligned"].contains(&kind);
        is_macro.then(|| rest.split('"').next()).flatten()
    })
}

/// The path without `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

#[test]
fn lines_of_comments_have_at_most_100_columns() {
    let folders = ["crates", "benches", "fuzz", "java", "runtime", "library", "suite", "examples"];
    let mut long = Vec::new();
    for path in folders.iter().flat_map(|folder| sources(&root().join(folder))) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            let start = line.trim_start();
            let is_comment = ["//", "* ", "/*"].iter().any(|mark| start.starts_with(mark));
            if is_comment && line.chars().count() > 100 {
                long.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "comments over 100 columns: {long:#?}");
}

#[test]
fn lang_and_codegen_do_no_io_and_do_not_depend_on_their_host() {
    let impure = [
        // A group of imports could have each of the following.
        "std::{",
        "std::fs",
        "std::process",
        "std::time",
        "std::env",
        "std::net",
        "std::thread",
        "std::io",
        "println!",
        "print!(",
        "cfg(target_",
        "cfg!(target_",
    ];
    for folder in ["lang", "codegen"] {
        for path in sources(&root().join("crates").join(folder).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            for word in impure {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
        }
    }
}

#[test]
fn runtime_names_instruction_sets_only_in_their_folder() {
    let macros = ["__x86_64__", "__i386__", "__aarch64__", "__riscv"];
    for path in sources(&root().join("runtime")) {
        // Tests of the runtime run on this machine only.
        if path.iter().any(|part| part == "isa" || part == "tests") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in macros {
            assert!(!text.contains(word), "{}: {word} outside runtime/isa", path.display());
        }
    }
}

#[test]
fn every_benchmark_is_documented() {
    for path in sources(&root().join("suite")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.lines().any(|l| l.starts_with("/// ")),
            "{}: no documentation",
            path.display()
        );
    }
}

#[test]
fn sources_have_no_todo() {
    let marks =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:"), concat!("to", "do!()")];
    for folder in ["crates", "runtime", "library", "suite", "examples"] {
        for path in sources(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for mark in marks {
                assert!(!text.contains(mark), "{}: {mark}", path.display());
            }
        }
    }
}

/// A failed assertion leaves no process behind: tests start programs through `yamba_child_guard`,
/// or a value that ends them owns them.
#[test]
fn children_end_with_their_test() {
    for krate in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let tests = krate.path().join("tests");
        if !tests.is_dir() {
            continue;
        }
        for path in sources(&tests) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let spawns = concat!(".spaw", "n()");
            assert!(
                !text.contains(spawns) || text.contains("impl Drop for"),
                "{}: {spawns}; yamba_child_guard::StartGuarded ends the child with its test",
                path.display()
            );
        }
    }
}

/// `make test` runs no examples in documentation comments: for each crate rustdoc would read the
/// whole crate, and there is no example.
#[test]
fn documentation_comments_have_no_tests() {
    for path in sources(&root().join("crates")) {
        let mut is_inside = false;
        for line in fs::read_to_string(&path).unwrap().lines() {
            let line = line.trim_start();
            let text = line.strip_prefix("///").or(line.strip_prefix("//!"));
            let Some(fence) = text.and_then(|text| text.trim_start().strip_prefix("```")) else {
                continue;
            };
            assert!(
                is_inside || fence == "text",
                "{}: only blocks of `text`, not `{fence}`",
                path.display()
            );
            is_inside = !is_inside;
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| {
            ["rs", "h", "cc", "java", "js", "yamba"].iter().any(|known| e == *known)
        }) {
            found.push(path);
        }
    }
    found
}
