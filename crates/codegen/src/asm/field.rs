//! An assembled block, and the bits in it that hold values.

use yamba_lang::source::Span;

/// `count` bits of a value from `value_bit` up go to the bits of the block from `block_bit` up; a block's bits are
/// counted from the lowest of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBits {
    /// The lowest bit of the value.
    pub value_bit: u32,
    /// The lowest bit of the block.
    pub block_bit: u32,
    /// How many.
    pub count: u32,
}

/// Where the value of a `${}` goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: u64,
    /// What every value must be a multiple of.
    pub multiple: u64,
    /// Added to the value before it is stored.
    pub bias: i64,
    /// Where its bits go.
    pub bits: Vec<FieldBits>,
}

/// A block as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembledBlock {
    /// Which block it is.
    pub span: Span,
    /// Its bytes; those of fields are of no importance.
    pub bytes: Vec<u8>,
    /// One for each `${}`, in order.
    pub fields: Vec<Field>,
}
