//! Instructions that convert a result back to an operand of another kind. A chain then alternates
//! both, and its figure is that of the round trip.

use iced_x86::{Code, EncodingKind, Instruction, Mnemonic, Register, RflagsBits};

use super::address::{Address, Word, changes_address};
use super::code::encode;
use super::moves::loads_as_is;
use super::operands::{Bank, FullRegister, Operand, STACK, Uses, memory};

/// The instructions from a result back to an operand.
#[derive(Default)]
pub(super) struct Back {
    pub(super) instructions: Vec<Instruction>,
    /// Pairs of registers with equal start values: the first is set to the value of the second.
    pub(super) twins: Vec<(FullRegister, FullRegister)>,
    /// The initial content of the memory operand.
    pub(super) word: Option<Word>,
}

impl Back {
    fn alone(instruction: Instruction) -> Back {
        Back { instructions: vec![instruction], ..Back::default() }
    }
}

/// Instructions that make the operand of `original` depend on its result.
pub(super) fn back(original: &Instruction, uses: &Uses) -> Option<Back> {
    let written = uses.operands.iter().find(|o| o.writes);
    let is_load = uses.reads_memory && !uses.writes_memory && Address::read(original).is_some();
    let around_load = || around(original, uses, written.filter(|_| is_load)?);
    if changes_address(original, uses) {
        let is_only = uses.written().count() == 1;
        return is_only.then(around_load)?;
    }
    let found = written
        .and_then(|target| from_register(original, uses, target))
        .or_else(around_load)
        .or_else(|| from_implicit(original, uses).map(Back::alone))
        .or_else(|| from_memory(original, uses).map(Back::alone))
        .or_else(|| from_flags(uses))?;
    let are_encodable = found.instructions.iter().all(|i| encode(i).is_some());
    are_encodable.then_some(found)
}

/// From the result of a load to a register of its address, if the result itself is not an address:
/// clears all bits of the result and adds it to the register.
fn around(original: &Instruction, uses: &Uses, target: &Operand) -> Option<Back> {
    let address = Address::read(original)?;
    let base = address.registers().find(|p| *p != STACK)?;
    let is_address = address.registers().any(|p| p == target.place);
    let mut taken = &uses.needed() | &uses.implicit_writes;
    taken.insert(target.place);
    let mut free = FullRegister::usable().filter(|p| !taken.contains(p));
    let mut back = Back::default();
    let number = target.place.number;
    let moved = match target.place.bank {
        Bank::General => None,
        Bank::Vector => Some((Register::XMM0 + number, true)),
        Bank::Mask => Some((Register::K0 + number, false)),
    };
    let result = if let Some((from, wide)) = moved {
        let code = match (wide, original.encoding()) {
            (false, _) => Code::VEX_Kmovw_r32_kr,
            (true, EncodingKind::Legacy) => Code::Movq_rm64_xmm,
            (true, _) => Code::VEX_Vmovq_rm64_xmm,
        };
        let to = free.next()?;
        back.instructions.push(with2(code, to.sized(wide), from)?);
        to
    } else {
        target.place
    };
    let is_extended = matches!(original.mnemonic(), Mnemonic::Movzx | Mnemonic::Movsx);
    if is_extended {
        back.word = Some(Word::Number(0));
    } else {
        let clear = Instruction::with2(Code::And_rm64_imm8, result.register64(), 0).ok()?;
        back.instructions.push(clear);
    }
    let (to, from) = if is_address {
        let twin = free.next()?;
        back.twins.push((twin, target.place));
        (target.place, twin)
    } else {
        (base, result)
    };
    let add = with2(Code::Add_r64_rm64, to.register64(), from.register64())?;
    back.instructions.push(add);
    Some(back)
}

fn with2(code: Code, to: Register, from: Register) -> Option<Instruction> {
    Instruction::with2(code, to, from).ok()
}

