//! The linker's arguments of `compile` clauses and of the command line, in one order, and the
//! shared libraries that a program needs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use yamba_record::run::UserFlags;

/// The prefix of the linker's option that makes a program search a folder for shared libraries. It
/// follows `-Xlinker`.
pub(super) const RPATH: &str = "-rpath=";

/// The arguments of the clauses, then those of the command line.
///
/// A file of the command line takes the place of a file of the same name in a clause. So it still
/// stands before the libraries that it needs, and the linker finds no function in the old file.
/// Folders of the command line come first, since the clause's folder may hold a shared object of
/// that name.
pub(super) fn link_words(flags: &UserFlags) -> Vec<String> {
    let (mut words, rest) = folders_first(&flags.command_line.link);
    let given = rest.iter().rev().filter_map(|word| Some((file_name(word)?, word)));
    let given: BTreeMap<_, _> = given.collect();
    let mut placed = BTreeSet::new();
    for word in &flags.clauses.link {
        let new = file_name(word).and_then(|name| given.get(name).copied());
        placed.extend(new);
        words.push(new.unwrap_or(word).clone());
    }
    words.extend(rest.iter().filter(|word| !placed.contains(word)).cloned());
    words
}

/// Splits off the options that name folders of shared libraries.
fn folders_first(words: &[String]) -> (Vec<String>, Vec<String>) {
    let mut folders = Vec::new();
    let mut rest = Vec::new();
    for word in words {
        if word.starts_with(RPATH) {
            folders.extend(rest.pop());
            folders.push(word.clone());
        } else {
            rest.push(word.clone());
        }
    }
    (folders, rest)
}

fn file_name(word: &str) -> Option<&OsStr> {
    linked_file(word).and_then(Path::file_name)
}

/// The file that a word of the linker's arguments names.
pub(super) fn linked_file(word: &str) -> Option<&Path> {
    word.starts_with('/').then(|| Path::new(word))
}

/// The files of the shared libraries that an ELF program needs, from the first of `folders` that
/// has each. `None` if one is not found, or if the program needs none: then it contains a C library
/// of a file that it does not name.
pub(super) fn libraries(program: &[u8], folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let names = match object::FileKind::parse(program).ok()? {
        object::FileKind::Elf64 => names::<FileHeader64<Endianness>>(program),
        object::FileKind::Elf32 => names::<FileHeader32<Endianness>>(program),
        _ => return None,
    };
    let names = names.ok().filter(|names| !names.is_empty())?;
    let file = |name: String| folders.iter().map(|f| f.join(&name)).find(|path| path.is_file());
    names.into_iter().map(file).collect()
}

fn names<Elf: FileHeader<Endian = Endianness>>(program: &[u8]) -> object::Result<Vec<String>> {
    let header = Elf::parse(program)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, program)?;
    let Some((entries, strings)) = sections.dynamic(endian, program)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, program, strings)?;
    let needed = entries.iter().filter(|entry| entry.d_tag(endian).into() == DT_NEEDED);
    let text =
        |entry: &Elf::Dyn| Ok(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned());
    needed.map(text).collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::run::Flags;

    use super::*;

    fn joined(clauses: &str, command_line: &str) -> String {
        let flags = |words: &str| Flags {
            link: words.split_whitespace().map(str::to_owned).collect(),
            ..Flags::default()
        };
        let flags = UserFlags { command_line: flags(command_line), clauses: flags(clauses) };
        link_words(&flags).join(" ")
    }

    #[test]
    fn new_file_has_the_place_of_the_old_one() {
        assert_eq!(joined("/1/liba.a -lz", "/2/liba.a -lm"), "/2/liba.a -lz -lm");
        assert_eq!(joined("/1/liba.a", "-lz"), "/1/liba.a -lz");
        assert_eq!(joined("", "/2/liba.a -lz"), "/2/liba.a -lz");
        assert_eq!(joined("/1/b.o /1/b.o", "/2/b.o"), "/2/b.o /2/b.o");
        assert_eq!(joined("/1/b.o", "/2/b.o /3/b.o"), "/2/b.o /3/b.o");
    }

    #[test]
    fn folder_of_the_new_file_is_searched_first() {
        assert_eq!(
            joined("/1/liba.so -Xlinker -rpath=/1", "/2/liba.so -Xlinker -rpath=/2 -lm"),
            "-Xlinker -rpath=/2 /2/liba.so -Xlinker -rpath=/1 -lm"
        );
    }

    #[test]
    fn libraries_of_this_test_are_found_in_a_folder_that_has_them() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folders = [PathBuf::from("/nowhere"), folder.path().to_owned()];
        assert_eq!(libraries(&program, &folders), None);
        let names = names::<FileHeader64<Endianness>>(&program).unwrap();
        assert!(names.iter().any(|name| name.starts_with("libc.so")), "{names:?}");
        for name in &names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let expected: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
        assert_eq!(libraries(&program, &folders), Some(expected));
        assert_eq!(libraries(b"#!/bin/sh\n", &folders), None);
    }
}
