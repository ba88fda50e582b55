//! Tables for spreadsheets and data frames: RFC 4180, with a line of headings.
//!
//! Texts that a spreadsheet would take for a formula get an apostrophe in front, its own mark of a text. Numbers never do. Control characters but tabs and line ends, which would act on a terminal, are spaces.

use std::io::{self, Write};

use yamba_record::Run;

use super::table::{self, Column, Row, Table, Values};

pub(super) fn write(table: &Table, run: &Run, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut lines = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    lines.write_record(table.columns.iter().map(|c| c.name))?;
    for row in table.rows(&table::entries(run)?) {
        lines.write_record(table.columns.iter().map(|c| cell(c, &row)))?;
    }
    lines.flush()
}

/// Empty where there is no value.
fn cell(column: &Column, row: &Row<'_>) -> String {
    let cell = match column.values {
        Values::Text(get) => get(row).map(|value| text(&value)),
        Values::Count(get) => get(row).map(|value| value.to_string()),
        Values::Flag(get) => get(row).map(|value| value.to_string()),
        Values::Real(get) => get(row)
            .filter(|value| value.is_finite())
            .map(|v| v.to_string()),
    };
    cell.unwrap_or_default()
}

fn text(text: &str) -> String {
    let acts = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    let mark = match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => "'",
        false => "",
    };
    format!("{mark}{}", text.replace(acts, " "))
}
