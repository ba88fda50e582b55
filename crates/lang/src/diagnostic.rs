//! Messages of the compiler as data. The binary renders them.

use crate::source::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is invalid.
    Error,
    /// The program is valid, but perhaps not as intended.
    Warning,
}

/// A position with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The position.
    pub span: Span,
    /// A few words beside the underline; may be empty.
    pub text: String,
}

/// A message to the author of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable identifier of the kind of fault, such as `unknown-class`, for tests and
    /// documentation.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, in the terms of the user's program, without a full stop.
    pub message: String,
    /// The position of the fault, shown first.
    pub primary: Label,
    /// Other positions that explain the fault.
    pub secondary: Vec<Label>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            help: None,
        }
    }

    /// The same message as a warning.
    pub fn as_warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }

    /// Sets the text beside the primary underline.
    pub fn here(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds another position.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds the fix.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// An error: `error!(CODE at SPAN, MESSAGE, ARGUMENTS...; help TEXT)`. The message is a format
/// string; `; help TEXT` may be left out.
macro_rules! error {
    ($code:tt at $span:expr, $($message:expr),+) => {
        $crate::diagnostic::Diagnostic::error($code, $span, format!($($message),+))
    };
    ($code:tt at $span:expr, $($message:expr),+; help $help:expr) => {
        $crate::diagnostic::Diagnostic::error($code, $span, format!($($message),+)).help($help)
    };
}

pub(crate) use error;
