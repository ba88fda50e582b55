//! Checksums of stored data, because databases do not detect every changed bit.

use crate::error::StoreFault;

/// Bytes of a checksum.
const LENGTH: usize = 8;

/// The concatenated checksums of the parts: the first bytes of the BLAKE3 hash of each.
pub(crate) fn checksum(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| blake3::hash(part).as_bytes()[..LENGTH].to_vec()).collect()
}

/// Compares part `place` with the stored checksums.
pub(crate) fn check(
    noted: &[u8],
    place: usize,
    part: &[u8],
    what: impl FnOnce() -> String,
) -> Result<(), StoreFault> {
    if noted.chunks(LENGTH).nth(place) == Some(&checksum(&[part])) {
        Ok(())
    } else {
        Err(StoreFault::Damaged(format!("{} is not what was written", what())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_checked_separately() {
        let noted = checksum(&[b"a", b"", b"c"]);
        let holds = |place, part| check(&noted, place, part, || "it".to_owned()).is_ok();
        assert!(holds(0, b"a") && holds(1, b"") && holds(2, b"c"));
        assert!(!holds(0, b"b") && !holds(1, b"a") && !holds(2, b"") && !holds(3, b"c"));
        assert!(check(&[], 0, b"a", String::new).is_err());
    }
}
