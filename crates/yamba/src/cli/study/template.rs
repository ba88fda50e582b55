//! `yamba study new`

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::cli::{Failure, output};
use yamba_record::system_error::reason;

/// The text of the new study.
const TEMPLATE: &str = include_str!("template.toml");

pub(super) fn write(file: &Path) -> Result<(), Failure> {
    let failure = |text: &str| Failure::new(format!("{}: {text}", file.display()));
    if file.extension().is_none_or(|e| e != "toml") {
        return Err(failure("a study's file ends in .toml").help("name it so: study.toml"));
    }
    let new = OpenOptions::new().write(true).create_new(true).open(file);
    let written = new.and_then(|mut f| f.write_all(TEMPLATE.as_bytes()));
    written.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            failure("it is there already").help("nothing is overwritten: name another file")
        }
        io::ErrorKind::StorageFull => failure(&reason(&e)).help("make room on its disk"),
        _ => failure(&reason(&e)).help("its folder must be there and writable: name another place"),
    })?;
    let shown = file.display();
    output::note(&format!(
        "{shown}: fill in what you predict, and why; then `yamba study {shown}`\n"
    ));
    Ok(())
}
