//! Determines the operands that an instruction reads and writes.

use std::collections::BTreeSet;

use iced_x86::{
    Instruction, InstructionInfo, InstructionInfoFactory, MemoryOperand, Mnemonic, OpAccess,
    OpKind, Register,
};

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bank {
    General,
    Vector,
    Mask,
}

/// A full register, whichever part of it an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FullRegister {
    pub(super) bank: Bank,
    pub(super) number: u32,
}

/// The stack pointer.
pub(super) const STACK: FullRegister = FullRegister::general(4);

impl FullRegister {
    pub(super) const fn general(number: u32) -> FullRegister {
        let bank = Bank::General;
        FullRegister { bank, number }
    }

    /// The general registers except the stack pointer, the last one first.
    pub(super) fn usable() -> impl Iterator<Item = FullRegister> {
        let all = (0..16).rev().map(FullRegister::general);
        all.filter(|p| *p != STACK)
    }

    pub(super) fn from_register(register: Register) -> Option<FullRegister> {
        let bank = match register {
            r if r.is_gpr() => Bank::General,
            r if r.is_vector_register() => Bank::Vector,
            r if r.is_k() => Bank::Mask,
            _ => return None,
        };
        let number = register.full_register().number() as u32;
        Some(FullRegister { bank, number })
    }

    /// The full register of a general place.
    pub(super) fn register64(self) -> Register {
        Register::RAX + self.number
    }

    pub(super) fn register32(self) -> Register {
        Register::EAX + self.number
    }

    /// The 64 bits or the low 32 bits of a general place.
    pub(super) fn sized(self, wide: bool) -> Register {
        if wide { self.register64() } else { self.register32() }
    }
}

/// The register with another number and the same width; `None` for `ah` and the like, which not
/// every instruction can name.
pub(super) fn renumbered(register: Register, number: u32) -> Option<Register> {
    use Register::{AH, AL, BH, BL, BPL, CH, CL, DH, DIL, DL, SIL, SPL};
    const LOW: [Register; 8] = [AL, CL, DL, BL, SPL, BPL, SIL, DIL];
    let second = [AH, CH, DH, BH];
    Some(match register {
        r if second.contains(&r) => return None,
        r if r.is_gpr8() => match number {
            0..8 => LOW[number as usize],
            _ => Register::R8L + (number - 8),
        },
        r if r.is_gpr16() => Register::AX + number,
        r if r.is_gpr32() => Register::EAX + number,
        r if r.is_gpr64() => Register::RAX + number,
        r if r.is_xmm() => Register::XMM0 + number,
        r if r.is_ymm() => Register::YMM0 + number,
        r if r.is_zmm() => Register::ZMM0 + number,
        r if r.is_k() => Register::K0 + number,
        _ => return None,
    })
}

/// A register operand in the instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) index: u32,
    pub(super) register: Register,
    pub(super) place: FullRegister,
    /// Whether the result depends on its value.
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Whether the result is not computed from its value: the value is only copied to the upper
    /// lanes, or it cancels out because another operand is the same register.
    pub(super) is_idle: bool,
}

/// The registers, memory and flags that an instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) operands: Vec<Operand>,
    /// Registers of the memory operand's address.
    pub(super) address: Vec<FullRegister>,
    pub(super) reads_memory: bool,
    pub(super) writes_memory: bool,
    /// Registers that are read without being operands.
    pub(super) implicit_reads: BTreeSet<FullRegister>,
    pub(super) implicit_writes: BTreeSet<FullRegister>,
    pub(super) flags_read: u32,
    pub(super) flags_written: u32,
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::*;
    // A conditional write also counts as a read: the old value may remain.
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite | CondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

