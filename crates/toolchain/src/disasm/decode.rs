//! Decodes bytes to instructions.

use capstone::prelude::*;
use capstone::{Capstone, Endian, arch};

/// An instruction, or bytes that do not decode to one.
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) text: Option<String>,
}

/// Bytes per row for code of an instruction set that the disassembler does not support.
const ROW: usize = 8;

/// The disassembler and the smallest instruction length. `None` if the instruction set is not
/// supported; its code is shown as bytes.
fn disassembler(isa: &str) -> Option<(Capstone, usize)> {
    let x86 = |mode| Capstone::new().x86().mode(mode).syntax(arch::x86::ArchSyntax::Intel).build();
    let (capstone, unit) = match isa {
        "x86_64" => (x86(arch::x86::ArchMode::Mode64), 1),
        "x86_32" => (x86(arch::x86::ArchMode::Mode32), 1),
        "aarch64" => (
            Capstone::new().arm64().mode(arch::arm64::ArchMode::Arm).endian(Endian::Little).build(),
            4,
        ),
        "riscv64" => {
            let compressed = [arch::riscv::ArchExtraMode::RiscVC];
            (
                Capstone::new()
                    .riscv()
                    .mode(arch::riscv::ArchMode::RiscV64)
                    .extra_mode(compressed.into_iter())
                    .build(),
                2,
            )
        }
        _ => return None,
    };
    Some((capstone.ok()?, unit))
}

pub(super) fn decode(isa: &str, code: &[u8], base: u64) -> Vec<Piece> {
    let Some((capstone, unit)) = disassembler(isa) else {
        return rows(code, base);
    };
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let before = at;
        if let Ok(run) = capstone.disasm_all(&code[at..], base + at as u64) {
            for instruction in run.iter() {
                at += instruction.bytes().len();
                pieces.push(Piece {
                    address: instruction.address(),
                    bytes: instruction.bytes().to_vec(),
                    text: Some(text(instruction)),
                });
            }
        }
        if at == before || at < code.len() {
            let length = unit.min(code.len() - at);
            pieces.push(Piece {
                address: base + at as u64,
                bytes: code[at..at + length].to_vec(),
                text: None,
            });
            at += length;
        }
    }
    pieces
}

fn text(instruction: &capstone::Insn) -> String {
    let name = instruction.mnemonic().unwrap_or("?");
    match instruction.op_str().filter(|o| !o.is_empty()) {
        Some(operands) => format!("{name} {operands}"),
        None => name.to_owned(),
    }
}

fn rows(code: &[u8], base: u64) -> Vec<Piece> {
    let rows = code.chunks(ROW).enumerate();
    rows.map(|(i, bytes)| Piece {
        address: base + (i * ROW) as u64,
        bytes: bytes.to_vec(),
        text: None,
    })
    .collect()
}
