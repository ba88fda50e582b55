//! Parsers for text formats of Linux.

/// The value after the first `KEY:`. `None` if it is empty.
pub(super) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    entry(text, key).filter(|value| !value.is_empty())
}

/// The value after the first `KEY:`, which may be empty.
pub(super) fn entry<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    lines.find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim())
}

/// A line such as `MemTotal:  1024 kB`, in bytes. `None` in any other unit.
pub(super) fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let number = value(text, key)?.strip_suffix(" kB")?;
    digits(number.trim_start())?.checked_mul(1024)
}

/// A number in decimal digits alone. `parse` also accepts a sign.
pub(super) fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A number such as `0.26`, with a point and decimal digits. `parse` also accepts exponents,
/// infinities and NaN.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (are_digits(whole) && are_digits(fraction)).then(|| text.parse().ok()).flatten()
}

/// Whether a text is a number: decimal digits, or `0x` and hexadecimal ones.
pub(super) fn is_number(text: &str) -> bool {
    let hexadecimal = text.strip_prefix("0x");
    let all_are =
        |digits: &str, is: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|b| is(&b));
    match hexadecimal {
        Some(digits) => all_are(digits, u8::is_ascii_hexdigit),
        None => all_are(text, u8::is_ascii_digit),
    }
}

/// A size such as `32K` or `8M`, in bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits(number)?.checked_mul(unit)
}

/// The word in brackets: `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<&str> {
    let words = text.split_whitespace();
    let mut chosen = words.filter_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let choice = chosen.next().filter(|choice| !choice.is_empty());
    choice.filter(|_| chosen.next().is_none())
}

/// The processors of a list such as `0-3,8`. Empty if the text is no such list.
pub(super) fn cpu_list(text: &str) -> Vec<u64> {
    parsed_cpu_list(text).unwrap_or_default()
}

/// The processors of a list in ascending order. `None` if the text is no such list.
pub(super) fn parsed_cpu_list(text: &str) -> Option<Vec<u64>> {
    /// Linux supports far fewer processors.
    const MOST: u64 = 1 << 20;
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (digits(from)?, digits(to)?);
        let is_next = all.last().is_none_or(|last| *last < from);
        if from > to || to >= MOST || !is_next {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

/// Formats processors as a list such as `0-3,8`.
pub(super) fn as_cpu_list(cpus: &[u64]) -> String {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for &cpu in cpus {
        match out.last_mut() {
            Some((_, to)) if *to + 1 == cpu => *to = cpu,
            _ => out.push((cpu, cpu)),
        }
    }
    let parts = out.iter().map(
        |(from, to)| {
            if from == to { from.to_string() } else { format!("{from}-{to}") }
        },
    );
    parts.collect::<Vec<_>>().join(",")
}

/// A big-endian number of a device tree.
pub(super) fn big_endian(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_be_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// Adds a word unless it is present.
pub(super) fn add(to: &mut Vec<String>, word: Option<String>) {
    if let Some(word) = word
        && !to.contains(&word)
    {
        to.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_text_formats_are_parsed() {
        let meminfo = "MemTotal:       1024 kB\nMemFree: 1 kB\n";
        assert_eq!(kibibytes(meminfo, "MemTotal"), Some(1 << 20));
        assert_eq!(kibibytes(meminfo, "SwapTotal"), None);
        assert_eq!(size("32K"), Some(32 << 10));
        assert_eq!(size("36M"), Some(36 << 20));
        assert_eq!(size("512"), None, "the kernel always writes a unit");
        assert_eq!(kibibytes("MemTotal: 12 16 kB\n", "MemTotal"), None);
        assert_eq!(kibibytes("MemTotal: 12 MB\n", "MemTotal"), None);
        assert_eq!(kibibytes("MemTotal: 1,024 kB\n", "MemTotal"), None);
        assert_eq!(kibibytes("MemTotal: +1024 kB\n", "MemTotal"), None);
        assert_eq!(decimal("0.26"), Some(0.26));
        for text in ["inf", "NaN", "1e3", "-0.26", "0,26", "26", "2.6e1"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        assert!(is_number("0x8000000000000007") && is_number("154"));
        assert!(!is_number("-6") && !is_number("6e0") && !is_number(""));
        assert_eq!(chosen("[a] [b]"), None);
        assert_eq!(size("2 hares"), None);
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("madvise"), None);
        assert_eq!(big_endian(&[0, 0x3d, 9, 0]), Some(4_000_000));
        assert_eq!(big_endian(&[0, 1]), None);
    }

    #[test]
    fn cpu_lists_round_trip() {
        for text in ["0", "0-3,8", "1,3,5-6"] {
            assert_eq!(as_cpu_list(&cpu_list(text)), text);
        }
        assert_eq!(cpu_list("\n"), [0u64; 0]);
        for text in ["0-", "3-1", "-0-3", "0-3,x", "0,0", "0-99999999999", "0 1", "1e0"] {
            assert_eq!(parsed_cpu_list(text), None, "{text}");
        }
        assert_eq!(as_cpu_list(&[]), "");
    }
}
