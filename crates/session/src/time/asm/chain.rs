//! Builds the dependency chain for a latency: every step needs the result of the previous one.

use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind};

use super::address::{Word, changes_address};
use super::back;
use super::code::{encode, show, show_all};
use super::moves;
use super::operands::{Bank, FullRegister, Operand, STACK, Uses, renumbered};

/// A dependency chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Alternating steps; each counts as one operation.
    pub(super) steps: Vec<Vec<Instruction>>,
    /// Whether a step contains further instructions besides the requested one.
    pub(super) is_round_trip: bool,
    /// Whether the steps only copy registers. A processor may do that by renaming.
    pub(super) is_move: bool,
    /// A description of the chain for the user.
    pub(super) note: String,
    /// Pairs of registers with equal start values: the first is set to the value of the second.
    pub(super) twins: Vec<(FullRegister, FullRegister)>,
    /// The initial content of the memory operand.
    pub(super) word: Option<Word>,
}

impl Chain {
    fn alone(instruction: Instruction, through: &str) -> Chain {
        Chain {
            note: format!("chain{through}: {}", show(&instruction)),
            steps: vec![vec![instruction]],
            ..Chain::default()
        }
    }

    fn with_word(self, word: Option<Word>) -> Chain {
        Chain { word, ..self }
    }

    /// A chain with one step of several instructions.
    pub(super) fn round_trip(step: Vec<Instruction>) -> Chain {
        let count = if step.len() == 2 { "both" } else { "all" };
        Chain {
            note: format!("round trip, of {count} together: {}", show_all(&step)),
            steps: vec![step],
            is_round_trip: true,
            ..Chain::default()
        }
    }

    fn with(instruction: Instruction, back: back::Back) -> Chain {
        let step = std::iter::once(instruction).chain(back.instructions);
        Chain { twins: back.twins, word: back.word, ..Chain::round_trip(step.collect()) }
    }

    /// Two alternating moves, from one register to another and back.
    fn from_moves(there: Instruction, back: Instruction) -> Chain {
        Chain {
            note: format!("chain: {}", show_all(&[there, back])),
            steps: vec![vec![there], vec![back]],
            is_move: true,
            ..Chain::default()
        }
    }
}

/// The chain for one instruction, or the reason for its absence.
pub(super) fn chain(original: &Instruction) -> Result<Chain, String> {
    let uses = Uses::new(original);
    let chain = as_given(original, &uses)
        .or_else(|| renamed(original, &uses))
        .or_else(|| through_implicit(original, &uses))
        .or_else(|| through_memory(original, &uses))
        .or_else(|| Some(Chain::with(*original, back::back(original, &uses)?)));
    chain.ok_or_else(|| why_none(original, &uses).to_owned())
}

fn why_none(original: &Instruction, uses: &Uses) -> &'static str {
    let gives = uses.written().next().is_some() || uses.writes_memory || uses.flags_written != 0;
    let needs = !uses.sources().is_empty() || uses.flags_read != 0;
    if !gives {
        "no latency: it has no result that a next step could need"
    } else if !needs && uses.operands.iter().any(|o| o.is_idle) {
        "no latency: its result does not depend on its operands (a zero idiom)"
    } else if !needs {
        "no latency: it has no operand that a step before could give"
    } else if changes_address(original, uses) {
        "no latency: it changes a register of its own address; name other registers"
    } else {
        "no latency: no chain leads through one register, and no way back from its result to its operand is known"
    }
}

/// A chain of the unchanged instruction, if it reads a register that it writes.
fn as_given(original: &Instruction, uses: &Uses) -> Option<Chain> {
    let sources = uses.sources();
    let written = |o: &&Operand| o.writes && (sources.contains(&o.place) || is_same(o, uses));
    let operand = uses.operands.iter().find(written)?;
    let mut word = None;
    if changes_address(original, uses) {
        word = Some(address_stays(original, uses, operand)?);
    }
    let through = match uses.flags_read & uses.flags_written {
        0 => "",
        _ => " through the register and the flags",
    };
    Some(Chain::alone(*original, through).with_word(word))
}

/// The memory content with which the written register, a part of the address, keeps its value.
fn address_stays(original: &Instruction, uses: &Uses, operand: &Operand) -> Option<Word> {
    use Mnemonic::*;
    if uses.written().count() != 1 || uses.writes_memory {
        return None;
    }
    let is_whole = operand.register.size() == 8 && original.memory_size().size() == 8;
    match original.mnemonic() {
        Add | Sub | Or | Xor if is_whole => Some(Word::Number(0)),
        And if is_whole => Some(Word::Number(-1)),
        Imul if is_whole && original.op_count() == 2 => Some(Word::Number(1)),
        _ if moves::loads_as_is(original) && holds_address(original, operand) => {
            Some(Word::Register(operand.place))
        }
        _ => None,
    }
}

