//! `yamba check`

use super::{Failure, Names, Selection, Terminal, output, select};
use clap::Args;
use serde::Serialize;
use yamba_lang::Severity;
use yamba_lang::diagnostic::{Diagnostic, Label};
use yamba_lang::source::SourceMap;

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
            let document = Document::of(&selection);
            output::json(&document)?;
            return match document.errors {
                0 => Ok(()),
                _ => Err(Failure::Shown),
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
#[derive(Serialize)]
struct Document<'a> {
    files: usize,
    classes: usize,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<Fault<'a>>,
}

#[derive(Serialize)]
struct Fault<'a> {
    severity: &'static str,
    kind: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    help: Option<&'a str>,
    /// Further places that explain the diagnostic.
    also: Vec<Place<'a>>,
}

/// A source range. Lines and columns count from 1; the end is exclusive.
#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    /// The text shown beside the line.
    label: &'a str,
}

impl<'a> Document<'a> {
    fn of(selection: &'a Selection) -> Document<'a> {
        let analysis = &selection.analysis;
        let all = &analysis.diagnostics;
        let count = |severity| all.iter().filter(|d| d.severity == severity).count();
        let each = all.iter();
        Document {
            files: selection.files,
            classes: analysis.requested().len(),
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            diagnostics: each.map(|d| Fault::of(d, &analysis.sources)).collect(),
        }
    }
}

impl<'a> Fault<'a> {
    fn of(d: &'a Diagnostic, sources: &'a SourceMap) -> Fault<'a> {
        let others = d.secondary.iter();
        Fault {
            severity: match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            kind: d.code,
            message: &d.message,
            place: Place::of(&d.primary, sources),
            help: d.help.as_deref(),
            also: others.map(|label| Place::of(label, sources)).collect(),
        }
    }
}

impl<'a> Place<'a> {
    fn of(label: &'a Label, sources: &'a SourceMap) -> Place<'a> {
        let start = sources.line_column(label.span);
        let end = sources.line_column(label.span.after());
        Place {
            file: &sources.file(label.span.file).path,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            label: &label.text,
        }
    }
}
