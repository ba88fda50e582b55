//! Why a command could not do its work.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use yamba_store::StoreError;

use super::output;

/// Wrong usage or input: exit status 2, except that a reader who has gone away (`yamba list | head`) is no failure.
#[derive(Debug)]
pub(super) enum Failure {
    /// One sentence, and perhaps how to mend it.
    Sentence {
        message: String,
        help: Option<String>,
    },
    /// The diagnostics have been shown.
    Shown,
    /// Standard output was closed by its reader.
    ReaderGone,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Failure {
        Failure::Sentence {
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn help(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Sentence { message, .. } => Failure::Sentence {
                message,
                help: Some(text.into()),
            },
            other => other,
        }
    }

    /// Says it on standard error.
    pub(super) fn report(self) -> ExitCode {
        match self {
            Failure::Sentence { message, help } => {
                let mut text = format!("{}: {message}\n", output::error_word());
                if let Some(help) = help {
                    let _ = writeln!(text, "help: {help}");
                }
                output::note(&text);
                ExitCode::from(2)
            }
            Failure::Shown => ExitCode::from(2),
            Failure::ReaderGone => ExitCode::SUCCESS,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        if e.kind() == io::ErrorKind::BrokenPipe {
            Failure::ReaderGone
        } else {
            Failure::new(crate::files::plain(&e))
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::new(message)
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Failure {
        match e.mend() {
            Some(mend) => Failure::new(e.to_string()).help(mend),
            None => Failure::new(e.to_string()),
        }
    }
}
