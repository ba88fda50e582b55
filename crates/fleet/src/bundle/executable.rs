//! Removes the parts of an ELF executable that are not loaded: symbols and debug information.

/// A format of ELF: places and sizes of the fields that are needed.
struct Form {
    is_wide: bool,
}

impl Form {
    fn number(&self, bytes: &[u8], wide: usize, narrow: usize) -> Option<u64> {
        let at = if self.is_wide { wide } else { narrow };
        let length = if self.is_wide { 8 } else { 4 };
        let field = bytes.get(at..at + length)?;
        Some(field.iter().rev().fold(0, |all, b| all << 8 | u64::from(*b)))
    }

    fn short(&self, bytes: &[u8], wide: usize, narrow: usize) -> Option<usize> {
        let at = if self.is_wide { wide } else { narrow };
        let field = bytes.get(at..at + 2)?;
        Some(usize::from(field[0]) | usize::from(field[1]) << 8)
    }
}

/// The executable up to the end of its last loaded part, without a table of sections. Other files
/// stay as they are.
pub(crate) fn stripped(mut executable: Vec<u8>) -> Vec<u8> {
    let Some(end) = end_of_loaded(&executable) else {
        return executable;
    };
    executable.truncate(end);
    let is_wide = executable[4] == 2;
    let (sections, counts) =
        if is_wide { (0x28..0x30, 0x3C..0x40) } else { (0x20..0x24, 0x30..0x34) };
    executable[sections].fill(0);
    executable[counts].fill(0);
    executable
}

/// The end of the last part of the file that is loaded. `None` if this is no little-endian
/// executable.
fn end_of_loaded(bytes: &[u8]) -> Option<usize> {
    let form = Form { is_wide: bytes.get(..6)?.strip_prefix(b"\x7fELF")? == [2, 1] };
    if !form.is_wide && bytes.get(4..6)? != [1, 1] {
        return None;
    }
    let table = form.number(bytes, 0x20, 0x1C)? as usize;
    let (size, count) = (form.short(bytes, 0x36, 0x2A)?, form.short(bytes, 0x38, 0x2C)?);
    let mut end = table + size * count;
    for number in 0..count {
        let part = bytes.get(table + size * number..)?.get(..size)?;
        if part.get(..4)? == [1, 0, 0, 0] {
            let (offset, length) = (form.number(part, 8, 4)?, form.number(part, 0x20, 0x10)?);
            end = end.max((offset + length) as usize);
        }
    }
    (end <= bytes.len()).then_some(end)
}
