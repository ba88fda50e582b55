//! Creates broken programs by mutating valid ones.

use std::ops::Range;

use fastrand::Rng;

/// Tokens with a meaning in the grammar, and special characters and numbers.
const PIECES: &str = "
    yamba abstract extends ports on import( param over log( linear( quick bitstring c_function()>
    evidence expects [ at_least chart against tags compile native { super:: asm ${ unroll if else label
    rel( offset( align( abs( le( be( bits( word( 0x 0b /// /* */ // \" ' R\"( { } ( ) [ ] < > ; , .
    = && || ! >= linux x86_64 root cpu( file(\" nothing \0 é 🦀 18446744073709551616 -1 1<<63
    platform.";

/// An infinite sequence of mutated programs, determined by the seed.
pub struct Mutator<'a> {
    corpus: &'a [&'a str],
    pieces: Vec<&'static str>,
    rng: Rng,
}

impl<'a> Mutator<'a> {
    /// Creates a mutator of the programs in `corpus`, which must not be empty.
    pub fn new(corpus: &'a [&'a str], seed: u64) -> Mutator<'a> {
        let spaces = [" ", "\n", "\t", "\r\n"];
        Mutator {
            corpus,
            pieces: PIECES.split_whitespace().chain(spaces).collect(),
            rng: Rng::with_seed(seed),
        }
    }

    /// Creates the next mutated program.
    pub fn next(&mut self) -> String {
        let mut text = self.program().to_owned();
        for _ in 0..=self.rng.usize(..8) {
            self.mutate(&mut text);
        }
        text
    }

    fn program(&mut self) -> &'a str {
        self.corpus[self.rng.usize(..self.corpus.len())]
    }

    /// A piece, sometimes with a space, so that it stays a token of its own.
    fn piece(&mut self) -> String {
        let piece = self.pieces[self.rng.usize(..self.pieces.len())];
        piece.to_owned() + if self.rng.bool() { " " } else { "" }
    }

    fn place(&mut self, text: &str) -> usize {
        boundary(text, self.rng.usize(..=text.len()))
    }

    fn range(&mut self, text: &str, longest: usize) -> Range<usize> {
        let start = self.place(text);
        start..boundary(text, start + self.rng.usize(..longest))
    }

    fn mutate(&mut self, text: &mut String) {
        match self.rng.u8(..7) {
            0 => {
                let gone = self.range(text, 40);
                text.replace_range(gone, "");
            }
            1 => text.insert_str(self.place(text), &self.piece()),
            2 => {
                let replaced = self.range(text, 12);
                text.replace_range(replaced, &self.piece());
            }
            3 => {
                let copy = text[self.range(text, 200)].to_owned();
                text.insert_str(self.place(text), &copy);
            }
            4 => {
                let other = self.program();
                text.insert_str(self.place(text), &other[self.range(other, 400)]);
            }
            5 => text.truncate(self.place(text)),
            _ => {
                let piece = self.piece().repeat(self.rng.usize(..300));
                text.insert_str(self.place(text), &piece);
            }
        }
    }
}

/// The last boundary of a character up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    (0..=at.min(text.len())).rev().find(is_boundary).unwrap_or(0)
}
