//! Apache Parquet (<https://parquet.apache.org/docs/file-format/>) for data frames: the tables of
//! `csv` with types, and null for missing values.
//!
//! Rows are written in groups, so that the memory needed besides the run is constant.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use yamba_record::Run;

use super::table::{self, Column, Table, TableRow, Values};

/// Rows per group.
const GROUP: usize = 1 << 16;

pub(super) fn write(table: &Table, run: &Run, out: &mut (dyn Write + Send)) -> io::Result<()> {
    groups(table, run, out).map_err(plain)
}

fn groups(table: &Table, run: &Run, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let properties = Arc::new(properties(table, run)?);
    let mut file = SerializedFileWriter::new(out, schema(table)?, properties)?;
    let entries = table::entries(run)?;
    let mut rows = table.rows(&entries);
    loop {
        let group: Vec<TableRow<'_>> = rows.by_ref().take(GROUP).collect();
        if group.is_empty() {
            break;
        }
        let mut writer = file.next_row_group()?;
        for column in table.columns {
            if let Some(place) = writer.next_column()? {
                values(column, &group, place)?;
            }
        }
        writer.close()?;
    }
    file.close()?;
    Ok(())
}

/// The schema of the file. Every column is nullable, so that all files of a table have the same
/// type.
fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let column = |c: &Column| {
        let (stored, meaning) = match c.values {
            Values::Text(_) => ("BYTE_ARRAY", " (STRING)"),
            Values::Count(_) => ("INT64", " (INTEGER(64,false))"),
            Values::Flag(_) => ("BOOLEAN", ""),
            Values::Real(_) => ("DOUBLE", ""),
        };
        format!("OPTIONAL {stored} {}{meaning};", c.name)
    };
    let columns: String = table.columns.iter().map(column).collect();
    Ok(Arc::new(parse_message_type(&format!("message yamba {{{columns}}}"))?))
}

/// Dictionary encoding for texts, which repeat in every row of an entry, but not for measured
/// numbers.
fn properties(table: &Table, run: &Run) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(run.producer.version.clone())
        .set_key_value_metadata(Some(metadata(table, run)?));
    for column in table.columns {
        if let Values::Real(_) = column.values {
            let path = ColumnPath::from(column.name);
            properties = properties.set_column_dictionary_enabled(path, false);
        }
    }
    Ok(properties.build())
}

/// File metadata: the run, its time and machine, and the units of columns.
fn metadata(table: &Table, run: &Run) -> io::Result<Vec<KeyValue>> {
    let with_unit = table.columns.iter().filter(|c| !c.unit.is_empty());
    let units: BTreeMap<&str, &str> = with_unit.map(|c| (c.name, c.unit)).collect();
    let mut all = vec![
        ("yamba_run", run.id.clone()),
        ("yamba_machine", serde_json::to_string(&run.machine)?),
        ("yamba_units", serde_json::to_string(&units)?),
    ];
    all.extend(run.started_unix_s.map(|s| ("yamba_started_unix_s", s.to_string())));
    let pair = |(key, value): (&str, String)| KeyValue::new(key.to_owned(), value);
    Ok(all.into_iter().map(pair).collect())
}

fn values(
    column: &Column,
    rows: &[TableRow<'_>],
    mut place: SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let written = match column.values {
        Values::Text(get) => {
            let bytes = |row| get(row).map(|text| ByteArray::from(&*text));
            batch::<ByteArrayType>(rows.iter().map(bytes), &mut place)
        }
        // The bit pattern is unchanged; the schema declares the column unsigned.
        Values::Count(get) => {
            let bits = |row| get(row).map(u64::cast_signed);
            batch::<Int64Type>(rows.iter().map(bits), &mut place)
        }
        Values::Flag(get) => batch::<BoolType>(rows.iter().map(get), &mut place),
        Values::Real(get) => {
            let finite = |row| get(row).filter(|value| value.is_finite());
            batch::<DoubleType>(rows.iter().map(finite), &mut place)
        }
    };
    written?;
    place.close()
}

fn batch<T: DataType>(
    cells: impl Iterator<Item = Option<T::T>>,
    place: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let mut is_there = Vec::new();
    let mut values = Vec::new();
    for cell in cells {
        is_there.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let writer = place.typed::<T>();
    writer.write_batch(values.as_slice(), Some(&is_there), None)?;
    Ok(())
}

/// Unwraps an I/O error of the output stream.
fn plain(e: ParquetError) -> io::Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(of_stream) => *of_stream,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
