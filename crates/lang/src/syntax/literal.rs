//! Bit literals: `0x8B83`, `0b0101`.

/// A fault of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralFault {
    /// It has neither `0x` nor `0b`.
    NoBase,
    /// Nothing follows `0x` or `0b`.
    NoDigits,
    /// The byte at this offset is not a digit of the base.
    BadDigit(usize),
}

/// The bits of a literal in the order of the source. Leading zeros count.
pub(super) fn bits(text: &str) -> Result<Vec<bool>, LiteralFault> {
    let (width, digits) = match text.get(..2) {
        Some("0x" | "0X") => (4, &text[2..]),
        Some("0b" | "0B") => (1, &text[2..]),
        _ => return Err(LiteralFault::NoBase),
    };
    let mut bits = Vec::new();
    for (at, c) in digits.char_indices().filter(|(_, c)| *c != '\'') {
        let digit = c.to_digit(1 << width).ok_or(LiteralFault::BadDigit(at + 2))?;
        bits.extend((0..width).rev().map(|i| digit >> i & 1 == 1));
    }
    if bits.is_empty() { Err(LiteralFault::NoDigits) } else { Ok(bits) }
}
