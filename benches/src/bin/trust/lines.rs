//! Files with one JSON document per line, to which a study adds lines.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Appends a line. First drops an incomplete last line, which remains if the process was killed: the new line would otherwise be appended to it and lost.
pub fn keep(path: &Path, line: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(line).map_err(|e| e.to_string())? + "\n";
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).read(true).open(path)?;
        let mut have = String::new();
        file.read_to_string(&mut have)?;
        let whole = have.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|e: std::io::Error| format!("{}: {e}", path.display()))
}

/// Reads all lines. An incomplete last line is ignored; any other invalid line is an error.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let lines = whole.lines().enumerate().map(|(i, line)| {
        let broken = |e| format!("{}:{}: {e}; delete that line", path.display(), i + 1);
        serde_json::from_str(line).map_err(broken)
    });
    lines.collect()
}
