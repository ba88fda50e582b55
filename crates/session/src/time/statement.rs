//! Generates a class for C++ statements: one function that sets up variables and has a loop for
//! each statement.

use std::fs;
use std::path::Path;

use yamba_lang::compile::CompileKey;
use yamba_record::{Benchmark, Note, Status};

use super::{folded, source::Source};

/// The name of the class.
pub(super) const CLASS: &str = "timed_statement";

/// Default headers: cheap to compile, and sufficient for typical first statements.
const HEADERS: &str = "errno.h fcntl.h math.h stdint.h stdio.h stdlib.h string.h sys/stat.h \
    sys/syscall.h time.h unistd.h";

/// The statements to time.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// The statements, as the user wrote them.
    pub statements: Vec<String>,
    /// Code that runs once before the statements, which can use its variables.
    pub setup: Option<String>,
    /// Headers: `NAME`, `<NAME>`, `"NAME"` or a file.
    pub includes: Vec<String>,
    /// Options of the compiler, in the order of the command line.
    pub compile: Vec<(CompileKey, String)>,
}

impl Statements {
    /// The name of a statement in messages.
    fn title(&self, index: usize) -> String {
        match self.statements.len() {
            1 => "statement".to_owned(),
            _ => format!("statement {}", index + 1),
        }
    }

    /// The whole program.
    pub(super) fn source(&self) -> Source {
        let mut source = Source::default();
        source.add("native {\n");
        for header in HEADERS.split(' ') {
            source.add(&format!("#include <{header}>\n"));
        }
        for header in &self.includes {
            source.add("#include ");
            let (name, content) = spelled(header);
            source.add_user_text("--include", &name);
            source.add(&format!("\n{content}"));
        }
        source.add(&format!("}}\nyamba {CLASS} extends Statement\n{{\n"));
        source.add("void frame()\n{\n");
        if let Some(setup) = &self.setup {
            source.add_user_text("--setup", setup);
            source.add("\n;\n");
        }
        source.add("for (;;) {\nnext();\niter_t turns = iterations;\nswitch (asked) {\n");
        for (index, statement) in self.statements.iter().enumerate() {
            self.case(&mut source, index, statement);
        }
        source.add("default: while (turns-- > 0) { asm volatile(\"\" : : : \"memory\"); }\n");
        source.add("}\n}\n}\n}\n");
        source
    }

    /// The loop of one statement. The statement is the body of a function, so that `return` and
    /// `break` do not leave the loop; the function is always inlined. The value of an expression
    /// without `;` is not optimised away.
    fn case(&self, source: &mut Source, index: usize, statement: &str) {
        let title = self.title(index);
        source.add(&format!("case {index}: while (turns-- > 0) {{ "));
        if is_statement(statement) {
            source.add("[&]() __attribute__((always_inline)) {\n");
            source.add_user_text(&title, statement);
            source.add("\n}();");
        } else {
            source.add("do_not_optimize((\n");
            source.add_user_text(&title, statement);
            source.add("\n, Nothing{}));");
        }
        source.add(" asm volatile(\"\" : : : \"memory\"); } break;\n");
    }
}

/// Whether a text is a statement, which ends with `;` or `}`. Texts and characters in quotes do not
/// count: `parse("a;b")` is an expression.
fn is_statement(text: &str) -> bool {
    let (mut quote, mut escaped) = (None, false);
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(begin) if c == begin => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ';' || c == '}' => return true,
            None => {}
        }
    }
    false
}

/// Replaces the class name, which the user did not choose, by the statement.
pub(super) fn name(notes: &mut [Note], statement: &str) {
    for note in notes {
        if let Note::Program(note) = note
            && note.program == CLASS
        {
            note.program = format!("`{statement}`");
        }
    }
}

/// The least time of a statement, in ns. A shorter one cannot be distinguished from the loop around
/// it.
const NOTHING: f64 = 0.005;

