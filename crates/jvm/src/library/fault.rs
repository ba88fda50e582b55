//! Faults of virtual machines and of programs in them.

use std::fmt;
use std::io;

/// A fault with its help.
#[derive(Debug)]
pub struct Fault {
    /// The place and the fault.
    pub message: String,
    /// How to fix it.
    pub help: &'static str,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>, help: &'static str) -> Fault {
        Fault { message: message.into(), help }
    }

    pub(crate) fn program_failed(program: &str, error: &io::Error) -> Fault {
        Fault::new(format!("{program}: {error}"), "name the `java` of a JDK of version 17 or later")
    }

    pub(crate) fn no_temporary_folder(error: &io::Error) -> Fault {
        Fault::new(format!("the folder of temporary files: {error}"), "TMPDIR names another folder")
    }

    pub(crate) fn bad_document(error: &serde_json::Error) -> Fault {
        Fault::new(
            format!("the agent's document: {error}"),
            "`make java` builds the jars of this version",
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
