//! Generates the code that sets the start values of registers.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Code, EncodingKind, Instruction, MemoryOperand, MemorySize, Mnemonic, Register};

use super::address::{Address, Preset, Word, needs, pages};
use super::code::hexadecimal;
use super::operands::{Bank, FullRegister, STACK, Uses, memory};

/// The registers in which the benchmark passes the addresses of its buffer and of the vector lanes.
const BUFFER: Register = Register::RDI;
const LANES: Register = Register::RSI;

/// Start values from the user.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Presets(BTreeMap<FullRegister, Value>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// The value of a general register, or of every 64 bits of a vector.
    Bits(u64),
    /// The number in every lane of a vector.
    Number(f64),
}

/// The register with this assembler name.
fn register(name: &str) -> Option<Register> {
    let name = name.trim().trim_start_matches('%').to_lowercase();
    Register::values().find(|r| format!("{r:?}").to_lowercase() == name)
}

fn whole(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let is_negative = digits.len() < text.len();
    Some(if is_negative { value.wrapping_neg() } else { value })
}

impl Presets {
    /// Parses settings such as `rbx=7`, `xmm1=2.5` or `rcx=0xff`.
    pub(in super::super) fn read(settings: &[String]) -> Result<Presets, String> {
        let mut presets = Presets::default();
        for setting in settings {
            let wrong = |why: &str| format!("--init {setting}: {why}");
            let (name, text) =
                setting.split_once('=').ok_or_else(|| wrong("write REGISTER=VALUE"))?;
            let place = register(name).and_then(FullRegister::from_register);
            let place = place.ok_or_else(|| wrong("a general, vector or mask register of x86_64 is needed, such as rbx, xmm1 or k1"))?;
            if place == STACK {
                return Err(wrong("the stack pointer must stay"));
            }
            let text = text.trim();
            let value = match (whole(text), text.parse::<f64>()) {
                (Some(bits), _) if place.bank != Bank::Vector || text.contains("0x") => {
                    Value::Bits(bits)
                }
                (_, Ok(number)) if place.bank == Bank::Vector => Value::Number(number),
                _ => return Err(wrong("the value is no number that this register can hold")),
            };
            presets.0.insert(place, value);
        }
        Ok(presets)
    }
}

/// The size of a number in a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lane {
    Half,
    Single,
    Double,
}

impl Lane {
    fn from_instruction(instruction: &Instruction) -> Lane {
        match instruction.memory_size().element_type() {
            MemorySize::Float16 => Lane::Half,
            MemorySize::Float32 => Lane::Single,
            _ => Lane::Double,
        }
    }

    /// 64 bits filled with copies of a number.
    fn filled(self, number: f64) -> u64 {
        match self {
            // Half precision supports only 1.0, since there is no conversion here.
            Lane::Half => 0x3c00_3c00_3c00_3c00,
            Lane::Single => {
                let bits = u64::from((number as f32).to_bits());
                bits << 32 | bits
            }
            Lane::Double => number.to_bits(),
        }
    }
}

/// The state before some steps.
pub(super) struct Start<'a> {
    /// The requested instructions. The first one with vectors determines their lane type.
    pub(super) requested: &'a [Instruction],
    pub(super) steps: &'a [Vec<Instruction>],
    /// Pairs of registers with equal start values.
    pub(super) twins: &'a [(FullRegister, FullRegister)],
    /// Start values from the user.
    pub(super) user: &'a Presets,
    /// The initial content of the memory operand; `None` keeps that of the buffer.
    pub(super) word: Option<Word>,
}

/// Offsets from the stack pointer for temporary values: [`PARKED`] for a divided address, [`FLAGS`]
/// to clear the flags.
const PARKED: i64 = 128;
const FLAGS: i64 = 144;

