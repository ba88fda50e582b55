//! Small edits of C++ text.

use std::collections::HashSet;

use yamba_lang::cpp::{self, CppTokenKind};

/// A C++ string literal.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // Octal, since a hexadecimal escape has no fixed length.
            c if (c as u32) < 0x20 => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push(c),
        }
    }
    // Trigraphs and ends of comments are harmless in a literal.
    out.push('"');
    out
}

/// One line of at most sixty characters, for messages.
pub(crate) fn brief(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.chars().count() <= 60 {
        return joined;
    }
    joined.chars().take(57).chain("...".chars()).collect()
}

/// Whether the text is one unsuffixed decimal or hexadecimal number, which cannot cause a compiler
/// error.
pub(crate) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_digit = |c: char| {
        if digits.len() == text.len() { c.is_ascii_digit() } else { c.is_ascii_hexdigit() }
    };
    let octal = text.len() > 1 && digits.len() == text.len() && text.starts_with('0');
    !digits.is_empty() && digits.len() <= 9 && digits.chars().all(is_digit) && !octal
}

/// Replaces `super::NAME` by the result of `replacement`; `None` leaves it.
pub(crate) fn replace_super(text: &str, replacement: impl Fn(&str) -> Option<String>) -> String {
    let tokens = cpp::tokens(text);
    let word = |i: usize| {
        tokens.get(i).filter(|t| t.kind == CppTokenKind::Word).map(|t| &text[t.range.clone()])
    };
    let mut out = String::new();
    let mut copied = 0;
    for i in 0..tokens.len() {
        let is_super = word(i) == Some("super")
            && tokens.get(i + 1).is_some_and(|t| &text[t.range.clone()] == "::");
        let Some(name) = word(i + 2).filter(|_| is_super) else {
            continue;
        };
        if let Some(new) = replacement(name) {
            out.push_str(&text[copied..tokens[i].range.start]);
            out.push_str(&new);
            copied = tokens[i].range.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Replaces `offset(NAME)` by the result of `replacement`; `None` leaves it.
pub(crate) fn replace_offset(text: &str, replacement: impl Fn(&str) -> Option<String>) -> String {
    let tokens = cpp::tokens(text);
    let is = |i: usize, s: &str| tokens.get(i).is_some_and(|t| &text[t.range.clone()] == s);
    let mut out = String::new();
    let mut copied = 0;
    for i in 0..tokens.len() {
        let member = i > 0 && (is(i - 1, ".") || is(i - 1, "::") || is(i - 1, ">"));
        if member || !is(i, "offset") || !is(i + 1, "(") || !is(i + 3, ")") {
            continue;
        }
        if let Some(new) = replacement(&text[tokens[i + 2].range.clone()]) {
            out.push_str(&text[copied..tokens[i].range.start]);
            out.push_str(&new);
            copied = tokens[i + 3].range.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Adds the words of a text outside strings and comments.
pub(crate) fn add_words<'t>(text: &'t str, words: &mut HashSet<&'t str>) {
    let tokens = cpp::tokens(text).into_iter();
    words.extend(tokens.filter(|t| t.kind == CppTokenKind::Word).map(|t| &text[t.range]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn super_is_replaced_only_where_it_is_code() {
        let text = "super::f(); \"super::f\"; // super::f\n x.super; super::g";
        let out = replace_super(text, |name| (name == "f").then(|| "yamba_B".to_owned()));
        assert_eq!(out, "yamba_B::f(); \"super::f\"; // super::f\n x.super; super::g");
    }

    #[test]
    fn offsets_of_labels_are_replaced() {
        let text = "offset(again) / 4 + x.offset(again) + offset(other)";
        let out = replace_offset(text, |name| (name == "again").then(|| "L".to_owned()));
        assert_eq!(out, "L / 4 + x.offset(again) + offset(other)");
    }

    #[test]
    fn plain_numbers() {
        for yes in ["0", "32", "0x1F"] {
            assert!(is_number(yes), "{yes}");
        }
        for no in ["", "0x", "08", "1u", "-1", "n", "1 + 1", "99999999999"] {
            assert!(!is_number(no), "{no}");
        }
    }
}
