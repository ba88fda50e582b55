//! Lists the files that one compiler call read: headers, libraries, files named by arguments, and
//! the compiler's own parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use super::cache::Cache;
use super::command_lines::CommandLines;
use super::compiler_kind::CompilerKind;
use super::link_words;
use super::listing;
use super::manifest::Manifest;
use super::read_file::ReadFile;
use super::search::{self, Search};
use super::snapshot_includes::LaidOut;
use super::tool::{Tool, in_path};

/// The file in the build folder to which the compiler writes its list of headers.
const HEADERS: &str = "headers.d";

/// The possible parts of a compiler: compiler proper, assembler, linker driver, linker.
const PARTS: [&str; 4] = ["cc1plus", "as", "collect2", "ld"];

/// Observes one compiler call.
pub(super) struct Observer<'a> {
    tool: &'a Tool,
    kind: CompilerKind,
    /// Further arguments that affect which files it reads.
    flags: Vec<String>,
    /// The build folder.
    staging: &'a Path,
    /// Folders whose files need not be listed. The first key covers the runtime's files, and cache
    /// folders never change.
    known: Vec<PathBuf>,
    kept: Option<&'a LaidOut>,
}

/// The files that were read, by kind and path.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) headers: BTreeMap<PathBuf, ReadFile>,
    pub(super) libraries: BTreeMap<PathBuf, ReadFile>,
    /// Files named by arguments.
    pub(super) named: BTreeMap<PathBuf, ReadFile>,
    /// Parts of the compiler.
    pub(super) parts: BTreeMap<PathBuf, ReadFile>,
    pub(super) search: Search,
    /// The compiler's default search folders.
    pub(super) system: Search,
    /// Why some of the files are unknown.
    pub(super) unlisted: Option<&'static str>,
}

impl<'a> Observer<'a> {
    /// Observes a call of the compiler of `lines` in the folder `staging`.
    pub(super) fn new(lines: &'a CommandLines, staging: &'a Path) -> Observer<'a> {
        let cache = Cache::open().map(|cache| cache.root().to_owned());
        Observer {
            tool: &lines.toolchain.compiler,
            kind: lines.toolchain.kind,
            flags: lines.search.all(),
            staging,
            known: [lines.runtime.clone()].into_iter().chain(cache).collect(),
            kept: lines.kept.as_ref(),
        }
    }

    /// Adds options that make the compiler list the files that it reads.
    pub(super) fn ask(&self, command: &mut Command, links: bool) {
        command.args(["-MD", "-MT", listing::TARGET, "-MF"]);
        command.arg(self.staging.join(HEADERS));
        if links {
            // Without this option, the list holds a precompiled header instead of the headers it
            // includes.
            if self.kind == CompilerKind::Gnu {
                command.arg("-fpch-deps");
            }
            if self.kind.lists_linked_files() {
                command.arg("-Wl,-t");
            }
        }
    }

    /// Reads the file lists of a successful call, which also linked the `program` if there is one.
    pub(super) fn observed(&self, output: &Output, program: Option<&Path>) -> io::Result<Observed> {
        let list = self.staging.join(HEADERS);
        let headers = listing::prerequisites(&fs::read_to_string(&list)?);
        fs::remove_file(list)?;
        let arguments = self.tool.arguments.iter().chain(&self.flags);
        let parts = PARTS.iter().filter_map(|part| self.part(part));
        let mut search = search::folders(self.tool, &self.flags)?;
        let kept = self.kept.map(|kept| &kept.folders);
        search.headers.splice(0..0, kept.into_iter().flatten().cloned());
        let linked = match program {
            Some(program) => self.linked(output, program, &search.libraries)?,
            None => Some(Vec::new()),
        };
        let has_libraries = linked.is_some();
        let mut libraries = linked.unwrap_or_default();
        libraries.extend(loaded(&libraries));
        let unlisted = [
            (headers.is_some(), "the compiler does not list the headers"),
            (has_libraries, "the linker lists files that do not exist, or none"),
            (search.is_known, "the compiler does not list the folders that it searches"),
        ];
        Ok(Observed {
            unlisted: unlisted.into_iter().find_map(|(is_known, why)| (!is_known).then_some(why)),
            headers: self.read(headers.unwrap_or_default())?,
            libraries: self.read(libraries)?,
            named: self.read(listing::named(arguments))?,
            parts: self.read(parts.map(|(_, path)| path))?,
            search,
            system: search::system_folders(self.tool)?,
        })
    }

    /// The files that were linked, or those of them that are known to change the program; `None`
    /// if some of the latter are unknown.
    fn linked(
        &self,
        output: &Output,
        program: &Path,
        folders: &[PathBuf],
    ) -> io::Result<Option<Vec<PathBuf>>> {
        if self.kind.lists_linked_files() {
            let trace = String::from_utf8_lossy(&output.stdout);
            let (files, strange) = listing::linked(&trace, self.staging);
            return Ok((!files.is_empty() && strange.is_none()).then_some(files));
        }
        // The libraries that come with zig change with its version. A file that the user names is
        // among those of the arguments.
        let names_library = |flag: &String| flag.starts_with("-l") || flag.contains(",-l");
        if self.flags.iter().chain(&self.tool.arguments).any(names_library) {
            return Ok(None);
        }
        Ok(link_words::libraries(&fs::read(program)?, folders))
    }

    fn read(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> io::Result<BTreeMap<PathBuf, ReadFile>> {
        let mut files = BTreeMap::new();
        for path in paths {
            let path = std::path::absolute(path)?;
            let is_kept = self.kept.is_some_and(|kept| path.starts_with(&kept.root));
            let is_known = self.known.iter().any(|folder| path.starts_with(folder));
            if (is_kept || !is_known) && !path.starts_with(self.staging) {
                files.insert(path.clone(), ReadFile::new(&path)?);
            }
        }
        Ok(files)
    }

    /// The path of a compiler part, and whether it was found through `PATH`.
    fn part(&self, part: &str) -> Option<(bool, PathBuf)> {
        let named = part_name(self.tool, part)?;
        let path = in_path(&named)?;
        Some((!named.contains('/'), path))
    }

    /// Adds to `manifest` the files that were read and the files that must stay absent.
    pub(super) fn enter(&self, observed: &Observed, manifest: &mut Manifest) {
        let all = [&observed.headers, &observed.libraries, &observed.named, &observed.parts];
        for file in all.into_iter().flat_map(BTreeMap::values) {
            manifest.add_file(file.clone());
        }
        for part in PARTS {
            if let Some((true, path)) = self.part(part) {
                manifest.add_tool(part, path);
            }
        }
        self.enter_absent_headers(observed, manifest);
        enter_absent_libraries(observed, manifest);
    }

    /// Records header names that must stay absent. A header of the same name in an earlier search
    /// folder, or beside an including file, would be read instead.
    fn enter_absent_headers(&self, observed: &Observed, manifest: &mut Manifest) {
        let folders: Vec<&PathBuf> = observed.search.headers.iter().collect();
        let system = &observed.system.headers;
        let is_own = |folder: &&Path| !system.iter().any(|f| folder.starts_with(f));
        let beside = observed.headers.keys().filter_map(|path| path.parent());
        let beside: BTreeSet<&Path> = beside.filter(is_own).collect();
        for path in observed.headers.keys() {
            for (index, folder) in folders.iter().enumerate() {
                let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) else {
                    continue;
                };
                let earlier = folders[..index].iter().map(|f| f.as_path());
                earlier
                    .chain(beside.iter().copied())
                    .for_each(|folder| manifest.add_absent(folder, name));
            }
            let text = fs::read(path).unwrap_or_default();
            for name in listing::asked_for(&String::from_utf8_lossy(&text)) {
                folders
                    .iter()
                    .map(|f| f.as_path())
                    .chain(path.parent())
                    .for_each(|folder| manifest.add_absent(folder, name));
            }
        }
    }
}