fn from_register(original: &Instruction, uses: &Uses, target: &Operand) -> Option<Back> {
    let is_source = |o: &&Operand| o.reads && o.place.bank != target.place.bank;
    if let Some(source) = uses.operands.iter().find(is_source) {
        let back = across(original, target, source.place, source.register.size());
        return back.map(Back::alone);
    }
    let address = Address::read(original).filter(|_| uses.reads_memory);
    let mut registers = address.iter().flat_map(|a| a.registers());
    if let Some(base) = registers.find(|p| *p != STACK) {
        let bytes = original.memory_size().size();
        let is_near = (-1024..0x3fff_0000).contains(&(original.memory_displacement64() as i64));
        let is_whole = bytes >= 8 || (bytes == 4 && is_near);
        let carries = target.place.bank == Bank::Vector && is_whole && loads_as_is(original);
        let back = carries.then(|| across(original, target, base, bytes.min(8)))??;
        return Some(Back { word: Some(Word::Register(base)), ..Back::alone(back) });
    }
    let reads_flags = uses.flags_read != 0 && target.place.bank == Bank::General;
    reads_flags.then(|| to_flags(target.register))?.map(Back::alone)
}

/// From `target` to a register of another bank.
fn across(
    original: &Instruction,
    target: &Operand,
    source: FullRegister,
    bytes: usize,
) -> Option<Instruction> {
    let vex = original.encoding() != EncodingKind::Legacy;
    let from = target.place;
    let [mask_to, mask_from] = [source, from].map(|p| Register::K0 + p.number);
    let [xmm_to, xmm_from] = [source, from].map(|p| Register::XMM0 + p.number);
    let [zmm_to, zmm_from] = [source, from].map(|p| Register::ZMM0 + p.number);
    let (to32, from32) = (source.register32(), from.register32());
    match (from.bank, source.bank) {
        (Bank::General, Bank::Vector) => to_vector(original, vex, target.register, xmm_to),
        (Bank::Vector, Bank::General) => from_vector(original, vex, bytes == 8, xmm_from, source),
        (Bank::General, Bank::Mask) => with2(Code::VEX_Kmovw_kr_r32, mask_to, from32),
        (Bank::Mask, Bank::General) => with2(Code::VEX_Kmovw_r32_kr, to32, mask_from),
        (Bank::Mask, Bank::Vector) => with2(Code::EVEX_Vpmovm2d_zmm_kr, zmm_to, mask_from),
        (Bank::Vector, Bank::Mask) => with2(Code::EVEX_Vpmovd2m_kr_zmm, mask_to, zmm_from),
        _ => None,
    }
}

/// A move from a general to a vector register. The inverse of a conversion is the opposite
/// conversion, which keeps the numbers normal.
fn to_vector(
    original: &Instruction,
    vex: bool,
    from: Register,
    to: Register,
) -> Option<Instruction> {
    let name = format!("{:?}", original.mnemonic()).to_lowercase();
    let wide = from.is_gpr64();
    let from = FullRegister::from_register(from)?.sized(wide);
    if name.contains("cvt") {
        let double = name.contains("sd2");
        let code = match (vex, double, wide) {
            (false, true, true) => Code::Cvtsi2sd_xmm_rm64,
            (false, true, false) => Code::Cvtsi2sd_xmm_rm32,
            (false, false, true) => Code::Cvtsi2ss_xmm_rm64,
            (false, false, false) => Code::Cvtsi2ss_xmm_rm32,
            (true, true, true) => Code::VEX_Vcvtsi2sd_xmm_xmm_rm64,
            (true, true, false) => Code::VEX_Vcvtsi2sd_xmm_xmm_rm32,
            (true, false, true) => Code::VEX_Vcvtsi2ss_xmm_xmm_rm64,
            (true, false, false) => Code::VEX_Vcvtsi2ss_xmm_xmm_rm32,
        };
        return if vex {
            Instruction::with3(code, to, to, from).ok()
        } else {
            with2(code, to, from)
        };
    }
    let code = match (vex, wide) {
        (false, true) => Code::Movq_xmm_rm64,
        (false, false) => Code::Movd_xmm_rm32,
        (true, true) => Code::VEX_Vmovq_xmm_rm64,
        (true, false) => Code::VEX_Vmovd_xmm_rm32,
    };
    with2(code, to, from)
}

