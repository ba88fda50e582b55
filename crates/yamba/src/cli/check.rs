//! `yamba check`

use clap::Args;

use super::Answer;
use super::failure::Failure;
use super::output;
use super::select::{self, Names};

/// Say what is wrong with programs, without compiling or running anything
///
/// With no name: the whole library and suite, and each --lib.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba check mine.yamba           all errors of a file
  yamba check                      the whole library and suite
  yamba check --lib ports mine.yamba

Exit status: 0 no errors, 2 errors.")]
pub(super) struct Check {
    #[command(flatten)]
    names: Names,
}

impl Check {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let selection = select::read(&self.names, true)?;
        selection.show_diagnostics()?;
        let files = selection.files;
        let classes = selection.analysis.requested().len();
        output::result(&format!(
            "{}, {}: no errors\n",
            number(files, "file", "files"),
            number(classes, "class", "classes")
        ))?;
        Ok(Answer::Done)
    }
}

fn number(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
