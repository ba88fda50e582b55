//! Why a command could not do its work.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use yamba_store::StoreError;

use super::output;

/// Wrong usage or input: exit status 2.
#[derive(Debug)]
pub(super) enum Failure {
    /// One sentence, and perhaps how to mend it.
    Sentence {
        message: String,
        help: Option<String>,
    },
    /// The diagnostics have been shown.
    Shown,
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
        }
    }
}

/// What the system refuses. The mend is known to whoever asked it for something.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure::new(crate::files::plain(&e))
    }
}

/// The same of the files that Yamba brings: those of the checkout that `YAMBA_HOME` names, or else unpacked ones.
pub(super) fn of_home(e: io::Error) -> Failure {
    let is_checkout = std::env::var_os("YAMBA_HOME").is_some_and(|v| !v.is_empty());
    Failure::from(e).help(match is_checkout {
        true => "YAMBA_HOME names a checkout of Yamba; without it the files come with the program",
        false => "YAMBA_CACHE names another folder for what can be made again",
    })
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
