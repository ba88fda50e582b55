//! A file that is read in pieces, repeatedly, without loading it into memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Take, Write};
use std::path::Path;

use super::Fault;
use yamba_record::system_error::reason;

/// Bytes per read.
const PIECE: u64 = 1 << 16;

pub(super) struct Text {
    file: File,
    /// Length in bytes when the file was opened; later additions are ignored.
    pub(super) length: u64,
}

impl Text {
    /// Opens a file. Copies a pipe to a temporary file first.
    ///
    /// # Errors
    /// If it cannot be read, or is longer than `largest` bytes.
    pub(super) fn open(path: &Path, largest: u64) -> Result<Text, Fault> {
        let file = File::open(path).map_err(|e| cannot(&e))?;
        let about = file.metadata().map_err(|e| cannot(&e))?;
        if about.is_dir() {
            return Err((
                "is a folder".to_owned(),
                Some("name the documents in it, as FOLDER/*.json"),
            ));
        }
        let text = if about.is_file() {
            Text {
                file,
                length: about.len(),
            }
        } else {
            copied(file, largest)?
        };
        if text.length > largest {
            let message = format!("is longer than {largest} bytes, and was not read");
            return Err((message, Some(LONGER)));
        }
        Ok(text)
    }

    /// A reader at the beginning of the file.
    pub(super) fn read(&self) -> Result<BufReader<Take<&File>>, Fault> {
        let mut file = &self.file;
        file.rewind().map_err(|e| cannot(&e))?;
        let capacity = PIECE as usize;
        Ok(BufReader::with_capacity(capacity, file.take(self.length)))
    }

    /// The first `most` bytes.
    pub(super) fn head(&self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut head = Vec::new();
        let mut start = self.read()?.take(most as u64);
        start.read_to_end(&mut head).map_err(|e| cannot(&e))?;
        Ok(head)
    }

    pub(super) fn first_byte_of_content(&self) -> Result<Option<u8>, Fault> {
        let is_content = |b: &io::Result<u8>| !matches!(b, Ok(b) if b.is_ascii_whitespace());
        let first = self.read()?.bytes().find(is_content);
        first.transpose().map_err(|e| cannot(&e))
    }

    /// An id for the content: the beginning of its hash.
    pub(super) fn id(&self) -> Result<String, Fault> {
        let mut hasher = blake3::Hasher::new();
        let read = hasher.update_reader(self.read()?);
        read.map_err(|e| cannot(&e))?;
        Ok(hasher.finalize().to_hex()[..16].to_owned())
    }
}

const LONGER: &str = "`yamba import --limit SIZE` takes longer ones";

/// Copies a pipe, which has no length and can be read only once.
fn copied(file: File, largest: u64) -> Result<Text, Fault> {
    let mut pipe = file.take(largest.saturating_add(1));
    let mut copy = tempfile::tempfile().map_err(|e| not_copied(&e))?;
    let mut length = 0;
    let mut piece = Vec::new();
    loop {
        piece.clear();
        let mut next = pipe.by_ref().take(PIECE);
        next.read_to_end(&mut piece).map_err(|e| cannot(&e))?;
        if piece.is_empty() {
            return Ok(Text { file: copy, length });
        }
        copy.write_all(&piece).map_err(|e| not_copied(&e))?;
        length += piece.len() as u64;
    }
}

fn not_copied(e: &io::Error) -> Fault {
    let reason = match e.kind() {
        io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        _ => reason(e),
    };
    let folder = std::env::temp_dir();
    let message = format!(
        "is no plain file, and cannot be copied into {}: {reason}",
        folder.display()
    );
    (
        message,
        Some("TMPDIR must name a folder with room for it; or write it to a file, and name that"),
    )
}

fn cannot(e: &io::Error) -> Fault {
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
