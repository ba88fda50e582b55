//! `.yamba` files on disk: those that the command line names, and the folders in which other
//! classes and ports are searched.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use yamba_lang::{Files, Input};
use yamba_record::system_error::reason;

use crate::embedded::Home;

/// Largest accepted file size in bytes. A benchmark is a page of text, so a longer file was named
/// by mistake.
pub const LARGEST_FILE: u64 = 4 << 20;

/// Search depth below the suite or library folder. It exceeds any sensible nesting and stops at
/// looped links.
const DEEPEST: usize = 8;

/// The reason why a file or a folder cannot be read, and the help text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path and the error.
    pub why: String,
    /// The help text.
    pub fix: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.why, self.fix)
    }
}

impl std::error::Error for Unreadable {}

/// The files of the current invocation. Each folder is read once.
pub struct Disk {
    libs: Vec<PathBuf>,
    installed: [PathBuf; 2],
    /// Folders already read, by canonical path.
    folders: RefCell<HashMap<PathBuf, Rc<Folder>>>,
}

/// The `.yamba` files of one folder, by file name. For the library and the suite it includes all
/// subfolders.
#[derive(Default)]
struct Folder {
    files: BTreeMap<String, Vec<Input>>,
}

impl Folder {
    fn named(&self, file_name: &str) -> Option<&Input> {
        self.files.get(file_name)?.first()
    }
}

impl Disk {
    /// Searches each of `libs`, then the library and the suite of `home`.
    ///
    /// # Errors
    /// When one of `libs` is not a folder that can be read.
    pub fn new(libs: Vec<PathBuf>, home: &Home) -> Result<Disk, Unreadable> {
        for lib in &libs {
            fs::read_dir(lib).map_err(|e| Unreadable {
                why: format!("cannot read the folder {}: {}", lib.display(), reason(&e)),
                fix: "--lib names a folder with .yamba files that you may read".to_owned(),
            })?;
        }
        Ok(Disk {
            libs,
            installed: [home.library.clone(), home.suite.clone()],
            folders: RefCell::default(),
        })
    }

    /// Reads a file that the user named.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(&self, path: &Path) -> Result<Input, Unreadable> {
        let shown = path.display();
        if path.is_dir() {
            return Err(Unreadable {
                why: format!("{shown} is a folder"),
                fix: format!("name its files, for example {shown}/*.yamba"),
            });
        }
        let text = read(path)?;
        Ok(self.known(path, &text).unwrap_or(Input { path: shown.to_string(), text }))
    }

    /// All files of each `--lib`, of the suite and, if `with_library`, of the library.
    pub fn searched(&self, with_library: bool) -> Vec<Input> {
        let [library, suite] = &self.installed;
        let mut places: Vec<Rc<Folder>> = self.libs.iter().map(|lib| self.folder(lib, 0)).collect();
        places.push(self.folder(suite, DEEPEST));
        if with_library {
            places.push(self.folder(library, DEEPEST));
        }
        visible(&places)
    }

    /// The entry of this file in its folder's listing, if the text is the same. One file must have
    /// one path, or its classes would conflict with themselves.
    fn known(&self, path: &Path, text: &str) -> Option<Input> {
        let name = path.file_name()?.to_str()?;
        let folder = fs::canonicalize(parent(path)).ok()?;
        let installed = self.installed.iter().find(|root| folder.starts_with(root));
        let known = match installed {
            Some(root) => self.folder(root, DEEPEST),
            None => self.folder(parent(path), 0),
        };
        let wanted = folder.join(name);
        let mut named = known.files.get(name)?.iter().filter(|i| i.text == text);
        named
            .find(|i| {
                fs::canonicalize(parent(Path::new(&i.path))).is_ok_and(|f| f.join(name) == wanted)
            })
            .cloned()
    }

    fn folder(&self, path: &Path, depth: usize) -> Rc<Folder> {
        let Ok(key) = fs::canonicalize(path) else {
            return Rc::default();
        };
        if let Some(known) = self.folders.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut folder = Folder::default();
        collect(path, depth, &mut folder);
        let folder = Rc::new(folder);
        self.folders.borrow_mut().insert(key, Rc::clone(&folder));
        folder
    }

    /// The folders to search from the file at `from`, in order. For a file of the suite or library,
    /// its own folder is already part of those.
    fn places(&self, from: &str) -> Vec<Rc<Folder>> {
        let [library, suite] = &self.installed;
        let own = parent(Path::new(from));
        let mut places = Vec::new();
        if !own.starts_with(library) && !own.starts_with(suite) {
            places.push(self.folder(own, 0));
        }
        places.extend(self.libs.iter().map(|lib| self.folder(lib, 0)));
        places.extend([library, suite].map(|root| self.folder(root, DEEPEST)));
        places
    }
}

impl Files for Disk {
    fn find(&self, from: &str, name: &str) -> Option<Input> {
        let file_name = format!("{name}.yamba");
        let mut places = self.places(from).into_iter();
        places.find_map(|folder| folder.named(&file_name).cloned())
    }

    fn around(&self, from: &str) -> Vec<Input> {
        visible(&self.places(from))
    }
}

