//! Failures of a use case, with help texts.

use std::fmt;
use std::io;

use yamba_store::StoreError;

use yamba_harness::UsageError;
use yamba_toolchain::embedded;
use yamba_toolchain::files::Unreadable;

/// A failure because of wrong usage or input.
#[derive(Debug)]
pub enum Failure {
    /// One sentence, with a help text unless the sentence itself says what to do.
    Sentence {
        /// The place and the error.
        message: String,
        /// How to fix it.
        help: Option<String>,
    },
    /// The diagnostics have been passed to an [`Observer`](super::Observer); there is nothing more
    /// to report.
    Shown,
}

/// An error without its help text yet; `help` turns it into a [`Failure`].
#[derive(Debug)]
pub struct ErrorMessage(String);

impl ErrorMessage {
    /// Adds the help text.
    pub fn help(self, text: impl Into<String>) -> Failure {
        Failure::Sentence { message: self.0, help: Some(text.into()) }
    }
}

impl Failure {
    /// Creates an error from a sentence that states the place and the cause.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a `ErrorMessage` becomes a `Failure` with its help text"
    )]
    pub fn new(message: impl Into<String>) -> ErrorMessage {
        ErrorMessage(message.into())
    }

    /// A failure without a help text: the sentence itself says what to do, or what values are
    /// possible.
    pub fn whole(message: impl Into<String>) -> Failure {
        Failure::Sentence { message: message.into(), help: None }
    }

    /// An internal error: no input should cause it.
    pub fn ours(what: impl fmt::Display) -> Failure {
        Failure::new(what.to_string())
            .help("this is a fault of Yamba's own: please report it with the command line")
    }

    /// Replaces the help text.
    pub fn help(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Sentence { message, .. } => ErrorMessage(message).help(text),
            other => other,
        }
    }
}

/// An error of the operating system. The caller adds a help text for the refused operation.
impl From<io::Error> for ErrorMessage {
    fn from(e: io::Error) -> ErrorMessage {
        ErrorMessage(yamba_record::system_error::reason(&e))
    }
}

/// An error of the files that come with Yamba: those of the checkout that `YAMBA_HOME` names, or
/// the unpacked ones.
pub fn home_failure(e: io::Error) -> Failure {
    ErrorMessage::from(e).help(help_for_home())
}

/// The help text for an error of those files.
pub fn help_for_home() -> &'static str {
    if embedded::is_checkout() {
        "YAMBA_HOME names a checkout of Yamba; without it the files come with the program"
    } else {
        "YAMBA_CACHE names another folder for what can be made again"
    }
}

/// An error of an operation that systems allow to any program, such as handling signals or reading
/// the affinity.
pub fn system_failure(e: io::Error) -> Failure {
    ErrorMessage::from(e).help(
        "run it where the system lets a program handle signals and ask which processors it may use",
    )
}

/// For [`noise`](super::noise): its measuring function broke a rule, which is an internal error.
impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::ours(message)
    }
}

impl From<UsageError> for Failure {
    fn from(UsageError(text): UsageError) -> Failure {
        Failure::whole(text)
    }
}

impl From<Unreadable> for Failure {
    fn from(e: Unreadable) -> Failure {
        Failure::new(e.why).help(e.fix)
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Failure {
        match e.help_text() {
            Some(help) => Failure::new(e.to_string()).help(help),
            None => Failure::whole(e.to_string()),
        }
    }
}
