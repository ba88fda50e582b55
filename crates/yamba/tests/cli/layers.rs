//! The modules of each crate form layers: no two sibling modules use each other, neither directly
//! nor through others.
//!
//! A module includes its submodules. An item that a parent module re-exports counts as an item of
//! the module that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::root;

/// The path of a module within its crate; empty for the crate itself.
type Module = Vec<String>;

/// The modules of one crate.
#[derive(Default)]
struct Crate {
    /// The paths that each module names, made absolute: in `use` declarations and inline.
    named: BTreeMap<Module, Vec<Module>>,
    /// For each module, its imported names with the absolute paths behind them.
    imports: BTreeMap<Module, BTreeMap<String, Module>>,
    /// The modules that exist only in tests.
    of_tests: BTreeSet<Module>,
}

#[test]
fn sibling_modules_do_not_use_each_other() {
    let mut faults = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = folder.file_name().into_string().unwrap();
        let circles = Crate::read(&folder.path().join("src")).circles();
        faults.extend(circles.iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(faults.is_empty(), "circles:\n{}", faults.join("\n"));
}

#[test]
fn circle_through_a_re_export_is_found() {
    let mut example = Crate::default();
    example.add(&[], "pub use inner::{Thing, part::{self, Other as Renamed}};");
    example.add(&["inner"], "pub struct Thing; fn f() { super::user::call() }");
    example.add(&["inner", "part"], "");
    example.add(&["user"], "use crate::Renamed;");
    assert_eq!(example.circles(), ["{inner, user}"]);
    let mut example = Crate::default();
    example.add(&["low"], "#[cfg(test)]\nmod tests {\n    use crate::high;\n}\n");
    example.add(&["high"], "use super::low;");
    assert_eq!(example.circles(), [""; 0]);
}

impl Crate {
    fn read(source: &Path) -> Crate {
        let mut read = Crate::default();
        read.read_folder(source, &[]);
        read
    }

    fn read_folder(&mut self, folder: &Path, parent: &[&str]) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if stem == "tests" || stem.ends_with("_tests") {
                continue;
            }
            let mut module = parent.to_vec();
            if !["lib", "main", "mod"].contains(&stem.as_str()) {
                module.push(&stem);
            }
            if path.is_dir() {
                self.read_folder(&path, &module);
            } else if path.extension().is_some_and(|e| e == "rs") {
                self.add(&module, &fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn add(&mut self, module: &[&str], text: &str) {
        let module: Module = module.iter().map(|&part| part.to_owned()).collect();
        let mut parts = text.split("#[cfg(test)]\nmod ");
        let text = parts.next().unwrap();
        for part in parts {
            let name = part.split([';', ' ']).next().unwrap();
            let of_tests = [&module[..], &[name.to_owned()]].concat();
            self.of_tests.insert(of_tests);
        }
        let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap()).collect();
        let code = code.join("\n");
        let imports = self.imports.entry(module.clone()).or_default();
        let named = self.named.entry(module.clone()).or_default();
        for declaration in code.split("use ").skip(1) {
            let Some((tree, _)) = declaration.split_once(';') else {
                continue;
            };
            for (path, alias) in leaves(&tree.split_whitespace().collect::<Vec<_>>().join(" ")) {
                let path = absolute(&module, &path);
                imports.insert(alias, path.clone());
                named.push(path);
            }
        }
        for start in ["crate::", "super::"] {
            for (at, _) in code.match_indices(start) {
                let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let path = code[at..].split(|c| !is_path(c)).next().unwrap();
                let before = code[..at].chars().next_back();
                if !before.is_some_and(is_path) {
                    let parts: Module = path.split("::").map(str::to_owned).collect();
                    named.push(absolute(&module, &parts));
                }
            }
        }
    }

    /// The module that defines the item `path`, found through names and re-exports.
    fn definition(&self, path: &[String], depth: usize) -> Module {
        let mut module = Module::new();
        for (i, part) in path.iter().enumerate() {
            let inner = [&module[..], std::slice::from_ref(part)].concat();
            if self.named.contains_key(&inner) {
                module = inner;
                continue;
            }
            return match self.imports.get(&module).and_then(|names| names.get(part)) {
                Some(behind) if depth < 8 => {
                    self.definition(&[behind, &path[i + 1..]].concat(), depth + 1)
                }
                _ => module,
            };
        }
        module
    }

    /// For each parent module, the uses between its children.
    fn uses(&self) -> BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> {
        let mut uses: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        let is_product = |m: &[String]| !self.of_tests.iter().any(|test| m.starts_with(test));
        for (user, paths) in self.named.iter().filter(|(user, _)| is_product(user)) {
            let used = paths.iter().map(|path| self.definition(path, 0));
            for used in used.filter(|used| is_product(used)) {
                let same = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (user.get(same), used.get(same)) {
                    let children = uses.entry(user[..same].to_vec()).or_default();
                    children.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        uses
    }

    /// The groups of sibling modules that use each other, directly or indirectly, as `parent{a,
    /// b}`.
    fn circles(&self) -> Vec<String> {
        let mut circles = BTreeSet::new();
        for (parent, children) in self.uses() {
            for child in children.keys() {
                let reached = reachable(&children, child);
                let back = |other: &&String| reachable(&children, other).contains(child);
                let circle: Vec<&str> = reached.iter().filter(back).map(String::as_str).collect();
                if !circle.is_empty() {
                    circles.insert(format!("{}{{{}}}", parent.join("::"), circle.join(", ")));
                }
            }
        }
        circles.into_iter().collect()
    }
}

/// The modules that `start` uses, directly or through others.
fn reachable(uses: &BTreeMap<String, BTreeSet<String>>, start: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![start.to_owned()];
    while let Some(module) = open.pop() {
        let direct = uses.get(&module).into_iter().flatten();
        open.extend(direct.filter(|used| found.insert((*used).clone())).cloned());
    }
    found
}

/// `super::x` within `module` as a path from the crate's root. A path without `crate`, `super` or
/// `self` begins in `module`.
fn absolute(module: &[String], path: &[String]) -> Module {
    let mut base = module.to_vec();
    let mut rest = path;
    while let Some(first) = rest.first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => {}
            _ => break,
        }
        rest = &rest[1..];
    }
    base.extend(rest.iter().cloned());
    base
}

/// The paths of a `use` tree, each with the name that it gives: `a::{b, c as d}` has `a::b` as `b`
/// and `a::c` as `d`.
fn leaves(tree: &str) -> Vec<(Module, String)> {
    let Some((head, inner)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut parts: Module = path.trim().split("::").map(str::to_owned).collect();
        parts.retain(|part| part != "*");
        if parts.last().is_some_and(|last| last == "self") {
            parts.pop();
        }
        let name = if alias.is_empty() {
            parts.last().cloned().unwrap_or_default()
        } else {
            alias.trim().to_owned()
        };
        return vec![(parts, name)];
    };
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let mut depth = 0;
    let branches = inner.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let branches = branches.map(str::trim).filter(|branch| !branch.is_empty());
    branches.flat_map(|branch| leaves(&format!("{}{branch}", head.trim()))).collect()
}