impl Start<'_> {
    /// The value of the benchmark's parameter `code`.
    pub(super) fn code(&self) -> Option<String> {
        self.code_around(&self.digits()?)
    }

    /// The parameter for independent steps.
    pub(super) fn code_of_copies(&self) -> Option<String> {
        self.code_around(&format!("*{}", self.digits()?))
    }

    fn digits(&self) -> Option<String> {
        let steps: Option<Vec<String>> = self.steps.iter().map(|s| hexadecimal(s)).collect();
        Some(steps?.join(","))
    }

    /// The parameter for these steps, as machine code in hexadecimal digits.
    pub(super) fn code_around(&self, steps: &str) -> Option<String> {
        let lane = Lane::from_instruction(self.main()?).filled(1.0).to_le_bytes();
        let lane: String = lane.iter().map(|b| format!("{b:02x}")).collect();
        let pages: BTreeSet<u64> = self.steps.iter().flatten().flat_map(pages).collect();
        let pages: Vec<String> = pages.iter().map(|page| format!("{page:x}")).collect();
        let (start, end) = (hexadecimal(&self.start()?)?, hexadecimal(&self.end()?)?);
        Some(format!("{lane}/{}/{start}/{end}/{steps}", pages.join(",")))
    }

    /// The requested instruction that determines how vectors and masks are set.
    fn main(&self) -> Option<&Instruction> {
        let names = |i: &&Instruction, is_such: fn(Register) -> bool| {
            (0..i.op_count()).any(|n| is_such(i.op_register(n)))
        };
        let mut all = self.requested.iter();
        let with_mask = all.clone().find(|i| names(i, Register::is_k));
        with_mask
            .or_else(|| all.clone().find(|i| names(i, Register::is_vector_register)))
            .or(all.next())
    }

    /// Sets general registers after everything that uses them, then the memory operand through its
    /// address registers, and the flags last.
    fn start(&self) -> Option<Vec<Instruction>> {
        let steps = self.steps.iter().flatten();
        let mut needed: BTreeSet<_> = steps.flat_map(|i| Uses::new(i).needed()).collect();
        needed.extend(self.twins.iter().map(|(place, _)| *place));
        needed.extend(self.user.0.keys().copied());
        needed.remove(&STACK);
        let presets = self.presets();
        let mut code = Vec::new();
        let of = |bank| needed.iter().filter(move |p| p.bank == bank);
        for place in of(Bank::Mask) {
            let value = match self.user.0.get(place) {
                Some(Value::Bits(bits)) => *bits,
                _ => u64::MAX,
            };
            code.push(Instruction::with2(Code::Mov_r64_imm64, Register::RAX, value).ok()?);
            code.push(mask(place.number, self.main()?)?);
        }
        for place in of(Bank::Vector) {
            code.extend(self.vector(*place)?);
        }
        for preset in presets.values() {
            code.extend(parked(*preset)?);
        }
        // The address of the lanes is no longer needed. The buffer's address is needed until the
        // end, so its register is set last.
        let buffer = FullRegister::from_register(BUFFER)?;
        for place in of(Bank::General).filter(|p| **p != buffer) {
            code.extend(self.general(*place, &presets)?);
        }
        if needed.contains(&buffer) {
            code.extend(self.general(buffer, &presets)?);
        }
        code.extend(self.word()?);
        let flags = MemoryOperand::with_base_displ(Register::RSP, FLAGS);
        code.push(Instruction::with2(Code::Mov_rm32_imm32, flags, 1).ok()?);
        code.push(Instruction::with2(Code::Add_rm32_imm8, flags, 0).ok()?);
        Some(code)
    }

    /// Start values by register, except those that the user gave.
    fn presets(&self) -> BTreeMap<FullRegister, Preset> {
        let own: Vec<_> = self.requested.iter().flat_map(|i| needs(i).0).collect();
        let is_division =
            self.requested.iter().any(|i| matches!(i.mnemonic(), Mnemonic::Div | Mnemonic::Idiv));
        let is_preset = |(place, _): &(FullRegister, Preset)| self.user.0.contains_key(place);
        let own = if is_division && own.iter().any(is_preset) {
            // The upper half of the dividend must be less than the user's divisor, or the quotient
            // overflows.
            vec![(FullRegister::general(2), Preset::Bits(0))]
        } else {
            own
        };
        let addresses = self.steps.iter().flatten().filter_map(Address::read);
        let indices = self.steps.iter().flatten().filter(|i| i.is_vsib());
        let indices = indices.filter_map(|i| FullRegister::from_register(i.memory_index()));
        let mut all: BTreeMap<FullRegister, Preset> = BTreeMap::new();
        for (place, preset) in addresses.flat_map(|a| a.presets()) {
            all.entry(place).or_insert(preset);
        }
        all.extend(own);
        all.extend(indices.map(|place| (place, Preset::Bits(0))));
        all.retain(|place, _| !self.user.0.contains_key(place));
        all
    }

    /// The instruction with the memory operand that the steps use.
    fn operand(&self) -> Option<&Instruction> {
        let mut all = self.steps.iter().flatten();
        all.find(|i| Address::read(i).is_some())
    }

    fn general(
        &self,
        place: FullRegister,
        presets: &BTreeMap<FullRegister, Preset>,
    ) -> Option<Vec<Instruction>> {
        let twin = self.twins.iter().find(|(twin, _)| *twin == place);
        let source = twin.map_or(place, |(_, as_which)| *as_which);
        let to = place.register64();
        let bits = |bits: u64| Instruction::with2(Code::Mov_r64_imm64, to, bits).ok();
        let lea = |base, offset: i64| {
            let memory = MemoryOperand::with_base_displ(base, offset);
            Instruction::with2(Code::Lea_r64_m, to, memory).ok()
        };
        if let Some(Value::Bits(value)) = self.user.0.get(&source) {
            return Some(vec![bits(*value)?]);
        }
        Some(match presets.get(&source) {
            Some(Preset::Bits(preset)) => vec![bits(*preset)?],
            Some(Preset::Buffer(offset)) => match i32::try_from(*offset) {
                Ok(offset) => vec![lea(BUFFER, i64::from(offset))?],
                // The offset exceeds an i32 if the displacement is close to -2^31. Two additions
                // reach it.
                Err(_) => {
                    let first = i64::from(i32::MAX) * offset.signum();
                    vec![lea(BUFFER, first)?, lea(to, offset - first)?]
                }
            },
            Some(Preset::Share { .. }) => {
                let memory = MemoryOperand::with_base_displ(Register::RSP, PARKED);
                vec![Instruction::with2(Code::Mov_r64_rm64, to, memory).ok()?]
            }
            None => vec![Instruction::with2(Code::Mov_r64_rm64, to, BUFFER).ok()?],
        })
    }

    /// Writes the content of the memory operand through the operand itself.
    fn word(&self) -> Option<Vec<Instruction>> {
        let word = self.word.or_else(|| self.requested.iter().find_map(|i| needs(i).1));
        let (Some(word), Some(operand)) = (word, self.operand()) else {
            return Some(Vec::new());
        };
        let memory = memory(operand);
        let store = match word {
            Word::Number(number) => Instruction::with2(Code::Mov_rm64_imm32, memory, number),
            Word::Register(place) => {
                Instruction::with2(Code::Mov_rm64_r64, memory, place.register64())
            }
        };
        Some(vec![store.ok()?])
    }

    /// Loads vectors only as wide as the steps use them, so that unused upper halves stay clean.
    fn vector(&self, place: FullRegister) -> Option<Vec<Instruction>> {
        let (code, register) = match (self.width(), self.main()?.encoding()) {
            (64, _) => (Code::EVEX_Vmovups_zmm_k1z_zmmm512, Register::ZMM0),
            (32, EncodingKind::EVEX) => (Code::EVEX_Vmovups_ymm_k1z_ymmm256, Register::YMM0),
            (32, _) => (Code::VEX_Vmovups_ymm_ymmm256, Register::YMM0),
            (_, EncodingKind::Legacy) => (Code::Movups_xmm_xmmm128, Register::XMM0),
            (_, EncodingKind::EVEX) => (Code::EVEX_Vmovups_xmm_k1z_xmmm128, Register::XMM0),
            _ => (Code::VEX_Vmovups_xmm_xmmm128, Register::XMM0),
        };
        let load = |memory| Instruction::with2(code, register + place.number, memory).ok();
        let bits = match self.user.0.get(&place) {
            // The index vector of a gather or scatter is 0.
            None if self.presets().contains_key(&place) => 0,
            None => return Some(vec![load(MemoryOperand::with_base(LANES))?]),
            Some(Value::Number(number)) => Lane::from_instruction(self.main()?).filled(*number),
            Some(Value::Bits(bits)) => *bits,
        };
        // Builds the vector in stack memory that the steps may overwrite.
        let mut code = vec![Instruction::with2(Code::Mov_r64_imm64, Register::RAX, bits).ok()?];
        for at in (0..64).step_by(8) {
            let word = MemoryOperand::with_base_displ(Register::RSP, at);
            code.push(Instruction::with2(Code::Mov_rm64_r64, word, Register::RAX).ok()?);
        }
        code.push(load(MemoryOperand::with_base(Register::RSP))?);
        Some(code)
    }

    /// The width of the widest vector register in the steps.
    fn width(&self) -> usize {
        let operands = |i: &Instruction| {
            let i = *i;
            (0..i.op_count()).map(move |n| i.op_register(n))
        };
        let all = self.steps.iter().flatten().flat_map(operands);
        let vectors = all.filter(|r| r.is_vector_register());
        vectors.map(|r| r.size()).max().unwrap_or(0)
    }

    fn end(&self) -> Option<Vec<Instruction>> {
        match self.width() {
            0 | 16 => Some(Vec::new()),
            _ => Some(vec![Instruction::with(Code::VEX_Vzeroupper)]),
        }
    }
}

