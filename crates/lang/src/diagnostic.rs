//! What the compiler says: data only. The binary renders it.

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning as it stands.
    Error,
    /// The program has a meaning, though perhaps not the intended one.
    Warning,
}

/// A place and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words shown beside the underline; may be empty.
    pub text: String,
}

/// One message to the author of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable name of the kind of fault, such as `unknown-class`. Tests and documentation refer to it.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, in the terms of the user's program, without a full stop.
    pub message: String,
    /// The place of the fault; shown before any other.
    pub primary: Label,
    /// Other places that explain the fault.
    pub secondary: Vec<Label>,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label {
                span,
                text: String::new(),
            },
            secondary: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// Words beside the primary underline.
    pub fn here(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// How to mend it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}
