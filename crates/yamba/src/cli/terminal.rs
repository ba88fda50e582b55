//! An observer of the session that shows progress, diagnostics and warnings on standard error.

mod progress;

use std::cell::RefCell;
use std::path::Path;

use yamba_lang::Diagnostic;
use yamba_lang::source::SourceMap;
use yamba_report::command_line;

use super::Failure;
use super::output::{self, StatusLine};
use progress::Bar;
use yamba_harness::Progress;
use yamba_session::{NoUsualCompiler, Observer, Warning};
use yamba_toolchain::render;

/// Shows events on standard error.
#[derive(Default)]
pub(super) struct Terminal {
    building: RefCell<Option<StatusLine>>,
}

impl Observer for Terminal {
    fn building(&self, built: usize, all: usize) {
        let text = format!("built {built} of {all}");
        match &mut *self.building.borrow_mut() {
            Some(line) => line.show(&text),
            none => *none = Some(StatusLine::new(&text)),
        }
    }

    fn building_ended(&self) {
        self.building.borrow_mut().take();
    }

    fn diagnostics(&self, sources: &SourceMap, diagnostics: &[Diagnostic]) {
        let mut text = render::diagnostics(sources, diagnostics, output::colour());
        if let Some(summary) = render::summary(diagnostics) {
            text.push_str(&summary);
            text.push('\n');
        }
        output::note(&text);
    }

    fn unbuilt(&self, failure: Failure) {
        output::failure(&failure);
    }

    fn warning(&self, warning: &Warning<'_>) {
        let (text, help) = worded(warning);
        if let Warning::Rescued { is_expected: true, .. } = warning {
            let help = help.map_or_else(String::new, |help| format!("; {help}"));
            output::note(&format!("{text}{help}\n"));
            return;
        }
        let help = help.map(|h| format!("help: {h}\n")).unwrap_or_default();
        output::note(&format!("warning: {text}\n{help}"));
    }

    fn progress(&self) -> Box<dyn Progress> {
        Box::new(Bar::default())
    }
}

/// The warning that built programs are measured, for lack of an installed compiler.
fn prebuilt(reason: &NoUsualCompiler) -> (String, Option<String>) {
    let (what, help) = match reason {
        NoUsualCompiler::None { help } => {
            ("there is no C++ compiler", format!("for own benchmarks, {help}"))
        }
        NoUsualCompiler::PythonPackage => (
            "the only C++ compiler is that of the Python package ziglang, for own benchmarks",
            "CXX=\"python-zig c++\" compiles these, too".to_owned(),
        ),
    };
    let text = format!("{what}: prebuilt programs are measured, which are linked statically");
    (text, Some(help))
}

/// The message and help text of a warning.
fn worded(warning: &Warning<'_>) -> (String, Option<String>) {
    match warning {
        Warning::Prebuilt(reason) => prebuilt(reason),
        Warning::NotStored { message, help } => {
            let help = help.map_or_else(String::new, |help| format!("{help}; "));
            let place = std::env::temp_dir();
            let help = format!(
                "{help}until the run ends, its figures are in a file yamba-unstored-* in {}",
                place.display()
            );
            (format!("this run is not stored: {message}"), Some(help))
        }
        Warning::NotStoredNow { message, help } => {
            (format!("the run cannot be stored now: {message}"), help.map(str::to_owned))
        }
        Warning::Spooling { run, spool } => (
            format!("what is not stored is in {} until the run ends", spool.display()),
            Some(format!("if it is killed, {}", shown(run, spool))),
        ),
        Warning::NoSpool { why } => (
            format!("from now on, until the run ends, what is not stored is kept nowhere: {why}"),
            None,
        ),
        Warning::Rescued { run, document, is_partly_stored, .. } => {
            rescued(run, document, *is_partly_stored)
        }
        Warning::NotRescued { run, why, spool } => (
            format!("nor can its document be written among the temporary files: {why}"),
            spool.map(|spool| format!("{} shows what had been written there", shown(run, spool))),
        ),
        Warning::NothingRemeasured { reason } => {
            (format!("nothing is re-measured: {reason}"), None)
        }
        Warning::OnlyBRemeasured { reason } => (
            format!(
                "A cannot be re-measured ({reason}): B's programs are, against the stored figures of A"
            ),
            None,
        ),
        Warning::RemeasuredElsewhere(difference) => (
            format!("both are re-measured where {}", difference.describe("in A and B", "now")),
            None,
        ),
        Warning::OtherPrograms(names) => (
            format!(
                "rebuilt by another compiler, by another yamba or in another place, so that they are other programs: {}",
                names.join(", ")
            ),
            None,
        ),
    }
}

fn rescued(run: &str, document: &Path, is_partly_stored: bool) -> (String, Option<String>) {
    let import = command(&["import", &document.to_string_lossy()]);
    let import = format!("{import} stores it");
    let whole = format!("the whole run is in {}", document.display());
    if is_partly_stored {
        let help = format!("when the store can take it, `yamba rm {run}`; then {import}");
        (format!("{whole}; the store has only a part"), Some(help))
    } else {
        (whole, Some(format!("when a store can take it, {import}")))
    }
}

/// A `yamba` command line, quoted for a shell.
fn command(words: &[&str]) -> String {
    let line = command_line(["yamba"].iter().chain(words).copied());
    format!("`{line}`")
}

/// The command that shows a run in a temporary store.
fn shown(run: &str, spool: &Path) -> String {
    command(&["show", run, "--store", &spool.to_string_lossy()])
}

/// The command-line arguments, which a run records.
pub(super) fn arguments() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words.map(|a| a.to_string_lossy().into_owned()).collect()
}
