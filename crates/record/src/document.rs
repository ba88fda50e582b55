//! Writes a document of a run: each field of the run and of an entry on a line of its own, an array of numbers on one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes the document of a run, with a line end.
///
/// # Errors
/// Those of the stream.
pub fn write(run: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    run.serialize(&mut Serializer::with_formatter(&mut out, Lines::default()))?;
    out.write_all(b"\n")
}

/// Objects inside each other that have a line for each field: the run and its entries.
const DEPTH: usize = 2;

#[derive(Default)]
struct Lines {
    /// Number of objects that are open.
    depth: usize,
    /// Whether the innermost object has no field yet.
    is_empty: bool,
}

impl Lines {
    fn line(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        write!(out, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for Lines {
    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.is_empty = true;
        out.write_all(b"{")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.is_empty = false;
        if !first {
            out.write_all(b",")?;
        }
        if self.depth <= DEPTH {
            self.line(out)?;
        }
        Ok(())
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        let colon: &[u8] = if self.depth <= DEPTH { b": " } else { b":" };
        out.write_all(colon)
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        let has_lines = self.depth <= DEPTH && !self.is_empty;
        self.depth -= 1;
        self.is_empty = false;
        if has_lines {
            self.line(out)?;
        }
        out.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_run_and_entry_have_lines_of_their_own() {
        let run = serde_json::json!({"a": {}, "benchmarks": [{"n": [1, 2], "o": {"p": 3}}, {}]});
        let mut out = Vec::new();
        write(&run, &mut out).unwrap();
        let expected = r#"{
  "a": {},
  "benchmarks": [{
    "n": [1,2],
    "o": {"p":3}
  },{}]
}
"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