/// Marks a figure close to zero as invalid and explains how to fix the statement. Adds a hint if
/// the compiler may have replaced it by its result.
pub(super) fn judge(benchmark: &mut Benchmark, statement: &str) {
    let mut notes = benchmark.notes.iter();
    let nothing = notes.any(|note| matches!(note, Note::NothingMeasurable(_)));
    let little = benchmark.median.is_some_and(|ns| ns < NOTHING);
    if benchmark.status == Status::Ok && little {
        benchmark.status = Status::Invalid;
        benchmark.valid = false;
        let note = Note::NothingMeasurable("the loop takes as long without it".to_owned());
        benchmark.notes.insert(0, note);
    }
    if benchmark.status == Status::Invalid && (nothing || little) {
        let help = "the compiler has left it out, or it costs nothing beside the loop: write an expression without `;`, or `do_not_optimize(VALUE);`, \
                    for what nobody uses, and `do_not_optimize(VARIABLE);` in --setup for what the compiler knows beforehand";
        benchmark.notes.push(Note::Text(help.to_owned()));
    }
    if benchmark.status == Status::Ok
        && let Some(cycles) = benchmark.details.cycles
    {
        benchmark.notes.extend(folded::hint(statement, cycles.median).map(Note::Text));
    }
}

/// Spells a header for `#include`. For a file of the user, a comment with the hash of its content
/// is added, so that a changed file causes a new build.
fn spelled(header: &str) -> (String, String) {
    if header.starts_with(['<', '"']) {
        return (header.to_owned(), String::new());
    }
    let own = fs::canonicalize(header).ok().filter(|p| p.is_file());
    match own.as_deref().and_then(hashed) {
        Some(own) => own,
        None => (format!("<{header}>"), String::new()),
    }
}

fn hashed(path: &Path) -> Option<(String, String)> {
    let content = fs::read(path).ok()?;
    let name = format!("\"{}\"", path.display());
    Some((name, format!("// {}\n", blake3::hash(&content).to_hex())))
}

/// The first bracket without a counterpart. Such a text would end the surrounding function or
/// class, or continue into it.
pub(super) fn is_open(text: &str) -> Option<char> {
    let mut open = Vec::new();
    for c in blanked(text).chars() {
        let opens = |close| match close {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match c {
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' if open.pop() != Some(opens(c)) => return Some(c),
            _ => {}
        }
    }
    open.pop()
}

/// The text without comments, string literals and character literals.
fn blanked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' => quoted(rest, c),
            _ => 0,
        };
        if skipped == 0 {
            out.push(c);
        }
        rest = &rest[skipped.max(c.len_utf8())..];
    }
    out
}

/// The length of the literal at the start of `text`, including its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_name_statement_instead_of_class() {
        let silent = "said nothing for 5 s and was ended".to_owned();
        let mut failed = Note::action(CLASS, format!("ended with status 1: {CLASS}"), None);
        failed.add_launch([2, 9]);
        let slow = Note::Text("slow: of timed_statement".to_owned());
        let mut notes = [Note::action(CLASS, silent, None), failed, slow];
        name(&mut notes, "for(;;);");
        let expected = [
            "`for(;;);` said nothing for 5 s and was ended",
            "launch 2 of 9: `for(;;);` ended with status 1: timed_statement",
            "slow: of timed_statement",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn unclosed_brackets_are_found() {
        for text in
            ["getppid();", "f(a[1], \"}\", '{'); // }", "if (x) { y(); }", "/* ) */ g('\\'');"]
        {
            assert_eq!(is_open(text), None, "{text}");
        }
        for (text, at) in [("f();}", '}'), ("f(;", '('), ("if (x) {", '{'), ("f(]", ']')] {
            assert_eq!(is_open(text), Some(at), "{text}");
        }
    }

    #[test]
    fn quoted_semicolons_do_not_make_a_statement() {
        for expression in ["f(x)", r#"parse("a;b}")"#, r#"parse("\";")"#, "f(';')", r"f('\'', ';')"]
        {
            assert!(!is_statement(expression), "{expression}");
        }
        for statement in ["f();", "if (x) { f(); }", r#"parse("a;b");"#, "f('a');"] {
            assert!(is_statement(statement), "{statement}");
        }
    }
}
