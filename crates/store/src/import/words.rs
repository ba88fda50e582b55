//! Words in texts of other programs.

/// Parses a number as `printf` writes it. `None` for texts such as `inf`.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.e".contains(&b));
    text.parse().ok().filter(|n: &f64| is_plain && n.is_finite())
}

/// Parses digits with at most one point. `None` for signs, exponents and separators.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_whole = text.starts_with(|c: char| c.is_ascii_digit()) && !text.ends_with('.');
    text.parse().ok().filter(|_| is_plain && is_whole)
}
