//! An assembled block, and the bits in it that hold values.

use yamba_lang::source::Span;

/// Bits of a value that go to adjacent bits of a block: `count` bits from `value_bit` up go to
/// those from `block_bit` up. Bits of a block count from the lowest bit of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBits {
    /// The lowest bit of the value.
    pub value_bit: u32,
    /// The lowest bit of the block.
    pub block_bit: u32,
    /// The number of bits.
    pub count: u32,
}

/// The range of a `${}`'s value, and its place in the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: u64,
    /// Every value must be a multiple of this.
    pub multiple: u64,
    /// Added to the value before it is stored.
    pub bias: i64,
    /// The places of its bits.
    pub bits: Vec<FieldBits>,
}

/// A block as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembledBlock {
    /// The source text of the block.
    pub span: Span,
    /// Its bytes; the bits of fields are unspecified.
    pub bytes: Vec<u8>,
    /// One for each `${}`, in order.
    pub fields: Vec<Field>,
}
