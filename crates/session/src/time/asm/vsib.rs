//! Gathers and scatters: the instruction clears its mask, so every step sets the mask again.

use iced_x86::{Code, EncodingKind, Instruction, Register};

use super::address::Word;
use super::chain::Chain;
use super::code::show_all;
use super::copies::Copies;
use super::operands::{FullRegister, renumbered};

/// The number of copies with different registers; a processor has seven masks to choose from.
const COPIES: u32 = 6;

/// The instruction that sets all bits of the mask. Processors that recognise the idiom do not wait
/// for the old value.
fn set_mask(original: &Instruction) -> Option<Instruction> {
    if original.encoding() == EncodingKind::EVEX {
        let mask = original.op_mask();
        return Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, mask, mask, mask).ok();
    }
    let mask = original.op2_register();
    let code = if mask.is_ymm() {
        Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256
    } else {
        Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128
    };
    Instruction::with3(code, mask, mask, mask).ok()
}

fn is_gather(original: &Instruction) -> bool {
    original.op0_register().is_vector_register()
}

/// From the loaded lanes, which are 0, to the index.
fn to_index(original: &Instruction) -> Option<Instruction> {
    let (from, to) = (original.op0_register(), original.memory_index());
    let bytes = from.size().min(to.size());
    let is_evex = original.encoding() == EncodingKind::EVEX;
    let (code, first) = match (is_evex, bytes) {
        (false, 16) => (Code::VEX_Vmovdqa_xmm_xmmm128, Register::XMM0),
        (false, _) => (Code::VEX_Vmovdqa_ymm_ymmm256, Register::YMM0),
        (true, 16) => (Code::EVEX_Vmovdqa64_xmm_k1z_xmmm128, Register::XMM0),
        (true, 32) => (Code::EVEX_Vmovdqa64_ymm_k1z_ymmm256, Register::YMM0),
        (true, _) => (Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512, Register::ZMM0),
    };
    let number = |register| FullRegister::from_register(register).map(|p| p.number);
    Instruction::with2(code, first + number(to)?, first + number(from)?).ok()
}

/// A chain from the index to the loaded lanes and back to the index.
pub(super) fn chain(original: &Instruction) -> Result<Chain, String> {
    if !is_gather(original) {
        return Err("no latency: it has no result that a next step could need".to_owned());
    }
    let none = || "no latency: its chain cannot be encoded".to_owned();
    let mask = set_mask(original).ok_or_else(none)?;
    let back = to_index(original).ok_or_else(none)?;
    let mut chain = Chain::round_trip(vec![mask, *original, back]);
    chain.note.push_str(" (all lanes load the same address)");
    chain.word = Some(Word::Number(0));
    Ok(chain)
}

/// Copies that each set their own mask and, for a gather, write their own register.
pub(super) fn copies(original: &Instruction) -> Result<Copies, String> {
    let steps: Vec<Vec<Instruction>> = (0..COPIES).filter_map(|n| copy(original, n)).collect();
    if steps.is_empty() {
        return Err("no throughput: its copies cannot be encoded".to_owned());
    }
    let note = format!(
        "{} copies, of both together: {}; ... (all lanes use the same address)",
        steps.len(),
        show_all(&steps[0])
    );
    Ok(Copies { steps, notes: vec![note], twins: Vec::new() })
}

fn copy(original: &Instruction, number: u32) -> Option<Vec<Instruction>> {
    let index = FullRegister::from_register(original.memory_index())?.number;
    let free: Vec<u32> = (0..16).filter(|n| *n != index).collect();
    let [lanes, mask] = [0, 1].map(|which| free[2 * number as usize + which]);
    let mut copy = *original;
    if is_gather(original) {
        copy.set_op0_register(renumbered(original.op0_register(), lanes)?);
    }
    if original.encoding() == EncodingKind::EVEX {
        copy.set_op_mask(Register::K1 + number);
    } else {
        copy.set_op2_register(renumbered(original.op2_register(), mask)?);
    }
    Some(vec![set_mask(&copy)?, copy])
}
