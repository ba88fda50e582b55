//! Measures `push` and `pop` in pairs, so that the stack pointer does not move.

use iced_x86::Mnemonic::{Pop, Popf, Popfq, Push, Pushf, Pushfq};
use iced_x86::{Code, Instruction, OpKind, Register};

use super::chain::Chain;
use super::code::{encode, show_all};
use super::copies::Copies;
use super::operands::{FullRegister, STACK, Uses};

/// The number of pairs with different registers.
const COPIES: usize = 12;

/// A push and the following pop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair([Instruction; 2]);

fn pushes(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Push | Pushfq | Pushf)
}

fn pops(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Pop | Popfq | Popf)
}

impl Pair {
    /// Completes a single push or pop to a pair. `None` if the instructions are neither of these
    /// nor a pair.
    pub(super) fn find(instructions: &[Instruction]) -> Option<Pair> {
        let pair = match instructions {
            [one] if pushes(one) => [*one, pop_of(one)?],
            [one] if pops(one) => [push_of(one)?, *one],
            [first, second] if pushes(first) && pops(second) => [*first, *second],
            _ => return None,
        };
        let moved: i32 = pair.iter().map(Instruction::stack_pointer_increment).sum();
        let names_stack = |i: &Instruction| {
            i.op_count() > 0 && FullRegister::from_register(i.op0_register()) == Some(STACK)
        };
        let is_whole = moved == 0 && !pair.iter().any(names_stack);
        is_whole.then_some(Pair(pair))
    }

    /// The register that both instructions name.
    fn register(&self) -> Option<Register> {
        let [push, pop] = &self.0;
        let register = push.op0_register();
        let is_same = push.op_count() > 0 && register.is_gpr() && register == pop.op0_register();
        is_same.then_some(register)
    }

    pub(super) fn chain(&self) -> Result<Chain, String> {
        let through_flags = self.0[0].mnemonic() != Push && self.0[1].mnemonic() != Pop;
        if self.register().is_none() && !through_flags {
            return Err("no latency: what it pushes does not depend on what it pops".to_owned());
        }
        Ok(Chain::round_trip(self.0.to_vec()))
    }

    /// Copies with different registers, or the one pair.
    pub(super) fn copies(&self) -> Copies {
        let numbers = (0..16).filter(|n| *n != STACK.number);
        let own: Vec<Vec<Instruction>> = match self.register() {
            Some(register) => {
                let each = numbers.filter_map(|n| self.renamed(register, n));
                each.take(COPIES).collect()
            }
            None => vec![self.0.to_vec()],
        };
        let first = show_all(&own[0]);
        let note = match own.len() {
            1 => format!("copies, of both together: {first}"),
            count => format!("{count} copies, of both together: {first}; ..."),
        };
        Copies { steps: own, notes: vec![note], twins: Vec::new() }
    }

    fn renamed(&self, register: Register, number: u32) -> Option<Vec<Instruction>> {
        let renamed = super::operands::renumbered(register, number)?;
        let mut pair = self.0;
        for instruction in &mut pair {
            instruction.set_op_register(0, renamed);
            encode(instruction)?;
        }
        Some(pair.to_vec())
    }
}

/// The pop for a push: into the same register, or into one that the push does not use.
fn pop_of(push: &Instruction) -> Option<Instruction> {
    match push.mnemonic() {
        Pushfq => return Some(Instruction::with(Code::Popfq)),
        Pushf => return Some(Instruction::with(Code::Popfw)),
        _ => {}
    }
    let register = push.op0_register();
    let is_register = push.op_kind(0) == OpKind::Register && register.is_gpr();
    let used = Uses::new(push).sources();
    let free = FullRegister::usable().find(|p| !used.contains(p))?;
    let (code, to) = match (push.stack_pointer_increment(), is_register) {
        (-8, true) => (Code::Pop_r64, register),
        (-8, false) => (Code::Pop_r64, free.register64()),
        (_, true) => (Code::Pop_r16, register),
        (_, false) => (Code::Pop_r16, Register::AX + free.number),
    };
    Instruction::with1(code, to).ok()
}

/// The push of the register or memory that the pop writes.
fn push_of(pop: &Instruction) -> Option<Instruction> {
    match pop.mnemonic() {
        Popfq => return Some(Instruction::with(Code::Pushfq)),
        Popf => return Some(Instruction::with(Code::Pushfw)),
        _ => {}
    }
    let (of_memory, of_register) = match pop.stack_pointer_increment() {
        8 => (Code::Push_rm64, Code::Push_r64),
        _ => (Code::Push_rm16, Code::Push_r16),
    };
    if pop.op_kind(0) == OpKind::Memory {
        let mut push = *pop;
        push.set_code(of_memory);
        return Some(push);
    }
    let register = Some(pop.op0_register()).filter(|r| r.is_gpr())?;
    Instruction::with1(of_register, register).ok()
}
