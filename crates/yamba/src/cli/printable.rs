//! Removes control characters from untrusted names, notes and messages, since those could move the
//! cursor, hide text or change its direction.

use std::io::{self, Write};

use yamba_record::direction::changes_direction;

/// Allowed codes of "select graphic rendition" besides letter colours: reset, bold, faint, italic,
/// underlined.
const RENDITIONS: [&str; 5] = ["0", "1", "2", "3", "4"];

/// Removes terminal control characters except newlines and tabs. Keeps colours if `is_coloured`.
pub(crate) fn harmless(text: &str, is_coloured: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(acts) {
        out.push_str(&rest[..place]);
        rest = &rest[place..];
        if is_coloured && let Some(length) = colour(rest) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            rest = &rest[first..];
        }
    }
    out.push_str(rest);
    out
}

/// Makes a text safe within one line: removes terminal control characters and replaces newlines and
/// tabs.
pub(crate) fn one_line(text: &str) -> String {
    harmless(text, false).replace(['\n', '\t'], " ")
}

/// Whether `c` is a control character or changes the text direction.
fn acts(c: char) -> bool {
    changes_direction(c) || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// The length of the colour sequence at the start of `text`; `None` if there is no such sequence.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\x1b[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let words: Vec<&str> = inside[..end].split(';').collect();
    let is_letter_colour = |w: &&str| matches!(w.parse(), Ok(30..=37 | 39 | 90..=97));
    let is_one = matches!(words[..], ["38", "5", _])
        || words.iter().all(|w| RENDITIONS.contains(w) || is_letter_colour(w));
    (is_one && inside[end..].starts_with('m')).then_some("\x1b[".len() + end + 1)
}

/// A JSON writer that also escapes control characters that JSON allows in strings. Each piece of a
/// text is written whole.
pub(crate) struct Escaped<W>(pub W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut begin = 0;
        let mut place = 0;
        while place < bytes.len() {
            let (code, length) = match bytes[place..] {
                [0x7f, ..] => (0x7f, 1),
                [0xc2, second @ 0x80..=0x9f, ..] => (second, 2),
                _ => {
                    place += 1;
                    continue;
                }
            };
            self.0.write_all(&bytes[begin..place])?;
            write!(self.0, "\\u{code:04x}")?;
            place += length;
            begin = place;
        }
        self.0.write_all(&bytes[begin..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_text_has_no_active_control_characters() {
        let hostile = "a\u{1b}[2Jb\rc\u{7}d\u{9b}31me\u{202e}f\n\tg\u{1b}]0;title\u{7}";
        assert_eq!(harmless(hostile, false), "a[2Jbcd31mef\n\tg]0;title");
        assert_eq!(harmless(hostile, true), "a[2Jbcd31mef\n\tg]0;title");
        assert_eq!(harmless("größer: ½ µs", false), "größer: ½ µs");
    }

    #[test]
    fn single_line_text_has_no_line_ends() {
        assert_eq!(one_line("a\nb\tc\u{1b}[K\r"), "a b c[K");
    }

    #[test]
    fn colour_sequences_pass_if_enabled() {
        let ours = "\u{1b}[1;31mINVALID\u{1b}[0m \u{1b}[38;5;12mhere\u{1b}[0m";
        assert_eq!(harmless(ours, true), ours);
        assert_eq!(harmless(ours, false), "[1;31mINVALID[0m [38;5;12mhere[0m");
        for hiding in ["\u{1b}[8m", "\u{1b}[7m", "\u{1b}[30;40m", "\u{1b}[m", "\u{1b}[1", "\u{1b}["]
        {
            assert!(!harmless(hiding, true).contains('\u{1b}'), "{hiding:?}");
        }
    }

    #[test]
    fn json_holds_the_same_text() {
        let text = "a\u{7f}\u{9b}31m\u{1b}é\u{80}";
        let mut out = Escaped(Vec::new());
        serde_json::to_writer_pretty(&mut out, text).unwrap();
        let written = String::from_utf8(out.0).unwrap();
        assert!(!written.chars().any(char::is_control), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
