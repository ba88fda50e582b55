//! The runtime, the library and the suite are embedded in the binary and unpacked once. Studies are
//! read from the binary directly.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use include_dir::{Dir, include_dir};
use yamba_lang::Input;
use yamba_record::system_error::reason;

use crate::cache_eviction;

static RUNTIME: Dir = include_dir!("$CARGO_MANIFEST_DIR/embedded/runtime");
static LIBRARY: Dir = include_dir!("$CARGO_MANIFEST_DIR/embedded/library");
static SUITE: Dir = include_dir!("$CARGO_MANIFEST_DIR/embedded/suite");
static STUDIES: Dir = include_dir!("$CARGO_MANIFEST_DIR/embedded/studies");

/// The folders of the files that benchmarks are built from.
#[derive(Clone, Debug)]
pub struct Home {
    /// C++ headers that generated programs include.
    pub runtime: PathBuf,
    /// `.yamba` classes that benchmarks extend or import.
    pub library: PathBuf,
    /// The benchmarks.
    pub suite: PathBuf,
}

impl Home {
    fn at(root: &Path) -> Home {
        Home {
            runtime: root.join("runtime"),
            library: root.join("library"),
            suite: root.join("suite"),
        }
    }
}

/// Returns the checkout that `YAMBA_HOME` names. Without it, unpacks the embedded files to the
/// cache.
///
/// # Errors
/// When `YAMBA_HOME` is not such a folder, or neither the cache nor the folder for temporary files
/// can be written.
pub fn home() -> io::Result<Home> {
    match std::env::var_os("YAMBA_HOME").filter(|v| !v.is_empty()) {
        Some(root) => checkout(Path::new(&root)),
        None => unpacked(),
    }
}

/// Whether `YAMBA_HOME` names a checkout, whose files are used instead of the embedded ones.
pub fn is_checkout() -> bool {
    std::env::var_os("YAMBA_HOME").is_some_and(|v| !v.is_empty())
}

/// The embedded suite files, without unpacking. `None` if `YAMBA_HOME` names a checkout, which has
/// its own suite.
pub fn suite() -> Option<Vec<Input>> {
    (!is_checkout()).then(|| {
        let mut all = Vec::new();
        read(&SUITE, &mut all);
        all
    })
}

fn read(dir: &Dir, into: &mut Vec<Input>) {
    let files = dir.files().filter(|f| f.path().extension().is_some_and(|e| e == "yamba"));
    into.extend(files.filter_map(|f| {
        Some(Input { path: f.path().display().to_string(), text: f.contents_utf8()?.to_owned() })
    }));
    dir.dirs().for_each(|sub| read(sub, into));
}

/// The texts of the shipped studies by name: from the checkout that `YAMBA_HOME` names, or else the
/// embedded ones.
///
/// # Errors
/// When the checkout's studies cannot be read.
pub fn studies() -> io::Result<BTreeMap<String, String>> {
    let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let is_study = |path: &Path| path.extension().is_some_and(|e| e == "toml");
    let Some(root) = std::env::var_os("YAMBA_HOME").filter(|v| !v.is_empty()) else {
        let files = STUDIES.files().filter(|f| is_study(f.path()));
        let each = files.filter_map(|f| Some((name(f.path())?, f.contents_utf8()?.to_owned())));
        return Ok(each.collect());
    };
    let folder = Path::new(&root).join("studies");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(&folder).map_err(|e| at("cannot read", &folder, &e))? {
        let path = entry?.path();
        if let Some(name) = name(&path).filter(|_| is_study(&path)) {
            let text = fs::read_to_string(&path).map_err(|e| at("cannot read", &path, &e))?;
            found.insert(name, text);
        }
    }
    Ok(found)
}

/// The cache folder: `YAMBA_CACHE`, or else `yamba` in the user's cache folder. If the user has no
/// home or that folder is not writable, a private folder below the temporary folder.
///
/// # Errors
/// When none of these folders can be written.
pub fn cache_root() -> io::Result<PathBuf> {
    if let Some(named) = std::env::var_os("YAMBA_CACHE").filter(|v| !v.is_empty()) {
        return writable(PathBuf::from(named));
    }
    let usual = etcetera::choose_base_strategy().ok().map(|s| s.cache_dir().join("yamba"));
    match usual.map(writable) {
        Some(Ok(root)) => Ok(root),
        _ => private_temporary(),
    }
}

