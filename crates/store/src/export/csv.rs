//! CSV tables (RFC 4180) with a header line, for spreadsheets and data frames.
//!
//! A text that a spreadsheet would read as a formula is prefixed with an apostrophe; numbers are
//! not. Control characters other than tabs and line ends become spaces, since they would act on a
//! terminal.

use std::io::{self, Write};

use yamba_record::Run;

use super::table::{self, Column, Table, TableRow, Values};

pub(super) fn write(table: &Table, run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let mut lines = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    lines.write_record(table.columns.iter().map(|c| c.name))?;
    for row in table.rows(&table::entries(run)?) {
        lines.write_record(table.columns.iter().map(|c| cell(c, &row)))?;
    }
    lines.flush()?;
    Ok(run.benchmarks.len())
}

/// The text of a cell; empty for a missing value.
fn cell(column: &Column, row: &TableRow<'_>) -> String {
    let cell = match column.values {
        Values::Text(get) => get(row).map(|value| text(&value)),
        Values::Count(get) => get(row).map(|value| value.to_string()),
        Values::Flag(get) => get(row).map(|value| value.to_string()),
        Values::Real(get) => get(row).filter(|value| value.is_finite()).map(|v| v.to_string()),
    };
    cell.unwrap_or_default()
}

fn text(text: &str) -> String {
    let acts = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
    format!("{mark}{}", text.replace(acts, " "))
}
