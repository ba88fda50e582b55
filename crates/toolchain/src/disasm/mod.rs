//! Lists composed machine code: address, bytes and instruction, each under the members that
//! contributed it.

mod decode;

use std::fmt::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};

use decode::Piece;

/// Composed code, as a program's `--compose` prints it and as a crash record stores it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Code {
    /// The number of bits. A crash record's code is whole bytes and omits this.
    #[serde(default)]
    pub bits: Option<u64>,
    /// The bytes in hexadecimal, two digits each.
    #[serde(deserialize_with = "hex")]
    pub bytes: Vec<u8>,
    /// The instruction set.
    pub isa: String,
    /// The address of the first byte.
    #[serde(default)]
    pub base: u64,
    /// The members that contributed the bits.
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// One member's contribution.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Part {
    /// The member with its arguments, for example `pagefault_x86_64.touch(0)`.
    pub name: String,
    /// Its first bit.
    pub start: u64,
    /// One past its last bit.
    pub end: u64,
    /// The number of enclosing members.
    pub depth: u32,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A member whose instructions follow.
    Member {
        /// The number of enclosing members.
        depth: usize,
        /// Its name with arguments.
        name: String,
    },
    /// An instruction, or bytes that do not decode to one.
    Code {
        /// The number of enclosing members.
        depth: usize,
        address: u64,
        #[serde(serialize_with = "digits")]
        bytes: Vec<u8>,
        /// The instruction in assembler syntax; `None` for bytes that do not decode.
        text: Option<String>,
        /// Members that contributed only some of its bits, for example `x86_64.imm32(8)`.
        within: Vec<String>,
    },
    /// The bits after the last whole byte.
    Bits {
        /// The number of enclosing members.
        depth: usize,
        /// The address of their byte.
        address: u64,
        /// One character per bit.
        digits: String,
    },
}

fn hex<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect())
        }
        _ => Err(serde::de::Error::custom("bytes are pairs of hexadecimal digits")),
    }
}

/// Serializes each byte as two hexadecimal digits.
fn digits<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let text: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    serializer.serialize_str(&text)
}

/// The lines of a listing, in address order.
pub fn listing(code: &Code) -> Vec<Line> {
    let bits = code.bits.unwrap_or(code.bytes.len() as u64 * 8).min(code.bytes.len() as u64 * 8);
    let whole = (bits / 8) as usize;
    let mut builder = Builder { code, lines: Vec::new(), open: Vec::new() };
    for piece in decode::decode(&code.isa, &code.bytes[..whole], code.base) {
        builder.piece(piece);
    }
    if !bits.is_multiple_of(8) {
        builder.rest(whole, bits);
    }
    builder.lines
}

struct Builder<'a> {
    code: &'a Code,
    lines: Vec<Line>,
    /// The parts that enclose the last line, outermost first, as indices into `code.parts`.
    open: Vec<usize>,
}

impl Builder<'_> {
    fn piece(&mut self, piece: Piece) {
        let start = (piece.address - self.code.base) * 8;
        let range = start..start + piece.bytes.len() as u64 * 8;
        let depth = self.enter(&range);
        let within = self.within(&range);
        self.lines.push(Line::Code {
            depth,
            address: piece.address,
            bytes: piece.bytes,
            text: piece.text,
            within,
        });
    }

    fn rest(&mut self, byte: usize, bits: u64) {
        let depth = self.enter(&(byte as u64 * 8..bits));
        let digits = (0..bits % 8)
            .map(|i| if self.code.bytes[byte] >> (7 - i) & 1 == 1 { '1' } else { '0' })
            .collect();
        self.lines.push(Line::Bits { depth, address: self.code.base + byte as u64, digits });
    }

    /// Adds a heading for each member around `range` that has none yet. Returns the number of
    /// enclosing members.
    fn enter(&mut self, range: &Range<u64>) -> usize {
        let holds = |part: &&Part| {
            part.start <= range.start && part.end >= range.end && part.start < part.end
        };
        let parts = &self.code.parts;
        let mut around: Vec<usize> = (0..parts.len()).filter(|i| holds(&&parts[*i])).collect();
        around.sort_by_key(|i| parts[*i].depth);
        let same = self.open.iter().zip(&around).take_while(|(a, b)| a == b).count();
        for (depth, index) in around.iter().enumerate().skip(same) {
            self.lines.push(Line::Member { depth, name: parts[*index].name.clone() });
        }
        self.open = around;
        self.open.len()
    }

    /// Names of members that are part of an instruction but not all of it.
    fn within(&self, range: &Range<u64>) -> Vec<String> {
        let inside = |p: &&Part| {
            p.start < p.end
                && p.start >= range.start
                && p.end <= range.end
                && (p.start, p.end) != (range.start, range.end)
        };
        self.code.parts.iter().filter(inside).map(|p| p.name.clone()).collect()
    }
}

