//! Reads the types of the running kernel (BTF), see the kernel's `Documentation/bpf/btf.rst`.

use std::collections::HashMap;

/// Kinds of types, with their numbers in `linux/btf.h`.
const INT: u32 = 1;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const FUNC_PROTO: u32 = 13;
const VAR: u32 = 14;
const DATASEC: u32 = 15;
const DECL_TAG: u32 = 17;
const ENUM64: u32 = 19;

/// Length of the part that all types have.
const TYPE_BYTES: usize = 12;

const MEMBER_BYTES: usize = 12;

/// The types of a kernel.
#[derive(Debug)]
pub struct Types {
    data: Vec<u8>,
    /// Place of the texts.
    texts: usize,
    /// Place of each type. Type 0 is `void` and has none.
    places: Vec<usize>,
    /// Numbers of the structs and type definitions by kind and name.
    named: HashMap<(u32, Vec<u8>), u32>,
}

impl Types {
    /// Reads the content of `/sys/kernel/btf/vmlinux`. `None`: it does not have this form.
    pub fn read(data: Vec<u8>) -> Option<Types> {
        let header = |at| word(&data, at).map(|w| w as usize);
        if data.get(..2)? != [0x9f, 0xeb] {
            return None;
        }
        let base = header(4)?;
        let (types, length) = (base + header(8)?, header(12)?);
        let mut read =
            Types { texts: base + header(16)?, places: vec![0], named: HashMap::new(), data };
        let mut at = types;
        while at < types + length {
            let (kind, members) = read.info(at)?;
            if [STRUCT, TYPEDEF].contains(&kind) {
                let name = read.text(word(&read.data, at)?)?.to_vec();
                let number = u32::try_from(read.places.len()).ok()?;
                read.named.entry((kind, name)).or_insert(number);
            }
            read.places.push(at);
            at += TYPE_BYTES + rest(kind, members);
        }
        Some(read)
    }

    /// The number of a type definition.
    pub fn definition(&self, name: &str) -> Option<u32> {
        self.number(TYPEDEF, name)
    }

    /// The number of parameters of the functions to which a type definition points. `None`: it
    /// points to something else.
    pub fn parameters(&self, name: &str) -> Option<usize> {
        let target = |number: u32| {
            let place = *self.places.get(number as usize)?;
            word(&self.data, place + 8)
        };
        let pointed = target(target(self.definition(name)?)?)?;
        let (kind, parameters) = self.info(*self.places.get(pointed as usize)?)?;
        (kind == FUNC_PROTO).then_some(parameters)
    }

    /// The offset in bytes of a member of a struct, also within its nameless parts.
    pub fn offset(&self, of: &str, member: &str) -> Option<u32> {
        let bits = self.bits(self.number(STRUCT, of)?, member.as_bytes())?;
        bits.is_multiple_of(8).then_some(bits / 8)
    }

    fn number(&self, kind: u32, name: &str) -> Option<u32> {
        self.named.get(&(kind, name.as_bytes().to_vec())).copied()
    }

    fn bits(&self, number: u32, member: &[u8]) -> Option<u32> {
        let place = *self.places.get(number as usize)?;
        let (kind, members) = self.info(place)?;
        if kind != STRUCT && kind != UNION {
            return None;
        }
        // The highest bit says that offsets of members have the sizes of bit fields above them.
        let has_sizes = word(&self.data, place + 4)? >> 31 == 1;
        (0..members).find_map(|index| {
            let at = place + TYPE_BYTES + index * MEMBER_BYTES;
            let name = self.text(word(&self.data, at)?)?;
            let offset = word(&self.data, at + 8)?;
            let offset = if has_sizes { offset & 0xff_ffff } else { offset };
            match name {
                _ if name == member => Some(offset),
                b"" => Some(offset + self.bits(word(&self.data, at + 4)?, member)?),
                _ => None,
            }
        })
    }

