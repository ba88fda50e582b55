//! Amounts and counts as a person reads them.

use yamba_record::number::{number, scale};

/// A number of bytes, in powers of 1024.
pub fn bytes(count: u64) -> String {
    let (factor, unit) = scale(count as f64, "B");
    format!("{} {unit}", number(count as f64 * factor))
}

/// A count in powers of 1024 where it is a whole number of them: `64Mi`.
pub fn short(count: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("Gi", 30), ("Mi", 20), ("Ki", 10)];
    let fits = UNITS
        .iter()
        .find(|(_, bits)| count > 0 && count.trailing_zeros() >= *bits);
    fits.map_or(count.to_string(), |(name, bits)| {
        format!("{}{name}", count >> bits)
    })
}

/// `66 samples`, `1 sample`.
pub fn counted(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_convenient_unit() {
        assert_eq!(bytes(32768), "32 KiB");
        assert_eq!(bytes(1000), "1000 B");
        assert_eq!(bytes(2883584), "2.75 MiB");
        assert_eq!(
            [0, 1000, 1024, 67108864, 3 << 30].map(short),
            ["0", "1000", "1Ki", "64Mi", "3Gi"]
        );
        assert_eq!(counted(1, "sample"), "1 sample");
    }
}
