//! Reads and writes the document of a run.

use std::fmt;
use std::io::{self, Write};

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::ser::Formatter;

use crate::flat::{Fields, read_object};
use crate::run::{Benchmark, Run, RunHead};

/// Reads a document.
///
/// # Errors
/// If the text is no document of a run.
pub fn read(text: &str) -> serde_json::Result<Run> {
    serde_json::from_str(text)
}

/// Reads a document, and passes each entry to `sink` as soon as it is read. Returns the run without
/// entries.
///
/// # Errors
/// If the text is no document of a run. `sink` has the entries before the error then.
pub fn read_entries(text: &str, sink: &mut dyn FnMut(Benchmark)) -> serde_json::Result<RunHead> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let head = deserializer.deserialize_map(RunVisitor { sink })?;
    deserializer.end()?;
    Ok(head)
}

/// Reads an entry, as [`write_entry`] wrote it.
///
/// # Errors
/// If the text is no entry.
pub fn read_entry(text: &str) -> serde_json::Result<Benchmark> {
    serde_json::from_str(text)
}

/// An entry as JSON on one line.
///
/// # Errors
/// None for an entry that was measured or read.
pub fn write_entry(entry: &Benchmark) -> serde_json::Result<String> {
    serde_json::to_string(entry)
}

/// Reads a run without entries, as [`write_head`] wrote it.
///
/// # Errors
/// If the text is no document of a run.
pub fn read_head(text: &str) -> serde_json::Result<RunHead> {
    serde_json::from_str(text)
}

/// A run without entries as JSON on one line.
///
/// # Errors
/// None for a run that was measured or read.
pub fn write_head(head: &RunHead) -> serde_json::Result<String> {
    serde_json::to_string(head)
}

/// Writes the document of a run, with a line end.
///
/// # Errors
/// Those of the stream.
pub fn write(run: &Run, mut out: &mut dyn Write) -> io::Result<()> {
    run.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Lines::default()))?;
    out.write_all(b"\n")
}

/// The fields of an object without those that `apart` takes.
struct Others<'a, A, P> {
    fields: A,
    apart: &'a mut P,
}

impl<'de, A: MapAccess<'de>, P: Fields> MapAccess<'de> for Others<'_, A, P> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.fields.next_key::<String>()? {
            if !self.apart.take(&key, &mut self.fields)? {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.fields.next_value_seed(seed)
    }
}

impl<'de> Deserialize<'de> for Benchmark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Benchmark, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Benchmark;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Benchmark")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Benchmark, A::Error> {
        let mut entry: Benchmark = read_object(object)?;
        entry.recognise_notes();
        Ok(entry)
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Run, D::Error> {
        let mut benchmarks = Vec::new();
        let sink = &mut |entry| benchmarks.push(entry);
        let head = deserializer.deserialize_map(RunVisitor { sink })?;
        Ok(Run { head, benchmarks })
    }
}

/// Reads a run whose entries go to `sink`.
struct RunVisitor<'a> {
    sink: &'a mut dyn FnMut(Benchmark),
}

impl<'de> Visitor<'de> for RunVisitor<'_> {
    type Value = RunHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Run")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<RunHead, A::Error> {
        let mut entries = Entries { sink: self.sink, is_found: false };
        let fields = Others { fields, apart: &mut entries };
        let head = RunHead::deserialize(MapAccessDeserializer::new(fields))?;
        if entries.is_found { Ok(head) } else { Err(A::Error::missing_field("benchmarks")) }
    }
}

/// Passes entries to `sink`.
struct Entries<'a> {
    sink: &'a mut dyn FnMut(Benchmark),
    is_found: bool,
}

