//! JSON of strangers, read with a bound on the memory that it takes: `{},` is three bytes, and what it stands for may be hundreds.
//!
//! What is read goes through serde unchanged; on its way the elements of lists, the pairs of maps and the texts are counted at the size that they have in memory.

use std::cell::Cell;
use std::fmt;
use std::io;

use serde::de::DeserializeOwned;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

use super::{Fault, fault};

/// So many times its length a document may take besides itself. A run of the whole suite takes it once.
const TIMES: u64 = 6;

/// Bytes that even a short one may take.
const ALWAYS: u64 = 16 << 20;

/// Reads a `kind` of document, of so many bytes.
///
/// # Errors
/// When it is none, or takes too much memory.
pub(super) fn read<T: DeserializeOwned>(
    text: impl io::Read,
    length: u64,
    kind: &str,
) -> Result<T, Fault> {
    let room = Room(Cell::new(
        ALWAYS.saturating_add(TIMES.saturating_mul(length)),
    ));
    let mut json = serde_json::Deserializer::from_reader(text);
    let read = T::deserialize(Bounded {
        inner: &mut json,
        room: &room,
    });
    match read.and_then(|value| json.end().map(|()| value)) {
        Err(_) if room.is_exhausted() => Err((
            format!(
                "takes more than {TIMES} times its length of memory, as nothing does that was measured"
            ),
            Some("it was made by hand or is damaged; get it anew"),
        )),
        done => done.map_err(|e| fault(&e, kind)),
    }
}

/// The bytes that may still be taken; none if too many were asked for.
struct Room(Cell<u64>);

impl Room {
    const EXHAUSTED: u64 = u64::MAX;

    fn is_exhausted(&self) -> bool {
        self.0.get() == Room::EXHAUSTED
    }

    fn take<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = Some(self.0.get()).filter(|_| !self.is_exhausted());
        let left = left.and_then(|left| left.checked_sub(bytes as u64));
        self.0.set(left.unwrap_or(Room::EXHAUSTED));
        match left {
            Some(_) => Ok(()),
            None => Err(E::custom("too much memory")),
        }
    }

    fn text<E: Error>(&self, text: &str) -> Result<(), E> {
        match text.len() {
            0 => Ok(()),
            length => self.take(length.max(ALLOCATION) + ALLOCATION),
        }
    }
}

/// What the allocator takes for itself, and the least that it gives, about.
const ALLOCATION: usize = 16;

/// A list makes room for so many elements at first.
const FIRST_ELEMENTS: usize = 4;

/// A node of a map has room for so many pairs (`std::collections::BTreeMap`).
const NODE: usize = 11;

/// An entry is turned into another form as soon as it is read, and lists count that form without its texts. Written out, fields that are empty take about as much as the struct does.
const TURNED: &str = "Benchmark";

/// Something of serde's that is passed on, with the room that is left.
struct Bounded<'r, T> {
    inner: T,
    room: &'r Room,
}

/// Numbers, names of fields and what is ignored take no room of their own.
macro_rules! unchanged {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        })*
    };
}

macro_rules! counted {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(Counting::pairs(visitor, self.room))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<'_, D> {
    type Error = D::Error;

    unchanged! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    counted! {
        deserialize_any deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_seq deserialize_map
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let counting = Counting::pairs(visitor, self.room);
        self.inner.deserialize_newtype_struct(name, counting)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let counting = Counting::fields(visitor, self.room);
        self.inner.deserialize_tuple(length, counting)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let counting = Counting::fields(visitor, self.room);
        self.inner.deserialize_tuple_struct(name, length, counting)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name == TURNED {
            self.room.take(size_of::<V::Value>())?;
        }
        let counting = Counting::fields(visitor, self.room);
        self.inner.deserialize_struct(name, fields, counting)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let counting = Counting::fields(visitor, self.room);
        self.inner.deserialize_enum(name, variants, counting)
    }
}

/// Counts what it is given, and passes it on.
struct Counting<'r, V> {
    visitor: V,
    room: &'r Room,
    /// Whether elements are those of a struct, whose size was counted where it stands.
    is_inline: bool,
}

