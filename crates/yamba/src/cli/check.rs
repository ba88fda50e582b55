//! `yamba check`

use super::{Failure, Names, output, select};
use clap::Args;
use serde_json::{Value, json};
use yamba_lang::diagnostic::{Diagnostic, Label};
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, Severity};
use yamba_record::number::counted;
use yamba_toolchain::build::{self, BuildError};

/// Check programs without compiling or running them
///
/// With no name: the whole library and suite, and each --lib. Assembly is assembled for each
/// instruction set that has an assembler here. Faults in C++ appear when a program is built.
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
        let analysis = &selection.analysis;
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        let mut diagnostics = analysis.diagnostics.clone();
        let mut without_assembler = Vec::new();
        // After an error nothing is assembled: the assembly blocks of a faulty class may be
        // incomplete.
        if !diagnostics.iter().any(is_error) {
            let assembled = build::assemble_all(analysis, &analysis.requested());
            let assembled = assembled.map_err(assembler_failure)?;
            diagnostics.extend(assembled.diagnostics);
            without_assembler = assembled.without_assembler;
        }
        let is_wrong = diagnostics.iter().any(is_error);
        if self.json {
            let document = document(analysis, selection.files, &diagnostics, &without_assembler);
            output::json(&document)?;
            return if is_wrong { Err(Failure::Shown) } else { Ok(()) };
        }
        select::show(analysis, &diagnostics)?;
        let classes = analysis.requested().len();
        let files = counted(selection.files, "file", "files");
        let classes = counted(classes, "class", "classes");
        let mut text = format!("{files}, {classes}: no errors\n");
        if !without_assembler.is_empty() {
            let isas = without_assembler.join(", ");
            text.push_str(&format!("not assembled: no assembler for {isas}\n"));
        }
        output::result(&text)
    }
}

/// The failure of an assembler itself.
fn assembler_failure(error: BuildError) -> Failure {
    let message = Failure::new(error.to_string());
    if let BuildError::Setting { help, .. } = error {
        return message.help(help);
    }
    message
        .help("the variable AS names another assembler, AS_<isa> that of another instruction set")
}

/// The `--json` output.
fn document(
    analysis: &Analysis,
    files: usize,
    all: &[Diagnostic],
    without_assembler: &[String],
) -> Value {
    let count = |severity| all.iter().filter(|d| d.severity == severity).count();
    let diagnostics = all.iter().map(|d| diagnostic(d, &analysis.sources));
    json!({
        "files": files,
        "classes": analysis.requested().len(),
        "errors": count(Severity::Error),
        "warnings": count(Severity::Warning),
        "not_assembled": without_assembler,
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

/// A source range, and the text shown beside it. Lines and columns count from 1; the end is
/// exclusive.
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