impl Uses {
    pub(super) fn new(instruction: &Instruction) -> Uses {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(instruction);
        let mut uses = Uses {
            operands: operands(instruction, info),
            flags_read: instruction.rflags_read(),
            flags_written: instruction.rflags_modified(),
            ..Uses::default()
        };
        if has_memory(instruction) {
            let parts = [instruction.memory_base(), instruction.memory_index()];
            uses.address = parts.into_iter().filter_map(FullRegister::from_register).collect();
        }
        for memory in info.used_memory() {
            uses.reads_memory |= reads(memory.access());
            uses.writes_memory |= writes(memory.access());
        }
        for used in info.used_registers() {
            let Some(place) = FullRegister::from_register(used.register()) else {
                continue;
            };
            let named = || uses.operands.iter().filter(|o| o.place == place);
            let is_address = uses.address.contains(&place);
            if reads(used.access()) && !is_address && named().all(|o| !o.reads && !o.is_idle) {
                uses.implicit_reads.insert(place);
            }
            if writes(used.access()) && named().all(|o| !o.writes) {
                uses.implicit_writes.insert(place);
            }
        }
        uses
    }

    /// All registers on which the result depends.
    pub(super) fn sources(&self) -> BTreeSet<FullRegister> {
        let named = self.operands.iter().filter(|o| o.reads).map(|o| o.place);
        named
            .chain(self.address.iter().copied())
            .chain(self.implicit_reads.iter().copied())
            .collect()
    }

    /// All registers that need a start value.
    pub(super) fn needed(&self) -> BTreeSet<FullRegister> {
        let idle = self.operands.iter().filter(|o| o.is_idle);
        &self.sources() | &idle.map(|o| o.place).collect()
    }

    /// All registers that are written.
    pub(super) fn written(&self) -> impl Iterator<Item = FullRegister> {
        let named = self.operands.iter().filter(|o| o.writes).map(|o| o.place);
        named.chain(self.implicit_writes.iter().copied())
    }
}

/// Whether an operand is a memory reference, even if it is not accessed, as in `lea`.
pub(super) fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory)
}

/// The memory operand; without its index if that is a vector.
pub(super) fn memory(instruction: &Instruction) -> MemoryOperand {
    let (index, scale) = if instruction.is_vsib() {
        (Register::None, 1)
    } else {
        (instruction.memory_index(), instruction.memory_index_scale())
    };
    let displacement = instruction.memory_displacement64() as i64;
    let size = instruction.memory_displ_size();
    let base = instruction.memory_base();
    MemoryOperand::new(base, index, scale, displacement, size, false, Register::None)
}

fn operands(instruction: &Instruction, info: &InstructionInfo) -> Vec<Operand> {
    let passed_on = passed_on(instruction);
    let named = (0..instruction.op_count()).filter(|i| instruction.op_kind(*i) == OpKind::Register);
    let operand = |index| {
        let register = instruction.op_register(index);
        let access = info.op_access(index);
        let is_idle = passed_on == Some(index) || access == OpAccess::None;
        Some(Operand {
            index,
            register,
            place: FullRegister::from_register(register)?,
            reads: reads(access) && !is_idle,
            writes: writes(access),
            is_idle,
        })
    };
    let mut all: Vec<Operand> = named.filter_map(operand).collect();
    // `xor rax, rax`: the decoder knows that the result does not depend on rax, and reports the
    // first operand as written only.
    let same = all.iter().filter(|o| o.is_idle && !o.writes);
    let same: Vec<FullRegister> = same.map(|o| o.place).collect();
    for operand in &mut all {
        operand.is_idle |= operand.writes && !operand.reads && same.contains(&operand.place);
    }
    all
}

/// The index of an operand that is copied to the result unchanged: in scalar instructions, the
/// upper lanes.
fn passed_on(instruction: &Instruction) -> Option<u32> {
    const ONE_INPUT: &str = "sqrtss sqrtsd rcpss rsqrtss rcp14ss rcp14sd rsqrt14ss rsqrt14sd \
        roundss roundsd rndscaless rndscalesd getexpss getexpsd getmantss getmantsd \
        cvtsi2ss cvtsi2sd cvtusi2ss cvtusi2sd cvtss2sd cvtsd2ss";
    // For input 0, a bit scan leaves its result unchanged.
    if matches!(instruction.mnemonic(), Mnemonic::Bsf | Mnemonic::Bsr) {
        return Some(0);
    }
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let has_one_input = |name: &str| ONE_INPUT.split(' ').any(|n| n == name);
    if has_one_input(&name) {
        return Some(0);
    }
    name.strip_prefix('v').filter(|n| has_one_input(n)).map(|_| 1)
}
