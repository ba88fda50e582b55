//! Formats a study for a terminal.

use comfy_table::{ContentArrangement, Table, presets};
use yamba_record::Run;

use crate::cli::output;
use crate::study_report::words;
use yamba_session::study::{Study, StudyRow};
use yamba_toolchain::render::visible;

/// Width without a terminal.
const WIDTH: usize = 120;
const LEAST_WIDTH: usize = 60;

pub(super) fn text(study: &Study, run: &Run, rows: &[StudyRow<'_>]) -> String {
    let mut out = format!("{}\n", study.title.trim());
    if !study.text.trim().is_empty() {
        out.push_str(&format!("\n{}\n", study.text.trim()));
    }
    out.push_str(&format!("\n{}\n", words::origin(run)));
    let common = words::common(rows);
    for group in rows.chunk_by(|a, b| a.measurement.category == b.measurement.category) {
        out.push_str(&format!("\n{}", section(study, group, &common)));
    }
    out.push_str(&format!("\n{}\n", words::remarks(rows).join("\n")));
    // Control characters in the study must not reach the terminal.
    visible(&out)
}

fn section(study: &Study, rows: &[StudyRow<'_>], common: &[&String]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(output::width().unwrap_or(WIDTH).max(LEAST_WIDTH) as u16)
        .set_header([
            rows[0].measurement.category.as_str(),
            "base",
            "overhead",
            "predicted",
            "measured",
            "verdict",
        ]);
    for row in rows {
        let m = row.measurement;
        table.add_row([
            words::operation(row),
            m.base.clone().unwrap_or_default(),
            m.overhead.clone().unwrap_or_default(),
            words::predicted(study, m),
            measured(row),
            words::verdict(row),
        ]);
    }
    let mut out: String = table.lines().map(|l| format!("{}\n", l.trim_end())).collect();
    for row in rows {
        for note in row.notes.iter().filter(|n| !common.contains(n)) {
            let note = note.lines().next().unwrap_or_default();
            out.push_str(&format!("    {}: {note}\n", words::operation(row)));
        }
    }
    out
}

fn measured(row: &StudyRow<'_>) -> String {
    let figure = words::figure(row);
    match words::marked(row) {
        None => figure,
        Some(mark) if figure.is_empty() => mark.to_owned(),
        Some(mark) => format!("{mark} ({figure})"),
    }
}
