//! Parsers for text formats of Linux.

/// The value after the first `KEY:`.
pub(super) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    lines.find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim())
}

/// A line such as `MemTotal:  1024 kB`, in bytes.
pub(super) fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let number = value(text, key)?.split(' ').next()?;
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// A size such as `32K` or `8M`, in bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The word in brackets: `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(choice, _)| choice)
}

/// The processors of a list such as `0-3,8`.
pub(super) fn cpu_list(text: &str) -> Vec<u64> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>()) {
            all.extend(from..=to);
        }
    }
    all
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
    let parts = out.iter().map(|(from, to)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }
    });
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
        assert_eq!(size("512"), Some(512));
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
        assert_eq!(as_cpu_list(&[]), "");
    }
}
