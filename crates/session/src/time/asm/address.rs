//! Start values for the registers of a memory operand, so that every addressing mode refers to the
//! buffer.

use iced_x86::{Instruction, Mnemonic, Register};

use super::operands::{FullRegister, STACK, Uses, has_memory};

/// The size of the buffer; equals `buffer_bytes` of the library's `Instruction`.
const BUFFER_BYTES: i64 = 16384;

/// The offset of the operand in the buffer, a multiple of 64.
const TARGET: i64 = 2048;

/// Bytes above the stack pointer that an operand may use. Copies with cache lines of their own use
/// 1 KiB more, for which the frame of the library's `Instruction` has space.
const FRAME_BYTES: i64 = 256;

/// The page size of x86_64.
const PAGE_BYTES: u64 = 4096;

/// The end of the addresses of a process, without the last page, which Linux keeps free.
const ADDRESSES_END: u64 = (1 << 47) - PAGE_BYTES;

/// A register's start value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Preset {
    Bits(u64),
    /// The buffer's address plus this offset.
    Buffer(i64),
    /// (The buffer's address and `offset`) / `divisor`.
    Share {
        offset: i64,
        divisor: i64,
    },
}

/// The initial content of the eight bytes at the operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    /// The start value of a register, so that loading it leads to the same address again.
    Register(FullRegister),
    /// A number that fits in 32 bits.
    Number(i32),
}

/// The registers of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Address {
    base: Option<FullRegister>,
    index: Option<FullRegister>,
    scale: i64,
    displacement: i64,
}

impl Address {
    /// The address of the memory operand. `None` if the instruction does not access memory through
    /// an operand in its text.
    pub(super) fn read(instruction: &Instruction) -> Option<Address> {
        let uses = Uses::new(instruction);
        let accesses = uses.reads_memory || uses.writes_memory || instruction.is_vsib();
        if !has_memory(instruction) || !accesses {
            return None;
        }
        let general = |register: Register| {
            FullRegister::from_register(register).filter(|_| register.is_gpr())
        };
        Some(Address {
            base: general(instruction.memory_base()),
            index: general(instruction.memory_index()),
            scale: i64::from(instruction.memory_index_scale()),
            displacement: instruction.memory_displacement64() as i64,
        })
    }

    /// Start values with which the address refers to the buffer. An index besides a base is 0.
    pub(super) fn presets(&self) -> Vec<(FullRegister, Preset)> {
        let offset = TARGET - self.displacement;
        match (self.base, self.index) {
            (Some(base), Some(index)) if base == index => {
                let divisor = self.scale + 1;
                vec![(base, Preset::Share { offset, divisor })]
            }
            (Some(base), index) => {
                let index = index.map(|place| (place, Preset::Bits(0)));
                let base = (base, Preset::Buffer(offset));
                let each = index.into_iter().chain([base]);
                each.filter(|(place, _)| *place != STACK).collect()
            }
            (None, Some(index)) if self.scale == 1 => vec![(index, Preset::Buffer(offset))],
            (None, Some(index)) => {
                let divisor = self.scale;
                vec![(index, Preset::Share { offset, divisor })]
            }
            (None, None) => Vec::new(),
        }
    }

    /// The address itself, if no register is part of it.
    fn absolute(&self) -> Option<u64> {
        let has_register = self.base.or(self.index).is_some();
        (!has_register).then_some(self.displacement as u64)
    }

    /// The registers of the address, the base first.
    pub(super) fn registers(&self) -> impl Iterator<Item = FullRegister> {
        self.base.into_iter().chain(self.index)
    }

    /// Why no start values can make the operand refer to the buffer.
    fn doubt(&self) -> Option<&'static str> {
        // The buffer lies between 1 and 2 GiB, if the system honours the address hint.
        let is_divided = self.base == self.index || self.base.is_none();
        if self.base == Some(STACK) {
            let fits = (-BUFFER_BYTES / 16..=FRAME_BYTES - 64).contains(&self.displacement);
            return (!fits).then_some(
                "its operand lies outside the 256 bytes above the stack pointer that steps may use",
            );
        }
        if let Some(address) = self.absolute() {
            return (address >= ADDRESSES_END)
                .then_some("its address lies outside those that a process can have");
        }
        (is_divided && self.displacement > 0x3fff_0000).then_some(
            "its displacement is larger than the buffer's address, and no index makes up for that",
        )
    }
}