    /// The kind of the type at this place, and its number of members.
    fn info(&self, place: usize) -> Option<(u32, usize)> {
        let info = word(&self.data, place + 4)?;
        Some((info >> 24 & 0x1f, (info & 0xffff) as usize))
    }

    fn text(&self, offset: u32) -> Option<&[u8]> {
        let from = self.data.get(self.texts + offset as usize..)?;
        from.split(|byte| *byte == 0).next()
    }
}

/// Length in bytes of what follows the common part of a type.
fn rest(kind: u32, members: usize) -> usize {
    match kind {
        INT | VAR | DECL_TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => 12 * members,
        ENUM | FUNC_PROTO => 8 * members,
        _ => 0,
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The types of a map's keys and values: a number of 32 bits, and a struct of this length. Their
/// numbers are 1 and 2.
pub fn of_map(value_bytes: u32) -> Vec<u8> {
    const TEXTS: &[u8] = b"\0u32\0thread\0";
    let types = [
        // u32: its name, kind, size, and 32 bits.
        [1, INT << 24, 4, 32].as_slice(),
        // struct thread, without members.
        &[5, STRUCT << 24, value_bytes],
    ]
    .concat();
    let length = 4 * types.len() as u32;
    // The magic number, version 1, no flags; the header's length; places and lengths of the types
    // and texts.
    let header = [0x0001_eb9f, 24, 0, length, length, TEXTS.len() as u32];
    let words = header.iter().chain(&types);
    let mut data: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    data.extend_from_slice(TEXTS);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_were_written_are_read() {
        let types = Types::read(of_map(40)).unwrap();
        assert_eq!(types.number(STRUCT, "thread"), Some(2));
        assert_eq!(types.offset("thread", "none"), None);
        assert_eq!(types.definition("thread"), None);
    }

    /// `typedef void (*call)(int, int);`
    #[test]
    fn parameters_of_functions_are_counted() {
        const POINTER: u32 = 2;
        let texts = b"\0call\0";
        let mut types = vec![0, INT << 24, 4, 32];
        types.extend([0, FUNC_PROTO << 24 | 2, 0, 0, 1, 0, 1]);
        types.extend([0, POINTER << 24, 2]);
        types.extend([1, TYPEDEF << 24, 3]);
        let types = Types::read(written(&types, texts)).unwrap();
        assert_eq!(types.parameters("call"), Some(2));
        assert_eq!(types.parameters("none"), None);
    }

    /// The content of a file with these types and texts.
    fn written(types: &[u32], texts: &[u8]) -> Vec<u8> {
        let length = 4 * types.len() as u32;
        let header = [0x0001_eb9f, 24, 0, length, length, texts.len() as u32];
        let words = header.iter().chain(types);
        let mut data: Vec<u8> = words.flat_map(|word: &u32| word.to_le_bytes()).collect();
        data.extend_from_slice(texts);
        data
    }

    /// `struct outer { int a; union { int b; struct { int c; int d; }; }; }`
    #[test]
    fn members_of_nameless_parts_are_found() {
        let texts = b"\0outer\0a\0b\0c\0d\0";
        let member = |name, of, bits| [name, of, bits];
        let mut types = vec![0, INT << 24, 4, 32];
        types.extend([0, STRUCT << 24 | 2, 8]);
        types.extend(member(11, 1, 0).into_iter().chain(member(13, 1, 32)));
        types.extend([0, UNION << 24 | 2, 8]);
        types.extend(member(9, 1, 0).into_iter().chain(member(0, 2, 0)));
        types.extend([1, STRUCT << 24 | 2, 12]);
        types.extend(member(7, 1, 0).into_iter().chain(member(0, 3, 32)));
        let data = written(&types, texts);
        for length in 0..data.len() {
            // A shortened text has no panic.
            let _ = Types::read(data[..length].to_vec()).map(|t| t.offset("outer", "d"));
        }
        let types = Types::read(data).unwrap();
        let found = ["a", "b", "c", "d", "e"].map(|member| types.offset("outer", member));
        assert_eq!(found, [Some(0), Some(4), Some(4), Some(8), None]);
    }
}
