//! Columns of records. A column holds one field of all records; a document writes it as one array.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One field of all records.
pub trait Column: Default {
    /// The type of the field in a record.
    type Value;

    /// Appends the value of the record at `place`, the number of records so far.
    fn push(&mut self, place: usize, value: Self::Value);

    /// The value of the record at `place`, which exists.
    fn get(&self, place: usize) -> Self::Value;

    /// Whether the column can belong to `count` records.
    fn fits(&self, count: usize) -> bool;

    /// Whether every value is the default, so that a document omits the column.
    fn is_blank(&self) -> bool;

    /// The column of these values.
    fn collect(values: impl Iterator<Item = Self::Value>) -> Self {
        let mut column = Self::default();
        values.enumerate().for_each(|(place, value)| column.push(place, value));
        column
    }

    /// The values of the first `count` records.
    fn rows(&self, count: usize) -> impl Iterator<Item = Self::Value> {
        (0..count).map(|place| self.get(place))
    }
}

/// Defines a record and the columns of such records from one list of fields.
macro_rules! columns {
    (
        $(#[$of_record:meta])* record $record:ident;
        $(#[$of_columns:meta])* columns $columns:ident;
        $($(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? $name:ident: $type:ty as $column:ty,)*
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        $(#[$of_record])*
        pub struct $record {
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? pub $name: $type,)*
        }

        $(#[$of_columns])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        pub struct $columns {
            $(
                $(#[doc = $doc])*
                #[serde(default, skip_serializing_if = "Column::is_blank")]
                $name: $column,
            )*
        }

        impl Column for $columns {
            type Value = $record;

            fn push(&mut self, place: usize, record: $record) {
                $(self.$name.push(place, record.$name);)*
            }

            fn get(&self, place: usize) -> $record {
                $record { $($name: self.$name.get(place),)* }
            }

            fn fits(&self, count: usize) -> bool {
                $(self.$name.fits(count))&&*
            }

            fn is_blank(&self) -> bool {
                $(self.$name.is_blank())&&*
            }
        }
    };
}
pub(crate) use columns;

/// A number as a document writes it: a whole number without a decimal point.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Plain {
    Natural(u64),
    Whole(i64),
    Real(f64),
    Missing(()),
}

/// The values of a column of numbers.
pub trait Number: Copy + Default + for<'de> Deserialize<'de> {
    /// The number as a document writes it.
    fn plain(self) -> Plain;

    /// The number that a document has. `None` if it has another type.
    fn from_plain(plain: Plain) -> Option<Self>;

    /// Whether both are the same to the last bit.
    fn is(self, other: Self) -> bool;
}

impl Number for u64 {
    fn plain(self) -> Plain {
        Plain::Natural(self)
    }

    fn from_plain(plain: Plain) -> Option<u64> {
        match plain {
            Plain::Natural(n) => Some(n),
            _ => None,
        }
    }

    fn is(self, other: u64) -> bool {
        self == other
    }
}

/// Every whole number below this is a 64-bit floating-point number.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

impl Number for f64 {
    fn plain(self) -> Plain {
        let whole = self as i64;
        let is_whole = self.abs() < EXACT && self.is(whole as f64);
        if is_whole { Plain::Whole(whole) } else { Plain::Real(self) }
    }

    fn from_plain(plain: Plain) -> Option<f64> {
        match plain {
            Plain::Natural(n) => Some(n as f64),
            Plain::Whole(n) => Some(n as f64),
            Plain::Real(n) => Some(n),
            Plain::Missing(()) => None,
        }
    }

    fn is(self, other: f64) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl<T: Number> Number for Option<T> {
    fn plain(self) -> Plain {
        self.map_or(Plain::Missing(()), T::plain)
    }

    fn from_plain(plain: Plain) -> Option<Option<T>> {
        match plain {
            Plain::Missing(()) => Some(None),
            number => T::from_plain(number).map(Some),
        }
    }

    fn is(self, other: Option<T>) -> bool {
        match (self, other) {
            (Some(a), Some(b)) => a.is(b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// Serializes numbers as one array, each as short as possible.
///
/// # Errors
/// Those of the serializer.
pub fn array<T: Number, S: Serializer>(numbers: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().map(|n| n.plain()))
}

/// The fewest equal numbers that a document writes as one pair.
const SHORTEST_REPEAT: usize = 3;

/// The most records of a document. A short pair may stand for many numbers, and must not exhaust
/// the memory.
const MOST_RECORDS: usize = 1 << 20;

/// An element of a column in a document.
enum Element<T> {
    /// `[NUMBER, COUNT]`: a number that COUNT neighbouring records share.
    Repeated(T, usize),
    One(T),
}

/// Serializes numbers as one array, with one pair for neighbours that are equal.
fn repeats<T: Number, S: Serializer>(numbers: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let mut elements = serializer.serialize_seq(None)?;
    for group in numbers.chunk_by(|a, b| a.is(*b)) {
        if group.len() >= SHORTEST_REPEAT {
            elements.serialize_element(&(group[0].plain(), group.len()))?;
            continue;
        }
        for number in group {
            elements.serialize_element(&number.plain())?;
        }
    }
    elements.end()
}

/// Numbers, one for each record. A document writes a number that all records share once, without an
/// array.
#[derive(Clone, Debug, Default)]
pub struct Numbers<T> {
    /// The number of all records while `each` is empty.
    shared: T,
    each: Vec<T>,
}

impl<T: Number> Numbers<T> {
    fn new(each: Vec<T>) -> Numbers<T> {
        let shared = each.first().copied().unwrap_or_default();
        if each.iter().all(|n| n.is(shared)) {
            return Numbers { shared, each: Vec::new() };
        }
        Numbers { shared, each }
    }
}

impl<T: Number> PartialEq for Numbers<T> {
    fn eq(&self, other: &Numbers<T>) -> bool {
        let mut both = self.each.iter().zip(&other.each);
        let is_alike = self.shared.is(other.shared) && self.each.len() == other.each.len();
        is_alike && both.all(|(a, b)| a.is(*b))
    }
}

impl<T: Number> Column for Numbers<T> {
    type Value = T;

    fn push(&mut self, place: usize, value: T) {
        if place == 0 {
            self.shared = value;
        } else if self.each.is_empty() && !value.is(self.shared) {
            self.each = vec![self.shared; place];
        }
        if !self.each.is_empty() {
            self.each.push(value);
        }
    }

    fn get(&self, place: usize) -> T {
        self.each.get(place).copied().unwrap_or(self.shared)
    }

    fn fits(&self, count: usize) -> bool {
        self.each.is_empty() || self.each.len() == count
    }

    fn is_blank(&self) -> bool {
        self.each.is_empty() && self.shared.is(T::default())
    }
}

impl<T: Number> Serialize for Numbers<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.each.is_empty() {
            self.shared.plain().serialize(serializer)
        } else {
            repeats(&self.each, serializer)
        }
    }
}

impl<'de, T: Number> Deserialize<'de> for Numbers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Numbers<T>, D::Error> {
        deserializer.deserialize_any(OneOrEach(PhantomData))
    }
}

impl<'de, T: Number> Deserialize<'de> for Element<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Element<T>, D::Error> {
        deserializer.deserialize_any(OneOrRepeated(PhantomData))
    }
}

/// The methods of a visitor that read a number or `null` by `self.one`.
macro_rules! visit_numbers {
    ($read:ty) => {
        fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<$read, E> {
            self.one(Plain::Natural(n))
        }

        fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<$read, E> {
            self.one(Plain::Whole(n))
        }

        fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<$read, E> {
            self.one(Plain::Real(n))
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<$read, E> {
            self.one(Plain::Missing(()))
        }
    };
}

/// Reads an element without a buffer, unlike a derived reader of an untagged type.
struct OneOrRepeated<T>(PhantomData<T>);

impl<T: Number> OneOrRepeated<T> {
    fn one<E: serde::de::Error>(self, plain: Plain) -> Result<Element<T>, E> {
        number(plain).map(Element::One)
    }
}

impl<'de, T: Number> Visitor<'de> for OneOrRepeated<T> {
    type Value = Element<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a pair of a number and a count")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Element<T>, A::Error> {
        let lacks = |place| serde::de::Error::invalid_length(place, &"a number and a count");
        let number = pair.next_element()?.ok_or_else(|| lacks(0))?;
        let count = pair.next_element()?.ok_or_else(|| lacks(1))?;
        Ok(Element::Repeated(number, count))
    }

    visit_numbers!(Element<T>);
}

/// The number of a column.
fn number<T: Number, E: serde::de::Error>(plain: Plain) -> Result<T, E> {
    T::from_plain(plain)
        .ok_or_else(|| E::custom(format_args!("{plain:?} is no number of this column")))
}

struct OneOrEach<T>(PhantomData<T>);

impl<T: Number> OneOrEach<T> {
    fn one<E: serde::de::Error>(self, plain: Plain) -> Result<Numbers<T>, E> {
        Ok(Numbers { shared: number(plain)?, each: Vec::new() })
    }
}

impl<'de, T: Number> Visitor<'de> for OneOrEach<T> {
    type Value = Numbers<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or an array of numbers and of pairs of a number and a count")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Numbers<T>, A::Error> {
        let mut each = Vec::new();
        while let Some(element) = all.next_element()? {
            let (number, count) = match element {
                Element::Repeated(number, count) => (number, count),
                Element::One(number) => (number, 1),
            };
            let left = MOST_RECORDS - each.len();
            if !(1..=left).contains(&count) {
                let text = format_args!("a count is not between 1 and {left}");
                return Err(serde::de::Error::custom(text));
            }
            each.resize(each.len() + count, number);
        }
        Ok(Numbers::new(each))
    }

    visit_numbers!(Numbers<T>);
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Numbers<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("ColumnOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let number = generator.subschema_for::<T>();
        let pair = schemars::json_schema!({
            "type": "array",
            "prefixItems": [number, {"type": "integer", "minimum": 1}],
            "minItems": 2,
            "maxItems": 2,
        });
        let element = schemars::json_schema!({"anyOf": [number, pair]});
        schemars::json_schema!({"anyOf": [number, {"type": "array", "items": element}]})
    }
}

/// Numbers, always as an array: its length is the number of records.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Array(#[serde(serialize_with = "array")] pub Vec<f64>);

impl PartialEq for Array {
    fn eq(&self, other: &Array) -> bool {
        let mut both = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && both.all(|(a, b)| a.is(*b))
    }
}

impl Column for Array {
    type Value = f64;

    fn push(&mut self, _: usize, value: f64) {
        self.0.push(value);
    }

    fn get(&self, place: usize) -> f64 {
        self.0.get(place).copied().unwrap_or_default()
    }

    fn fits(&self, count: usize) -> bool {
        self.0.len() == count
    }

    fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

/// Words that few records have: under each word the indices of its records, ascending.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Words(BTreeMap<String, Vec<usize>>);

impl Column for Words {
    type Value = Vec<String>;

    fn push(&mut self, place: usize, words: Vec<String>) {
        for word in words {
            self.0.entry(word).or_default().push(place);
        }
    }

    fn get(&self, place: usize) -> Vec<String> {
        let has = |(_, places): &(&String, &Vec<usize>)| places.binary_search(&place).is_ok();
        self.0.iter().filter(has).map(|(w, _)| w.clone()).collect()
    }

    fn fits(&self, count: usize) -> bool {
        let fits = |places: &Vec<usize>| places.is_sorted() && places.last() < Some(&count);
        self.0.values().all(fits)
    }

    fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

/// Numbers by name, with a column for each name. A name that a record lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Named(BTreeMap<String, Numbers<Option<f64>>>);

impl Column for Named {
    type Value = BTreeMap<String, Option<f64>>;

    fn push(&mut self, place: usize, mut values: BTreeMap<String, Option<f64>>) {
        for (name, column) in &mut self.0 {
            column.push(place, values.remove(name).flatten());
        }
        for (name, value) in values {
            let column = self.0.entry(name).or_default();
            column.push(place, value);
        }
    }

    fn get(&self, place: usize) -> BTreeMap<String, Option<f64>> {
        let value = |(name, column): (&String, &Numbers<_>)| (name.clone(), column.get(place));
        self.0.iter().map(value).collect()
    }

    fn fits(&self, count: usize) -> bool {
        self.0.values().all(|column| column.fits(count))
    }

    fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: Number>(each: Vec<T>) -> String {
        let text = serde_json::to_string(&Numbers::new(each.clone())).unwrap();
        let read: Numbers<T> = serde_json::from_str(&text).unwrap();
        let is_same = |(place, number): (usize, &T)| read.get(place).is(*number);
        assert!(each.iter().enumerate().all(is_same) && read.fits(each.len()));
        text
    }

    #[test]
    fn equal_neighbours_are_one_pair() {
        assert_eq!(text(vec![1_u64, 1, 1, 2, 3, 3]), "[[1,3],2,3,3]");
        assert_eq!(text(vec![7_u64; 5]), "7");
        let numbers = vec![None, None, None, None, Some(0.5), Some(-2.0)];
        assert_eq!(text(numbers), "[[null,4],0.5,-2]");
    }

    #[test]
    fn wrong_elements_are_refused() {
        for (column, reason) in [
            ("[1, [2, 99999999999]]", "a count is not between 1 and 1048575"),
            ("[[1, 0]]", "a count is not between 1 and 1048576"),
            ("[[1]]", "invalid length 1, expected a number and a count"),
            ("[[1, 2, 3]]", "trailing characters"),
            ("[[1, -2]]", "invalid value: integer `-2`"),
            ("[\"1\"]", "invalid type: string \"1\", expected a number, or a pair"),
            ("[0.5]", "Real(0.5) is no number of this column"),
        ] {
            let refused = serde_json::from_str::<Numbers<u64>>(column).unwrap_err();
            assert!(refused.to_string().starts_with(reason), "{refused}");
        }
    }
}
