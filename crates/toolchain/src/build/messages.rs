//! Converts g++ and clang++ output to diagnostics about the author's program.
//!
//! A diagnostic points to the first place in a `.yamba` file that the compiler mentions for it: the
//! place of the fault, or else the place that instantiated the faulty code.

use yamba_lang::source::{FileId, Span};
use yamba_lang::{Analysis, ClassId, Diagnostic, Severity};

/// The unit in which a compiler counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// clang++.
    Bytes,
    /// g++, with `-ftabstop=1`.
    Characters,
}

/// The program that was compiled.
pub(super) struct Compiled<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) class: ClassId,
    /// The file name that the generated text uses for its own lines.
    pub(super) name: String,
    /// The generated text.
    pub(super) text: &'a str,
    pub(super) columns: Columns,
    /// The names by which the compiler may call itself.
    pub(super) compilers: Vec<String>,
}

/// Every error and warning in a compiler's output. Warnings outside the author's code are omitted.
pub(super) fn read(compiled: &Compiled, output: &str) -> Vec<Diagnostic> {
    let mut reader = Reader {
        compiled,
        analysis: compiled.analysis,
        context: Vec::new(),
        open: None,
        done: Vec::new(),
    };
    for line in output.trim_start_matches('\u{feff}').lines() {
        reader.line(line);
    }
    reader.finish();
    reader.done
}

/// A place that the compiler names.
struct Mention {
    path: String,
    line: u32,
    column: Option<u32>,
    text: String,
}

/// A message with all its places, in display order.
struct Group {
    severity: Severity,
    text: String,
    mentions: Vec<Mention>,
}

