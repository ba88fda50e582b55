//! Moves: instructions whose result is their unchanged operand.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::code::encode;
use super::operands::{Operand, renumbered};

/// Whether it loads a value into a register unchanged, zero- or sign-extended.
pub(super) fn loads_as_is(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let is_masked = instruction.has_op_mask();
    let mnemonic = instruction.mnemonic();
    let is_load = instruction.op_count() == 2 && instruction.op_kind(1) == OpKind::Memory;
    is_load && !is_masked && (is_vector_move(mnemonic) || matches!(mnemonic, Mov | Movsxd))
}

/// Whether it copies one register to another.
pub(super) fn copies_register(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let is_register = |i| instruction.op_kind(i) == OpKind::Register;
    let is_pair = instruction.op_count() == 2 && is_register(0) && is_register(1);
    let mnemonic = instruction.mnemonic();
    let is_move = matches!(mnemonic, Mov | Movzx | Movsx | Movsxd | Kmovb | Kmovw | Kmovd | Kmovq);
    is_pair && !instruction.has_op_mask() && (is_move || is_vector_move(mnemonic))
}

fn is_vector_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let moves = [
        Movaps, Movapd, Movups, Movupd, Movdqa, Movdqu, Lddqu, Movss, Movsd, Movd, Movq, Movntdqa,
        Vmovaps, Vmovapd, Vmovups, Vmovupd, Vmovdqa, Vmovdqu, Vlddqu, Vmovss, Vmovsd, Vmovd, Vmovq,
        Vmovdqa32, Vmovdqa64, Vmovdqu8, Vmovdqu16, Vmovdqu32, Vmovdqu64, Vmovntdqa,
    ];
    moves.contains(&mnemonic)
}

/// The opposite move: source and target are exchanged.
pub(super) fn reversed(
    original: &Instruction,
    source: &Operand,
    target: &Operand,
) -> Option<Instruction> {
    let mut back = *original;
    for (to, from) in [(target, source), (source, target)] {
        back.set_op_register(to.index, renumbered(to.register, from.place.number)?);
    }
    encode(&back).map(|_| back)
}
