//! Reads and writes the document of a run. The functions that do the work are not generic, so that
//! they are compiled with this crate, which is optimised, and not with each crate that calls them.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use serde::de::value::{MapAccessDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::batch::Batches;
use crate::distribution::Singles;
use crate::event::{Curve, Sizing, sizing};
use crate::run::{Benchmark, Run};

/// Reads a document.
///
/// # Errors
/// If the text is no document of a run.
pub fn read(text: &str) -> serde_json::Result<Run> {
    let mut benchmarks = Vec::new();
    let run = read_entries(text, &mut |entry| benchmarks.push(entry))?;
    Ok(run.into_entries(benchmarks))
}

/// Reads a document, and passes each entry to `sink` as soon as it is read. Returns the run without
/// entries.
///
/// # Errors
/// If the text is no document of a run. `sink` has the entries before the error then.
pub fn read_entries(text: &str, sink: &mut dyn FnMut(Benchmark)) -> serde_json::Result<Run<()>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let run = deserializer.deserialize_map(Whole { sink })?;
    deserializer.end()?;
    Ok(run)
}

/// Reads an entry, as [`write_entry`] wrote it.
///
/// # Errors
/// If the text is no entry.
pub fn read_entry(text: &str) -> serde_json::Result<Benchmark> {
    let mut entry: Benchmark = serde_json::from_str(text)?;
    entry.recognise_notes();
    Ok(entry)
}

/// An entry as JSON on one line.
///
/// # Errors
/// None for an entry that was measured or read.
pub fn write_entry(entry: &Benchmark) -> serde_json::Result<String> {
    serde_json::to_string(entry)
}

/// Reads a run without entries, as [`write_run`] wrote it.
///
/// # Errors
/// If the text is no document of a run.
pub fn read_run(text: &str) -> serde_json::Result<Run<()>> {
    read_entries(text, &mut drop)
}

/// A run without entries as JSON on one line.
///
/// # Errors
/// None for a run that was measured or read.
pub fn write_run(run: &Run<()>) -> serde_json::Result<String> {
    serde_json::to_string(run)
}

/// The records of launches. Batches and sizing are stored in columns.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Records {
    /// The timed batches.
    pub batches: Batches,
    /// Warm-up, sizing and the growth check.
    #[serde(with = "sizing")]
    pub sizing: Vec<Sizing>,
    /// The curves.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// The single operations that were timed alone.
    #[serde(default)]
    pub singles: Option<Singles>,
}

impl Records {
    /// Reads records, as [`Records::write`] or [`write_records`] wrote them.
    ///
    /// # Errors
    /// If the text has another form.
    pub fn read(text: &str) -> serde_json::Result<Records> {
        serde_json::from_str(text)
    }

    /// The records as JSON on one line.
    ///
    /// # Errors
    /// None for records that were measured or read.
    pub fn write(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&WrittenRecords {
            batches: &self.batches,
            sizing: &self.sizing,
            curves: &self.curves,
            singles: self.singles.as_ref(),
        })
    }
}

/// Records that are not cloned before they are written.
#[derive(Serialize)]
struct WrittenRecords<'a> {
    batches: &'a Batches,
    #[serde(with = "sizing")]
    sizing: &'a [Sizing],
    #[serde(skip_serializing_if = "<[Curve]>::is_empty")]
    curves: &'a [Curve],
    #[serde(skip_serializing_if = "Option::is_none")]
    singles: Option<&'a Singles>,
}

/// The batches, the sizing and the curves of an entry, as JSON.
///
/// # Errors
/// None for an entry that was measured or read.
pub fn write_records(entry: &Benchmark) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&WrittenRecords {
        batches: &entry.batches,
        sizing: &entry.sizing,
        curves: &entry.curves,
        singles: None,
    })
}

/// Restores the batches, the sizing and the curves of an entry from the text of [`write_records`].
///
/// # Errors
/// If the text has another form.
pub fn read_records(text: &[u8], entry: &mut Benchmark) -> serde_json::Result<()> {
    let read = Records::read(utf8(text)?)?;
    entry.batches = read.batches;
    entry.sizing = read.sizing;
    entry.curves = read.curves;
    Ok(())
}

/// A text that `serde_json` reads as `&str`. Reading bytes as well would compile each type twice.
fn utf8(text: &[u8]) -> serde_json::Result<&str> {
    str::from_utf8(text).map_err(serde::de::Error::custom)
}

/// Reads a run whose entries go to `sink`.
struct Whole<'a> {
    sink: &'a mut dyn FnMut(Benchmark),
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = Run<()>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Run")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Run<()>, A::Error> {
        Run::deserialize(MapAccessDeserializer::new(Fields {
            fields,
            sink: self.sink,
            is_entries: false,
        }))
    }
}

/// The fields of a run. The value of `benchmarks` goes to `sink`, and an empty array takes its
/// place.
struct Fields<'a, A> {
    fields: A,
    sink: &'a mut dyn FnMut(Benchmark),
    /// Whether the next value is that of `benchmarks`.
    is_entries: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        key: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(name) = self.fields.next_key::<Cow<'de, str>>()? else {
            return Ok(None);
        };
        self.is_entries = name == "benchmarks";
        key.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, value: V) -> Result<V::Value, A::Error> {
        if !self.is_entries {
            return self.fields.next_value_seed(value);
        }
        self.fields.next_value_seed(Entries { sink: self.sink })?;
        value.deserialize(SeqDeserializer::new(std::iter::empty::<()>()))
    }
}

/// Passes entries to `sink`.
struct Entries<'a> {
    sink: &'a mut dyn FnMut(Benchmark),
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(mut entry) = entries.next_element::<Benchmark>()? {
            entry.recognise_notes();
            (self.sink)(entry);
        }
        Ok(())
    }
}

/// An entry in memory.
pub trait Entry {
    /// The entry.
    fn benchmark(&self) -> Cow<'_, Benchmark>;
}

impl Entry for Benchmark {
    fn benchmark(&self) -> Cow<'_, Benchmark> {
        Cow::Borrowed(self)
    }
}

/// Writes the document of a run, with a line end.
///
/// # Errors
/// Those of the stream.
pub fn write<E: Entry>(run: &Run<E>, out: &mut dyn Write) -> io::Result<()> {
    let entries = run.benchmarks.iter().map(|entry| Written(entry)).collect();
    write_entries(&run.with_entries(entries), out)
}

fn write_entries(run: &Run<Written<'_>>, mut out: &mut dyn Write) -> io::Result<()> {
    run.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Lines::default()))?;
    out.write_all(b"\n")
}

/// An entry that is written.
struct Written<'a>(&'a dyn Entry);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.benchmark().serialize(serializer)
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
        entry.samples = vec![1.000_004];
        entry.cycle_ns = vec![Some(0.244_570_500_000_2), None];
        let group = CircleGroup { accumulated: vec![123_456.7], ..CircleGroup::default() };
        let of_launch = CirclesLaunch { groups: vec![group], ..CirclesLaunch::default() };
        entry.circles = Some(Circles { launches: vec![of_launch], ..Circles::default() });
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
    fn error_has_its_position_and_earlier_entries_are_passed_on() {
        let text = written(&run()).replace(r#""name": "b""#, r#""name": 7"#);
        let line = 1 + text.lines().position(|l| l.contains("7")).unwrap();
        let mut names = Vec::new();
        let read = read_entries(&text, &mut |entry| names.push(entry.name));
        let error = read.unwrap_err();
        assert_eq!((error.line(), names), (line, vec!["a".to_owned()]));
        assert!(error.to_string().contains("invalid type: integer `7`, expected a string"));
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