impl<'r, V> Counting<'r, V> {
    fn pairs(visitor: V, room: &'r Room) -> Counting<'r, V> {
        Counting {
            visitor,
            room,
            is_inline: false,
        }
    }

    fn fields(visitor: V, room: &'r Room) -> Counting<'r, V> {
        Counting {
            visitor,
            room,
            is_inline: true,
        }
    }

    fn elements<A>(&self, inner: A) -> Elements<'r, A> {
        Elements {
            inner,
            room: self.room,
            is_inline: self.is_inline,
            count: 0,
            key: 0,
        }
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty))*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Counting<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    scalars! {
        visit_bool(bool) visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128) visit_f64(f64) visit_char(char)
        visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8])
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.room.text(text)?;
        self.visitor.visit_str(text)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        self.room.text(text)?;
        self.visitor.visit_borrowed_str(text)
    }

    fn visit_string<E: Error>(self, text: String) -> Result<V::Value, E> {
        self.room.text(&text)?;
        self.visitor.visit_string(text)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let room = self.room;
        self.visitor.visit_some(Bounded { inner, room })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let room = self.room;
        self.visitor.visit_newtype_struct(Bounded { inner, room })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let elements = self.elements(inner);
        self.visitor.visit_seq(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let elements = self.elements(inner);
        self.visitor.visit_map(elements)
    }

    /// No variant of what is read here has a list in it.
    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(inner)
    }
}

/// A value that is to be read, with the room that is left.
impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let room = self.room;
        self.inner.deserialize(Bounded { inner, room })
    }
}

/// The elements of a list or the pairs of a map, each counted before it is read.
struct Elements<'r, A> {
    inner: A,
    room: &'r Room,
    is_inline: bool,
    count: u64,
    /// The size of a pair's key.
    key: usize,
}

impl<A> Elements<'_, A> {
    /// Room for one more: at first for as many as are made room for at once.
    fn one_more<E: Error>(&mut self, size: usize, at_first: usize, then: usize) -> Result<(), E> {
        self.count += 1;
        match self.count {
            _ if self.is_inline => Ok(()),
            1 => self.room.take(size * at_first + ALLOCATION),
            _ => self.room.take(size * then),
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        let room = self.room;
        let read = self
            .inner
            .next_element_seed(Bounded { inner: seed, room })?;
        if read.is_some() {
            self.one_more(size_of::<T::Value>(), FIRST_ELEMENTS, 1)?;
        }
        Ok(read)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.key = size_of::<K::Value>();
        let room = self.room;
        self.inner.next_key_seed(Bounded { inner: seed, room })
    }

    /// Nodes of a map that grows are half full.
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.one_more(self.key + size_of::<T::Value>(), NODE, 2)?;
        let room = self.room;
        self.inner.next_value_seed(Bounded { inner: seed, room })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;
    use yamba_record::Run;

    use super::*;

    fn read_text<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
        read(text.as_bytes(), text.len() as u64, "value")
    }

    /// What is read is the same as without a bound.
    #[test]
    fn nothing_is_changed() {
        let text = r#"{"a": [1, -2.5, null, true, "x\n"], "b": {"c": {}, "d": [[]]}, "e": "é"}"#;
        let read: Value = read_text(text).unwrap();
        assert_eq!(read, serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn what_follows_is_no_part_of_it() {
        let (told, _) = read_text::<Value>("{} {}").unwrap_err();
        assert!(told.contains("trailing characters"), "{told}");
    }

    fn refused<T: DeserializeOwned>(text: &str) -> bool {
        match read_text::<T>(text) {
            Err((told, _)) => {
                assert!(told.contains("of memory"), "{told}");
                true
            }
            Ok(_) => false,
        }
    }

    fn list(element: &str, count: usize) -> String {
        format!("[{}]", vec![element; count].join(","))
    }

    #[test]
    fn small_things_that_take_much() {
        let many = 4 << 20;
        assert!(refused::<Vec<BTreeMap<String, u64>>>(&list(
            r#"{"":0}"#,
            many / 8
        )));
        assert!(refused::<Vec<Vec<u64>>>(&list("[0]", many)));
        assert!(refused::<Vec<String>>(&list(r#""""#, many)));
        assert!(refused::<Value>(&list("{}", many)));
        assert!(!refused::<Vec<u64>>(&list("1234567", many)));
    }

    #[test]
    fn lists_of_empty_things_in_a_document() {
        let document = |caches: &str| {
            format!(
                r#"{{"schema": "yamba-run/1", "benchmarks": [], "machine": {{"isa": "", "system": "", "kernel": "", "cpus": 1,
                    "page_size": 1, "root": false, "details": {{"caches": {caches}}}}}}}"#
            )
        };
        assert!(refused::<Run>(&document(&list("{}", 1 << 20))));
        assert!(!refused::<Run>(&document(&list("{}", 1 << 10))));
    }
}
