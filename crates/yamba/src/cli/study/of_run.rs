//! The study for which a stored run was measured, from its stored text.

use yamba_record::Run;
use yamba_record::run::SourceFile;

use crate::cli::{Command, recorded};
use crate::views;
use yamba_session::study;

/// The study for the report page, on which the run has this number. `None` if the run was not
/// measured for a study.
///
/// # Errors
/// A one-sentence message, when the study is no longer readable.
pub(in crate::cli) fn page(
    run: &Run,
    number: usize,
) -> Result<Option<yamba_report::Study>, String> {
    let Some(SourceFile { path, hash }) = &run.producer.study else {
        return Ok(None);
    };
    let text = run.sources.get(hash);
    let text = text.ok_or_else(|| format!("{path}: the run does not have its text"))?;
    let mut study = study::read(text).map_err(|fault| {
        let study::Position { line, column } = fault.place;
        format!("{path}:{line}:{column}: {}", fault.message)
    })?;
    if let Some(Command::Study(options)) = recorded(&run.producer.arguments) {
        study::set(&mut study, &options.set)
            .map_err(|_| format!("{path}: it has not the parameters that were set"))?;
    }
    let rows = study::rows(&study, run, &[]);
    Ok(Some(views::study::page(&study, run, number, &rows)))
}
