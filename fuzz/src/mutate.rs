//! Random changes to programs. The same seed gives the same text on every machine.

/// Pieces that change what a text means.
const PIECES: &[&str] = &[
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
    ":",
    "::",
    ".",
    "=",
    "*",
    "&&",
    "||",
    "!",
    ">=",
    "\"",
    "'",
    "R\"(",
    ")\"",
    "//",
    "///",
    "/*",
    "*/",
    "\\",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "\u{e9}",
    "\u{202e}",
    "\u{201c}",
    "yamba ",
    "\nyamba a ",
    "abstract ",
    "extends ",
    "ports ",
    "on ",
    "nothing",
    "x86_64",
    "aarch64",
    "linux",
    "linux >= 6.1 ",
    "cpu(avx512f)",
    "root",
    "file(\"/x\")",
    "native {",
    "param int a = 1 ",
    "over {1, 2} ",
    "over log(1, 2, 3)",
    "quick {1}",
    "bitstring b ",
    "bitstring<int c_function(int)> b() ",
    "evidence double e() ",
    "expects [0, 1]",
    "at_least 1 cycle;",
    "chart latency against a ",
    "by a ",
    "fit linear",
    "tags t;",
    "import(x86_64);",
    "0x8B",
    "0b0101 ",
    "0x",
    "18446744073709551616",
    "le(1, 32) ",
    "be(1, 5) ",
    "bits(1, 2, 3) ",
    "word(32) {",
    "asm {",
    "${",
    "unroll (int i = 0; i < 4; i++) {",
    "if (1) {",
    "else ",
    "label l: ",
    "rel(l, 8) ",
    "align(16) ",
    "abs(f, 64) ",
    "offset(l)",
    "super::",
    "void f() {",
    "int x;",
    "benchmark",
    "prologue",
];

/// A small generator (SplitMix64): enough for mutations, and no dependency.
pub struct Random(u64);

impl Random {
    /// The generator of one text.
    pub fn new(seed: u64, iteration: u64) -> Random {
        Random(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ^ iteration.wrapping_mul(0xd1b5_4a32_d192_ed03),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// One of `texts`, changed in a few places.
pub fn text(random: &mut Random, texts: &[&str]) -> String {
    let mut text = random.pick(texts).to_owned();
    for _ in 0..=random.below(8) {
        change(random, &mut text, texts);
    }
    if random.below(500) == 0 {
        grow(random, &mut text);
    }
    text
}

fn change(random: &mut Random, text: &mut String, texts: &[&str]) {
    let at = place(random, text);
    match random.below(8) {
        0 => text.truncate(at),
        1 | 2 => text.insert_str(at, random.pick(PIECES)),
        3 => {
            let end = near(random, text, at, 40);
            text.replace_range(at..end, random.pick(PIECES));
        }
        4 => {
            let end = near(random, text, at, 40);
            text.replace_range(at..end, "");
        }
        5 => {
            let end = near(random, text, at, 200);
            let copy = text[at..end].to_owned();
            let to = place(random, text);
            text.insert_str(to, &copy);
        }
        6 => {
            let other = random.pick(texts);
            let start = place(random, other);
            let end = near(random, other, start, 300);
            text.insert_str(at, &other[start..end]);
        }
        _ => {
            let other = random.pick(texts);
            text.push_str(other);
        }
    }
}

/// Repeats a part very often: finds what takes more than linear time, and what recurses.
fn grow(random: &mut Random, text: &mut String) {
    let start = place(random, text);
    let end = near(random, text, start, 60);
    let part = match text[start..end].is_empty() {
        true => random.pick(PIECES).to_owned(),
        false => text[start..end].to_owned(),
    };
    text.insert_str(end, &part.repeat(100_000 / part.len()));
}

fn place(random: &mut Random, text: &str) -> usize {
    boundary(text, random.below(text.len() + 1))
}

fn near(random: &mut Random, text: &str, at: usize, most: usize) -> usize {
    boundary(text, (at + random.below(most)).min(text.len())).max(at)
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
