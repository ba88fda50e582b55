//! The records of an entry, from its launches to documents and stores. A document has them in
//! columns; a store has the same text, compressed by LZ4.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::batch::{Batch, BatchColumns};
use crate::columns::Column;
use crate::event::{Curve, Sizing, SizingColumns};
use crate::flat::{Fields, Flat, read_once};

/// The records of one launch, or of several in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchRecords {
    /// The timed batches.
    pub batches: Vec<Batch>,
    /// Timings of warm-up, sizing and the growth check.
    pub sizing: Vec<Sizing>,
    /// The curves, with every pass.
    pub curves: Vec<Curve>,
}

/// The records of an entry, as a document has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct RecordColumns {
    /// Every timed batch, those excluded from the figure too. Absent without `--raw`.
    #[serde(default, skip_serializing_if = "Column::is_blank")]
    pub batches: BatchColumns,
    /// Timings of warm-up, sizing and the growth check. Absent without `--raw`.
    #[serde(default, skip_serializing_if = "Column::is_blank")]
    pub sizing: SizingColumns,
    /// The curves from which the figure is inferred, with every pass. Absent without `--raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
}

impl RecordColumns {
    fn new(records: LaunchRecords) -> RecordColumns {
        RecordColumns {
            batches: BatchColumns::collect(records.batches.into_iter()),
            sizing: SizingColumns::collect(records.sizing.into_iter()),
            curves: records.curves,
        }
    }

    /// Checks that the columns of each kind have one length.
    pub(crate) fn checked<E: serde::de::Error>(self) -> Result<RecordColumns, E> {
        if !self.batches.fits(self.batches.len()) {
            return Err(E::custom("columns of batches have different lengths"));
        }
        if !self.sizing.fits(self.sizing.len()) {
            return Err(E::custom("columns of sizing have different lengths"));
        }
        Ok(self)
    }

    fn is_empty(&self) -> bool {
        self.batches.len() == 0 && self.sizing.len() == 0 && self.curves.is_empty()
    }
}

/// The records that an entry has so far.
#[derive(Default)]
pub(crate) struct RecordFields {
    batches: Option<BatchColumns>,
    sizing: Option<SizingColumns>,
    curves: Option<Vec<Curve>>,
}

impl Fields for RecordFields {
    fn take<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        object: &mut A,
    ) -> Result<bool, A::Error> {
        match key {
            "batches" => read_once(&mut self.batches, "batches", object)?,
            "sizing" => read_once(&mut self.sizing, "sizing", object)?,
            "curves" => read_once(&mut self.curves, "curves", object)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Flat for Records {
    type Fields = RecordFields;

    fn complete<E: serde::de::Error>(fields: RecordFields) -> Result<Records, E> {
        let columns = RecordColumns {
            batches: fields.batches.unwrap_or_default(),
            sizing: fields.sizing.unwrap_or_default(),
            curves: fields.curves.unwrap_or_default(),
        };
        Ok(columns.checked::<E>()?.into())
    }
}

/// A value as compressed text, in about a tenth of its memory.
#[derive(Clone, Debug)]
pub struct Packed<T> {
    bytes: Vec<u8>,
    value: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    /// Packs a value.
    ///
    /// # Panics
    /// If the value has no JSON. Every record has.
    pub fn new(value: &T) -> Packed<T> {
        let text = serde_json::to_vec(value).expect("every record can be written");
        let mut bytes = lz4_flex::compress_prepend_size(&text);
        bytes.shrink_to_fit();
        Packed { bytes, value: PhantomData }
    }

    /// The value, bit for bit.
    ///
    /// # Panics
    /// Never: the bytes were written by [`Packed::new`].
    pub fn value(&self) -> T {
        unpacked(&self.bytes).expect("it was packed here")
    }
}

/// Maximum expansion of an LZ4 block. A larger length is damaged, and must not allocate memory.
const GROWTH: usize = 255;

fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    let (length, block) =
        lz4_flex::block::uncompressed_size(bytes).map_err(serde_json::Error::custom)?;
    if length / GROWTH > block.len() {
        return Err(serde_json::Error::custom("batches have no such length"));
    }
    let text = lz4_flex::decompress(block, length).map_err(serde_json::Error::custom)?;
    // Reading bytes as well as texts would compile each type twice.
    serde_json::from_str(str::from_utf8(&text).map_err(serde_json::Error::custom)?)
}

/// The records of an entry: its timed batches, sizing and curves. A whole run has some hundred
/// thousand batches, so a run that is measured or imported packs those of each entry.
#[derive(Clone, Debug)]
pub struct Records(Form);

#[derive(Clone, Debug)]
enum Form {
    Empty,
    Columns(Box<RecordColumns>),
    Packed(Packed<RecordColumns>),
}

impl Records {
    /// Packs the records of launches.
    pub fn packed(records: LaunchRecords) -> Records {
        let mut all = Records::from(RecordColumns::new(records));
        all.pack();
        all
    }

    /// Brings the records into their smallest form.
    pub fn pack(&mut self) {
        if let Form::Columns(columns) = &self.0 {
            self.0 = Form::Packed(Packed::new(columns));
        }
    }

    /// Whether the entry has no records.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Form::Empty)
    }

    /// The records of all launches.
    pub fn unpack(&self) -> LaunchRecords {
        let columns = self.columns();
        LaunchRecords {
            batches: columns.batches.rows(columns.batches.len()).collect(),
            sizing: columns.sizing.rows(columns.sizing.len()).collect(),
            curves: columns.curves.clone(),
        }
    }

    /// Number of timed batches, those excluded from the figure too.
    pub fn count(&self) -> usize {
        self.columns().batches.len()
    }

    /// The timed batches, those excluded from the figure too.
    pub fn batches(&self) -> Vec<Batch> {
        let columns = self.columns();
        columns.batches.rows(columns.batches.len()).collect()
    }

    /// The form in which a store has the records. Empty: there are no records.
    pub fn stored(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Form::Packed(packed) => Cow::Borrowed(&packed.bytes),
            Form::Empty => Cow::Borrowed(&[]),
            Form::Columns(columns) => Cow::Owned(Packed::new(columns).bytes),
        }
    }

    /// Reads the form in which a store has them.
    ///
    /// # Errors
    /// If the bytes have another form.
    pub fn from_stored(bytes: &[u8]) -> serde_json::Result<Records> {
        if bytes.is_empty() {
            return Ok(Records::default());
        }
        Ok(unpacked::<RecordColumns>(bytes)?.checked::<serde_json::Error>()?.into())
    }

    fn columns(&self) -> Cow<'_, RecordColumns> {
        match &self.0 {
            Form::Empty => Cow::Owned(RecordColumns::default()),
            Form::Columns(columns) => Cow::Borrowed(columns),
            Form::Packed(packed) => Cow::Owned(packed.value()),
        }
    }
}

