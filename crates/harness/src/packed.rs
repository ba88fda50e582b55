//! What a run has measured so far, in little room: a whole run has some hundred thousand intervals, each a thousand bytes as it is worked with.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

/// A value as compressed JSON. It is unpacked when it is needed, and serialises as itself.
#[derive(Clone, Debug)]
pub struct Packed<T> {
    bytes: Vec<u8>,
    of: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    /// The value in a tenth of the room or so.
    pub(super) fn new(value: &T) -> Packed<T> {
        let text = serde_json::to_vec(value).expect("what is recorded can be written");
        let mut bytes = lz4_flex::compress_prepend_size(&text);
        bytes.shrink_to_fit();
        Packed {
            bytes,
            of: PhantomData,
        }
    }

    /// The value again, to the last bit.
    pub fn unpack(&self) -> T {
        let text = lz4_flex::decompress_size_prepended(&self.bytes);
        let text = text.expect("it was compressed here");
        serde_json::from_slice(&text).expect("it was written here")
    }
}

impl<T: Serialize + DeserializeOwned> Serialize for Packed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.unpack().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::changed;
    use yamba_record::Event;

    #[test]
    fn what_is_packed_comes_back_to_the_last_bit() {
        let lines = changed(|i, raw| raw.ns = 0.1 + 1.0 / (3.0 + i as f64));
        let events: Vec<Event> = lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let packed = Packed::new(&events);
        assert_eq!(packed.unpack(), events);
        let direct = serde_json::to_string(&events).unwrap();
        assert_eq!(serde_json::to_string(&packed).unwrap(), direct);
        assert!(packed.bytes.len() < direct.len() / 2);
    }
}
