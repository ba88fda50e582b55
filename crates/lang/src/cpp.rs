//! A minimal scanner for C++: tokens, and the values of constants.
//!
//! Other C++ is passed on verbatim and checked by the C++ compiler.

use std::ops::Range;

/// A kind of C++ token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CppTokenKind {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string, raw string or character literal.
    Quoted,
    /// A single character of punctuation, or `::`.
    Sign,
}

/// A token: kind and byte range in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: CppTokenKind,
    /// The byte range.
    pub range: Range<usize>,
}

/// Splits C++ into tokens, without comments and white space. An unterminated literal extends to the
/// end.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0 };
    let mut out = Vec::new();
    while let Some(token) = scanner.next_token() {
        out.push(token);
    }
    out
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn next_token(&mut self) -> Option<Token> {
        self.skip_blank();
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let kind = match first {
            b'"' | b'\'' => self.quoted(first),
            b'R' if self.bytes.get(start + 1) == Some(&b'"') => self.raw_string(),
            b'0'..=b'9' => self.number(),
            _ if is_word(first) => {
                self.skip_while(is_word);
                CppTokenKind::Word
            }
            b':' if self.bytes.get(start + 1) == Some(&b':') => {
                self.at += 2;
                CppTokenKind::Sign
            }
            _ => {
                self.at += 1;
                CppTokenKind::Sign
            }
        };
        Some(Token { kind, range: start..self.at })
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.bytes[self.at..];
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            } else if rest.starts_with(b"//") {
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.at += self.text[self.at + 2..].find("*/").map_or(rest.len(), |i| i + 4);
            } else {
                return;
            }
        }
    }

    fn skip_while(&mut self, holds: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|b| holds(*b)) {
            self.at += 1;
        }
    }

    fn quoted(&mut self, quote: u8) -> CppTokenKind {
        self.at += 1;
        while let Some(b) = self.bytes.get(self.at) {
            self.at += 1;
            if *b == b'\\' {
                self.at = (self.at + 1).min(self.bytes.len());
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
            } else if *b == quote {
                break;
            }
        }
        CppTokenKind::Quoted
    }

    fn raw_string(&mut self) -> CppTokenKind {
        let rest = &self.text[self.at + 2..];
        let end = rest.find('(').and_then(|open| {
            let close = format!("){}\"", &rest[..open]);
            rest.find(&close).map(|i| i + close.len())
        });
        self.at = end.map_or(self.bytes.len(), |i| self.at + 2 + i);
        CppTokenKind::Quoted
    }

    fn number(&mut self) -> CppTokenKind {
        while let Some(b) = self.bytes.get(self.at) {
            let exponent_sign = matches!(b, b'+' | b'-')
                && matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && !self.is_hex_e();
            let separator =
                *b == b'\'' && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !(is_word(*b) || *b == b'.' || separator || exponent_sign) {
                break;
            }
            self.at += 1;
        }
        CppTokenKind::Number
    }

    // `0x1e+2` is a sum: the `e` is a hexadecimal digit and not an exponent.
    fn is_hex_e(&self) -> bool {
        let word_start =
            self.bytes[..self.at].iter().rposition(|b| !is_word(*b)).map_or(0, |i| i + 1);
        self.bytes[word_start..].starts_with(b"0x")
            && matches!(self.bytes[self.at - 1], b'e' | b'E')
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// Joins the tokens of a type by single spaces, so that different spellings compare equal.
pub fn normalised(text: &str) -> String {
    tokens(text).iter().map(|t| &text[t.range.clone()]).collect::<Vec<_>>().join(" ")
}

/// The value of a constant integer expression. `None` if it cannot be computed without the
/// compiler.
pub fn constant_integer(text: &str) -> Option<i128> {
    let tokens = tokens(text);
    let mut parser = Constant { text, tokens: &tokens, at: 0, depth: 0 };
    let value = parser.binary(0)?;
    (parser.at == tokens.len()).then_some(value)
}

/// The value of a constant number, integer or floating, with an optional sign.
pub fn constant_number(text: &str) -> Option<f64> {
    if let Some(i) = constant_integer(text) {
        return Some(i as f64);
    }
    text.trim().parse::<f64>().ok().filter(|v| v.is_finite())
}

struct Constant<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

impl Constant<'_> {
    fn sign(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.at + ahead)
            .filter(|t| t.kind == CppTokenKind::Sign)
            .map_or("", |t| &self.text[t.range.clone()])
    }

    fn operator(&self) -> Option<(&'static str, u8, usize)> {
        let two = |s| self.sign(0) == s && self.sign(1) == s;
        Some(match self.sign(0) {
            "|" if !two("|") => ("|", 1, 1),
            "^" => ("^", 2, 1),
            "&" if !two("&") => ("&", 3, 1),
            "<" if two("<") => ("<<", 4, 2),
            ">" if two(">") => (">>", 4, 2),
            "+" => ("+", 5, 1),
            "-" => ("-", 5, 1),
            "*" => ("*", 6, 1),
            "/" => ("/", 6, 1),
            "%" => ("%", 6, 1),
            _ => return None,
        })
    }

    fn binary(&mut self, least: u8) -> Option<i128> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let mut left = self.unary()?;
        while let Some((operator, precedence, width)) = self.operator() {
            if precedence < least.max(1) {
                break;
            }
            self.at += width;
            let right = self.binary(precedence + 1)?;
            left = apply(operator, left, right)?;
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<i128> {
        let sign = self.sign(0).to_owned();
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let value = match (token.kind, sign.as_str()) {
            (CppTokenKind::Number, _) => integer_literal(&self.text[token.range.clone()])?,
            (_, "-") => self.unary()?.checked_neg()?,
            (_, "+") => self.unary()?,
            (_, "~") => !self.unary()?,
            (_, "(") => {
                let inside = self.binary(0)?;
                if self.sign(0) != ")" {
                    return None;
                }
                self.at += 1;
                inside
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }
}

fn apply(operator: &str, a: i128, b: i128) -> Option<i128> {
    match operator {
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "<<" => u32::try_from(b).ok().filter(|b| *b < 64).and_then(|b| a.checked_mul(1i128 << b)),
        ">>" => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a >> b),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        _ => None,
    }
}

fn integer_literal(text: &str) -> Option<i128> {
    let plain: String =
        text.chars().filter(|c| *c != '\'').collect::<String>().to_ascii_lowercase();
    let plain = plain.trim_end_matches(['u', 'l', 'z']);
    if let Some(hex) = plain.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()
    } else if let Some(binary) = plain.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()
    } else if plain.len() > 1 && plain.starts_with('0') {
        i128::from_str_radix(plain, 8).ok()
    } else {
        plain.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_use_cpp_precedence() {
        let known = [
            ("1 << 20", Some(1 << 20)),
            ("64 << 20 | 3", Some(64 << 20 | 3)),
            ("2 + 3 * 4 - 1", Some(13)),
            ("-(2 - 5) % 2", Some(1)),
            ("0x1e+2", Some(0x20)),
            ("0b101 ^ 07", Some(2)),
            ("1'000'000ull", Some(1_000_000)),
            ("~0", Some(-1)),
            ("10 - 2 - 3", Some(5)),
            ("n + 1", None),
            ("1 / 0", None),
            ("a || b", None),
            ("", None),
        ];
        for (text, value) in known {
            assert_eq!(constant_integer(text), value, "{text}");
        }
    }

    #[test]
    fn words_in_strings_and_comments_are_ignored() {
        let text = r##"a "super::b" /* super::c */ R"x(super::d)x" 'e' // super::f"##;
        let words: Vec<_> = tokens(text)
            .into_iter()
            .filter(|t| t.kind == CppTokenKind::Word)
            .map(|t| &text[t.range])
            .collect();
        assert_eq!(words, ["a"]);
    }

    #[test]
    fn deep_nesting_is_not_constant() {
        assert_eq!(constant_integer(&"(".repeat(100_000)), None);
        assert_eq!(constant_integer(&"-".repeat(100_000)), None);
    }
}
