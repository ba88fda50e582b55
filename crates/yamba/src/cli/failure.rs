//! Reports the reason why a command failed, with exit status 2.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::output;
pub(super) use yamba_session::{Failure, of_system};

/// Writes a failure to standard error.
pub(super) fn report(failure: Failure) -> ExitCode {
    match failure {
        Failure::Sentence { message, help } => {
            let mut text = format!(
                "{}: {message}\n",
                output::painted("error", "1;91", output::colour())
            );
            if let Some(help) = help {
                let _ = writeln!(text, "help: {help}");
            }
            output::note(&text);
            ExitCode::from(2)
        }
        Failure::Shown => ExitCode::from(2),
    }
}
