//! Why a use case could not do its work.

use std::fmt;
use std::io;

use yamba_store::StoreError;

use yamba_toolchain::files::Unreadable;

/// Wrong usage or input.
#[derive(Debug)]
pub enum Failure {
    /// One sentence and how to mend it; no help where the sentence itself says what to do.
    Sentence {
        /// The place and the fault.
        message: String,
        /// How to fix it.
        help: Option<String>,
    },
    /// An [`Observer`](super::Observer) was given the diagnostics: there is nothing more to say.
    Shown,
}

/// What is wrong, while nobody has said how it is mended: only with that it is a failure that can be told.
#[derive(Debug)]
pub struct Fault(String);

impl Fault {
    /// The same with how to fix it.
    pub fn help(self, text: impl Into<String>) -> Failure {
        Failure::Sentence {
            message: self.0,
            help: Some(text.into()),
        }
    }
}

impl Failure {
    /// From a sentence that names the place and the fault.
    #[expect(
        clippy::new_ret_no_self,
        reason = "it is a failure when its mend is told, too"
    )]
    pub fn new(message: impl Into<String>) -> Fault {
        Fault(message.into())
    }

    /// From a sentence that itself says what to do or what may be.
    pub fn whole(message: impl Into<String>) -> Failure {
        Failure::Sentence {
            message: message.into(),
            help: None,
        }
    }

    /// What no input should bring about.
    pub fn ours(what: impl fmt::Display) -> Failure {
        Failure::new(what.to_string())
            .help("this is a fault of Yamba's own: please report it with the command line")
    }

    /// The same with a better mend.
    pub fn help(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Sentence { message, .. } => Fault(message).help(text),
            other => other,
        }
    }
}

/// What the system refuses. The mend is known to whoever asked it for something.
impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Fault {
        Fault(yamba_toolchain::files::plain(&e))
    }
}

/// The same of the files that Yamba brings: those of the checkout that `YAMBA_HOME` names, or else unpacked ones.
pub fn of_home(e: io::Error) -> Failure {
    Fault::from(e).help(help_for_home())
}

/// What mends a fault of those files.
pub fn help_for_home() -> &'static str {
    let is_checkout = std::env::var_os("YAMBA_HOME").is_some_and(|v| !v.is_empty());
    match is_checkout {
        true => "YAMBA_HOME names a checkout of Yamba; without it the files come with the program",
        false => "YAMBA_CACHE names another folder for what can be made again",
    }
}

/// What no system refuses to an ordinary program: to handle signals, to know its processors.
pub fn of_system(e: io::Error) -> Failure {
    Fault::from(e).help(
        "run it where the system lets a program handle signals and ask which processors it may use",
    )
}

/// What [`noise`](super::noise) says where the measuring of its caller is at fault.
impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::ours(message)
    }
}

impl From<Unreadable> for Failure {
    fn from(e: Unreadable) -> Failure {
        Failure::new(e.why).help(e.mend)
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Failure {
        match e.mend() {
            Some(mend) => Failure::new(e.to_string()).help(mend),
            None => Failure::whole(e.to_string()),
        }
    }
}
