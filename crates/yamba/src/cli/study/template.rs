//! `yamba study new`

use std::path::Path;

use crate::cli::{Failure, output};

/// The text of the new study.
const TEMPLATE: &str = include_str!("template.toml");

pub(super) fn write(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    if file.extension().is_none_or(|e| e != "toml") {
        return Err(Failure::new(format!("{shown}: a study's file ends in .toml"))
            .help("name it so: study.toml"));
    }
    output::new_file(file, TEMPLATE)?;
    output::note(&format!(
        "{shown}: fill in what you predict, and why; then `yamba study {shown}`\n"
    ));
    Ok(())
}