impl Fields for Entries<'_> {
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        fields: &mut A,
    ) -> Result<bool, A::Error> {
        if key != "benchmarks" {
            return Ok(false);
        }
        if std::mem::replace(&mut self.is_found, true) {
            return Err(A::Error::duplicate_field("benchmarks"));
        }
        fields.next_value_seed(&mut *self)?;
        Ok(true)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element()? {
            (self.sink)(entry);
        }
        Ok(())
    }
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
    use crate::circles::{CircleGroup, Circles, CirclesLaunch};
    use crate::event::Placement;
    use crate::run::{Launch, Status};

    #[test]
    fn fields_of_run_and_entry_have_lines_of_their_own() {
        let run = serde_json::json!({"a": {}, "benchmarks": [{"n": [1, 2], "o": {"p": 3}}, {}]});
        let mut out = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, Lines::default());
        run.serialize(&mut serializer).unwrap();
        let expected = r#"{
  "a": {},
  "benchmarks": [{
    "n": [1,2],
    "o": {"p":3}
  },{}]
}"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn run() -> Run {
        let machine = serde_json::from_str(
            r#"{"isa": "x", "system": "x", "kernel": "x", "cpu": null, "cpus": 2, "memory": null, "page_size": 1,
            "root": false, "virtual_machine": null, "scratch": null}"#,
        );
        let skipped = |name| Benchmark::ended(name, Status::Skipped, Vec::new());
        let mut run = Run::new(machine.unwrap());
        run.id = "00ff00ff00ff00ff".to_owned();
        run.benchmarks = vec![skipped("a"), skipped("b")];
        run
    }

    fn written(run: &Run) -> String {
        let mut out = Vec::new();
        write(run, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn written_document_is_read_again() {
        assert_eq!(read(&written(&run())).unwrap(), run());
    }

    /// Without its batches, an entry lacks the processes of the launches, and its numbers are
    /// rounded.
    #[test]
    fn summary_is_short_and_is_read_again() {
        let launch = Launch {
            median: Some(1.000_000_4),
            contended: Some(0.012_345),
            placement: Some(Placement::default()),
            locked: Some(true),
            realtime: true,
            ..Launch::default()
        };
        let mut entry = Benchmark::ended("a", Status::Ok, Vec::new());
        entry.launches = vec![launch];
        entry.details.samples = vec![1.000_004];
        entry.environment.cycle_ns = vec![Some(0.244_570_500_000_2), None];
        let group = CircleGroup { accumulated: vec![123_456.7], ..CircleGroup::default() };
        let of_launch = CirclesLaunch { groups: vec![group], ..CirclesLaunch::default() };
        entry.details.circles = Some(Circles { launches: vec![of_launch], ..Circles::default() });
        let whole = write_entry(&entry).unwrap();
        assert!(whole.contains("\"locked\":true") && whole.contains("\"placement\":{"));
        assert_eq!(read_entry(&whole).unwrap(), entry);
        let summary = entry.summary();
        let text = write_entry(&summary).unwrap();
        assert_eq!(read_entry(&text).unwrap(), summary);
        let short: serde_json::Value = serde_json::from_str(&text).unwrap();
        let launch = short["launches"][0].as_object().unwrap();
        assert!(!launch.contains_key("locked") && !launch.contains_key("placement"));
        assert_eq!(launch["realtime"], true);
        assert_eq!(launch["median"], 1.0);
        assert_eq!(launch["contended"], 0.0123);
        assert_eq!(short["samples"][0], 1);
        assert_eq!(short["cycle_ns"], serde_json::json!([0.244_571, null]));
        let group = &short["circles"]["launches"][0]["groups"][0];
        assert_eq!(group["accumulated"][0], 123_460.0);
        for empty in ["harness", "bounds", "median_of_medians"] {
            assert!(short.get(empty).is_none(), "{empty}");
        }
    }

    #[test]
    fn field_that_an_entry_lacks_has_a_default_or_is_missing() {
        let entry = run().benchmarks.remove(0);
        let whole = serde_json::to_value(&entry).unwrap();
        let without = |field: &str| {
            let mut value = whole.clone();
            value.as_object_mut().unwrap().remove(field).unwrap();
            read_entry(&value.to_string())
        };
        for field in ["threads", "median", "discarded", "cycles", "provenance"] {
            assert_eq!(without(field).unwrap(), entry, "{field}");
        }
        for field in ["name", "status", "class", "processes", "samples"] {
            let error = without(field).unwrap_err().to_string();
            assert!(error.starts_with(&format!("missing field `{field}`")), "{error}");
        }
        let mut value = whole.clone();
        value["of a later version"] = serde_json::json!({"a": [1]});
        assert_eq!(read_entry(&value.to_string()).unwrap(), entry);
    }

    #[test]
    fn error_has_its_position_and_earlier_entries_are_passed_on() {
        let text = written(&run()).replace(r#""name": "b""#, r#""name": 7"#);
        let line = 1 + text.lines().position(|l| l.contains("7")).unwrap();
        let mut names = Vec::new();
        let read = read_entries(&text, &mut |entry| names.push(entry.name));
        let error = read.unwrap_err();
        assert_eq!((error.line(), names), (line, vec!["a".to_owned()]));
        assert!(error.to_string().contains("invalid type: integer `7`, expected a string"));
        let text = written(&run()).replacen(r#""discarded": 0"#, r#""discarded": -7"#, 1);
        let line = 1 + text.lines().position(|l| l.contains("-7")).unwrap();
        assert_eq!(super::read(&text).unwrap_err().line(), line);
    }

    /// A reader that takes the last of two values reads other figures than one that takes the
    /// first.
    #[test]
    fn field_that_an_object_has_twice_is_refused() {
        let entry = write_entry(&run().benchmarks[0]).unwrap();
        for (field, value) in [
            ("batches", r#"{"ns":[1]}"#),
            ("sizing", r#"{"ns":[1]}"#),
            ("curves", "[]"),
            ("samples", "[]"),
            ("name", r#""b""#),
            ("discarded", "7"),
        ] {
            let end = format!(r#","{field}":{value}}}"#);
            let once = format!("{}{end}", entry.strip_suffix('}').unwrap());
            let twice = format!("{}{end}", once.strip_suffix('}').unwrap());
            // Each entry has these already.
            let is_there = ["samples", "name", "discarded"].contains(&field);
            assert_eq!(read_entry(&once).is_ok(), !is_there, "{field}");
            let error = read_entry(&twice).unwrap_err().to_string();
            assert!(error.starts_with(&format!("duplicate field `{field}`")), "{error}");
        }
        let twice = written(&run()).replace("\n}\n", ",\n  \"benchmarks\": []\n}\n");
        let mut names = Vec::new();
        let error = read_entries(&twice, &mut |entry| names.push(entry.name)).unwrap_err();
        assert!(error.to_string().starts_with("duplicate field `benchmarks`"), "{error}");
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn text_that_is_no_document_is_refused() {
        for (text, reason) in [
            ("{}", "missing field `schema`"),
            ("[]", "invalid type: sequence, expected struct Run"),
            (r#"{"benchmarks": 3}"#, "invalid type: integer `3`, expected a sequence"),
            (&format!("{} 7", written(&run())), "trailing characters"),
            (&written(&run()).replace("\"benchmarks\"", "\"other\""), "missing field `benchmarks`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
