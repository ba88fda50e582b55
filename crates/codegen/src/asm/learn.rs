//! Finds the bits of a block that a value changes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::block::{Field, FieldBits};

/// The test values of a hole. Single bits and their negatives show where the field is. Runs of ones
/// and mixed patterns check the values between them.
pub(super) fn probe_values() -> &'static [i128] {
    static VALUES: OnceLock<Vec<i128>> = OnceLock::new();
    VALUES.get_or_init(|| {
        let mut values = std::collections::BTreeSet::from([0]);
        for k in 0..64u32 {
            let bit = 1i128 << k;
            values.extend([bit, -bit]);
            for low in 0..5.min(k) {
                let ones = bit - (1 << low);
                let mixed = ((ones / 3) >> low) << low;
                values.extend([ones, mixed, -mixed]);
            }
        }
        values.insert((1 << 64) - 1);
        values.retain(|v| *v >= i128::from(i64::MIN) && *v <= i128::from(u64::MAX));
        values.into_iter().collect()
    })
}

/// The assembled block for each test value that the assembler accepted.
pub(super) type Probes = BTreeMap<i128, Vec<u8>>;

/// The field of a hole, or why the hole is no field.
pub(super) fn learn(probes: &Probes) -> Result<Field, String> {
    let base = probes.get(&0).ok_or("the assembler does not take the value 0 here")?;
    let single = |value: i128| single_difference(base, probes.get(&value)?);
    let first =
        (0..64).find(|k| single(1 << k).is_some()).ok_or("no value moves a bit of its own")?;
    let mut places: Vec<u32> = Vec::new();
    for k in first..64 {
        match single(1 << k) {
            Some(place) if !places.contains(&place) => places.push(place),
            _ => break,
        }
    }
    let top = first + places.len() as u32;
    let sign = (top < 64).then(|| single(-(1 << top))).flatten().filter(|p| !places.contains(p));
    let both = single(-(1 << (top - 1))) == places.last().copied();
    let mut min = 0i128;
    let max = (1i128 << top) - (1 << first);
    if let Some(sign) = sign {
        places.push(sign);
        min = -(1 << top);
    } else if both {
        min = -(1 << (top - 1));
    }
    let field = Field {
        min: min.max(i128::from(i64::MIN)) as i64,
        max: max.min(i128::from(u64::MAX)) as u64,
        multiple: 1 << first,
        bias: 0,
        bits: runs(first, &places),
    };
    check(&field, base, probes)?;
    Ok(field)
}

/// The one bit in which two blocks of the same length differ.
fn single_difference(a: &[u8], b: &[u8]) -> Option<u32> {
    if a.len() != b.len() {
        return None;
    }
    let mut place = None;
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        match (a ^ b).count_ones() {
            0 => {}
            1 if place.is_none() => place = Some(i as u32 * 8 + (a ^ b).trailing_zeros()),
            _ => return None,
        }
    }
    place
}

/// Joins bits that are adjacent in both the value and the block.
fn runs(first: u32, places: &[u32]) -> Vec<FieldBits> {
    let mut runs: Vec<FieldBits> = Vec::new();
    for (i, place) in places.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.block_bit + run.count == *place => run.count += 1,
            _ => runs.push(FieldBits { value_bit: first + i as u32, block_bit: *place, count: 1 }),
        }
    }
    runs
}

/// Checks that every test value in the range was assembled as the field encodes it.
fn check(field: &Field, base: &[u8], probes: &Probes) -> Result<(), String> {
    let inside = |v: &&i128| {
        **v >= i128::from(field.min)
            && **v <= i128::from(field.max)
            && **v % i128::from(field.multiple) == 0
    };
    for value in probe_values().iter().filter(inside) {
        if probes.get(value) != Some(&field.encode(base, *value)) {
            return Err(format!("the value {value} is not encoded as its neighbours are"));
        }
    }
    Ok(())
}

impl Field {
    pub fn encode(&self, block: &[u8], value: i128) -> Vec<u8> {
        let mut bytes = block.to_vec();
        let value = (value + i128::from(self.bias)) as u64;
        for run in &self.bits {
            for i in 0..run.count {
                let at = run.block_bit + i;
                let (byte, mask) = ((at / 8) as usize, 1u8 << (at % 8));
                let one = value >> (run.value_bit + i) & 1 == 1;
                bytes[byte] = if one { bytes[byte] | mask } else { bytes[byte] & !mask };
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of an assembler with this encoding.
    fn answers(encode: impl Fn(i128) -> Option<u32>) -> Probes {
        probe_values()
            .iter()
            .filter_map(|v| encode(*v).map(|word| (*v, word.to_le_bytes().to_vec())))
            .collect()
    }

    #[test]
    fn split_signed_field_is_learned() {
        // The store of RISC-V: 7 bits at 25, 5 bits at 7.
        let store = |v: i128| {
            (-2048..2048)
                .contains(&v)
                .then_some(0x23 | ((v as u32 >> 5 & 0x7F) << 25) | ((v as u32 & 0x1F) << 7))
        };
        let field = learn(&answers(store)).unwrap();
        assert_eq!((field.min, field.max, field.multiple), (-2048, 2047, 1));
        let bits = |value_bit, block_bit, count| FieldBits { value_bit, block_bit, count };
        assert_eq!(field.bits, [bits(0, 7, 5), bits(5, 25, 7)]);
    }

    #[test]
    fn scaled_field_is_learned_despite_short_forms_of_small_values() {
        // The load of A64: offsets that are no multiples of 8 take the unscaled form.
        let load = |v: i128| match v {
            v if v % 8 == 0 && (0..32768).contains(&v) => {
                Some(0xF940_0000 | ((v / 8) as u32) << 10)
            }
            v if (-256..256).contains(&v) => Some(0xF840_0000 | (v as u32 & 0x1FF) << 12),
            _ => None,
        };
        let field = learn(&answers(load)).unwrap();
        assert_eq!((field.min, field.max, field.multiple), (0, 32760, 8));
    }

    #[test]
    fn field_accepts_signed_and_unsigned_values() {
        let byte = |v: i128| (-128..256).contains(&v).then_some(v as u32 & 0xFF);
        let field = learn(&answers(byte)).unwrap();
        assert_eq!((field.min, field.max), (-128, 255));
    }

    #[test]
    fn value_without_plain_field_is_rejected() {
        assert!(learn(&answers(|_| Some(7))).is_err());
        assert!(learn(&answers(|v| (v != 0).then_some(1))).is_err());
        // The value 85 has another encoding than its neighbours.
        let bent =
            |v: i128| (0..256).contains(&v).then_some(if v == 85 { 0xFF00 } else { v as u32 });
        assert!(learn(&answers(bent)).is_err());
    }
}