/// Records library names that must stay absent. A shared or static library of the same name in an
/// earlier search folder would be linked instead.
fn enter_absent_libraries(observed: &Observed, manifest: &mut Manifest) {
    for path in observed.libraries.keys() {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        let stem = name.split_once(".so").map_or(name, |(stem, _)| stem);
        let stem = stem.trim_end_matches(".a");
        for folder in &observed.search.libraries {
            for name in [name, &format!("{stem}.so"), &format!("{stem}.a")] {
                manifest.add_absent(folder, name);
            }
        }
        let loaded = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        for folder in std::env::split_paths(&loaded).filter(|f| f.is_absolute()) {
            manifest.add_absent(&folder, name);
        }
    }
}

/// Shared libraries that the environment makes a program load, in place of the linked ones or in
/// addition.
fn loaded(linked: &[PathBuf]) -> Vec<PathBuf> {
    let paths = |name: &str, separators: &[char]| -> Vec<PathBuf> {
        let value = std::env::var(name).unwrap_or_default();
        let all = value.split(separators).filter(|path| !path.is_empty());
        all.map(PathBuf::from).collect()
    };
    let names = linked.iter().filter_map(|path| path.file_name()?.to_str());
    let names: Vec<&str> = names.filter(|name| name.contains(".so")).collect();
    let folders = paths("LD_LIBRARY_PATH", &[':', ';']);
    let instead = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let mut files: Vec<PathBuf> = paths("LD_PRELOAD", &[':', ' ']);
    files.extend(instead);
    files.retain(|path| path.is_file());
    files
}

/// The name by which the compiler calls one of its parts. Each part is queried once.
fn part_name(tool: &Tool, part: &str) -> Option<String> {
    type Asked = (PathBuf, Vec<String>, String);
    static KNOWN: Mutex<BTreeMap<Asked, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = (tool.path.clone(), tool.arguments.clone(), part.to_owned());
    let ask = || {
        let mut command = tool.command();
        let output = command.arg(format!("-print-prog-name={part}")).output();
        let output = output.ok().filter(|o| o.status.success())?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (!name.is_empty()).then_some(name)
    };
    known.entry(asked).or_insert_with(ask).clone()
}

/// Removes `.` and `..` from a path without looking at the file system.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_path_has_no_dots() {
        let path = Path::new("/a/./b/../../../c/d.h");
        assert_eq!(normal(path), Path::new("/c/d.h"));
    }
}
