//! Reads logs and models.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::bufread::MultiGzDecoder;
use yamba_load::model::{FieldChoice, LatencyField, Log, LogFault, LogReader, Model};
use yamba_session::document_file;
use yamba_store::inputs;

use crate::cli::{Failure, output, quantity};

/// The file name that means standard input.
const STANDARD_INPUT: &str = "-";

/// The first bytes of compressed files that are not read, with the program that decompresses them.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
    (b"\xfd7zXZ", "xz", "xzcat"),
    (b"BZh", "bzip2", "bzcat"),
];

/// The first bytes of a file compressed by gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// The first bytes of texts in UTF-16.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A log, and which of its fields the user names.
#[derive(Args)]
pub(super) struct LogSource {
    /// A log in Common or Combined Log Format or in Squid's native format, also compressed by gzip;
    /// `-` is standard input
    #[arg(value_name = "ACCESS.LOG")]
    pub(super) path: PathBuf,
    /// The client is field N before the time, from 1, where several fields could be it
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=100))]
    client_field: Option<u64>,
    /// The latency is field N after the bytes, from 1, in s, ms, us or ns: 3=us for Apache's %D
    /// after the agent
    #[arg(long, value_name = "N=UNIT")]
    latency_field: Option<LatencyField>,
}

impl LogSource {
    /// Reads the log. Omissions and uncertain readings are reported.
    pub(super) fn read(&self) -> Result<Log, Failure> {
        let place = self.path.display();
        let choice = FieldChoice {
            client: self.client_field.map(|field| field as usize),
            latency: self.latency_field,
        };
        let read = if self.path == Path::new(STANDARD_INPUT) {
            lines(io::stdin().lock(), choice)
        } else {
            inputs::add(&self.path);
            File::open(&self.path)
                .map_err(Unreadable::System)
                .and_then(|file| lines(BufReader::new(file), choice))
        };
        let log = read.map_err(|fault| fault.at(&place.to_string()))?;
        for refused in &log.refused {
            output::note(&format!(
                "note: {place}:{}: left out: {}\n",
                refused.line, refused.reason
            ));
        }
        let has_more = log.refused_count > log.refused.len() as u64;
        if let Some(refusals) = log.refusals().filter(|_| has_more) {
            output::note(&format!("note: {place}: {refusals}\n"));
        }
        for note in &log.notes {
            output::note(&format!("note: {place}: {note}\n"));
        }
        Ok(log)
    }
}

/// Why a log is not read.
enum Unreadable {
    System(io::Error),
    Log(LogFault),
    /// Compressed by gzip, but cut or damaged.
    Damaged(io::Error),
    /// Compressed by the first program; the second one decompresses it.
    Compressed(&'static str, &'static str),
    Utf16,
}

impl Unreadable {
    fn at(self, place: &str) -> Failure {
        match self {
            Unreadable::System(e) => Failure::new(format!("{place}: {e}"))
                .help("name an access log, or - for standard input"),
            Unreadable::Damaged(e) => Failure::new(format!(
                "{place}: it is compressed by gzip, and cut off or damaged: {e}"
            ))
            .help(format!(
                "copy it again, or read its beginning: gzip -cd {place} | yamba load fit -"
            )),
            Unreadable::Log(fault) => Failure::new(format!("{place}: {fault}")).help(fault.help()),
            Unreadable::Compressed(by, with) => {
                Failure::new(format!("{place}: it is compressed by {by}"))
                    .help(format!("decompress it: {with} {place} | yamba load fit -"))
            }
            Unreadable::Utf16 => Failure::new(format!("{place}: it is in UTF-16"))
                .help(format!("convert it: iconv -f UTF-16 -t UTF-8 {place} | yamba load fit -")),
        }
    }
}

/// Reads the lines of a log, which may be compressed.
fn lines(mut from: impl BufRead, choice: FieldChoice) -> Result<Log, Unreadable> {
    let start = from.fill_buf().map_err(Unreadable::System)?;
    if start.starts_with(GZIP) {
        let read = plain_lines(BufReader::new(MultiGzDecoder::new(from)), choice);
        return read.map_err(|fault| match fault {
            Unreadable::System(e) => Unreadable::Damaged(e),
            fault => fault,
        });
    }
    if let Some((_, by, with)) = COMPRESSED.iter().find(|c| start.starts_with(c.0)) {
        return Err(Unreadable::Compressed(by, with));
    }
    if UTF_16.iter().any(|mark| start.starts_with(mark)) {
        return Err(Unreadable::Utf16);
    }
    plain_lines(from, choice)
}

/// Reads line by line; bytes that are no UTF-8 are replaced.
fn plain_lines(mut from: impl BufRead, choice: FieldChoice) -> Result<Log, Unreadable> {
    let mut reader = LogReader::new(choice);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).map_err(Unreadable::System)? > 0 {
        reader.line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    reader.finish().map_err(Unreadable::Log)
}

/// Reads a model.
pub(super) fn model(path: &Path) -> Result<Model, Failure> {
    let origin = "name the file that `yamba load fit -o` wrote";
    let form = "`yamba load fit ACCESS.LOG -o MODEL` writes such a document";
    document_file::read(path, Model::read, origin, form)
}
