//! Converts instructions to text and bytes.

use iced_x86::{Decoder, DecoderOptions, Encoder, Formatter, Instruction, IntelFormatter};

/// Decodes machine code.
pub(super) fn decode(bytes: &[u8]) -> Vec<Instruction> {
    let decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    decoder.into_iter().collect()
}

/// Encodes an instruction. `None` if it has no encoding, for example with a register that its
/// encoding cannot name.
pub(super) fn encode(instruction: &Instruction) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, 0).ok()?;
    Some(encoder.take_buffer())
}

/// The instruction in Intel syntax, as the assembler accepts it.
pub(super) fn show(instruction: &Instruction) -> String {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_use_pseudo_ops(false);
    options.set_small_hex_numbers_in_decimal(true);
    let mut text = String::new();
    formatter.format(instruction, &mut text);
    text
}

/// Several instructions as one line of text.
pub(super) fn show_all(instructions: &[Instruction]) -> String {
    let each: Vec<String> = instructions.iter().map(show).collect();
    each.join("; ")
}

/// The machine code in hexadecimal digits, the format of the benchmark's `code`.
pub(super) fn hexadecimal(instructions: &[Instruction]) -> Option<String> {
    let each: Option<Vec<_>> = instructions.iter().map(encode).collect();
    Some(digits(&each?.concat(), ""))
}

/// Bytes in hexadecimal digits.
pub(super) fn digits(bytes: &[u8], separator: &str) -> String {
    let each: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    each.join(separator)
}