/// Formats a listing as text. Marks the line at address `mark`; with `around`, shows only that many
/// lines before and after it.
pub fn render(lines: &[Line], mark: Option<u64>, around: Option<usize>) -> String {
    let marked = |line: &Line| match line {
        Line::Code { address, bytes, .. } => {
            mark.is_some_and(|m| (*address..*address + bytes.len() as u64).contains(&m))
        }
        _ => false,
    };
    let shown = match (lines.iter().position(marked), around) {
        (Some(at), Some(around)) => at.saturating_sub(around)..(at + around + 1).min(lines.len()),
        _ => 0..lines.len(),
    };
    let digits = lines.iter().map(|l| format!("{:x}", address(l)).len()).max().unwrap_or(4).max(4);
    let mut out = String::new();
    for line in headings(lines, shown.start).into_iter().chain(&lines[shown]) {
        let pointer = if marked(line) { '>' } else { ' ' };
        write_line(&mut out, line, pointer, digits);
    }
    out
}

/// The members that enclose the first shown line.
fn headings(lines: &[Line], first: usize) -> Vec<&Line> {
    let mut open: Vec<&Line> = Vec::new();
    for line in &lines[..first] {
        if let Line::Member { depth, .. } = line {
            open.truncate(*depth);
            open.push(line);
        }
    }
    let limit = match lines.get(first) {
        Some(Line::Member { depth, .. } | Line::Code { depth, .. } | Line::Bits { depth, .. }) => {
            *depth
        }
        None => 0,
    };
    open.truncate(limit);
    open
}

fn address(line: &Line) -> u64 {
    match line {
        Line::Member { .. } => 0,
        Line::Code { address, .. } | Line::Bits { address, .. } => *address,
    }
}

fn write_line(out: &mut String, line: &Line, pointer: char, digits: usize) {
    let _ = match line {
        Line::Member { depth, name } => writeln!(out, "  {:indent$}{name}", "", indent = 2 * depth),
        Line::Bits { depth, address, digits: bits } => writeln!(
            out,
            "{pointer} {:indent$}{address:0digits$x}  0b{bits}",
            "",
            indent = 2 * depth
        ),
        Line::Code { depth, address, bytes, text, within } => {
            let hex: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            let text = text.as_deref().unwrap_or("(no instruction)");
            let note = if within.is_empty() {
                String::new()
            } else {
                format!("  ; {}", within.join(", "))
            };
            writeln!(
                out,
                "{pointer} {:indent$}{address:0digits$x}  {hex:<20}  {text}{note}",
                "",
                indent = 2 * depth
            )
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(isa: &str, hex: &str, parts: &[(&str, u64, u64, u32)]) -> Code {
        let parts: Vec<String> = parts
            .iter()
            .map(|(n, s, e, d)| format!(r#"{{"name":"{n}","start":{s},"end":{e},"depth":{d}}}"#))
            .collect();
        serde_json::from_str(&format!(
            r#"{{"bytes":"{hex}","isa":"{isa}","base":0,"parts":[{}]}}"#,
            parts.join(",")
        ))
        .unwrap()
    }

    #[test]
    fn instructions_are_listed_below_their_members() {
        let parts = [
            ("f", 0, 88, 0),
            ("p.open", 0, 8, 1),
            ("f.touch(8)", 8, 80, 1),
            ("x.imm(8)", 32, 64, 2),
        ];
        let text = render(&listing(&code("x86_64", "55488b83080000008b00c3", &parts)), None, None);
        let expected = "  f
    p.open
      0000  55                    push rbp
    f.touch(8)
      0001  488B8308000000        mov rax, qword ptr [rbx + 8]  ; x.imm(8)
      0008  8B00                  mov eax, dword ptr [rax]
    0  C3";
        // The last line is directly under f again.
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[..6].join("\n"), expected.lines().take(6).collect::<Vec<_>>().join("\n"));
        assert_eq!(lines[6], "    000a  C3                    ret");
    }

    #[test]
    fn every_instruction_set_of_the_library_is_known() {
        for (isa, hex, text) in [
            ("x86_32", "55", "push ebp"),
            ("x86_64", "48ffc0", "inc rax"),
            ("aarch64", "c0035fd6", "ret"),
            ("riscv64", "13000000", "nop"),
            ("riscv64", "0100", "c.nop"),
        ] {
            let lines = listing(&code(isa, hex, &[]));
            let [Line::Code { text: Some(found), .. }] = lines.as_slice() else {
                panic!("{isa}: {lines:?}")
            };
            assert_eq!(found.trim(), text, "{isa}");
        }
    }

    #[test]
    fn data_is_shown_as_bytes_and_partial_bytes_as_bits() {
        let mut loose = code("x86_64", "0660c0", &[]);
        loose.bits = Some(19);
        let text = render(&listing(&loose), None, None);
        assert!(text.contains("(no instruction)"), "{text}");
        assert!(text.ends_with("0002  0b110\n"), "{text}");
        let text = render(&listing(&code("unheard_of", "0102", &[])), None, None);
        assert_eq!(text, "  0000  0102                  (no instruction)\n");
    }

    #[test]
    fn crash_listing_marks_faulting_instruction() {
        let lines = listing(&code("x86_64", "90909090cc9090", &[("f", 0, 56, 0)]));
        let text = render(&lines, Some(4), Some(1));
        assert_eq!(
            text,
            "  f\n    0003  90                    nop\n>   0004  CC                    int3\n    0005  90                    nop\n"
        );
    }

    #[test]
    fn odd_number_of_digits_is_rejected() {
        assert!(serde_json::from_str::<Code>(r#"{"bytes":"5","isa":"x86_64"}"#).is_err());
    }
}
