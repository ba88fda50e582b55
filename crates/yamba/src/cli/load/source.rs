//! Reads logs and models.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use yamba_load::{Log, LogReader, Model};

use crate::cli::{Failure, document_file, output};

/// The file name that means standard input.
const STANDARD_INPUT: &str = "-";

/// Reads a log. Lines that are no request are reported.
pub(super) fn log(path: &Path) -> Result<Log, Failure> {
    let place = path.display();
    let read = if path == Path::new(STANDARD_INPUT) {
        lines(io::stdin().lock())
    } else {
        File::open(path).and_then(|file| lines(BufReader::new(file)))
    };
    let log = read.map_err(|e| {
        Failure::new(format!("{place}: {e}")).help("name an access log, or - for standard input")
    })?;
    if log.entries.is_empty() {
        let first = log
            .refused
            .first()
            .map(|r| format!("; line {}: {}", r.line, r.reason));
        return Err(Failure::new(format!("{place}: no line is a request{}", first.unwrap_or_default()))
            .help("a log in Common or Combined Log Format has lines such as: 10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 2326"));
    }
    for refused in &log.refused {
        output::note(&format!(
            "note: {place}:{}: left out: {}\n",
            refused.line, refused.reason
        ));
    }
    let more = log.refused_count - log.refused.len() as u64;
    if more > 0 {
        output::note(&format!("note: {place}: {more} more lines are left out\n"));
    }
    Ok(log)
}

/// Reads line by line; bytes that are no UTF-8 are replaced.
fn lines(mut from: impl BufRead) -> io::Result<Log> {
    let mut reader = LogReader::default();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        reader.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
        line.clear();
    }
    Ok(reader.finish())
}

/// Reads a model.
pub(super) fn model(path: &Path) -> Result<Model, Failure> {
    let origin = "name the file that `yamba load fit -o` wrote";
    let form = "`yamba load fit ACCESS.LOG -o MODEL` writes such a document";
    document_file::read(path, Model::read, origin, form)
}
