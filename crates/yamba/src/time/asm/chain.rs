//! Latency: a chain in which every step needs the result of the one before.

use iced_x86::{Instruction, MemorySize, OpKind};

use super::back;
use super::code::{encode, show, show_all};
use super::operands::{Bank, Operand, Place, Uses, renumbered};

/// A chain to measure.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// One step.
    pub(super) step: Vec<Instruction>,
    /// Whether a step holds more than the instruction asked for.
    pub(super) is_round_trip: bool,
    /// What the reader is told of it.
    pub(super) note: String,
    /// Registers that must hold what others hold: where, and as which.
    pub(super) twins: Vec<(Place, Place)>,
}

impl Chain {
    fn alone(instruction: Instruction, through: &str) -> Chain {
        Chain {
            note: format!("chain{through}: {}", show(&instruction)),
            step: vec![instruction],
            is_round_trip: false,
            twins: Vec::new(),
        }
    }

    fn with(instruction: Instruction, back: back::Back) -> Chain {
        let step = vec![instruction, back.instruction];
        Chain {
            note: format!("round trip, of both together: {}", show_all(&step)),
            step,
            is_round_trip: true,
            twins: back.twins,
        }
    }
}

/// The chain for one instruction, or why there is none.
pub(super) fn chain(given: &Instruction) -> Result<Chain, String> {
    let uses = Uses::of(given);
    let chain = as_given(given, &uses)
        .or_else(|| renamed(given, &uses))
        .or_else(|| through_implicit(given, &uses))
        .or_else(|| through_memory(given, &uses))
        .or_else(|| Some(Chain::with(*given, back::back(given, &uses)?)));
    chain.ok_or_else(|| why_none(given, &uses).to_owned())
}

fn why_none(given: &Instruction, uses: &Uses) -> &'static str {
    let writes_register =
        uses.operands.iter().any(|o| o.writes) || !uses.implicit_writes.is_empty();
    let gives = writes_register || uses.writes_memory || uses.flags_written != 0;
    let needs = !uses.sources().is_empty() || uses.flags_read != 0;
    let is_narrow = uses.reads_memory && given.memory_size().size() < 4;
    if !gives {
        "no latency: it has no result that a next step could need"
    } else if !needs && uses.operands.iter().any(|o| o.is_idle) {
        "no latency: its result does not depend on its operands (a zero idiom)"
    } else if !needs {
        "no latency: it has no operand that a step before could give"
    } else if is_narrow {
        "no latency: what it loads is shorter than an address, so that the next step could not load from there"
    } else {
        "no latency: no chain leads through one register, and no way back from its result to its operand is known"
    }
}

/// The register that it writes is one that it reads.
fn as_given(given: &Instruction, uses: &Uses) -> Option<Chain> {
    let sources = uses.sources();
    let written = |o: &&Operand| o.writes && (sources.contains(&o.place) || is_same(o, uses));
    let operand = uses.operands.iter().find(written)?;
    // Loads of less than an address cannot carry one.
    if !operand.reads && uses.address.contains(&operand.place) && !holds_address(given, operand) {
        return None;
    }
    let flags = uses.flags_read & uses.flags_written != 0;
    let through = if flags {
        " through the register and the flags"
    } else {
        ""
    };
    Some(Chain::alone(*given, through))
}

/// `xor rax, rax` is a chain by its text; whether the processor thinks so, the figure shows.
fn is_same(operand: &Operand, uses: &Uses) -> bool {
    let other = |o: &&Operand| o.index != operand.index && o.place == operand.place;
    operand.is_idle && uses.operands.iter().any(|o| other(&o) && o.is_idle)
}

/// Whether what the instruction loads is as wide as the buffer's address, which has 31 bits.
fn holds_address(given: &Instruction, written: &Operand) -> bool {
    let loads = given.memory_size() == MemorySize::Unknown || given.memory_size().size() >= 4;
    loads && written.register.size() >= 4
}

/// A source is given the name of the register that is written.
fn renamed(given: &Instruction, uses: &Uses) -> Option<Chain> {
    // Writing a second byte leaves the first one, which is what a source would become.
    let whole = |o: &&Operand| o.writes && renumbered(o.register, 0).is_some();
    for target in uses.operands.iter().filter(whole) {
        let alike = |o: &&Operand| o.reads && !o.writes && o.place.bank == target.place.bank;
        for source in uses.operands.iter().filter(alike) {
            let mut changed = *given;
            let Some(register) = renumbered(source.register, target.place.number) else {
                continue;
            };
            changed.set_op_register(source.index, register);
            if encode(&changed).is_some() && !becomes_idle(&changed) {
                return Some(Chain::alone(changed, ""));
            }
        }
        if let Some(changed) = readdressed(given, uses, target) {
            return Some(Chain::alone(changed, ""));
        }
    }
    None
}

/// Two sources made equal may make the result independent of them.
fn becomes_idle(changed: &Instruction) -> bool {
    let uses = Uses::of(changed);
    let target = uses.operands.iter().find(|o| o.writes);
    target.is_some_and(|t| !uses.sources().contains(&t.place))
}

/// The address is taken from the register that is written.
fn readdressed(given: &Instruction, uses: &Uses, target: &Operand) -> Option<Instruction> {
    let is_load = (0..given.op_count()).any(|i| given.op_kind(i) == OpKind::Memory);
    if !is_load || target.place.bank != Bank::General || uses.address.is_empty() {
        return None;
    }
    if uses.reads_memory && !holds_address(given, target) {
        return None;
    }
    let mut changed = *given;
    if Place::of(given.memory_base()).is_some() {
        changed.set_memory_base(renumbered(given.memory_base(), target.place.number)?);
    } else {
        changed.set_memory_index(renumbered(given.memory_index(), target.place.number)?);
    }
    encode(&changed).map(|_| changed)
}

/// The register that it writes and reads stands not in its text.
fn through_implicit(given: &Instruction, uses: &Uses) -> Option<Chain> {
    let sources = uses.sources();
    let place = uses.implicit_writes.iter().find(|p| sources.contains(p));
    if let Some(place) = place {
        let register = match place.bank {
            Bank::General => place.register64(),
            _ => return None,
        };
        let name = format!("{register:?}").to_lowercase();
        return Some(Chain::alone(*given, &format!(" through {name}")));
    }
    let through_flags = uses.flags_read & uses.flags_written != 0;
    through_flags.then(|| Chain::alone(*given, " through the flags"))
}

fn through_memory(given: &Instruction, uses: &Uses) -> Option<Chain> {
    let both = uses.reads_memory && uses.writes_memory;
    both.then(|| {
        Chain::alone(
            *given,
            " through memory (each load is of what the last step stored)",
        )
    })
}
