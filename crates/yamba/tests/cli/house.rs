//! The house rules that no compiler checks: who may use whom, and what is pure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::root;

/// Each crate of ours and the crates of ours that it may use.
const MAY_USE: [(&str, &[&str]); 7] = [
    ("yamba-lang", &[]),
    ("yamba-codegen", &["yamba-lang"]),
    ("yamba-record", &[]),
    ("yamba-stats", &[]),
    ("yamba-store", &["yamba-record", "yamba-stats"]),
    ("yamba-report", &["yamba-record", "yamba-stats"]),
    (
        "yamba",
        &[
            "yamba-lang",
            "yamba-codegen",
            "yamba-record",
            "yamba-stats",
            "yamba-store",
            "yamba-report",
        ],
    ),
];

#[test]
fn crates_use_each_other_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let text = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let name = text
            .lines()
            .find_map(|l| l.strip_prefix("name = "))
            .unwrap()
            .trim_matches('"');
        let may = allowed
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the table of this test"));
        for used in used(&text) {
            assert!(may.contains(&used.as_str()), "{name} may not use {used}");
        }
    }
}

/// The crates of ours in the `[dependencies]` of a manifest; what tests use is free.
fn used(manifest: &str) -> Vec<String> {
    let inside = manifest
        .split("\n[")
        .find(|section| section.starts_with("dependencies]"))
        .unwrap_or("");
    let names = inside
        .lines()
        .filter_map(|l| l.split(['=', '.', ' ']).next());
    names
        .filter(|n| n.starts_with("yamba"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_language_and_its_generator_are_pure() {
    let impure = [
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
                assert!(
                    !text.contains(word),
                    "{}: {word} in a crate without I/O",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_runtime_knows_instruction_sets_only_in_their_folder() {
    let macros = ["__x86_64__", "__i386__", "__aarch64__", "__riscv"];
    for path in sources(&root().join("runtime")) {
        if path.iter().any(|part| part == "isa") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in macros {
            assert!(
                !text.contains(word),
                "{}: {word} outside runtime/isa",
                path.display()
            );
        }
    }
}

#[test]
fn every_benchmark_says_what_it_measures() {
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
fn nothing_is_left_for_later() {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
        concat!("to", "do!()"),
    ];
    for folder in ["crates", "runtime", "library", "suite", "examples"] {
        for path in sources(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for mark in marks {
                assert!(!text.contains(mark), "{}: {mark}", path.display());
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path
            .extension()
            .is_some_and(|e| ["rs", "h", "yamba"].iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
    found
}