/// Whether both operands name one register, as in `xor rax, rax`. By its text, this is a chain; the
/// figure shows whether the processor agrees.
fn is_same(operand: &Operand, uses: &Uses) -> bool {
    let other = |o: &&Operand| o.index != operand.index && o.place == operand.place;
    operand.is_idle && uses.operands.iter().any(|o| other(&o) && o.is_idle)
}

/// Whether the loaded value is as wide as an address in the buffer. Four bytes are enough if the
/// address and its displacement stay below 2 GiB.
fn holds_address(original: &Instruction, written: &Operand) -> bool {
    let loads = original.memory_size() == MemorySize::Unknown || original.memory_size().size() >= 4;
    let is_whole = original.memory_size().size() >= 8 && written.register.size() >= 8;
    let displacement = original.memory_displacement64() as i64;
    let is_near = (-1024..0x3fff_0000).contains(&displacement);
    loads && written.register.size() >= 4 && (is_whole || is_near)
}

/// A chain in which a source operand is replaced by the written register.
fn renamed(original: &Instruction, uses: &Uses) -> Option<Chain> {
    // Exclude `ah` and the like: a write to one leaves the low byte unchanged, and the low byte is
    // what a source would become.
    let whole = |o: &&Operand| o.writes && renumbered(o.register, 0).is_some();
    for target in uses.operands.iter().filter(whole) {
        let alike = |o: &&Operand| o.reads && !o.writes && o.place.bank == target.place.bank;
        for source in uses.operands.iter().filter(alike) {
            let mut changed = *original;
            let Some(register) = renumbered(source.register, target.place.number) else {
                continue;
            };
            if moves::copies_register(original)
                && source.place != target.place
                && let Some(back) = moves::reversed(original, source, target)
            {
                return Some(Chain::from_moves(*original, back));
            }
            changed.set_op_register(source.index, register);
            if encode(&changed).is_some() && !becomes_idle(&changed) {
                return Some(Chain::alone(changed, ""));
            }
        }
        if let Some(changed) = readdressed(original, uses, target) {
            let word = uses.reads_memory.then_some(Word::Register(target.place));
            return Some(Chain::alone(changed, "").with_word(word));
        }
    }
    None
}

/// Whether the result became independent of the operands because two of them are now the same
/// register.
fn becomes_idle(changed: &Instruction) -> bool {
    let uses = Uses::new(changed);
    let target = uses.operands.iter().find(|o| o.writes);
    target.is_some_and(|t| !uses.sources().contains(&t.place))
}

/// Replaces a register of the address by the written register.
fn readdressed(original: &Instruction, uses: &Uses, target: &Operand) -> Option<Instruction> {
    let is_load = (0..original.op_count()).any(|i| original.op_kind(i) == OpKind::Memory);
    if !is_load || target.place.bank != Bank::General || uses.address.is_empty() {
        return None;
    }
    if uses.reads_memory && !(moves::loads_as_is(original) && holds_address(original, target)) {
        return None;
    }
    let mut changed = *original;
    let base = FullRegister::from_register(original.memory_base());
    if base == Some(STACK) && !original.memory_index().is_gpr() {
        return None;
    }
    if base.is_some_and(|base| base != STACK) {
        changed.set_memory_base(renumbered(original.memory_base(), target.place.number)?);
    } else {
        changed.set_memory_index(renumbered(original.memory_index(), target.place.number)?);
    }
    encode(&changed).map(|_| changed)
}

/// A chain of the unchanged instruction, if it reads and writes a register that its text does not
/// name, or the flags.
fn through_implicit(original: &Instruction, uses: &Uses) -> Option<Chain> {
    if changes_address(original, uses) {
        return None;
    }
    let sources = uses.sources();
    let place = uses.implicit_writes.iter().find(|p| sources.contains(p));
    if let Some(place) = place {
        if place.bank != Bank::General {
            return None;
        }
        let name = format!("{:?}", place.register64()).to_lowercase();
        return Some(Chain::alone(*original, &format!(" through {name}")));
    }
    let through_flags = uses.flags_read & uses.flags_written != 0;
    through_flags.then(|| Chain::alone(*original, " through the flags"))
}

fn through_memory(original: &Instruction, uses: &Uses) -> Option<Chain> {
    let both = uses.reads_memory && uses.writes_memory && !changes_address(original, uses);
    let through = " through memory (each load is of what the last step stored)";
    both.then(|| Chain::alone(*original, through))
}