struct Reader<'a> {
    compiled: &'a Compiled<'a>,
    analysis: &'a Analysis,
    /// Places printed before their message (g++'s `required from here`).
    context: Vec<Mention>,
    open: Option<Group>,
    done: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let included =
            line.trim_start().trim_start_matches("In file included ").strip_prefix("from ");
        let Some((path, number, column, rest)) = split(included.unwrap_or(line)) else {
            return self.without_place(line);
        };
        let mention = |text: &str| Mention {
            path: path.to_owned(),
            line: number,
            column,
            text: text.to_owned(),
        };
        if included.is_some() {
            self.finish();
            return self.context.push(mention(""));
        }
        match kind(rest) {
            Some((MessageKind::Note, text)) => {
                if let Some(group) = &mut self.open {
                    group.mentions.push(mention(text));
                }
            }
            Some((MessageKind::Message(severity), text)) => {
                self.finish();
                let mut mentions = vec![mention("")];
                mentions.append(&mut self.context);
                self.open = Some(Group { severity, text: text.to_owned(), mentions });
            }
            None if rest.trim_start().starts_with("required ") => {
                self.finish();
                self.context.push(mention("required here"));
            }
            None => {}
        }
    }

    /// A warning of the compiler itself, such as one about an option that it ignores: `cc1plus:
    /// warning: TEXT`.
    fn without_place(&mut self, line: &str) {
        let Some((program, text)) = line.split_once(": warning: ") else {
            return;
        };
        let name = program.rsplit('/').next().unwrap_or_default();
        let is_compiler = name == "cc1plus"
            || ["++", "clang"].iter().any(|part| name.contains(part))
            || self.compiled.compilers.iter().any(|compiler| compiler == name);
        if !is_compiler || name.contains(char::is_whitespace) {
            return;
        }
        self.finish();
        let span = self.analysis.class(self.compiled.class).ast.name.span;
        let text = format!("the C++ compiler says: {}", plain(text));
        let diagnostic = diagnostic(Severity::Warning, span, text);
        if !self.done.contains(&diagnostic) {
            self.done.push(diagnostic);
        }
    }

    fn finish(&mut self) {
        let Some(group) = self.open.take() else {
            return;
        };
        let mut places =
            group.mentions.iter().filter_map(|m| Some((self.span(m)?, m.text.as_str())));
        let text = plain(&group.text);
        let first = places.next().or_else(|| self.unnamed(&group).map(|span| (span, "")));
        let diagnostic = match (first, group.severity) {
            (Some((span, here)), severity) => {
                let mut diagnostic =
                    diagnostic(severity, span, format!("the C++ compiler says: {text}"));
                diagnostic.primary.text = plain(here);
                if let Some(help) = help(&group.text) {
                    diagnostic = diagnostic.help(help);
                }
                for (span, text) in places.take(4) {
                    diagnostic = diagnostic.also(span, plain(text));
                }
                diagnostic
            }
            (None, Severity::Warning) => return,
            (None, Severity::Error) => {
                let span = self.analysis.class(self.compiled.class).ast.name.span;
                diagnostic(Severity::Error, span, format!("the C++ compiler says: {text}"))
                    .here("somewhere in what this class becomes")
            }
        };
        if !self.done.contains(&diagnostic) {
            self.done.push(diagnostic);
        }
    }

    /// The token at a place in the author's code; `None` for other places.
    fn span(&self, mention: &Mention) -> Option<Span> {
        let file = self.file(&mention.path)?;
        let line = self.analysis.sources.line_span(file, mention.line)?;
        let text = self.analysis.text(line);
        let start = mention.column.map_or(text.len(), |c| offset(text, c, self.compiled.columns));
        let token = token_length(&text[start..]);
        let (start, length) = if token == 0 {
            let trimmed = text.trim();
            (text.len() - text.trim_start().len(), trimmed.len())
        } else {
            (start, token)
        };
        let start = line.start + start as u32;
        Some(Span { file, start, end: start + length as u32 })
    }

    /// The place of a fault for which the compiler names only generated lines.
    fn unnamed(&self, group: &Group) -> Option<Span> {
        if group.severity == Severity::Warning {
            return None;
        }
        if let Some(name) = linked_name(&group.text) {
            return group.mentions.iter().find_map(|m| self.line_with(m.line, name));
        }
        let is_own = |m: &&Mention| {
            m.path == self.compiled.name || m.path.ends_with(&format!("/{}", self.compiled.name))
        };
        group.mentions.iter().filter(is_own).find_map(|m| self.neighbour(m.line))
    }

    /// The author's piece of C++ nearest to a generated line: the next one in the same statement,
    /// or else the previous one.
    fn neighbour(&self, line: u32) -> Option<Span> {
        let lines: Vec<&str> = self.compiled.text.lines().collect();
        let at = (line as usize).min(lines.len());
        let authors = |i: usize| {
            let (number, path) = lines[i].strip_prefix("#line ")?.split_once(' ')?;
            let indent = lines.get(i + 1)?.chars().take_while(|c| c.is_whitespace()).count() as u32;
            let path = path.trim_matches('"').to_owned();
            self.span(&Mention {
                path,
                line: number.parse().ok()?,
                column: Some(indent + 1),
                text: String::new(),
            })
        };
        let after = (at..lines.len().min(at + 2)).find_map(authors);
        after.or_else(|| (0..at).rev().find_map(authors))
    }

    /// Finds the file whose line `line` contains `name`: a linker reports the line but not always
    /// the file.
    fn line_with(&self, line: u32, name: &str) -> Option<Span> {
        self.analysis.sources.files().find_map(|(file, _)| {
            let span = self.analysis.sources.line_span(file, line)?;
            let at = self.analysis.text(span).find(name)? as u32;
            Some(Span { file, start: span.start + at, end: span.start + at + name.len() as u32 })
        })
    }

    fn file(&self, path: &str) -> Option<FileId> {
        self.analysis.sources.files().find(|(_, f)| f.path == path).map(|(id, _)| id)
    }
}

fn diagnostic(severity: Severity, span: Span, message: String) -> Diagnostic {
    match severity {
        Severity::Error => Diagnostic::error("cpp-error", span, message),
        Severity::Warning => Diagnostic::error("cpp-warning", span, message).as_warning(),
    }
}

/// Explains the Yamba rule behind a compiler message, if there is one.
fn help(text: &str) -> Option<&'static str> {
    let is_const = text.contains("discards qualifiers") || text.contains("is not marked const");
    is_const.then_some(
        "functions of a Yamba class are not const; leave `const` out behind the parameters of a function in `native` that calls one",
    )
}

