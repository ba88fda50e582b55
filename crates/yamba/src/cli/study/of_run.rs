//! The study that a kept run was measured for, as it was then.

use clap::Parser;
use yamba_record::Run;
use yamba_record::run::SourceFile;

use super::super::{Cli, Command};
use super::Study;
use crate::study_report;
use yamba_session::study;

impl Study {
    /// None if these are not the words of `yamba study`, or those of a version that took others.
    fn asked(arguments: &[String]) -> Option<Study> {
        let words = std::iter::once("yamba").chain(arguments.iter().map(String::as_str));
        match Cli::try_parse_from(words).ok()?.command {
            Command::Study(study) => Some(study),
            _ => None,
        }
    }
}

/// For the page on which the run is the one of this number; none where it was measured for no study.
///
/// # Errors
/// One sentence, when the study cannot be read any more.
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
        let study::Place { line, column } = fault.place;
        format!("{path}:{line}:{column}: {}", fault.message)
    })?;
    if let Some(asked) = Study::asked(&run.producer.arguments) {
        study::set(&mut study, &asked.set)
            .map_err(|_| format!("{path}: it has not the parameters that were set"))?;
    }
    let rows = study::rows(&study, run, &[]);
    Ok(Some(study_report::page(&study, run, number, &rows)))
}
