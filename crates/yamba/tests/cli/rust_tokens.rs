//! The tokens of a Rust text, without comments, as trees of brackets. `proc-macro2` would do the
//! same. But its use by a test would change the flags with which Cargo compiles it for procedural
//! macros, and `cargo test` would compile all that uses these once more after `cargo build`.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Mark(char),
    /// A name, a keyword, a number or a part of a number.
    Word(String),
    /// A string, byte string or character, as it is written.
    Literal(String),
    /// The opening bracket, and the tokens up to the closing one.
    Group(char, Vec<Token>),
}

/// Without spaces, and without the closing brackets' names.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Token::Mark(mark) => write!(f, "{mark}"),
            Token::Word(text) | Token::Literal(text) => f.write_str(text),
            Token::Group(open, inside) => {
                write!(f, "{open}")?;
                inside.iter().try_for_each(|token| write!(f, "{token}"))?;
                write!(f, "{}", closing(*open))
            }
        }
    }
}

/// The tokens of `text`.
///
/// # Panics
/// If a bracket, comment or literal does not end.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { text: text.chars().collect(), at: 0 };
    let found = reader.group(None);
    assert_eq!(reader.at, reader.text.len());
    found
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn is_at(&self, begin: &str) -> bool {
        let rest = &self.text[self.at..];
        begin.chars().eq(rest.iter().copied().take(begin.len()))
    }

    /// The text from `begin` to the current place.
    fn since(&self, begin: usize) -> String {
        self.text[begin..self.at].iter().collect()
    }

    /// Reads up to `end` and behind it, or to the end of the text if there is no `end`.
    fn group(&mut self, end: Option<char>) -> Vec<Token> {
        let mut found = Vec::new();
        while self.at < self.text.len() {
            let c = self.text[self.at];
            if self.is_at("//") {
                self.skip_line();
            } else if self.is_at("/*") {
                self.skip_comment();
            } else if Some(c) == end {
                self.at += 1;
                return found;
            } else if c.is_whitespace() {
                self.at += 1;
            } else {
                found.push(self.token(c));
            }
        }
        assert_eq!(end, None, "a bracket is not closed");
        found
    }

    fn token(&mut self, c: char) -> Token {
        let begin = self.at;
        if c.is_alphanumeric() || c == '_' {
            return self.word();
        }
        self.at += 1;
        match c {
            '(' | '[' | '{' => Token::Group(c, self.group(Some(closing(c)))),
            '"' => self.quoted(begin, '"'),
            '\'' if self.is_character() => self.quoted(begin, '\''),
            _ => Token::Mark(c),
        }
    }

    /// Whether a quote that was just read begins a character and not a lifetime.
    fn is_character(&self) -> bool {
        self.is_at("\\") || self.text.get(self.at + 1) == Some(&'\'')
    }

    /// Reads a word, or the literal of which it is the prefix.
    fn word(&mut self) -> Token {
        let begin = self.at;
        let is_inside = |c: &char| c.is_alphanumeric() || *c == '_';
        while self.text.get(self.at).is_some_and(is_inside) {
            self.at += 1;
        }
        let word = self.since(begin);
        let next = self.text.get(self.at).copied();
        match (word.as_str(), next) {
            ("r" | "br" | "cr", Some('"' | '#')) => self.raw(begin),
            ("b" | "c", Some('"')) | ("b", Some('\'')) => {
                self.at += 1;
                self.quoted(begin, next.unwrap_or_default())
            }
            _ => Token::Word(word),
        }
    }

    /// Reads a literal that began at `begin`, up to its closing quote.
    fn quoted(&mut self, begin: usize, quote: char) -> Token {
        while self.text[self.at] != quote {
            self.at += if self.is_at("\\") { 2 } else { 1 };
        }
        self.at += 1;
        Token::Literal(self.since(begin))
    }

    /// Reads a raw string behind its prefix, or the name in a raw name such as `r#type`.
    fn raw(&mut self, begin: usize) -> Token {
        let rest = &self.text[self.at..];
        let hashes = rest.iter().take_while(|c| **c == '#').count();
        if rest.get(hashes) != Some(&'"') {
            self.at += hashes;
            return self.word();
        }
        self.at += hashes + 1;
        let end = format!("\"{}", "#".repeat(hashes));
        while !self.is_at(&end) {
            self.at += 1;
        }
        self.at += end.len();
        Token::Literal(self.since(begin))
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != '\n' {
            self.at += 1;
        }
    }

    /// Skips a comment, which may contain comments.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        while depth > 0 || self.is_at("/*") {
            let (length, change) = if self.is_at("/*") {
                (2, 1)
            } else if self.is_at("*/") {
                (2, -1)
            } else {
                (1, 0)
            };
            self.at += length;
            depth += change;
            if depth == 0 {
                return;
            }
        }
    }
}

#[test]
fn rust_tokens_are_those_of_the_language() {
    let text =
        "a::<'x>(b'\\'', '\"', r#type) // \"c\"\n/* /* \" */ */ r##\"d\"#\"## [1.5, c\"e\\\"\"]";
    let literals = |group: &Token| match group {
        Token::Group(_, inside) => inside
            .iter()
            .filter_map(|t| match t {
                Token::Literal(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let found = tokens(text);
    let shown: Vec<String> = found.iter().map(Token::to_string).collect();
    assert_eq!(shown[..6], ["a", ":", ":", "<", "'", "x"]);
    assert_eq!(shown[8], "r##\"d\"#\"##");
    assert_eq!(found[7].to_string(), "(b'\\'','\"',type)");
    assert_eq!(literals(&found[7]), ["b'\\''", "'\"'"]);
    assert_eq!(literals(&found[9]), ["c\"e\\\"\""]);
}