/// All files visible in `places`. A file hides files of the same name in later places, as `find`
/// does. So a copy of the suite does not conflict with the installed one.
fn visible(places: &[Rc<Folder>]) -> Vec<Input> {
    let mut hidden: HashSet<&str> = HashSet::new();
    let mut all = Vec::new();
    for place in places {
        let shown = place.files.iter().filter(|(name, _)| !hidden.contains(name.as_str()));
        all.extend(shown.flat_map(|(_, inputs)| inputs.iter().cloned()));
        hidden.extend(place.files.keys().map(String::as_str));
    }
    all
}

/// The folder of a file, or `.` for a bare name.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Adds the `.yamba` files below `path`. Unreadable neighbours are skipped: the current file may
/// not need them. If it does, the missing class is reported where it is used.
fn collect(path: &Path, depth: usize, into: &mut Folder) {
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| join(path, e.file_name())).collect();
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|e| e == "yamba") {
            if path.is_file()
                && let Ok(text) = read(&path)
            {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let input = Input { path: path.display().to_string(), text };
                into.files.entry(name.into_owned()).or_default().push(input);
            }
        } else if depth > 0 && path.is_dir() {
            collect(&path, depth - 1, into);
        }
    }
}

/// Joins the path as a person would write it: `a.yamba`, not `./a.yamba`, in the current folder.
fn join(folder: &Path, name: std::ffi::OsString) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}

fn read(path: &Path) -> Result<String, Unreadable> {
    let shown = path.display();
    let cannot = |e: io::Error| Unreadable {
        why: format!("cannot read {shown}: {}", reason(&e)),
        fix: "name a .yamba file that you may read, or a class: `yamba list` shows them".to_owned(),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Unreadable {
            why: format!(
                "{shown} is longer than {} MiB, which no benchmark is",
                LARGEST_FILE >> 20
            ),
            fix: "name a .yamba file: a text that a person writes".to_owned(),
        });
    }
    String::from_utf8(bytes).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|b| **b == b'\n').count() + 1;
        Unreadable {
            why: format!("{shown}:{line}: not UTF-8 text"),
            fix: "save it as UTF-8 text".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        root: tempfile::TempDir,
    }

    impl World {
        fn new(files: &[&str]) -> World {
            let root = tempfile::tempdir().unwrap();
            for folder in ["library", "suite", "runtime"] {
                fs::create_dir(root.path().join(folder)).unwrap();
            }
            for file in files {
                let path = root.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("// {file}")).unwrap();
            }
            World { root }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn disk(&self, libs: &[&str]) -> Disk {
            let root = fs::canonicalize(self.root.path()).unwrap();
            let home = Home {
                runtime: root.join("runtime"),
                library: root.join("library"),
                suite: root.join("suite"),
            };
            Disk::new(libs.iter().map(|l| self.path(l)).collect(), &home).unwrap()
        }
    }

    #[test]
    fn own_folder_then_libs_then_library() {
        let w = World::new(&[
            "mine/a.yamba",
            "lib/a.yamba",
            "lib/b.yamba",
            "library/b.yamba",
            "library/c.yamba",
        ]);
        let disk = w.disk(&["lib"]);
        let from = w.path("mine/x.yamba").display().to_string();
        let text = |name| disk.find(&from, name).unwrap().text;
        assert_eq!(text("a"), "// mine/a.yamba");
        assert_eq!(text("b"), "// lib/b.yamba");
        assert_eq!(text("c"), "// library/c.yamba");
        assert!(disk.find(&from, "d").is_none());
    }

    #[test]
    fn files_around_a_file_are_listed_once() {
        let w = World::new(&[
            "suite/cpu/a.yamba",
            "suite/memory/b.yamba",
            "library/c.yamba",
            "mine/d.yamba",
            "mine/e.txt",
        ]);
        let disk = w.disk(&[]);
        let from = w.path("mine/d.yamba").display().to_string();
        assert_eq!(disk.around(&from).len(), 4);
        let from = disk.installed[1].join("cpu/a.yamba").display().to_string();
        assert_eq!(disk.around(&from).len(), 3);
    }

    #[test]
    fn copied_file_shadows_installed_one() {
        let w = World::new(&["suite/cpu/a.yamba", "mine/a.yamba"]);
        let disk = w.disk(&[]);
        let from = w.path("mine/a.yamba").display().to_string();
        assert_eq!(disk.around(&from).len(), 1);
    }

    #[test]
    fn one_file_has_one_path() {
        let w = World::new(&["mine/a.yamba", "suite/cpu/b.yamba"]);
        let disk = w.disk(&[]);
        let opened = disk.open(&w.path("mine/a.yamba")).unwrap();
        assert!(disk.around(&opened.path).contains(&opened));
        let opened = disk.open(&w.path("suite/../suite/cpu/b.yamba")).unwrap();
        assert!(disk.searched(false).contains(&opened));
    }

    #[test]
    fn unreadable_file_is_one_sentence() {
        let w = World::new(&["mine/a.yamba"]);
        fs::write(w.path("mine/bad.yamba"), b"a\n\xff").unwrap();
        fs::write(w.path("mine/long.yamba"), vec![b' '; LARGEST_FILE as usize + 1]).unwrap();
        let disk = w.disk(&[]);
        let error = |name: &str| disk.open(&w.path(name)).unwrap_err().why;
        assert!(error("mine").contains("is a folder"));
        assert!(error("mine/none.yamba").ends_with("no such file or directory"));
        assert!(error("mine/bad.yamba").ends_with("bad.yamba:2: not UTF-8 text"));
        assert!(error("mine/long.yamba").contains("longer than 4 MiB"));
    }
}
