//! Captures of bundles among the files of `yamba import`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::{Failure, output};
use yamba_fleet::bundle::{Archive, is_capture, unpack};
use yamba_record::system_error::reason;
use yamba_session::bundle::{Imported, import};

/// Bytes that show whether a file is JSON.
const BEGINNING: u64 = 4096;

/// The runs in the captures among `files`, and the other files. `left` bytes may be read.
pub(super) fn read<'a>(
    files: &'a [PathBuf],
    bundle: Option<&Path>,
    left: &mut u64,
) -> Result<(Vec<super::Read<'a>>, Vec<&'a Path>), Failure> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for path in files {
        match capture(path, left)? {
            Some(content) => found.push((path, content)),
            None => others.push(path.as_path()),
        }
    }
    let archive = bundle.map(archive).transpose()?;
    if found.is_empty() {
        return match bundle {
            None => Ok((Vec::new(), others)),
            Some(path) => Err(Failure::new(format!(
                "--bundle {}: none of the files is the capture of a bundle",
                path.display()
            ))
            .help("leave it out, or name the file that the bundle printed")),
        };
    }
    let named: Vec<(String, &[u8])> = found
        .iter()
        .map(|(path, content)| (path.display().to_string(), content.as_slice()))
        .collect();
    let named: Vec<(&str, &[u8])> = named.iter().map(|(n, c)| (n.as_str(), *c)).collect();
    let runs = import(&named, archive.as_ref())?;
    // A run of several captures goes by the first one that has a part of it.
    let first = |run: &Imported| {
        let is_of = |name: &str| run.files.iter().any(|file| file == name);
        named.iter().position(|(name, _)| is_of(name)).unwrap_or(0)
    };
    let stored = runs.into_iter().map(|run| stored(found[first(&run)].0, run));
    Ok((stored.collect(), others))
}

/// The content of a capture. `None` for another file, and for one that cannot be read: its reader
/// says why. A pipe can be read only once, so it is left to that reader.
fn capture(path: &Path, left: &mut u64) -> Result<Option<Vec<u8>>, Failure> {
    let Ok(mut file) = File::open(path) else {
        return Ok(None);
    };
    if !file.metadata().is_ok_and(|data| data.is_file()) {
        return Ok(None);
    }
    let mut content = Vec::new();
    let mut part = |most: u64| file.by_ref().take(most).read_to_end(&mut content).is_ok();
    if !part(BEGINNING) {
        return Ok(None);
    }
    let is_json = content.trim_ascii_start().starts_with(b"{");
    if is_json && !is_capture(&content) {
        return Ok(None);
    }
    let mut rest = Vec::new();
    let is_read = file.take(*left + 1).read_to_end(&mut rest).is_ok();
    content.extend(rest);
    if !is_read || !is_capture(&content) {
        return Ok(None);
    }
    let length = content.len() as u64;
    if length > *left {
        let message = format!("{}: more than {left} bytes are left of the limit", path.display());
        return Err(Failure::new(message).help("--limit allows more"));
    }
    *left -= length;
    Ok(Some(content))
}

fn archive(path: &Path) -> Result<Archive, Failure> {
    let shown = path.display();
    let content = std::fs::read(path).map_err(|e| {
        Failure::new(format!("{shown}: {}", reason(&e)))
            .help("--bundle names the file that `yamba bundle` made")
    })?;
    unpack(&content).ok_or_else(|| {
        Failure::new(format!("{shown}: is no bundle, or a damaged one"))
            .help("--bundle names the file that `yamba bundle` made")
    })
}

fn stored(path: &Path, imported: Imported) -> super::Read<'_> {
    if let Some(bundle) = &imported.lacks_bundle {
        output::note(&format!(
            "note: {}: the sources and origins of the benchmarks are not in the capture\nhelp: --bundle FILE takes them from the bundle {bundle}\n",
            path.display()
        ));
    }
    (path, imported.run, Vec::new(), imported.lost)
}
