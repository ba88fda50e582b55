//! Lexer of `asm { ... }`: removes comments, extracts `${...}`, and passes everything else to the
//! assembler.

use super::lexer::Lexer;
use crate::ast::{AsmBlock, AsmPiece, Cpp};
use crate::diagnostic::error;

/// The pieces so far.
struct Pieces {
    done: Vec<AsmPiece>,
    text: String,
    line: u32,
}

impl Pieces {
    fn finish_text(&mut self) {
        if !self.text.is_empty() {
            self.done
                .push(AsmPiece::Text { text: std::mem::take(&mut self.text), line: self.line });
        }
    }
}

impl Lexer<'_> {
    /// Reads the block from `{` to `}`.
    pub(super) fn asm_block(&mut self) -> AsmBlock {
        let open = self.pos;
        self.pos += 1;
        let mut pieces = Pieces { done: Vec::new(), text: String::new(), line: 1 };
        let is_closed = self.asm_pieces(&mut pieces);
        pieces.finish_text();
        let end = self.pos;
        if is_closed {
            self.pos += 1;
        } else {
            self.unterminated(open, open + 1, "unterminated-asm", "this `asm` block", "`}`");
        }
        AsmBlock { body: self.span(open + 1, end), pieces: pieces.done }
    }

    /// Reads up to the closing brace. Returns whether there is one.
    fn asm_pieces(&mut self, pieces: &mut Pieces) -> bool {
        let mut depth = 0usize;
        while self.pos < self.bytes.len() {
            let start = self.pos;
            if pieces.text.is_empty() {
                pieces.line = self.line(start);
            }
            let next = self.byte(start + 1);
            match self.bytes[start] {
                b'}' if depth == 0 => return true,
                b'$' if next == b'{' => {
                    pieces.finish_text();
                    let hole = self.asm_hole();
                    pieces.done.push(AsmPiece::Hole(hole));
                    continue;
                }
                b'/' if next == b'/' || next == b'*' => {
                    self.asm_comment(&mut pieces.text);
                    continue;
                }
                b'\n' if self.is_class_line(start + 1) => return false,
                b'\r' if next == b'\n' => {
                    self.pos += 1;
                    continue;
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.asm_plain();
            pieces.text.push_str(&self.text[start..self.pos]);
        }
        false
    }

    /// Skips a comment. Leaves a space, which separates words, and its line ends, which count
    /// lines.
    fn asm_comment(&mut self, text: &mut String) {
        let start = self.pos;
        if self.byte(start + 1) == b'/' {
            self.skip_line_comment();
        } else {
            self.block_comment();
            text.push(' ');
        }
        let line_ends = self.text[start..self.pos].matches('\n').count();
        text.extend(std::iter::repeat_n('\n', line_ends));
    }

    /// Skips a character, a string or a character literal.
    fn asm_plain(&mut self) {
        let start = self.pos;
        match self.bytes[start] {
            b'"' => {
                if !self.skip_quoted(b'"') {
                    self.out.errors.push(
                        error!("unterminated-string" at self.span(start, self.pos),
                        "this string is not closed on its line";
                        help "close it with `\"`"),
                    );
                }
            }
            // Assemblers also have `'x` without a second quote, and apostrophes in `#` comments.
            b'\'' => {
                let escape = usize::from(self.byte(start + 1) == b'\\');
                let end = start + 1 + escape;
                let end = end + self.char_len(end);
                self.pos = match self.byte(end) {
                    b'\'' => end + 1,
                    _ => start + 1,
                };
            }
            _ => self.pos += self.char_len(start),
        }
    }

    /// Reads a hole from `${` to `}`.
    fn asm_hole(&mut self) -> Cpp {
        let open = self.pos;
        self.pos += 2;
        let is_closed = self.skip_hole();
        let inside = &self.text[open + 2..self.pos];
        let trimmed = inside.trim_start();
        let start = self.pos - trimmed.len();
        let end = start + trimmed.trim_end().len();
        if !is_closed {
            self.out.errors.push(
                error!("unterminated-hole" at self.span(open, open + 2), "this `${{` is not closed";
                help "close it with `}` right after the value")
                .here("the value begins here"),
            );
        } else {
            self.pos += 1;
            if start == end {
                self.out.errors.push(error!("empty-hole" at self.span(open, self.pos),
                    "there is no value between `${{` and `}}`";
                    help "write a C++ expression, as in `${4 * index}`"));
            }
        }
        Cpp { span: self.span(start, end) }
    }

    /// Skips to the `}` of a hole and returns whether there is one. A closing bracket without an
    /// opening one, or the end of the line outside all brackets, shows that the `}` is missing.
    fn skip_hole(&mut self) -> bool {
        let mut open: Vec<u8> = Vec::new();
        while self.pos < self.bytes.len() {
            let b = self.bytes[self.pos];
            let next = self.byte(self.pos + 1);
            match b {
                b'/' if next == b'/' => {
                    self.skip_line_comment();
                    continue;
                }
                b'/' if next == b'*' => {
                    self.block_comment();
                    continue;
                }
                b'"' | b'\'' if !self.is_separator() => {
                    if !self.skip_quoted(b) {
                        return false;
                    }
                    continue;
                }
                b'\n' if open.is_empty() || self.is_class_line(self.pos + 1) => return false,
                b'(' | b'[' | b'{' => open.push(b),
                b')' | b']' | b'}' => match (open.pop(), b) {
                    (None, b'}') => return true,
                    (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}') => {}
                    _ => return false,
                },
                _ => {}
            }
            self.pos += self.char_len(self.pos);
        }
        false
    }

    /// Whether the quote here is a digit separator, as in `1'000`.
    fn is_separator(&self) -> bool {
        let before = self.byte(self.pos.wrapping_sub(1));
        self.bytes[self.pos] == b'\''
            && before.is_ascii_hexdigit()
            && self.byte(self.pos + 1).is_ascii_hexdigit()
            && self.byte(self.pos + 2) != b'\''
    }
}
