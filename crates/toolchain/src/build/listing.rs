//! Determines which files a compiler and its linker read. Parses their own lists, and finds files that a text names but no list contains. The only
//! I/O is checking whether a file exists.

use std::path::{Path, PathBuf};

/// The prerequisites in a make rule, as `-MD` writes it.
pub(super) fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let (_, list) = rule.split_once(':').unwrap_or_default();
    let mut names = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        let name = names.last_mut().expect("it begins with one name");
        match (letter, letters.peek()) {
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => name.extend(letters.next()),
            ('\\', Some('\n')) => drop(letters.next()),
            (' ' | '\n' | '\t', _) => names.push(String::new()),
            _ => name.push(letter),
        }
    }
    names.retain(|name| !name.is_empty());
    names.into_iter().map(PathBuf::from).collect()
}

/// The files that a linker lists with `-t`: `FILE`, `ARCHIVE(MEMBER)`, `(ARCHIVE)MEMBER` or `-lNAME (FILE)`.
pub(super) fn linked(trace: &str) -> Vec<PathBuf> {
    let is_file = |text: &&str| Path::new(text).is_file();
    let of_line = |line: &str| {
        let line = line.trim();
        let (before, rest) = line.split_once('(').unwrap_or((line, ""));
        let inside = rest.split_once(')').map_or("", |(inside, _)| inside);
        let found = [line, before.trim(), inside].into_iter().find(is_file);
        found.map(PathBuf::from)
    };
    let mut files: Vec<PathBuf> = trace.lines().filter_map(of_line).collect();
    files.sort();
    files.dedup();
    files
}

/// The files that compiler arguments name: `@FILE`, `-specs=FILE`, `-Wl,-T,FILE`, `libfoo.a`.
pub(super) fn named<'a>(arguments: impl Iterator<Item = &'a String>) -> Vec<PathBuf> {
    let pieces = arguments.flat_map(|argument| argument.split([',', '=']));
    let names = pieces.flat_map(|piece| [piece, piece.trim_start_matches('@')]);
    let names = names.flat_map(|name| [name, name.strip_prefix("-T").unwrap_or(name)]);
    let mut files: Vec<PathBuf> = names.map(PathBuf::from).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files.dedup();
    files
}

/// The reason why `text` makes an assembler or compiler read unlisted files. `None` if it does not.
pub(super) fn unlisted(text: &str) -> Option<&'static str> {
    let joined = joined(text);
    if joined.contains(".incbin") || joined.contains(".include") {
        return Some("its assembly includes files (.include, .incbin)");
    }
    let computed = questions(text).any(|q| q.is_none());
    computed.then_some("it asks with __has_include for a header whose name is a macro")
}

/// The headers that a text queries with `__has_include`.
pub(super) fn asked_for(text: &str) -> impl Iterator<Item = &str> {
    questions(text).flatten()
}

/// The name in each `__has_include(NAME)` of a text; `None` if the name is a macro.
fn questions(text: &str) -> impl Iterator<Item = Option<&str>> {
    const ASKS: &str = "__has_include";
    let places = text.match_indices(ASKS);
    places.filter_map(|(place, _)| {
        let after = &text[place + ASKS.len()..];
        let after = after.strip_prefix("_next").unwrap_or(after).trim_start();
        let name = after.strip_prefix('(')?.trim_start();
        let quoted = |open: char, close: char| name.strip_prefix(open)?.split_once(close);
        let quoted = quoted('<', '>').or_else(|| quoted('"', '"'));
        Some(quoted.map(|(name, _)| name))
    })
}

/// The text with adjacent string literals joined, as C++ does.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_joined = true;
    for piece in text.split('"') {
        if piece.bytes().all(|b| b.is_ascii_whitespace()) {
            is_joined = true;
            continue;
        }
        if !std::mem::take(&mut is_joined) {
            out.push('"');
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rule_is_read_with_its_escapes() {
        let rule = "x: /a/b.h /with\\ space.h \\\n /cash$$.h \\\n  /sharp\\#.h\n";
        let expected = ["/a/b.h", "/with space.h", "/cash$.h", "/sharp#.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), expected);
    }

    #[test]
    fn linker_trace_is_read_in_each_form() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let [a, b, c, d] = ["a.o", "b.a", "c.a", "d.so"].map(at);
        let (a_, b_, c_, d_) = (a.display(), b.display(), c.display(), d.display());
        let trace = format!("{a_}\n({b_})member.o\n{c_}(member.o)\n-ld ({d_})\n/not/there.o\n");
        assert_eq!(linked(&trace), [a, b, c, d]);
    }

    #[test]
    fn assembler_includes_are_found_in_joined_literals() {
        assert!(unlisted("asm(\".inc\"\n  \"bin \\\"x\\\"\");").is_some());
        assert!(unlisted("asm(\".include 'x'\")").is_some());
        assert!(unlisted("#include \"x.h\"\nf(\"a\", \"b\");").is_none());
        assert!(unlisted("#if __has_include(WHICH)").is_some());
    }

    #[test]
    fn headers_tested_by_has_include_are_found() {
        let text =
            "#ifdef __has_include\n#if __has_include(<a/b.h>) || __has_include_next( \"c.h\" )";
        assert_eq!(asked_for(text).collect::<Vec<_>>(), ["a/b.h", "c.h"]);
        assert!(unlisted(text).is_none());
    }
}
