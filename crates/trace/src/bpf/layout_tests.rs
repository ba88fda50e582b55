//! The structs and constants of `shared.rs` are those of the compiled programs.

use std::collections::BTreeMap;

use object::{Object, ObjectSection};

use super::programs::OBJECT;
use super::shared::{CALLS, CONSTANTS, STRUCTS};

/// Kinds of types, and the lengths of what follows them, in the kernel's
/// `Documentation/bpf/btf.rst`.
const INT: u32 = 1;
const POINTER: u32 = 2;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNC_PROTO: u32 = 13;
const VAR: u32 = 14;
const DATASEC: u32 = 15;

/// A struct: its length, and its fields with places and lengths.
type Layout = (usize, Vec<(String, usize, usize)>);

/// The types of the object (BTF).
struct Types {
    words: Vec<u32>,
    texts: Vec<u8>,
    /// Place of each type. Type 0 is `void` and has none.
    places: Vec<usize>,
}

impl Types {
    fn from_object() -> Types {
        let file = object::File::parse(OBJECT).unwrap();
        let data = file.section_by_name(".BTF").unwrap().data().unwrap();
        let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
        let header: Vec<usize> = (0..6).map(|index| word(4 * index) as usize).collect();
        let [types, length, texts] = [header[1] + header[2], header[3], header[1] + header[4]];
        let words: Vec<u32> = (0..length / 4).map(|index| word(types + 4 * index)).collect();
        let mut places = vec![0];
        let mut at = 0;
        while at < words.len() {
            places.push(at);
            let members = (words[at + 1] & 0xffff) as usize;
            at += 3 + match words[at + 1] >> 24 & 0x1f {
                INT | VAR => 1,
                ARRAY => 3,
                STRUCT | UNION | DATASEC => 3 * members,
                ENUM | FUNC_PROTO => 2 * members,
                _ => 0,
            };
        }
        Types { words, texts: data[texts..].to_vec(), places }
    }

    fn name(&self, at: usize) -> String {
        let text = &self.texts[self.words[at] as usize..];
        String::from_utf8(text.split(|byte| *byte == 0).next().unwrap().to_vec()).unwrap()
    }

    fn kind(&self, at: usize) -> u32 {
        self.words[at + 1] >> 24 & 0x1f
    }

    /// The parts of each type of this kind with a name: pieces of words behind the type.
    fn named(&self, kind: u32, words: usize) -> impl Iterator<Item = (String, usize, Vec<usize>)> {
        let found = self.places[1..].iter().copied().filter(move |at| self.kind(*at) == kind);
        found.map(move |at| {
            let members = (self.words[at + 1] & 0xffff) as usize;
            (self.name(at), at, (0..members).map(|index| at + 3 + words * index).collect())
        })
    }

    fn bytes(&self, number: u32) -> usize {
        let at = self.places[number as usize];
        match self.kind(at) {
            INT | STRUCT | UNION | ENUM => self.words[at + 2] as usize,
            POINTER => 8,
            ARRAY => self.bytes(self.words[at + 3]) * self.words[at + 5] as usize,
            // Names of types, and `const` and `volatile`.
            _ => self.bytes(self.words[at + 2]),
        }
    }

    fn structs(&self) -> BTreeMap<String, Layout> {
        let each = self.named(STRUCT, 3).map(|(name, at, members)| {
            let fields = members.into_iter().map(|member| {
                let place = self.words[member + 2] as usize / 8;
                (self.name(member), place, self.bytes(self.words[member + 1]))
            });
            (name, (self.words[at + 2] as usize, fields.collect()))
        });
        each.collect()
    }

    fn enumerations(&self) -> BTreeMap<String, Vec<(String, u32)>> {
        let each = self.named(ENUM, 2).map(|(name, _, members)| {
            let constants = members.into_iter().map(|at| (self.name(at), self.words[at + 1]));
            (name, constants.collect())
        });
        each.collect()
    }
}

#[test]
fn layouts_are_those_of_c() {
    let of_c = Types::from_object().structs();
    for (name, bytes, fields) in STRUCTS {
        let fields = fields.iter().map(|&(field, place, bytes)| (field.to_owned(), place, bytes));
        assert_eq!(of_c.get(*name), Some(&(*bytes, fields.collect())), "struct {name}");
        // All bytes belong to a field: aya and the kernel read structs as bytes.
        let used: usize = of_c[*name].1.iter().map(|(.., bytes)| bytes).sum();
        assert_eq!(used, *bytes, "struct {name} has padding");
    }
}

#[test]
fn constants_are_those_of_c() {
    let of_c = Types::from_object().enumerations();
    for (name, constants) in CONSTANTS {
        let constants = constants.iter().map(|&(name, value)| (name.to_owned(), value));
        assert_eq!(of_c.get(*name), Some(&constants.collect()), "enum {name}");
    }
}

#[test]
fn tables_of_calls_are_as_long_as_in_c() {
    let file = object::File::parse(OBJECT).unwrap();
    let bytes = file.section_by_name(".rodata").unwrap().size() as usize;
    assert_eq!(bytes, 2 * CALLS * 2);
}
