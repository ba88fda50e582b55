//! Structs whose fields a document has in the object around them. The `flatten` of serde would keep
//! the values in memory, read them twice, and lose the positions of faults.

use serde::Deserialize;
use serde::de::{Error, IgnoredAny, MapAccess};

/// Fields of an object that have been read so far.
pub(crate) trait Fields {
    /// Reads the value of `key`, if it belongs here. Returns whether it did.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A)
    -> Result<bool, A::Error>;
}

/// A struct whose fields a document has in the object around it.
pub(crate) trait Flat: Sized {
    /// The fields that have been read so far.
    type Fields: Fields + Default;

    /// The struct with these fields. Fails if a required one is missing.
    fn complete<E: Error>(fields: Self::Fields) -> Result<Self, E>;
}

/// Reads an object. Unknown fields are ignored.
pub(crate) fn read_object<'de, T: Flat, A: MapAccess<'de>>(mut object: A) -> Result<T, A::Error> {
    let mut fields = T::Fields::default();
    while let Some(key) = object.next_key::<String>()? {
        if !fields.take(&key, &mut object)? {
            object.next_value::<IgnoredAny>()?;
        }
    }
    T::complete(fields)
}

/// Reads a field that an object has at most once.
pub(crate) fn read_once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    key: &'static str,
    object: &mut A,
) -> Result<(), A::Error> {
    if field.is_some() {
        return Err(A::Error::duplicate_field(key));
    }
    *field = Some(object.next_value()?);
    Ok(())
}

/// Defines a struct whose fields a document has in the object around it, and the type of its fields
/// while they are read. The structs under `flat` have their fields in the same object.
///
/// A `serde` attribute of a field begins with `default`, unless the field is required.
macro_rules! flat {
    (
        $(#[$meta:meta])*
        pub struct $name:ident, read as $fields:ident {
            $($(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? pub $field:ident: $type:ty,)*
            $(flat {
                $($(#[doc = $part_doc:literal])* pub $part:ident: $part_type:ty,)*
            })?
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? pub $field: $type,)*
            $($($(#[doc = $part_doc])* #[serde(flatten)] pub $part: $part_type,)*)?
        }

        #[derive(Default)]
        pub(crate) struct $fields {
            $($field: Option<$type>,)*
            $($($part: <$part_type as $crate::flat::Flat>::Fields,)*)?
        }

        impl $crate::flat::Fields for $fields {
            fn take<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                object: &mut A,
            ) -> Result<bool, A::Error> {
                match key {
                    $(stringify!($field) => {
                        $crate::flat::read_once(&mut self.$field, stringify!($field), object)?;
                    })*
                    _ => return Ok(false $($(|| self.$part.take(key, object)?)*)?),
                }
                Ok(true)
            }
        }

        impl $crate::flat::Flat for $name {
            type Fields = $fields;

            fn complete<E: serde::de::Error>(fields: $fields) -> Result<$name, E> {
                Ok($name {
                    $($field: match fields.$field {
                        Some(value) => value,
                        None => $crate::flat::missing!($field $($($serde)*)?),
                    },)*
                    $($($part: $crate::flat::Flat::complete(fields.$part)?,)*)?
                })
            }
        }
    };
}
pub(crate) use flat;

/// The value of a field that an object does not have, by its `serde` attribute. An attribute of
/// another form does not compile.
macro_rules! missing {
    ($field:ident default = "super::event::one" $(, $($rest:tt)*)?) => {
        crate::event::one()
    };
    ($field:ident default $(, $($rest:tt)*)?) => {
        Default::default()
    };
    ($field:ident $(serialize_with = $with:literal)?) => {
        return Err(E::missing_field(stringify!($field)))
    };
}
pub(crate) use missing;