/// The starts of the pages that an operand with an absolute address needs. The first page is left
/// out: no process should have a page at the null pointer.
pub(super) fn pages(instruction: &Instruction) -> Vec<u64> {
    let Some(first) = Address::read(instruction).and_then(|a| a.absolute()) else {
        return Vec::new();
    };
    let last = first.saturating_add(instruction.memory_size().size().max(1) as u64 - 1);
    let all = (first / PAGE_BYTES).max(1)..=last / PAGE_BYTES;
    all.map(|number| number * PAGE_BYTES).collect()
}

/// Why the instruction's memory operand cannot be set up.
pub(super) fn refusal(instruction: &Instruction) -> Option<&'static str> {
    let address = Address::read(instruction)?;
    let segment = instruction.segment_prefix();
    if matches!(segment, Register::FS | Register::GS) {
        return Some("its operand is relative to a segment that belongs to the program");
    }
    address.doubt()
}

/// Start values that individual instructions need in order to neither fault nor leave the buffer.
pub(super) fn needs(instruction: &Instruction) -> (Vec<(FullRegister, Preset)>, Option<Word>) {
    use Mnemonic::*;
    let (rax, rcx) = (FullRegister::general(0), FullRegister::general(1));
    match instruction.mnemonic() {
        Div | Idiv => division(instruction),
        // The register is a bit offset, which could address memory far from the operand.
        Bt | Bts | Btr | Btc if has_memory(instruction) => {
            let offset = FullRegister::from_register(instruction.op1_register()).into_iter();
            (offset.map(|p| (p, Preset::Bits(3))).collect(), None)
        }
        Xgetbv | Rdpru => (bits_of([(rcx, 0)]), None),
        Cpuid => (bits_of([(rax, 0), (rcx, 0)]), None),
        _ => (Vec::new(), None),
    }
}

fn bits_of<const N: usize>(values: [(FullRegister, u64); N]) -> Vec<(FullRegister, Preset)> {
    values.map(|(place, bits)| (place, Preset::Bits(bits))).into()
}

/// Start values with which a division reproduces its dividend: quotient and remainder equal the two
/// registers of the dividend, so every step of a chain divides the same numbers. r * 2^w + q = q *
/// d + r with d = 52, r = 10 and q = 10 * (2^w - 1) / 51.
fn division(instruction: &Instruction) -> (Vec<(FullRegister, Preset)>, Option<Word>) {
    const DIVISOR: u64 = 52;
    const REMAINDER: u64 = 10;
    let rax = FullRegister::general(0);
    let rdx = FullRegister::general(2);
    let divisor = FullRegister::from_register(instruction.op0_register())
        .filter(|_| !has_memory(instruction));
    let bytes = match divisor {
        Some(_) => instruction.op0_register().size(),
        None => instruction.memory_size().size(),
    };
    let bits = 8 * bytes as u32;
    let quotient = (u64::MAX >> (64 - bits)) / (DIVISOR - 1) * REMAINDER;
    if divisor == Some(rax) {
        return (bits_of([(rax, DIVISOR), (rdx, 0)]), None);
    }
    let mut presets = match bits {
        8 => bits_of([(rax, REMAINDER << 8 | quotient)]),
        _ => bits_of([(rax, quotient), (rdx, REMAINDER)]),
    };
    // A divisor in rdx always overflows; the note on the fault explains that.
    let divisor = divisor.filter(|d| *d != rdx);
    presets.extend(divisor.map(|d| (d, Preset::Bits(DIVISOR))));
    (presets, Some(Word::Number(DIVISOR as i32)))
}

/// Whether `original` changes a register in the address of its memory operand.
pub(super) fn changes_address(original: &Instruction, uses: &Uses) -> bool {
    let is_written = |register| uses.written().any(|place| place == register);
    Address::read(original).is_some_and(|address| address.registers().any(is_written))
}
