//! The shared libraries that a program needs.

use std::path::PathBuf;

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader};

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
    use super::*;

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
