//! What tells that what is read is what was written: databases do not notice each changed bit.

use crate::error::Fault;

/// Bytes of a checksum.
const LENGTH: usize = 8;

/// The first bytes of the BLAKE3 hash of each part, one after the other.
pub(crate) fn of(parts: &[&[u8]]) -> Vec<u8> {
    let each = parts.iter();
    each.flat_map(|part| blake3::hash(part).as_bytes()[..LENGTH].to_vec())
        .collect()
}

/// Compares the part at `place` with what was noted when it was written. Of what was written before there were checksums nothing is noted.
pub(crate) fn check(
    noted: Option<&[u8]>,
    place: usize,
    part: &[u8],
    what: impl FnOnce() -> String,
) -> Result<(), Fault> {
    let Some(noted) = noted else {
        return Ok(());
    };
    match noted.chunks(LENGTH).nth(place) == Some(&of(&[part])) {
        true => Ok(()),
        false => Err(Fault::Damaged(format!(
            "{} is not what was written",
            what()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_checked_by_itself() {
        let noted = of(&[b"a", b"", b"c"]);
        let holds = |place, part| check(Some(&noted), place, part, || "it".to_owned()).is_ok();
        assert!(holds(0, b"a") && holds(1, b"") && holds(2, b"c"));
        assert!(!holds(0, b"b") && !holds(1, b"a") && !holds(2, b"") && !holds(3, b"c"));
        assert!(check(None, 0, b"a", String::new).is_ok());
        assert!(check(Some(&[]), 0, b"a", String::new).is_err());
    }
}
