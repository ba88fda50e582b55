//! C++ statements as a program of one class: one function that sets up variables and holds a loop for each statement.

use std::fs;
use std::path::Path;

use yamba_record::{Benchmark, Status};

use super::source::Source;

/// The name of the class.
pub(super) const CLASS: &str = "timed_statement";

/// Cheap to read, and what a first question is likely to need.
const HEADERS: &[&str] = &[
    "errno.h",
    "fcntl.h",
    "math.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "sys/stat.h",
    "sys/syscall.h",
    "time.h",
    "unistd.h",
];

/// What is to be timed.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// Each as it was typed.
    pub statements: Vec<String>,
    /// Runs once before them; its variables are theirs.
    pub setup: Option<String>,
    /// Headers: `NAME`, `<NAME>`, `"NAME"` or a file.
    pub includes: Vec<String>,
}

impl Statements {
    /// What messages call a statement.
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
        for header in HEADERS {
            source.add(&format!("#include <{header}>\n"));
        }
        for header in &self.includes {
            source.add("#include ");
            let (name, content) = spelled(header);
            source.given("--include", &name);
            source.add(&format!("\n{content}"));
        }
        source.add(&format!("}}\nyamba {CLASS} extends statement\n{{\n"));
        source.add("void frame()\n{\n");
        if let Some(setup) = &self.setup {
            source.given("--setup", setup);
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

    /// A statement is the body of a function, so that neither `return` nor `break` ends the loop; it is always
    /// inlined. An expression without `;` has its value kept.
    fn case(&self, source: &mut Source, index: usize, statement: &str) {
        let title = self.title(index);
        source.add(&format!("case {index}: while (turns-- > 0) {{ "));
        if statement.contains([';', '}']) {
            source.add("[&]() __attribute__((always_inline)) {\n");
            source.given(&title, statement);
            source.add("\n}();");
        } else {
            source.add("keep((\n");
            source.given(&title, statement);
            source.add("\n, Nothing{}));");
        }
        source.add(" asm volatile(\"\" : : : \"memory\"); } break;\n");
    }
}

/// Puts the statement in the place of the class, which no user has named.
pub(super) fn name(notes: &mut [String], statement: &str) {
    for note in notes {
        let begin = match note.starts_with("launch ") {
            true => note.find(": ").map_or(0, |at| at + 2),
            false => 0,
        };
        if note[begin..].starts_with(CLASS) {
            note.replace_range(begin..begin + CLASS.len(), &format!("`{statement}`"));
        }
    }
}

/// Less than this, in ns, is no statement: the loop around it hides or lacks it.
const NOTHING: f64 = 0.005;

/// What a figure of next to nothing means here, and what to do.
pub(super) fn judge(benchmark: &mut Benchmark) {
    let nothing = benchmark
        .notes
        .iter()
        .any(|n| n.contains("nothing measurable"));
    let little = benchmark.median.is_some_and(|ns| ns < NOTHING);
    if benchmark.status == Status::Ok && little {
        benchmark.status = Status::Invalid;
        benchmark.valid = false;
        benchmark.notes.insert(
            0,
            "nothing measurable: the loop takes as long without it".to_owned(),
        );
    }
    if benchmark.status == Status::Invalid && (nothing || little) {
        let mend = "the compiler has left it out, or it costs nothing beside the loop: write an expression without `;`, or `keep(VALUE);`, \
                    for what nobody uses, and `keep(VARIABLE);` in --setup for what the compiler knows beforehand";
        benchmark.notes.push(mend.to_owned());
    }
}

/// A header as `#include` wants it. Of a person's own file, the content's hash goes with it: a build of an older one is
/// then not taken for a build of this.
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

/// Where the text would end the function or the class that it is put into, or swallow what follows.
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

/// The text with comments, strings and characters left out.
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

/// The length of what stands in quotes at the start of `text`, quotes included.
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
        let mut notes = [
            "timed_statement said nothing for 5 s and was ended",
            "launch 2 of 9: timed_statement ended with status 1: timed_statement",
            "slow: of timed_statement",
        ]
        .map(str::to_owned);
        name(&mut notes, "for(;;);");
        let expected = [
            "`for(;;);` said nothing for 5 s and was ended",
            "launch 2 of 9: `for(;;);` ended with status 1: timed_statement",
            "slow: of timed_statement",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn what_is_left_open_is_found() {
        for text in [
            "getppid();",
            "f(a[1], \"}\", '{'); // }",
            "if (x) { y(); }",
            "/* ) */ g('\\'');",
        ] {
            assert_eq!(is_open(text), None, "{text}");
        }
        for (text, at) in [
            ("f();}", '}'),
            ("f(;", '('),
            ("if (x) {", '{'),
            ("f(]", ']'),
        ] {
            assert_eq!(is_open(text), Some(at), "{text}");
        }
    }
}
