//! Creates broken programs by mutating valid ones.

/// Tokens with a meaning in the grammar, and special characters and numbers.
const PIECES: &[&str] = &[
    "yamba ",
    "abstract ",
    " extends ",
    " ports ",
    " on ",
    "import(",
    "param ",
    " over ",
    "log(",
    "linear(",
    "quick ",
    "bitstring ",
    "bitstring<void c_function()> ",
    "evidence ",
    " expects [",
    "at_least ",
    "chart ",
    "against ",
    "tags ",
    "native {",
    "super::",
    "asm {",
    "${",
    "unroll (",
    "if (",
    "else ",
    "label ",
    "rel(",
    "offset(",
    "align(",
    "abs(",
    "le(",
    "be(",
    "bits(",
    "word(",
    "0x",
    "0b",
    "///",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "R\"(",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ".",
    "=",
    "&&",
    "||",
    "!",
    ">=",
    "linux",
    "x86_64",
    "root",
    "cpu(",
    "file(\"",
    "nothing",
    "\n",
    "\t",
    "\r\n",
    "\0",
    "é",
    "🦀",
    "18446744073709551616",
    "-1",
    "1 << 63",
    "platform.",
];

/// An infinite sequence of mutated programs, determined by the seed (SplitMix64).
pub struct Mutator<'a> {
    corpus: &'a [&'a str],
    state: u64,
}

impl<'a> Mutator<'a> {
    /// Creates a mutator of the programs in `corpus`, which must not be empty.
    pub fn new(corpus: &'a [&'a str], seed: u64) -> Mutator<'a> {
        Mutator {
            corpus,
            state: seed,
        }
    }

    /// Creates the next mutated program.
    pub fn next(&mut self) -> String {
        let mut text = self.program().to_owned();
        for _ in 0..=self.below(8) {
            self.mutate(&mut text);
        }
        text
    }

    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.random() % n.max(1) as u64) as usize
    }

    fn program(&mut self) -> &'a str {
        self.corpus[self.below(self.corpus.len())]
    }

    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn range(&mut self, text: &str, longest: usize) -> std::ops::Range<usize> {
        let start = self.place(text);
        let mut end = (start + self.below(longest)).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        start..end.max(start)
    }

    fn mutate(&mut self, text: &mut String) {
        match self.below(7) {
            0 => {
                let gone = self.range(text, 40);
                text.replace_range(gone, "");
            }
            1 => {
                let (at, piece) = (self.place(text), self.below(PIECES.len()));
                text.insert_str(at, PIECES[piece]);
            }
            2 => {
                let (replaced, piece) = (self.range(text, 12), self.below(PIECES.len()));
                text.replace_range(replaced, PIECES[piece]);
            }
            3 => {
                let moved = self.range(text, 200);
                let copy = text[moved].to_owned();
                let at = self.place(text);
                text.insert_str(at, &copy);
            }
            4 => {
                let other = self.program();
                let piece = &other[self.range(other, 400)];
                let at = self.place(text);
                text.insert_str(at, piece);
            }
            5 => {
                let at = self.place(text);
                text.truncate(at);
            }
            _ => {
                let (at, piece, times) =
                    (self.place(text), self.below(PIECES.len()), self.below(300));
                text.insert_str(at, &PIECES[piece].repeat(times));
            }
        }
    }
}
