//! The house rules that no compiler checks: who may use whom, and what is pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::root;

/// The workspace crates that each workspace crate may use, without their `yamba-` prefix. `yamba` and `session` may use every crate.
const MAY_USE: [(&str, &[&str]); 10] = [
    ("lang", &[]),
    ("codegen", &["lang"]),
    ("record", &[]),
    ("stats", &[]),
    ("store", &["record", "stats"]),
    ("report", &["record", "stats"]),
    ("compare", &["record", "stats"]),
    ("machine", &["record"]),
    ("harness", &["record", "stats", "machine"]),
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
        .filter_map(|name| {
            name.strip_prefix("yamba-")
                .or((name == "yamba").then_some(name))
        })
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
fn session_prints_nothing_and_knows_no_command_line() {
    let forbidden = [
        "println!",
        "print!(",
        "io::stdout",
        "io::stderr",
        "is_terminal",
        "clap",
        "env::args",
        "process::exit",
    ];
    let files = sources(&root().join("crates/session/src"));
    assert!(files.len() > 40, "{files:?}");
    for path in files.iter().filter(|p| !p.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for word in forbidden {
            assert!(!text.contains(word), "{}: {word}", path.display());
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

/// The crates whose modules form layers: no module uses itself through others, or an item through the root of the crate.
const LAYERED: [&str; 1] = ["harness"];

#[test]
fn modules_of_layered_crates_have_no_circle() {
    for name in LAYERED {
        let mut left = modules(&root().join("crates").join(name).join("src"));
        let known: BTreeSet<String> = left.keys().cloned().collect();
        for (module, used) in &left {
            let unknown: Vec<&String> = used.difference(&known).collect();
            assert!(
                unknown.is_empty(),
                "{name}: {module} uses {unknown:?} through the root"
            );
        }
        // Takes away the modules that use no other until none is left.
        while !left.is_empty() {
            let uses_none = |used: &BTreeSet<String>| !used.iter().any(|u| left.contains_key(u));
            let lowest: Vec<String> = left
                .iter()
                .filter(|(_, used)| uses_none(used))
                .map(|(module, _)| module.clone())
                .collect();
            assert!(!lowest.is_empty(), "{name}: a circle among {left:?}");
            left.retain(|module, _| !lowest.contains(module));
        }
    }
}

/// The modules of a crate, each with the modules that its code uses; tests are left out.
fn modules(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(src) {
        let inside = path.strip_prefix(src).unwrap().with_extension("");
        let mut place: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        place.retain(|part| *part != "mod");
        if place == ["lib"] || place.iter().any(|part| part.ends_with("tests")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let used = modules.entry(place[0].to_owned()).or_default();
        used.extend(used_by(code, &place));
        used.remove(place[0]);
    }
    modules
}

/// The first names of the paths from the root of the crate that code in the module `place` uses.
fn used_by(code: &str, place: &[&str]) -> Vec<String> {
    let mut used = Vec::new();
    let mut rest = code;
    while let Some(start) = rest
        .find("super::")
        .into_iter()
        .chain(rest.find("crate::"))
        .min()
    {
        rest = &rest[start..];
        let mut outside = place;
        if let Some(path) = rest.strip_prefix("crate::") {
            (rest, outside) = (path, &[]);
        }
        while let Some(path) = rest.strip_prefix("super::") {
            (rest, outside) = (path, &outside[..outside.len().saturating_sub(1)]);
        }
        match outside.first() {
            Some(module) => used.push((*module).to_owned()),
            None => used.extend(first_names(rest)),
        }
    }
    used
}

/// `a` of `a::b`, and `a` and `c` of `{a::b, c::{self, d}}`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
        text.trim_start().chars().take_while(is_name).collect()
    };
    let Some(list) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut depth = 1;
    let mut starts = vec![0];
    for (at, c) in list.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            break;
        }
        if c == ',' && depth == 1 {
            starts.push(at + 1);
        }
    }
    let names = starts.into_iter().map(|start| name(&list[start..]));
    names.filter(|n| !n.is_empty()).collect()
}

#[test]
fn paths_of_modules_are_read_from_code() {
    let code = "use super::a::B;\nuse super::{c::{D, e}, f};\nuse super::super::g;\ncrate::h::i();";
    assert_eq!(used_by(code, &["x"]), ["a", "c", "f", "g", "h"]);
    assert_eq!(used_by(code, &["x", "y"]), ["x", "x", "g", "h"]);
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