fn from_vector(
    original: &Instruction,
    vex: bool,
    wide: bool,
    from: Register,
    to: FullRegister,
) -> Option<Instruction> {
    let name = format!("{:?}", original.mnemonic()).to_lowercase();
    let register = to.sized(wide);
    if name.contains("cvt") {
        let code = match (vex, name.ends_with("sd"), wide) {
            (false, true, true) => Code::Cvttsd2si_r64_xmmm64,
            (false, true, false) => Code::Cvttsd2si_r32_xmmm64,
            (false, false, true) => Code::Cvttss2si_r64_xmmm32,
            (false, false, false) => Code::Cvttss2si_r32_xmmm32,
            (true, true, true) => Code::VEX_Vcvttsd2si_r64_xmmm64,
            (true, true, false) => Code::VEX_Vcvttsd2si_r32_xmmm64,
            (true, false, true) => Code::VEX_Vcvttss2si_r64_xmmm32,
            (true, false, false) => Code::VEX_Vcvttss2si_r32_xmmm32,
        };
        return with2(code, register, from);
    }
    let code = match (vex, wide) {
        (false, true) => Code::Movq_rm64_xmm,
        (false, false) => Code::Movd_rm32_xmm,
        (true, true) => Code::VEX_Vmovq_rm64_xmm,
        (true, false) => Code::VEX_Vmovd_rm32_xmm,
    };
    with2(code, register, from)
}

/// For implicit operands, as of `cqo`: from one general register to another.
fn from_implicit(original: &Instruction, uses: &Uses) -> Option<Instruction> {
    // The operand selects a system register, so only some values are valid.
    if matches!(original.mnemonic(), Mnemonic::Xgetbv | Mnemonic::Rdpru) {
        return None;
    }
    let target = uses.implicit_writes.first()?;
    let source = *uses.sources().first()?;
    let general = target.bank == Bank::General && source.bank == Bank::General;
    general.then(|| with2(Code::Mov_r64_rm64, source.register64(), target.register64()))?
}

/// Loads the stored value.
fn from_memory(original: &Instruction, uses: &Uses) -> Option<Instruction> {
    if !uses.writes_memory {
        return None;
    }
    let source = uses.operands.iter().find(|o| o.reads && !o.writes)?;
    let bytes = original.memory_size().size();
    let register = source.register;
    let vex = original.encoding() != EncodingKind::Legacy;
    let code = match (source.place.bank, bytes) {
        (Bank::General, _) if bytes != register.size() => return None,
        (Bank::General, 1) => Code::Mov_r8_rm8,
        (Bank::General, 2) => Code::Mov_r16_rm16,
        (Bank::General, 4) => Code::Mov_r32_rm32,
        (Bank::General, 8) => Code::Mov_r64_rm64,
        (Bank::Vector, 4) if vex => Code::VEX_Vmovd_xmm_rm32,
        (Bank::Vector, 4) => Code::Movd_xmm_rm32,
        (Bank::Vector, 8) if vex => Code::VEX_Vmovq_xmm_xmmm64,
        (Bank::Vector, 8) => Code::Movq_xmm_xmmm64,
        (Bank::Vector, 16) if vex => Code::VEX_Vmovups_xmm_xmmm128,
        (Bank::Vector, 16) => Code::Movups_xmm_xmmm128,
        (Bank::Vector, 32) => Code::VEX_Vmovups_ymm_ymmm256,
        (Bank::Vector, 64) => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        _ => return None,
    };
    Instruction::with2(code, register, memory(original)).ok()
}

/// A `cmp` with a constant that differs from the register's value: all flags depend on the
/// register.
fn to_flags(from: Register) -> Option<Instruction> {
    let code = match from.size() {
        1 => Code::Cmp_rm8_imm8,
        2 => Code::Cmp_rm16_imm8,
        4 => Code::Cmp_rm32_imm8,
        _ => Code::Cmp_rm64_imm8,
    };
    Instruction::with2(code, from, 1).ok()
}

/// A conditional move between two registers with equal values: keeps the value and depends on the
/// flags.
fn from_flags(uses: &Uses) -> Option<Back> {
    let code = [
        (RflagsBits::CF, Code::Cmovb_r64_rm64),
        (RflagsBits::ZF, Code::Cmove_r64_rm64),
        (RflagsBits::SF, Code::Cmovs_r64_rm64),
        (RflagsBits::OF, Code::Cmovo_r64_rm64),
        (RflagsBits::PF, Code::Cmovp_r64_rm64),
    ];
    let is_written = |(flag, _): &&(u32, Code)| uses.flags_written & flag != 0;
    let (_, code) = *code.iter().find(is_written)?;
    let sources = uses.sources();
    let is_general = |p: &&FullRegister| p.bank == Bank::General && **p != STACK;
    let source = *sources.iter().find(is_general)?;
    let twin = FullRegister::usable().find(|p| !sources.contains(p))?;
    let instruction = with2(code, source.register64(), twin.register64())?;
    Some(Back { twins: vec![(twin, source)], ..Back::alone(instruction) })
}
