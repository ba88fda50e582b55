//! What g++ and clang++ say, as messages about the author's program.
//!
//! A message is shown at the first place of a `.yamba` file that the compiler mentions for it: where it says the fault
//! is, or else where what holds the fault was asked for.

use yamba_lang::source::{FileId, Span};
use yamba_lang::{Analysis, ClassId, Diagnostic, Severity};

/// What a compiler counts as a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// clang++: bytes.
    Bytes,
    /// g++: as wide as shown, a tab reaching to the next multiple of eight.
    Display,
}

/// Every error and warning in the output of a compiler. Warnings about other places than the author's are left out.
pub(super) fn read(analysis: &Analysis, class: ClassId, output: &str, columns: Columns) -> Vec<Diagnostic> {
    let mut reader = Reader { analysis, class, columns, context: Vec::new(), open: None, done: Vec::new() };
    for line in output.lines() {
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

/// A message with all places that belong to it, in the order in which they may be shown.
struct Group {
    severity: Severity,
    text: String,
    mentions: Vec<Mention>,
}

struct Reader<'a> {
    analysis: &'a Analysis,
    class: ClassId,
    columns: Columns,
    /// Places named before the message that they belong to (g++'s `required from here`).
    context: Vec<Mention>,
    open: Option<Group>,
    done: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let included = line.trim_start().trim_start_matches("In file included ").strip_prefix("from ");
        let Some((path, number, column, rest)) = split(included.unwrap_or(line)) else { return };
        let mention = |text: &str| Mention { path: path.to_owned(), line: number, column, text: text.to_owned() };
        if included.is_some() {
            self.finish();
            return self.context.push(mention(""));
        }
        match kind(rest) {
            Some((Kind::Note, text)) => {
                if let Some(group) = &mut self.open {
                    group.mentions.push(mention(text));
                }
            }
            Some((Kind::Message(severity), text)) => {
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

    fn finish(&mut self) {
        let Some(group) = self.open.take() else { return };
        let mut places = group.mentions.iter().filter_map(|m| Some((self.span(m)?, m.text.as_str())));
        let text = plain(&group.text);
        let diagnostic = match (places.next(), group.severity) {
            (Some((span, here)), severity) => {
                let mut diagnostic = diagnostic(severity, span, format!("the C++ compiler says: {text}"));
                diagnostic.primary.text = plain(here);
                for (span, text) in places.take(4) {
                    diagnostic = diagnostic.also(span, plain(text));
                }
                diagnostic
            }
            (None, Severity::Warning) => return,
            (None, Severity::Error) => {
                let span = self.analysis.class(self.class).ast.name.span;
                diagnostic(Severity::Error, span, format!("the C++ compiler says: {text}")).here("somewhere in what this class becomes")
            }
        };
        if !self.done.contains(&diagnostic) {
            self.done.push(diagnostic);
        }
    }

    /// The token at a place of the author's, or nothing for a place that is not the author's.
    fn span(&self, mention: &Mention) -> Option<Span> {
        let file = self.file(&mention.path)?;
        let line = self.analysis.sources.line_span(file, mention.line)?;
        let text = self.analysis.text(line);
        let start = mention.column.map_or(text.len(), |c| offset(text, c, self.columns));
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

    fn file(&self, path: &str) -> Option<FileId> {
        self.analysis.sources.files().find(|(_, f)| f.path == path).map(|(id, _)| id)
    }
}

fn diagnostic(severity: Severity, span: Span, message: String) -> Diagnostic {
    match severity {
        Severity::Error => Diagnostic::error("cpp-error", span, message),
        Severity::Warning => Diagnostic::warning("cpp-warning", span, message),
    }
}

enum Kind {
    Note,
    Message(Severity),
}

/// `error: TEXT`, and what a linker says after a place.
fn kind(rest: &str) -> Option<(Kind, &str)> {
    let rest = rest.trim_start();
    let kinds = [
        ("fatal error: ", Kind::Message(Severity::Error)),
        ("error: ", Kind::Message(Severity::Error)),
        ("warning: ", Kind::Message(Severity::Warning)),
        ("note: ", Kind::Note),
    ];
    for (word, kind) in kinds {
        if let Some(text) = rest.strip_prefix(word) {
            return Some((kind, text));
        }
    }
    let linker = ["undefined reference to", "multiple definition of"].iter().any(|s| rest.starts_with(s));
    linker.then_some((Kind::Message(Severity::Error), rest))
}

/// `PATH:LINE:COLUMN: REST`, `PATH:LINE: REST` or `PATH:LINE,`.
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
                return Some((&line[..colon], number, rest[..more].parse().ok(), &rest[more + 1..]));
            }
            return Some((&line[..colon], number, None, rest));
        }
        from = colon + 1;
    }
    None
}

/// The byte of `text` at a column, at most its length.
fn offset(text: &str, column: u32, columns: Columns) -> usize {
    let wanted = column.saturating_sub(1) as usize;
    let mut width = 0;
    for (at, c) in text.char_indices() {
        let here = if columns == Columns::Bytes { at } else { width };
        if here >= wanted {
            return at;
        }
        width = if c == '\t' { (width / 8 + 1) * 8 } else { width + 1 };
    }
    text.len()
}

/// A word, a number, or a single sign; nothing at white space.
fn token_length(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match text.chars().next() {
        None => 0,
        Some(c) if c.is_whitespace() => 0,
        Some(c) if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some(c) => c.len_utf8(),
    }
}

/// Names as the author wrote them: without the namespace and the prefix of generated structs.
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

    #[test]
    fn places_are_split() {
        assert_eq!(split("a b/c:d.yamba:12:3: error: x"), Some(("a b/c:d.yamba", 12, Some(3), " error: x")));
        assert_eq!(split("x.yamba:12: undefined reference"), Some(("x.yamba", 12, None, " undefined reference")));
        assert_eq!(split("x.h:12,"), Some(("x.h", 12, None, "")));
        assert_eq!(split("no place: here"), None);
    }

    #[test]
    fn columns_are_counted_as_the_compiler_does() {
        assert_eq!(offset("\tx", 9, Columns::Display), 1);
        assert_eq!(offset("\tx", 2, Columns::Bytes), 1);
        assert_eq!(offset("\u{e9}x", 2, Columns::Display), 2);
        assert_eq!(offset("x", 9, Columns::Bytes), 1);
    }

    #[test]
    fn names_lose_their_prefix() {
        assert_eq!(plain("'struct {anonymous}::yamba_pagefault' has no member"), "'struct pagefault' has no member");
        assert_eq!(plain("my_yamba_thing"), "my_yamba_thing");
    }
}
