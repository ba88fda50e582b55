//! Adds help texts to errors of the compiler or the assembler.

use std::collections::BTreeSet;

use yamba_lang::Severity;
use yamba_lang::diagnostic::Diagnostic;
use yamba_lang::source::SourceMap;

/// Adds a help text to each error without one. Each text is used only once.
pub(super) fn helped(diagnostics: &mut [Diagnostic], sources: &SourceMap) {
    let mut printed = BTreeSet::new();
    for diagnostic in diagnostics {
        let needs = diagnostic.severity == Severity::Error && diagnostic.help.is_none();
        if needs && let Some(help) = help(diagnostic, sources).filter(|m| printed.insert(*m)) {
            diagnostic.help = Some(help.to_owned());
        }
    }
}

/// The help text for an output of the linker that reports an undefined symbol.
pub fn linker_help(said: &str) -> Option<&'static str> {
    let words = ["undefined reference", "undefined symbol"];
    words.iter().any(|w| said.contains(w)).then_some(
        "what is called must be in the C or C++ library, in a library that --link names, or be defined in --setup or a header",
    )
}

/// The help text for a message of g++ or clang++.
fn help(diagnostic: &Diagnostic, sources: &SourceMap) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|w| diagnostic.message.contains(w));
    match diagnostic.code {
        "assembler-error" => {
            Some("write one instruction of this machine in Intel's syntax, as 'imul rax, rax'")
        }
        "cpp-error" if is_command(diagnostic, sources) => {
            Some("to measure a whole command, put -c before it")
        }
        "cpp-error" if says(&["not declared", "undeclared", "unknown type", "does not name"]) => {
            Some(
                "--include HEADER brings what a header declares, --setup 'TYPE NAME = VALUE; do_not_optimize(NAME);' a variable",
            )
        }
        "cpp-error" if says(&["incomplete type"]) => {
            Some("--include HEADER brings the whole type, as string for std::string")
        }
        "cpp-error" if says(&["No such file", "file not found"]) => Some(
            "name a header that the compiler finds, as sys/time.h, or a file of your own by its path",
        ),
        "cpp-error" if says(&["expected ';'", "expected ‘;’"]) => {
            Some("a statement ends with `;`, an expression whose value is kept has none")
        }
        // For other errors, such as a wrong type, the message is clear. A wrong help text would
        // mislead.
        "cpp-error" => linker_help(&diagnostic.message),
        _ => None,
    }
}

/// Whether the first word of a statement is unknown, and the statement looks like a command of a
/// shell, as `grep -r foo .` does.
fn is_command(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let text = &sources.file(diagnostic.primary.span.file).text;
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    diagnostic.message.contains(&format!("'{first}'"))
        && diagnostic.primary.span.start == 0
        && words.next().is_some()
        && !text.contains([';', '(', '='])
}

#[cfg(test)]
mod tests {
    use yamba_lang::source::{SourceMap, Span};

    use super::*;

    #[test]
    fn compiler_error_has_matching_help_once() {
        let mut sources = SourceMap::default();
        let file = sources.add("statement", "f");
        let span = Span { file, start: 0, end: 1 };
        let says = |text: &str| Diagnostic::error("cpp-error", span, text);
        let mut all = [
            says("'f' was not declared in this scope"),
            says("use of undeclared identifier 'f'"),
            says("expected ';'"),
            says("of its own").help("that"),
            Diagnostic::error("cpp-warning", span, "unused").as_warning(),
            says("cannot convert 'const char*' to 'int' in initialization"),
            says("undefined reference to `f()'"),
        ];
        helped(&mut all, &sources);
        let has = |i: usize, word: &str| all[i].help.as_ref().is_some_and(|h| h.contains(word));
        assert!(has(0, "--include") && has(0, "--setup"));
        assert!(all[1].help.is_none());
        assert!(has(2, "ends with `;`"));
        assert!(has(3, "that"));
        assert!(all[4].help.is_none());
        assert!(all[5].help.is_none());
        assert!(has(6, "C or C++ library"));
    }
    #[test]
    fn command_in_place_of_a_statement_is_noticed() {
        let noticed = |text: &str, name: &str| {
            let mut sources = SourceMap::default();
            let file = sources.add("statement", text);
            let span = Span { file, start: 0, end: 1 };
            let text = format!("the C++ compiler says: '{name}' was not declared in this scope");
            let mut all = [Diagnostic::error("cpp-error", span, &text)];
            helped(&mut all, &sources);
            all[0].help.as_ref().unwrap().contains("-c before it")
        };
        assert!(noticed("grep -r foo .", "grep"));
        assert!(noticed("rg foo", "rg"));
        assert!(!noticed("f(x)", "f"));
        assert!(!noticed("string s;", "string"));
        assert!(!noticed("f", "f"));
        assert!(!noticed("x - y", "y"));
    }
}
