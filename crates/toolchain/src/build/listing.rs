//! Determines which files a compiler and its linker read. Parses their own lists, and finds files
//! that a text names but no list contains. The only I/O is checking whether a file exists.

use std::path::{Path, PathBuf};

/// The target in the make rule, passed to the compiler by `-MT`.
pub(super) const TARGET: &str = "x";

/// The prerequisites in the make rule of [`TARGET`], as `-MD` writes it. `None` if the text is not
/// exactly one rule with prerequisites.
pub(super) fn prerequisites(rule: &str) -> Option<Vec<PathBuf>> {
    let rule = rule.replace("\r\n", "\n");
    let rule = rule.trim_start_matches('\u{feff}').strip_suffix('\n')?;
    let list = rule.strip_prefix(TARGET)?.strip_prefix(':')?;
    let list = list.replace("\\\n", " ");
    if list.contains('\n') || list.ends_with('\\') {
        return None;
    }
    let names: Vec<PathBuf> = names(&list).into_iter().map(PathBuf::from).collect();
    (!names.is_empty()).then_some(names)
}

/// Splits a list of file names at white space. Backslashes have a meaning only before white space
/// and `#`: each two stand for one, and a further one makes the character part of the name.
fn names(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut rest = list;
    while let Some(letter) = rest.chars().next() {
        let name = names.last_mut().expect("it begins with one name");
        let slashes = rest.bytes().take_while(|b| *b == b'\\').count();
        let next = rest[slashes..].chars().next();
        let is_special = next.is_some_and(|c| c == ' ' || c == '\t' || c == '#');
        let mut used = letter.len_utf8();
        if slashes > 0 {
            let is_escape = is_special && slashes % 2 == 1;
            let kept = if is_special { slashes / 2 } else { slashes };
            name.extend(std::iter::repeat_n('\\', kept));
            name.extend(next.filter(|_| is_escape));
            used = slashes + usize::from(is_escape);
        } else if letter.is_ascii_whitespace() {
            names.push(String::new());
        } else {
            name.push(letter);
            used += usize::from(letter == '$' && rest[1..].starts_with('$'));
        }
        rest = &rest[used..];
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The files that a linker lists with `-t`: `FILE`, `ARCHIVE(MEMBER)`, `(ARCHIVE)MEMBER` or `-lNAME
/// (FILE)`. Also the first line that names no file or has no end, without those of files below
/// `temporary`, which the compiler has removed.
pub(super) fn linked<'t>(trace: &'t str, temporary: &Path) -> (Vec<PathBuf>, Option<&'t str>) {
    let (mut files, mut strange) = (Vec::new(), None);
    let lines = trace.trim_start_matches('\u{feff}').lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.contains(LINKER_MODE)) {
        match linked_file(line) {
            Some(file) => files.push(file),
            None if Path::new(line).starts_with(temporary) => {}
            None => strange = strange.or(Some(line)),
        }
    }
    if !trace.is_empty() && !trace.ends_with('\n') {
        strange = strange.or(trace.lines().last());
    }
    files.sort();
    files.dedup();
    (files, strange)
}

/// Part of the first line that GNU ld may print: `ld: mode elf_x86_64`.
const LINKER_MODE: &str = ": mode ";

