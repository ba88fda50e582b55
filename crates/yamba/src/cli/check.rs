//! `yamba check`

use super::{Failure, Names, Terminal, output, select};
use clap::Args;
use serde_json::{Value, json};
use yamba_lang::diagnostic::{Diagnostic, Label};
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, Severity};

/// Say what is wrong with programs, without compiling or running anything
///
/// With no name: the whole library and suite, and each --lib.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba check mine.yamba           all errors of a file
  yamba check                      the whole library and suite
  yamba check --lib ports mine.yamba
  yamba check mine.yamba --json | jq -r '.diagnostics[] | \"\\(.file):\\(.line): \\(.message)\"'

Exit status: 0 no errors, 2 errors.")]
pub(super) struct Check {
    #[command(flatten)]
    names: Names,
    /// One JSON document: each error and warning with its places and its fix
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<(), Failure> {
        let selection = select::read(&self.names, true)?;
        if self.json {
            let document = document(&selection.analysis, selection.files);
            output::json(&document)?;
            let is_wrong = document["errors"] != 0;
            return if is_wrong {
                Err(Failure::Shown)
            } else {
                Ok(())
            };
        }
        selection.report(&Terminal::default())?;
        let classes = selection.analysis.requested().len();
        let files = output::counted(selection.files, "file", "files");
        let classes = output::counted(classes, "class", "classes");
        output::result(&format!("{files}, {classes}: no errors\n"))
    }
}

/// The `--json` output.
fn document(analysis: &Analysis, files: usize) -> Value {
    let all = &analysis.diagnostics;
    let count = |severity| all.iter().filter(|d| d.severity == severity).count();
    let diagnostics = all.iter().map(|d| diagnostic(d, &analysis.sources));
    json!({
        "files": files,
        "classes": analysis.requested().len(),
        "errors": count(Severity::Error),
        "warnings": count(Severity::Warning),
        "diagnostics": diagnostics.collect::<Vec<Value>>(),
    })
}

fn diagnostic(d: &Diagnostic, sources: &SourceMap) -> Value {
    let mut value = place(&d.primary, sources);
    value["severity"] = json!(match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    });
    value["kind"] = json!(d.code);
    value["message"] = json!(d.message);
    value["help"] = json!(d.help);
    // Further places that explain the diagnostic.
    let others = d.secondary.iter().map(|label| place(label, sources));
    value["also"] = others.collect();
    value
}

/// A source range, and the text shown beside it. Lines and columns count from 1; the end is exclusive.
fn place(label: &Label, sources: &SourceMap) -> Value {
    let start = sources.line_column(label.span);
    let end = sources.line_column(label.span.after());
    json!({
        "file": sources.file(label.span.file).path,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "label": label.text,
    })
}