enum MessageKind {
    Note,
    Message(Severity),
}

/// Parses `error: TEXT` and a linker's message after a place.
fn kind(rest: &str) -> Option<(MessageKind, &str)> {
    let rest = rest.trim_start();
    let kinds = [
        ("fatal error: ", MessageKind::Message(Severity::Error)),
        ("error: ", MessageKind::Message(Severity::Error)),
        ("internal compiler error: ", MessageKind::Message(Severity::Error)),
        ("sorry, unimplemented: ", MessageKind::Message(Severity::Error)),
        ("warning: ", MessageKind::Message(Severity::Warning)),
        ("note: ", MessageKind::Note),
    ];
    for (word, kind) in kinds {
        if let Some(text) = rest.strip_prefix(word) {
            return Some((kind, text));
        }
    }
    linked_name(rest).map(|_| (MessageKind::Message(Severity::Error), rest))
}

/// The last part of the name in a linker's message. "undefined reference to `a::b(int)'" is about
/// `b`.
fn linked_name(text: &str) -> Option<&str> {
    let said = ["undefined reference to ", "multiple definition of "]
        .iter()
        .find_map(|s| text.strip_prefix(s))?;
    let name = said.trim_start_matches(['`', '\'', '\u{2018}']);
    let end =
        name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(name.len());
    name[..end].rsplit(':').next().filter(|n| !n.is_empty())
}

