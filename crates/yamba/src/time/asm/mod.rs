//! Single instructions of x86_64: each becomes a chain (latency) and independent copies (throughput), which one and the
//! same benchmark of the library measures. The assembler says what the text means, the decoder what that reads and writes.

mod back;
mod chain;
mod code;
mod copies;
mod faults;
mod operands;
mod refusal;
mod start;
#[cfg(test)]
mod tests;

use iced_x86::{Instruction, MemorySize};

pub(super) use faults::explain;

pub(super) use start::Given;

use operands::Uses;
use start::Start;

/// Numbers of copies that are tried beside as many as there are registers. Each costs a fifth of a second.
const FEWER: [usize; 1] = [12];

/// One figure of an instruction, ready to be measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// `latency`, `round-trip` or `throughput`.
    pub(super) aspect: &'static str,
    /// What the benchmark is to run, or why there is nothing to run.
    pub(super) code: Result<String, String>,
    /// What the reader is told of it.
    pub(super) notes: Vec<String>,
}

/// Latency and throughput of the one instruction that `bytes` are, or why it cannot be measured; those of one aspect are
/// ways to the same figure. `text` is what was typed.
pub(super) fn figures(text: &str, bytes: &[u8], given: &Given) -> Result<Vec<Figure>, String> {
    let instructions = code::decode(bytes);
    let [instruction] = instructions[..] else {
        let count = instructions.len();
        return Err(format!(
            "one instruction is needed, and this is {count}; give each in an argument of its own"
        ));
    };
    if let Some(reason) = refusal::refusal(&instruction) {
        return Err(format!("cannot be measured: {reason}"));
    }
    let mut figures = vec![latency(&instruction, given)];
    figures.extend(throughputs(&instruction, given));
    if reads_address_as_number(&instruction) {
        let told = "the buffer's first word is an address, which as a number is denormal: slow on some processors; [... + 64] is 1.0";
        figures
            .iter_mut()
            .for_each(|f| f.notes.push(told.to_owned()));
    }
    // Where it is measured as it was typed, it is shown so.
    let ours = code::show(&instruction);
    for note in figures.iter_mut().flat_map(|f| &mut f.notes) {
        *note = as_typed(note, &ours, text);
    }
    Ok(figures)
}

/// Whether it computes with what the buffer's first word holds.
fn reads_address_as_number(instruction: &Instruction) -> bool {
    let uses = Uses::of(instruction);
    let is_number = instruction.memory_size().element_type() == MemorySize::Float64;
    let at_start = instruction.memory_displacement64() == 0 && !uses.address.is_empty();
    let computes = uses.operands.iter().any(|o| o.reads) || instruction.op_count() > 2;
    is_number && at_start && uses.reads_memory && computes
}

/// A note with one instruction of a list spelled as it was typed.
fn as_typed(note: &str, ours: &str, typed: &str) -> String {
    let Some((head, list)) = note.split_once(": ") else {
        return note.to_owned();
    };
    let each = list.split("; ").map(|i| if i == ours { typed } else { i });
    format!("{head}: {}", each.collect::<Vec<_>>().join("; "))
}

fn latency(instruction: &Instruction, given: &Given) -> Figure {
    let none = |why: String| Figure {
        aspect: "latency",
        code: Err(why),
        notes: Vec::new(),
    };
    let chain = match chain::chain(instruction) {
        Ok(chain) => chain,
        Err(why) => return none(why),
    };
    let start = Start {
        asked: instruction,
        steps: &[chain.step],
        twins: &chain.twins,
        given,
    };
    match start.code() {
        None => none("no latency: its chain cannot be encoded".to_owned()),
        Some(code) => Figure {
            aspect: if chain.is_round_trip {
                "round-trip"
            } else {
                "latency"
            },
            code: Ok(code),
            notes: vec![chain.note],
        },
    }
}

/// With different numbers of copies; the least figure is the throughput.
fn throughputs(instruction: &Instruction, given: &Given) -> Vec<Figure> {
    let figure = |code, notes| Figure {
        aspect: "throughput",
        code,
        notes,
    };
    let all = match copies::copies(instruction) {
        Ok(copies) => copies,
        Err(why) => return vec![figure(Err(why), Vec::new())],
    };
    let fewer: Vec<copies::Copies> = FEWER.iter().filter_map(|n| all.fewer(*n)).collect();
    let each = std::iter::once(all).chain(fewer);
    each.map(|copies| {
        let start = Start {
            asked: instruction,
            steps: &copies.steps,
            twins: &copies.twins,
            given,
        };
        let none = || "no throughput: its copies cannot be encoded".to_owned();
        figure(start.code().ok_or_else(none), copies.notes)
    })
    .collect()
}