fn checkout(root: &Path) -> io::Result<Home> {
    // Absolute, so that paths in generated files are valid from any working directory.
    let root = fs::canonicalize(root).map_err(|e| at("YAMBA_HOME", root, &e))?;
    let home = Home::at(&root);
    for folder in [&home.runtime, &home.library, &home.suite] {
        if !folder.is_dir() {
            let message = format!(
                "YAMBA_HOME is {}, which has no folder {}",
                root.display(),
                folder.file_name().unwrap_or_default().display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
    }
    Ok(home)
}

/// Prefix of the folder names of unpacked files; hexadecimal digits follow.
const HOME: &str = "home-";
/// Prefix of the folder names of unpacked programs; hexadecimal digits follow.
const PROGRAMS: &str = "programs-";
/// Prefix of such a folder's name while it is being removed; its name follows.
const REMOVED: &str = "removed-";
const DIGITS: usize = 16;

fn is_unpacked(name: &str) -> bool {
    let name = name.strip_prefix(REMOVED).unwrap_or(name);
    let digits = name.strip_prefix(HOME).or_else(|| name.strip_prefix(PROGRAMS));
    digits.is_some_and(|digits| cache_eviction::is_digest(digits, DIGITS))
}

/// The folder of the cache for the programs of a bundle with this id of 16 hexadecimal digits.
///
/// # Errors
/// When neither the cache nor the folder for temporary files can be written.
pub fn folder_for_programs(id: &str) -> io::Result<PathBuf> {
    let root = cache_root().or_else(|_| private_temporary())?;
    let folder = root.join(format!("{PROGRAMS}{id}"));
    if !cache_eviction::take(&folder) {
        cache_eviction::sweep(&root, is_unpacked, &root.join(REMOVED));
        fs::create_dir_all(&folder).map_err(|e| at("cannot make", &folder, &e))?;
    }
    Ok(folder)
}

fn unpacked() -> io::Result<Home> {
    let name = format!("{HOME}{}", content_hash());
    // An already filled cache is usable even if it is read-only now.
    let named = std::env::var_os("YAMBA_CACHE").filter(|v| !v.is_empty());
    if let Some(present) = named.map(|root| PathBuf::from(root).join(&name))
        && cache_eviction::take(&present)
    {
        return Ok(Home::at(&present));
    }
    let root = cache_root().or_else(|_| private_temporary())?.join(&name);
    if !cache_eviction::take(&root) {
        unpack(&root)?;
    }
    Ok(Home::at(&root))
}

/// Unpacks to a temporary folder and renames it to `root`, so that `root` is always complete.
/// Removes unused folders of other versions.
fn unpack(root: &Path) -> io::Result<()> {
    let parent = root.parent().unwrap_or(Path::new("."));
    let aside = parent.join(REMOVED);
    cache_eviction::sweep(parent, is_unpacked, &aside);
    let staging = tempfile::Builder::new().prefix(HOME).tempdir_in(parent)?;
    for (name, dir) in [("runtime", &RUNTIME), ("library", &LIBRARY), ("suite", &SUITE)] {
        let folder = staging.path().join(name);
        fs::create_dir(&folder)?;
        dir.extract(&folder)?;
    }
    match fs::rename(staging.path(), root) {
        Ok(()) => {
            // After the rename there is no temporary folder to remove.
            let _ = staging.keep();
            Ok(())
        }
        // Another process unpacked the same files first.
        Err(_) if root.is_dir() => Ok(()),
        Err(e) => Err(at("cannot unpack to", root, &e)),
    }
}

/// A hash of the embedded runtime, library and suite.
pub fn content_hash() -> String {
    let mut hasher = blake3::Hasher::new();
    for dir in [&RUNTIME, &LIBRARY, &SUITE] {
        add(&mut hasher, dir);
    }
    hasher.finalize().to_hex()[..DIGITS].to_string()
}

fn add(hasher: &mut blake3::Hasher, dir: &Dir) {
    for file in dir.files() {
        let path = file.path().as_os_str().as_encoded_bytes();
        for part in [path, file.contents()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    for sub in dir.dirs() {
        add(hasher, sub);
    }
}

/// Creates `folder` if it does not exist, and checks that it is writable.
fn writable(folder: PathBuf) -> io::Result<PathBuf> {
    fs::create_dir_all(&folder).map_err(|e| at("cannot make the cache", &folder, &e))?;
    rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK)
        .map_err(|e| at("cannot write to the cache", &folder, &e.into()))?;
    // Absolute, since generated files and commands name it from other working directories.
    fs::canonicalize(&folder)
}

/// A folder that belongs to this user and that no other user can write to.
fn private_temporary() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("yamba-{user}"));
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(at("cannot make the cache", &folder, &e));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        let message = format!(
            "{} belongs to someone else or can be written by others; set YAMBA_CACHE to a folder of yours",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    writable(folder)
}

fn at(what: &str, path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{what} {}: {}", path.display(), reason(e)))
}
