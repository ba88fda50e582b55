//! Globs that select names: `*`, `?`, `[ab]`, `[!a-z]`, `{ab,cd}`, and `\` before a character that stands for itself.

use std::iter::Peekable;
use std::str::Chars;

use regex_lite::Regex;

/// A glob, ready to be matched.
pub struct Glob(Regex);

impl Glob {
    /// Parses a glob.
    ///
    /// # Errors
    /// What is wrong with `pattern`.
    pub fn new(pattern: &str) -> Result<Glob, String> {
        let text = format!("^(?s:{})$", regex(pattern)?);
        Regex::new(&text).map(Glob).map_err(|e| e.to_string())
    }

    /// Whether the glob matches all of `name`.
    pub fn is_match(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// The regular expression that matches the same texts.
fn regex(pattern: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut depth = 0;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '[' => class(&mut chars, &mut out)?,
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            '}' => return Err("`}` without `{`".to_owned()),
            ',' if depth > 0 => out.push('|'),
            '\\' => literal(chars.next().ok_or("nothing follows `\\`")?, &mut out),
            _ => literal(c, &mut out),
        }
    }
    if depth > 0 {
        return Err("`{` without `}`".to_owned());
    }
    Ok(out)
}

/// Translates a class of characters, up to its `]`. A `]` that comes first is one of the characters.
fn class(chars: &mut Peekable<Chars>, out: &mut String) -> Result<(), String> {
    const OPEN: &str = "`[` without `]`";
    out.push('[');
    if chars.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    let mut first = Some(chars.next().ok_or(OPEN)?);
    while let Some(low) = first {
        literal(low, out);
        let mut next = chars.next().ok_or(OPEN)?;
        if next == '-' && chars.peek().is_some_and(|c| *c != ']') {
            let high = chars.next().ok_or(OPEN)?;
            if high < low {
                return Err(format!("{low}-{high} is no range"));
            }
            out.push('-');
            literal(high, out);
            next = chars.next().ok_or(OPEN)?;
        }
        first = (next != ']').then_some(next);
    }
    out.push(']');
    Ok(())
}

/// Appends a character that stands for itself.
fn literal(c: char, out: &mut String) {
    out.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, matching, other) in [
            ("lat_*", "lat_pipe", "bw_pipe"),
            ("lat_*", "lat_", "lat"),
            ("*_null", "lat_null", "lat_nulls"),
            ("a?c", "aéc", "ac"),
            ("a*c", "a/b\nc", "a/b"),
            ("[ab]x", "bx", "cx"),
            ("[a-c]x", "bx", "dx"),
            ("[!a-c]x", "dx", "bx"),
            ("[^a]x", "bx", "ax"),
            ("[]a]x", "]x", "bx"),
            ("[a-]x", "-x", "bx"),
            ("[a^&&~]x", "&x", "bx"),
            ("{lat,bw}_*", "bw_mem", "mem_bw"),
            ("x{,y{1,2}}", "xy2", "xy"),
            ("x{,y{1,2}}", "x", "y1"),
            ("{a,[,]}", ",", "b"),
            ("a,b", "a,b", "a"),
            ("a.b+(c)|$^", "a.b+(c)|$^", "axb+(c)|$^"),
            ("a\\*b", "a*b", "aab"),
            ("f(a#~ -b)*", "f(a#~ -b);", "f(a)"),
        ] {
            let glob = Glob::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
            assert!(glob.is_match(matching), "{pattern} and {matching}");
            assert!(!glob.is_match(other), "{pattern} and {other}");
        }
    }

    #[test]
    fn wrong_globs_are_rejected_with_their_fault() {
        for (pattern, fault) in [
            ("lat_[", "`[` without `]`"),
            ("lat_[a", "`[` without `]`"),
            ("lat_[]", "`[` without `]`"),
            ("[a-", "`[` without `]`"),
            ("[z-a]", "z-a is no range"),
            ("{a", "`{` without `}`"),
            ("a}", "`}` without `{`"),
            ("a\\", "nothing follows `\\`"),
        ] {
            assert_eq!(
                Glob::new(pattern).err().as_deref(),
                Some(fault),
                "{pattern}"
            );
        }
    }
}