/// Computes a divided address and stores it above the stack pointer; uses rax, rcx and rdx.
fn parked(preset: Preset) -> Option<Vec<Instruction>> {
    let Preset::Share { offset, divisor } = preset else {
        return Some(Vec::new());
    };
    use Register::{EDX, RAX, RCX, RSP};
    let parked = MemoryOperand::with_base_displ(RSP, PARKED);
    Some(vec![
        Instruction::with2(Code::Mov_r64_imm64, RAX, offset as u64).ok()?,
        Instruction::with2(Code::Add_r64_rm64, RAX, BUFFER).ok()?,
        Instruction::with2(Code::Xor_r32_rm32, EDX, EDX).ok()?,
        Instruction::with2(Code::Mov_r64_imm64, RCX, divisor as u64).ok()?,
        Instruction::with1(Code::Div_rm64, RCX).ok()?,
        Instruction::with2(Code::Mov_rm64_r64, parked, RAX).ok()?,
    ])
}

/// Loads a mask register from rax: 64 bits for an AVX-512BW instruction, whose masks have one bit
/// per byte, else 16.
fn mask(number: u32, requested: &Instruction) -> Option<Instruction> {
    let features = requested.cpuid_features();
    let wide = features.contains(&iced_x86::CpuidFeature::AVX512BW);
    let to = Register::K0 + number;
    if wide {
        Instruction::with2(Code::VEX_Kmovq_kr_r64, to, Register::RAX).ok()
    } else {
        Instruction::with2(Code::VEX_Kmovw_kr_r32, to, Register::EAX).ok()
    }
}
