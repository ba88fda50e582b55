//! The compiler that a Python package brings, for `pip install yamba[compiler]`.

use std::fs;
use std::path::{Path, PathBuf};

use super::tool::Tool;

/// `zig c++` of the package `ziglang`, if that is installed beside this program.
pub(super) fn compiler() -> Option<Tool> {
    let program = beside_this_program()?;
    let mut places = packages(&program).into_iter().map(|folder| folder.join("ziglang/zig"));
    let zig = places.find(|path| path.is_file())?;
    Tool::find(&[zig.to_str()?.to_owned(), "c++".to_owned()])
}

/// How to get a compiler for this machine.
pub fn how_to_get_compiler() -> String {
    let installs = |program: PathBuf| {
        packages(&program).iter().any(|folder| folder.join("yamba/__init__.py").is_file())
    };
    let with_pip = if beside_this_program().is_some_and(installs) {
        "pip install 'yamba[compiler]', or "
    } else {
        ""
    };
    format!(
        "{with_pip}install g++ (Debian: apt install g++) or clang++, or name a compiler with CXX"
    )
}

/// The folder of this program.
fn beside_this_program() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.to_owned())
}

/// The folders of Python packages that belong to a folder of programs: those of an installation, or
/// of a virtual environment, as `lib/python3.11/site-packages`. Debian calls them `dist-packages`.
fn packages(programs: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["../lib", "../lib64"] {
        for python in folders(&programs.join(lib)) {
            let name = python.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("python3") {
                found.extend(["site-packages", "dist-packages"].map(|kind| python.join(kind)));
            }
        }
    }
    found.retain(|folder| folder.is_dir());
    found
}

/// The entries of a folder, in the order of their names.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_of_the_same_installation() {
        let root = tempfile::tempdir().unwrap();
        let expected = ["lib/python3.11/dist-packages", "lib64/python3.9/site-packages"];
        for folder in expected.into_iter().chain(["bin", "lib/yamba/site-packages"]) {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let found = packages(&root.path().join("bin"));
        let real: Vec<PathBuf> = found.iter().map(|f| f.canonicalize().unwrap()).collect();
        let root = root.path().canonicalize().unwrap();
        assert_eq!(real, expected.map(|folder| root.join(folder)));
    }
}
