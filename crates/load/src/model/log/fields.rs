//! Divides a part of a line into fields.

use std::net::SocketAddrV6;

/// A field: a word, or a text in quotation marks or brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// The text, without the marks around it.
    pub text: &'a str,
    /// Whether there are marks around it.
    pub is_quoted: bool,
}

/// The fields, which spaces divide. A word that ends in a comma is one field with the next:
/// `10.0.0.1, 10.0.0.2`. `None`: a quotation mark or bracket has no partner.
pub(super) fn fields(text: &str) -> Option<Vec<Field<'_>>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (field, length) = match first {
            '"' => marked(rest, '"')?,
            '[' if !starts_with_address(rest) => marked(rest, ']')?,
            _ => list(rest),
        };
        found.push(field);
        rest = rest[length..].trim_start();
    }
    Some(found)
}

/// A field up to the mark `end` before a space, and its length. `\"` is part of the text.
fn marked(text: &str, end: char) -> Option<(Field<'_>, usize)> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        let is_last = text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace);
        if c == end && !is_escaped && is_last {
            let field = Field { text: &text[1..at], is_quoted: true };
            return Some((field, at + 1));
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

/// Whether the first word is an address with a port, whose brackets are part of it: `[::1]:80`.
fn starts_with_address(text: &str) -> bool {
    let word = text[..word_end(text, 0)].split(',').next();
    word.is_some_and(|word| word.parse::<SocketAddrV6>().is_ok())
}

fn list(text: &str) -> (Field<'_>, usize) {
    let mut end = word_end(text, 0);
    while text[..end].ends_with(',') {
        let spaces = text[end..].len() - text[end..].trim_start().len();
        if spaces == text[end..].len() {
            break;
        }
        end = word_end(text, end + spaces);
    }
    let field = Field { text: &text[..end], is_quoted: false };
    (field, end)
}

fn word_end(text: &str, from: usize) -> usize {
    text[from..].find(char::is_whitespace).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_words_lists_and_marked_texts() {
        let texts = |text| -> Option<Vec<&str>> {
            Some(fields(text)?.iter().map(|field| field.text).collect())
        };
        assert_eq!(
            texts(r#" a  "b c" [d e] "f \" g" "h "i" j" k"#).unwrap(),
            ["a", "b c", "d e", r#"f \" g"#, "h \"i", "j\"", "k"]
        );
        assert_eq!(texts("1.2.3.4, 5.6.7.8,9 - x,").unwrap(), ["1.2.3.4, 5.6.7.8,9", "-", "x,"]);
        assert_eq!(
            texts("[2001:db8::1]:80 - [x] [::1]:80, 1.2.3.4 -").unwrap(),
            ["[2001:db8::1]:80", "-", "x", "[::1]:80, 1.2.3.4", "-"]
        );
        assert_eq!(texts("").unwrap(), [""; 0]);
        assert_eq!(texts("a \"b c"), None);
        assert_eq!(texts("[a"), None);
    }
}