/// Splits `PATH:LINE:COLUMN: REST`, `PATH:LINE: REST` or `PATH:LINE,`.
fn split(line: &str) -> Option<(&str, u32, Option<u32>, &str)> {
    let mut from = 0;
    while let Some(colon) = line[from..].find(':').map(|i| i + from) {
        let after = &line[colon + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && colon > 0 && after[digits..].starts_with([':', ',']) {
            let number = after[..digits].parse().ok()?;
            let rest = &after[digits + 1..];
            let more = rest.bytes().take_while(u8::is_ascii_digit).count();
            if more > 0 && rest[more..].starts_with([':', ',']) {
                return Some((
                    &line[..colon],
                    number,
                    rest[..more].parse().ok(),
                    &rest[more + 1..],
                ));
            }
            return Some((&line[..colon], number, None, rest));
        }
        from = colon + 1;
    }
    None
}

/// The byte offset of a column in `text`, at most its length.
fn offset(text: &str, column: u32, columns: Columns) -> usize {
    let wanted = column.saturating_sub(1) as usize;
    match columns {
        Columns::Bytes => {
            text.char_indices().map(|(at, _)| at).find(|at| *at >= wanted).unwrap_or(text.len())
        }
        Columns::Characters => text.char_indices().nth(wanted).map_or(text.len(), |(at, _)| at),
    }
}

/// The length in bytes of the word, number or single character at the start of `text`; 0 at white
/// space.
fn token_length(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match text.chars().next() {
        None => 0,
        Some(c) if c.is_whitespace() => 0,
        Some(c) if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some(c) => c.len_utf8(),
    }
}

/// Restores the author's names: removes the namespace and the prefix of generated structs.
fn plain(text: &str) -> String {
    let text = text.replace("{anonymous}::", "").replace("(anonymous namespace)::", "");
    let text = text.replace("<unnamed>::", "");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("yamba_") {
        let starts_word = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push_str(&rest[..at]);
        if !starts_word {
            out.push_str("yamba_");
        }
        rest = &rest[at + "yamba_".len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Alone;

    impl yamba_lang::Files for Alone {
        fn find(&self, _: &str, _: &str) -> Option<yamba_lang::Input> {
            None
        }
        fn around(&self, _: &str) -> Vec<yamba_lang::Input> {
            Vec::new()
        }
    }

    const SOURCE: &str = "yamba t extends nothing\n{\n    int n;\n    void benchmark()\n    {\n        bar();\n        int x = n;\n    }\n}\n";

    const OUTPUT: &str = "cc1plus: warning: unrecognized command line option '-Wno-such-warning'
In file included from t.yamba:3:
/usr/include/lib.h:3:5: error: 'foo' was not declared in this scope
t.yamba: In member function 'void {anonymous}::yamba_t::benchmark()':
t.yamba:6:9: error: 'bar' was not declared in this scope; did you mean 'char'?
    6 |         bar();
      |         ^~~
t.yamba:7:13: warning: unused variable 'x' [-Wunused-variable]
t.yamba:7:13: note: declared here
t.yamba:4: internal compiler error: in f, at g.cc:12
";

    fn messages_of(output: &str) -> Vec<(u32, String)> {
        let input = yamba_lang::Input { path: "t.yamba".to_owned(), text: SOURCE.to_owned() };
        let analysis = yamba_lang::analyse(vec![input], &Alone);
        let compiled = Compiled {
            analysis: &analysis,
            class: analysis.find_class("t").unwrap(),
            name: "t.cc".to_owned(),
            text: "",
            columns: Columns::Characters,
            compilers: vec!["icpx".to_owned()],
        };
        let line = |d: &Diagnostic| analysis.sources.line_column(d.primary.span).line;
        let read = read(&compiled, output);
        read.iter().map(|d| (line(d), d.message.clone())).collect()
    }

    #[test]
    fn messages_with_and_without_column_and_place_are_read() {
        let lines: Vec<u32> = messages_of(OUTPUT).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 6, 7, 4]);
    }

    /// A message is shown at a line that the compiler named for a `.yamba` file, or at the class.
    /// No error disappears because another line changed.
    #[test]
    fn changed_messages_have_no_other_place() {
        let whole = messages_of(OUTPUT);
        let form =
            yamba_mutants::Form { separator: ":", fields: &["5", " error", "t.yamba", "1,5"] };
        for mutant in yamba_mutants::text(OUTPUT, form, 54, 10_000) {
            let read = messages_of(&mutant.text);
            if mutant.change.keeps_figures() {
                assert_eq!(read, whole, "{mutant:?}");
            }
            for (line, _) in &read {
                let place = format!("t.yamba:{line}");
                assert!(*line == 1 || mutant.text.contains(&place), "{mutant:?}");
            }
            for line in OUTPUT.lines().filter(|line| line.contains("error: ")) {
                let (_, text) = line.split_once("error: ").unwrap();
                let is_kept = mutant.text.lines().any(|other| other == line);
                let text = plain(text);
                let is_read = read.iter().any(|(_, message)| message.ends_with(&text));
                assert!(is_read || !is_kept, "{mutant:?}: {line}");
            }
        }
    }

    #[test]
    fn places_are_split() {
        assert_eq!(
            split("a b/c:d.yamba:12:3: error: x"),
            Some(("a b/c:d.yamba", 12, Some(3), " error: x"))
        );
        assert_eq!(
            split("x.yamba:12: undefined reference"),
            Some(("x.yamba", 12, None, " undefined reference"))
        );
        assert_eq!(split("x.h:12,"), Some(("x.h", 12, None, "")));
        assert_eq!(split("no place: here"), None);
    }

    #[test]
    fn columns_are_counted_as_the_compiler_does() {
        assert_eq!(offset("\tx", 2, Columns::Characters), 1);
        assert_eq!(offset("\u{e9}x", 2, Columns::Characters), 2);
        assert_eq!(offset("\u{e9}x", 3, Columns::Bytes), 2);
        assert_eq!(offset("x", 9, Columns::Bytes), 1);
    }

    #[test]
    fn linkers_name_functions() {
        assert_eq!(linked_name("undefined reference to `a::b(int)'"), Some("b"));
        assert_eq!(linked_name("nothing of the kind"), None);
    }

    #[test]
    fn names_lose_their_prefix() {
        assert_eq!(
            plain("'struct {anonymous}::yamba_pagefault' has no member"),
            "'struct pagefault' has no member"
        );
        assert_eq!(plain("my_yamba_thing"), "my_yamba_thing");
    }
}