impl From<RecordColumns> for Records {
    fn from(columns: RecordColumns) -> Records {
        if columns.is_empty() {
            return Records(Form::Empty);
        }
        Records(Form::Columns(Box::new(columns)))
    }
}

/// Records that are only batches.
impl FromIterator<Batch> for Records {
    fn from_iter<I: IntoIterator<Item = Batch>>(batches: I) -> Records {
        let batches = BatchColumns::collect(batches.into_iter());
        RecordColumns { batches, ..RecordColumns::default() }.into()
    }
}

impl Default for Records {
    fn default() -> Records {
        Records(Form::Empty)
    }
}

impl PartialEq for Records {
    fn eq(&self, other: &Records) -> bool {
        self.columns() == other.columns()
    }
}

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.columns().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Records, D::Error> {
        Ok(RecordColumns::deserialize(deserializer)?.checked::<D::Error>()?.into())
    }
}

impl schemars::JsonSchema for Records {
    fn schema_name() -> Cow<'static, str> {
        RecordColumns::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RecordColumns::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Purpose;

    fn batch(place: usize) -> Batch {
        Batch {
            passes: 10,
            ns: 0.1 + 1.0 / (3.0 + place as f64),
            launch: place as u64 / 4,
            cycle_ns: (place != 3).then_some(0.25),
            disturbed: if place == 5 { vec!["switch".to_owned()] } else { Vec::new() },
            ..Batch::default()
        }
    }

    fn records() -> LaunchRecords {
        LaunchRecords {
            batches: (0..11).map(batch).collect(),
            sizing: vec![Sizing { passes: 4, ns: 1.0 / 3.0, ..Sizing::default() }],
            curves: vec![Curve { name: "c".to_owned(), ns: vec![0.1], ..Curve::default() }],
        }
    }

    #[test]
    fn packed_and_stored_records_are_equal_to_the_last_bit() {
        let packed = Records::packed(records());
        assert_eq!(packed.unpack(), records());
        let stored = packed.stored();
        let read = Records::from_stored(&stored).unwrap();
        assert_eq!((read.unpack(), read.stored()), (records(), stored));
        assert_eq!(read, packed);
        assert!(!packed.is_empty() && packed.count() == 11 && packed.batches().len() == 11);
    }

    #[test]
    fn entry_without_records_stores_no_bytes() {
        let none = Records::packed(LaunchRecords::default());
        assert!(none.is_empty() && none.stored().is_empty());
        assert_eq!(Records::from_stored(&[]).unwrap(), none);
        assert_eq!(serde_json::to_string(&none).unwrap(), "{}");
    }

    #[test]
    fn damaged_records_are_refused() {
        let stored = Records::packed(records()).stored().into_owned();
        let endless = [&u32::MAX.to_le_bytes(), &stored[4..]].concat();
        for damaged in [&stored[..stored.len() / 2], &stored[..2], &endless] {
            assert!(Records::from_stored(damaged).is_err());
        }
    }

    #[track_caller]
    fn is_written(sizing: Vec<Sizing>, expected: &str) {
        let records = LaunchRecords { sizing, ..LaunchRecords::default() };
        let text = serde_json::to_string(&Records::packed(records.clone())).unwrap();
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Records>(&text).unwrap().unpack(), records);
    }

    #[test]
    fn sizing_is_written_in_columns() {
        let timing = |purpose, passes, ns| Sizing { purpose, passes, ns, dummy_ns: 0.5 };
        let size = timing(Purpose::Size, 1, 2.0);
        is_written(
            vec![size.clone(), timing(Purpose::Growth, 4, 2.5)],
            r#"{"sizing":{"purpose":["size","growth"],"passes":[1,4],"ns":[2,2.5],"dummy_ns":0.5}}"#,
        );
        is_written(
            vec![size.clone(), size],
            r#"{"sizing":{"passes":1,"ns":[2,2],"dummy_ns":0.5}}"#,
        );
        is_written(Vec::new(), "{}");
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        for (text, kind) in [
            (r#"{"sizing":{"ns":[1,2],"passes":[1,2,3]}}"#, "sizing"),
            (r#"{"sizing":{"ns":[1,2],"purpose":["growth"]}}"#, "sizing"),
            (r#"{"sizing":{"passes":[1,2]}}"#, "sizing"),
            (r#"{"batches":{"ns":[1,2],"passes":[1,2,3]}}"#, "batches"),
            (r#"{"batches":{"ns":[1],"disturbed":{"switch":[1]}}}"#, "batches"),
        ] {
            let error = serde_json::from_str::<Records>(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("columns of {kind}")), "{error}");
        }
    }
}
