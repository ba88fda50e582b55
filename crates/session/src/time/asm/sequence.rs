//! Measures a sequence of instructions, repeated exactly as written. Its registers decide whether
//! repetitions overlap.

use iced_x86::{Instruction, Mnemonic};

use super::code::{digits, show};
use super::operands::{FullRegister, STACK};
use super::refusal::refusal;
use super::start::{Presets, Start};
use super::{Figure, address};

/// Most bytes that a sequence may move the stack pointer in either direction: the frame of the
/// library's `Instruction` has 2 KiB above it.
const STACK_BYTES: i32 = 1024;

/// Most bytes of a sequence. Repetitions of a longer one would not outlast a reorder window and fit
/// in the first instruction cache.
const MOST_BYTES: usize = 1024;

/// The name of its figure.
pub(super) const ASPECT: &str = "sequence";

/// The time of a repetition, or why the sequence cannot be measured.
/// `bytes` is its machine code, which is measured unchanged.
pub(super) fn figure(
    sequence: &[Instruction],
    bytes: &[u8],
    presets: &Presets,
) -> Result<Figure, String> {
    if sequence.is_empty() {
        return Err("there is no instruction in it".to_owned());
    }
    for instruction in sequence {
        let reason = match moves_stack(instruction) {
            true => address::refusal(instruction),
            false => refusal(instruction),
        };
        if let Some(reason) = reason {
            return Err(format!("`{}` cannot be measured: {reason}", show(instruction)));
        }
    }
    check_stack(sequence)?;
    if bytes.len() > MOST_BYTES {
        return Err(format!(
            "its code has {} bytes, and at most {MOST_BYTES} can be repeated within the first instruction cache; time a statement instead",
            bytes.len()
        ));
    }
    let steps = [sequence.to_vec()];
    let start = Start { requested: sequence, steps: &steps, twins: &[], user: presets, word: None };
    let code = start.code_around(&digits(bytes, ""));
    let code = code.ok_or("its start values cannot be encoded")?;
    let notes = vec![listing(sequence, bytes)];
    Ok(Figure { aspect: ASPECT, code: Ok(code), notes, is_move: false, steps: steps.into() })
}

/// Whether it is a push or pop that names no stack pointer.
fn moves_stack(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let is_such = matches!(instruction.mnemonic(), Push | Pushf | Pushfq | Pop | Popf | Popfq);
    let names = |n| FullRegister::from_register(instruction.op_register(n)) == Some(STACK);
    is_such && !(0..instruction.op_count()).any(names)
}

/// Every repetition must leave the stack pointer where it was, and stay within the frame.
fn check_stack(sequence: &[Instruction]) -> Result<(), String> {
    let mut moved = 0;
    for instruction in sequence {
        moved += instruction.stack_pointer_increment();
        if moved.abs() > STACK_BYTES {
            return Err(format!("it moves the stack pointer by more than {STACK_BYTES} bytes"));
        }
    }
    match moved {
        0 => Ok(()),
        _ => Err(format!(
            "each repetition would move the stack pointer by {moved} bytes; give every push its pop"
        )),
    }
}

/// The machine code that is measured, a line for each instruction.
fn listing(sequence: &[Instruction], bytes: &[u8]) -> String {
    let rows = sequence.iter().map(|i| {
        let at = i.ip() as usize;
        (at, digits(&bytes[at..at + i.len()], " "), show(i))
    });
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(_, bytes, _)| bytes.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(at, bytes, text)| format!("\n{at:4x}: {bytes:width$}  {text}"));
    format!("repeated as written, a repetition is:{}", lines.collect::<String>())
}
