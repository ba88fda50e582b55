//! Reads a file of bounded size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::DocumentFault;
use crate::inputs;
use yamba_record::system_error::reason;

/// The content of a file or a pipe.
///
/// # Errors
/// If it cannot be read, or is longer than `largest` bytes.
pub(super) fn read(path: &Path, largest: u64) -> Result<Vec<u8>, DocumentFault> {
    inputs::add(path);
    let file = File::open(path).map_err(|e| cannot(&e))?;
    let about = file.metadata().map_err(|e| cannot(&e))?;
    let mut bytes = Vec::new();
    if about.len() <= largest {
        let mut bounded = file.take(largest.saturating_add(1));
        bounded.read_to_end(&mut bytes).map_err(|e| cannot(&e))?;
    }
    if about.len() > largest || bytes.len() as u64 > largest {
        let message = format!("is longer than {largest} bytes, and was not read");
        return Err((message, Some("`yamba import --limit SIZE` takes longer ones")));
    }
    Ok(bytes)
}

fn cannot(e: &io::Error) -> DocumentFault {
    match e.kind() {
        io::ErrorKind::NotFound => (
            "there is no such file".to_owned(),
            Some(
                "name a document that is there; without a folder, one of the current folder is meant",
            ),
        ),
        _ => (
            format!("cannot be read: {}", reason(e)),
            Some("the file must be there, be readable, and lie on a disk that works"),
        ),
    }
}