/// The file that a line of a linker's list names.
fn linked_file(line: &str) -> Option<PathBuf> {
    let before = line.rsplit_once('(').map_or("", |(before, _)| before);
    let after = line.split_once('(').map_or("", |(_, after)| after);
    let to_last = after.rsplit_once(')').map_or("", |(inside, _)| inside);
    let to_first = after.split_once(')').map_or("", |(inside, _)| inside);
    let mut forms = [line, before.trim(), to_last, to_first].into_iter();
    forms.find(|text| Path::new(text).is_file()).map(PathBuf::from)
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
        assert_eq!(prerequisites(rule).unwrap(), expected);
        let one = |rule: &str| prerequisites(rule).map(|names| names[0].display().to_string());
        for (rule, name) in [
            ("x: a\\b.h\n", "a\\b.h"),
            ("x: a\\\\b.h\n", "a\\\\b.h"),
            ("x: a\\\\\\ b.h\n", "a\\ b.h"),
            ("x: /tab\\\there.h \\\r\n b.h\r\n", "/tab\there.h"),
        ] {
            assert_eq!(one(rule).as_deref(), Some(name), "{rule}");
        }
        // Cut off, without prerequisites, of another target, with a second rule.
        for rule in ["", "x:\n", "x: a.h", "x: a.h \\\n", "y: a.h\n", "x: a.h\na.h:\n"] {
            assert_eq!(prerequisites(rule), None, "{rule}");
        }
    }

    /// A rule gives the list of files, or a list that differs only by the changed line's names.
    /// Without a list, no program is kept.
    #[test]
    fn changed_make_rule_gives_no_other_list() {
        let rule = "x: /b/in.cc /usr/include/stdc-predef.h \\\n /usr/include/c++/13/vector \\\n /my\\ lib/a.h /usr/include/stdio.h\n";
        let form = yamba_mutants::Form {
            separator: " ",
            fields: &["/usr/include/c++/14/list", "b\\", "\\"],
        };
        let all = prerequisites(rule).unwrap();
        for mutant in yamba_mutants::text(rule, form, 48, 10_000) {
            let Some(read) = prerequisites(&mutant.text) else {
                continue;
            };
            if mutant.change.keeps_figures() {
                assert_eq!(read, all, "{mutant:?}");
            }
            let lines: Vec<&str> = rule.lines().collect();
            let changed = mutant.line.map_or("", |line| lines[line]);
            for path in &all {
                let name = path.display().to_string().replace(' ', "\\ ");
                let is_changed = changed.contains(&name);
                assert!(read.contains(path) || is_changed, "{mutant:?}: {path:?}");
            }
        }
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
        let nowhere = Path::new("/tmp/nowhere");
        let (files, strange) = linked(&trace, nowhere);
        assert_eq!(files, [a, b, c, d].as_slice());
        assert_eq!(strange, Some("/not/there.o"));
        assert_eq!(linked("", nowhere), (Vec::new(), None));
        assert_eq!(linked("/tmp/nowhere/cc1.o\nld: mode elf\n", nowhere).1, None);
        let odd = at("odd (1).a");
        let trace = format!("{}(m.o)\r\n({})m.o\r\n", odd.display(), odd.display());
        assert_eq!(linked(&trace, nowhere), (vec![odd], None));
    }

    /// Each line gives its file, or is named.
    #[test]
    fn changed_linker_trace_loses_no_file_in_silence() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["crt1.o", "libc.so.6", "libgcc.a", "libm-2.39.a"];
        let paths = names.map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::write(path, "").unwrap();
        }
        let [crt, libc, gcc, m] = paths.each_ref().map(|p| p.display());
        let trace = format!("{crt}\n{libc}\n{gcc}(_muldi3.o)\n({m})e_exp.o\n");
        let form = yamba_mutants::Form { separator: "/", fields: &["x86_64-linux-gnu", ".", "5"] };
        let whole = linked(&trace, Path::new("/nowhere")).0;
        assert_eq!(whole.len(), 4);
        for mutant in yamba_mutants::text(&trace, form, 49, 10_000) {
            let (files, strange) = linked(&mutant.text, Path::new("/nowhere"));
            let is_record = mutant.change == yamba_mutants::Change::LineRemoved;
            // A cut at the end of a line removes whole records.
            let ends_with_line = mutant.text.is_empty() || mutant.text.ends_with('\n');
            let is_shorter =
                is_record || (mutant.change == yamba_mutants::Change::Truncated && ends_with_line);
            assert!(files == whole || strange.is_some() || is_shorter, "{mutant:?}");
            assert!(files.iter().all(|file| whole.contains(file)), "{mutant:?}");
        }
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
