//! Tests of the sequences that are generated for instructions, given as bytes.

use std::collections::BTreeSet;

use super::code::{decode, show_all};
use super::figures;
use super::operands::{FullRegister, Uses};
use super::refusal::refusal;
use super::start::Presets;
use super::{dependency_chain as chain, independent_copies as copies};

fn one(hexadecimal: &str) -> iced_x86::Instruction {
    let bytes = bytes(hexadecimal);
    let all = decode(&bytes);
    assert_eq!(all.len(), 1, "{hexadecimal}");
    all[0]
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = (0..hexadecimal.len()).step_by(2);
    digits.map(|i| u8::from_str_radix(&hexadecimal[i..i + 2], 16).unwrap()).collect()
}

/// Bytes, the text, and the note of its latency.
const CHAINS: &[(&str, &str, &str)] = &[
    ("480fafc0", "imul rax, rax", "chain: imul rax, rax"),
    ("4801d8", "add rax, rbx", "chain: add rax, rbx"),
    ("4883c001", "add rax, 1", "chain: add rax, 1"),
    ("f3480fb8c3", "popcnt rax, rbx", "chain: popcnt rax, rax"),
    ("488d448b08", "lea rax, [rbx + rcx*4 + 8]", "chain: lea rax, [rax + rcx*4 + 8]"),
    ("488d04cd08000000", "lea rax, [rcx*8 + 8]", "chain: lea rax, [rax*8 + 8]"),
    ("488b03", "mov rax, [rbx]", "chain: mov rax, [rax]"),
    ("488b00", "mov rax, [rax]", "chain: mov rax, [rax]"),
    ("8b044b", "mov eax, [rbx + rcx*2]", "chain: mov eax, [rax + rcx*2]"),
    (
        "0fb603",
        "movzx eax, byte ptr [rbx]",
        "round trip, of both together: movzx eax, byte ptr [rbx]; add rbx, rax",
    ),
    ("0fb6c3", "movzx eax, bl", "chain: movzx eax, bl; movzx ebx, al"),
    ("4863c3", "movsxd rax, ebx", "chain: movsxd rax, ebx; movsxd rbx, eax"),
    ("480fbcc3", "bsf rax, rbx", "chain: bsf rax, rax"),
    ("48d3e0", "shl rax, cl", "chain: shl rax, cl"),
    ("48d3e1", "shl rcx, cl", "chain: shl rcx, cl"),
    ("4811d8", "adc rax, rbx", "chain through the register and the flags: adc rax, rbx"),
    ("48f7e3", "mul rbx", "chain through rax: mul rbx"),
    ("48f7f3", "div rbx", "chain through rax: div rbx"),
    ("4899", "cqo", "round trip, of both together: cqo; mov rax, rdx"),
    ("4898", "cdqe", "chain through rax: cdqe"),
    ("c4e2e3f6c1", "mulx rax, rbx, rcx", "chain: mulx rax, rbx, rax"),
    ("4893", "xchg rax, rbx", "chain: xchg rbx, rax"),
    ("480fc1d8", "xadd rax, rbx", "chain: xadd rax, rbx"),
    ("4839d8", "cmp rax, rbx", "round trip, of both together: cmp rax, rbx; cmovb rax, r15"),
    (
        "48833801",
        "cmp qword ptr [rax], 1",
        "round trip, of both together: cmp qword ptr [rax], 1; cmovb rax, r15",
    ),
    ("85db", "test ebx, ebx", "round trip, of both together: test ebx, ebx; cmovb rbx, r15"),
    ("0f92c0", "setb al", "round trip, of both together: setb al; cmp al, 1"),
    ("480f42c3", "cmovb rax, rbx", "chain: cmovb rax, rbx"),
    ("4831c0", "xor rax, rax", "chain: xor rax, rax"),
    ("4831d8", "xor rax, rbx", "chain: xor rax, rbx"),
    ("660fefc9", "pxor xmm1, xmm1", "chain: pxor xmm1, xmm1"),
    (
        "c5f1efc1",
        "vpxor xmm0, xmm1, xmm1",
        "no latency: its result does not depend on its operands (a zero idiom)",
    ),
    ("c5f458c2", "vaddps ymm0, ymm1, ymm2", "chain: vaddps ymm0, ymm0, ymm2"),
    ("c4e2f1b9c2", "vfmadd231sd xmm0, xmm1, xmm2", "chain: vfmadd231sd xmm0, xmm1, xmm2"),
    ("f20f51c1", "sqrtsd xmm0, xmm1", "chain: sqrtsd xmm0, xmm0"),
    ("c5f351c2", "vsqrtsd xmm0, xmm1, xmm2", "chain: vsqrtsd xmm0, xmm1, xmm0"),
    (
        "f2480f2ac0",
        "cvtsi2sd xmm0, rax",
        "round trip, of both together: cvtsi2sd xmm0, rax; cvttsd2si rax, xmm0",
    ),
    (
        "f20f2cc0",
        "cvttsd2si eax, xmm0",
        "round trip, of both together: cvttsd2si eax, xmm0; cvtsi2sd xmm0, eax",
    ),
    ("660f7ec0", "movd eax, xmm0", "round trip, of both together: movd eax, xmm0; movd xmm0, eax"),
    (
        "c4e1f96ec0",
        "vmovq xmm0, rax",
        "round trip, of both together: vmovq xmm0, rax; vmovq rax, xmm0",
    ),
    (
        "f20f1000",
        "movsd xmm0, [rax]",
        "round trip, of both together: movsd xmm0, [rax]; movq rax, xmm0",
    ),
    (
        "0f2800",
        "movaps xmm0, [rax]",
        "round trip, of both together: movaps xmm0, [rax]; movq rax, xmm0",
    ),
    (
        "480118",
        "add [rax], rbx",
        "chain through memory (each load is of what the last step stored): add [rax], rbx",
    ),
    (
        "ff00",
        "inc dword ptr [rax]",
        "chain through memory (each load is of what the last step stored): inc dword ptr [rax]",
    ),
    ("488918", "mov [rax], rbx", "round trip, of both together: mov [rax], rbx; mov rbx, [rax]"),
    (
        "0f1108",
        "movups [rax], xmm1",
        "round trip, of both together: movups [rax], xmm1; movups xmm1, [rax]",
    ),
    ("62f1f54958c2", "vaddpd zmm0{k1}, zmm1, zmm2", "chain: vaddpd zmm0{k1}, zmm1, zmm2"),
    (
        "62f37d481fc902",
        "vpcmpd k1, zmm0, zmm1, 2",
        "round trip, of both together: vpcmpd k1, zmm0, zmm1, 2; vpmovm2d zmm0, k1",
    ),
    ("c5f892c8", "kmovw k1, eax", "round trip, of both together: kmovw k1, eax; kmovw eax, k1"),
    ("0f31", "rdtsc", "no latency: it has no operand that a step before could give"),
    ("90", "nop", "no latency: it has no result that a next step could need"),
    ("0faee8", "lfence", "no latency: it has no result that a next step could need"),
    ("f9", "stc", "no latency: it has no operand that a step before could give"),
    ("f5", "cmc", "chain through the flags: cmc"),
    ("0fa2", "cpuid", "chain through rax: cpuid"),
    ("0fc8", "bswap eax", "chain: bswap eax"),
    (
        "88dc",
        "mov ah, bl",
        "no latency: no chain leads through one register, and no way back from its result to its operand is known",
    ),
    ("88d8", "mov al, bl", "chain: mov al, bl; mov bl, al"),
    ("4889d8", "mov rax, rbx", "chain: mov rax, rbx; mov rbx, rax"),
    ("488b4308", "mov rax, [rbx + 8]", "chain: mov rax, [rax + 8]"),
    ("488b448b10", "mov rax, [rbx + rcx*4 + 16]", "chain: mov rax, [rax + rcx*4 + 0x10]"),
    ("488b04dd00000000", "mov rax, [rbx*8]", "chain: mov rax, [rax*8]"),
    ("488b0c8b", "mov rcx, [rbx + rcx*4]", "chain: mov rcx, [rbx + rcx*4]"),
    ("480300", "add rax, [rax]", "chain: add rax, [rax]"),
    (
        "f3480fb803",
        "popcnt rax, [rbx]",
        "round trip, of all together: popcnt rax, [rbx]; and rax, 0; add rbx, rax",
    ),
    (
        "f20f5103",
        "sqrtsd xmm0, [rbx]",
        "round trip, of all together: sqrtsd xmm0, [rbx]; movq r15, xmm0; and r15, 0; add rbx, r15",
    ),
    (
        "480fc100",
        "xadd [rax], rax",
        "no latency: it changes a register of its own address; name other registers",
    ),
    (
        "c4e26d92048b",
        "vgatherdps ymm0, [rbx + ymm1*4], ymm2",
        "round trip, of all together: vpcmpeqd ymm2, ymm2, ymm2; vgatherdps ymm0, [rbx + ymm1*4], ymm2; vmovdqa ymm1, ymm0 (all lanes load the same address)",
    ),
    (
        "660f3817c1",
        "ptest xmm0, xmm1",
        "no latency: no chain leads through one register, and no way back from its result to its operand is known",
    ),
    ("ac", "lodsb", "chain through rsi: lodsb [rsi]"),
    ("660f38dcc1", "aesenc xmm0, xmm1", "chain: aesenc xmm0, xmm1"),
    (
        "660f3a63c100",
        "pcmpistri xmm0, xmm1, 0",
        "no latency: no chain leads through one register, and no way back from its result to its operand is known",
    ),
];

#[test]
fn each_instruction_has_expected_chain() {
    let mut wrong = String::new();
    for (hexadecimal, text, expected) in CHAINS {
        let instruction = one(hexadecimal);
        let message = chain(&instruction).map_or_else(|why| why, |c| c.note);
        if message != *expected {
            wrong += &format!("{hexadecimal}|{text}|{message}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Bytes, the first three copies, their number, and the dependency-breaking instructions.
const COPIES: &[(&str, &str, usize, &str)] = &[
    ("480fafc0", "imul rax, rax; imul rcx, rcx; imul rdx, rdx", 13, ""), // imul rax, rax
    ("4801d8", "add rax, rbx; add rcx, rbx; add rdx, rbx", 12, ""),      // add rax, rbx
    ("4883c001", "add rax, 1; add rcx, 1; add rdx, 1", 13, ""),          // add rax, 1
    ("f3480fb8c3", "popcnt rax, rbx; popcnt rcx, rbx; popcnt rdx, rbx", 12, ""), // popcnt rax, rbx
    (
        "488d448b08",
        "lea rax, [rbx + rcx*4 + 8]; lea rdx, [rbx + rcx*4 + 8]; lea rbp, [rbx + rcx*4 + 8]",
        11,
        "",
    ), // lea rax, [rbx + rcx*4 + 8]
    (
        "488d04cd08000000",
        "lea rax, [rcx*8 + 8]; lea rdx, [rcx*8 + 8]; lea rbx, [rcx*8 + 8]",
        12,
        "",
    ), // lea rax, [rcx*8 + 8]
    ("488b03", "mov rax, [rbx]; mov rcx, [rbx]; mov rdx, [rbx]", 12, ""), // mov rax, [rbx]
    ("488b00", "mov rcx, [rax]; mov rdx, [rax]; mov rbx, [rax]", 12, ""), // mov rax, [rax]
    ("8b044b", "mov eax, [rbx + rcx*2]; mov edx, [rbx + rcx*2]; mov ebp, [rbx + rcx*2]", 11, ""), // mov eax, [rbx + rcx*2]
    (
        "0fb603",
        "movzx eax, byte ptr [rbx]; movzx ecx, byte ptr [rbx]; movzx edx, byte ptr [rbx]",
        12,
        "",
    ), // movzx eax, byte ptr [rbx]
    ("0fb6c3", "movzx eax, bl; movzx ecx, bl; movzx edx, bl", 12, ""), // movzx eax, bl
    ("4863c3", "movsxd rax, ebx; movsxd rcx, ebx; movsxd rdx, ebx", 12, ""), // movsxd rax, ebx
    ("480fbcc3", "bsf rax, rbx; bsf rcx, rbx; bsf rdx, rbx", 12, ""),  // bsf rax, rbx
    ("48d3e0", "shl rax, cl; shl rdx, cl; shl rbx, cl", 12, ""),       // shl rax, cl
    ("48d3e1", "shl rax, cl; shl rdx, cl; shl rbx, cl", 12, ""),       // shl rcx, cl
    ("4811d8", "adc rax, rbx; adc rcx, rbx; adc rdx, rbx", 12, "test r15d, r15d"), // adc rax, rbx
    ("48f7e3", "mul rbx", 1, "mov rax, r15"),                          // mul rbx
    ("48f7f3", "div rbx", 1, "mov rax, r15; mov rdx, r14"),            // div rbx
    ("4899", "cqo", 1, ""),                                            // cqo
    ("4898", "cdqe", 1, "mov rax, r15"),                               // cdqe
    ("c4e2e3f6c1", "mulx rax, rbx, rcx; mulx rbp, rsi, rcx; mulx rdi, r8, rcx", 5, ""), // mulx rax, rbx, rcx
    ("4893", "xchg rbx, rax; xchg rcx, rax; xchg rdx, rax", 12, "mov rax, r15"), // xchg rax, rbx
    ("480fc1d8", "xadd rax, rbx; xadd rcx, rdx; xadd rbp, rsi", 6, ""),          // xadd rax, rbx
    ("4839d8", "cmp rax, rbx", 1, ""),                                           // cmp rax, rbx
    ("48833801", "cmp qword ptr [rax], 1", 1, ""), // cmp qword ptr [rax], 1
    ("85db", "test ebx, ebx", 1, ""),              // test ebx, ebx
    ("0f92c0", "setb al; setb cl; setb dl", 13, ""), // setb al
    ("480f42c3", "cmovb rax, rbx; cmovb rcx, rbx; cmovb rdx, rbx", 12, ""), // cmovb rax, rbx
    ("4831c0", "xor rax, rax; xor rcx, rcx; xor rdx, rdx", 13, ""), // xor rax, rax
    ("4831d8", "xor rax, rbx; xor rcx, rbx; xor rdx, rbx", 12, ""), // xor rax, rbx
    ("660fefc9", "pxor xmm1, xmm1; pxor xmm0, xmm0; pxor xmm2, xmm2", 16, ""), // pxor xmm1, xmm1
    ("c5f1efc1", "vpxor xmm0, xmm1, xmm1; vpxor xmm2, xmm1, xmm1; vpxor xmm3, xmm1, xmm1", 15, ""), // vpxor xmm0, xmm1, xmm1
    (
        "c5f458c2",
        "vaddps ymm0, ymm1, ymm2; vaddps ymm3, ymm1, ymm2; vaddps ymm4, ymm1, ymm2",
        14,
        "",
    ), // vaddps ymm0, ymm1, ymm2
    (
        "c4e2f1b9c2",
        "vfmadd231sd xmm0, xmm1, xmm2; vfmadd231sd xmm3, xmm1, xmm2; vfmadd231sd xmm4, xmm1, xmm2",
        14,
        "",
    ), // vfmadd231sd xmm0, xmm1, xmm2
    ("f20f51c1", "sqrtsd xmm0, xmm1; sqrtsd xmm2, xmm1; sqrtsd xmm3, xmm1", 15, ""), // sqrtsd xmm0, xmm1
    (
        "c5f351c2",
        "vsqrtsd xmm0, xmm1, xmm2; vsqrtsd xmm3, xmm1, xmm2; vsqrtsd xmm4, xmm1, xmm2",
        14,
        "",
    ), // vsqrtsd xmm0, xmm1, xmm2
    ("f2480f2ac0", "cvtsi2sd xmm0, rax; cvtsi2sd xmm1, rax; cvtsi2sd xmm2, rax", 16, ""), // cvtsi2sd xmm0, rax
    ("f20f2cc0", "cvttsd2si eax, xmm0; cvttsd2si ecx, xmm0; cvttsd2si edx, xmm0", 13, ""), // cvttsd2si eax, xmm0
    ("660f7ec0", "movd eax, xmm0; movd ecx, xmm0; movd edx, xmm0", 13, ""), // movd eax, xmm0
    ("c4e1f96ec0", "vmovq xmm0, rax; vmovq xmm1, rax; vmovq xmm2, rax", 16, ""), // vmovq xmm0, rax
    ("f20f1000", "movsd xmm0, [rax]; movsd xmm1, [rax]; movsd xmm2, [rax]", 16, ""), // movsd xmm0, [rax]
    ("0f2800", "movaps xmm0, [rax]; movaps xmm1, [rax]; movaps xmm2, [rax]", 16, ""), // movaps xmm0, [rax]
    ("480118", "add [rax], rbx; add [rax + 0x40], rbx; add [rax + 0x80], rbx", 16, ""), // add [rax], rbx
    ("ff00", "inc dword ptr [rax]; inc dword ptr [rax + 0x40]; inc dword ptr [rax + 0x80]", 16, ""), // inc dword ptr [rax]
    ("488918", "mov [rax], rbx", 1, ""),     // mov [rax], rbx
    ("0f1108", "movups [rax], xmm1", 1, ""), // movups [rax], xmm1
    (
        "62f1f54958c2",
        "vaddpd zmm0{k1}, zmm1, zmm2; vaddpd zmm3{k1}, zmm1, zmm2; vaddpd zmm4{k1}, zmm1, zmm2",
        25,
        "",
    ), // vaddpd zmm0{k1}, zmm1, zmm2
    (
        "62f37d481fc902",
        "vpcmpd k1, zmm0, zmm1, 2; vpcmpd k2, zmm0, zmm1, 2; vpcmpd k3, zmm0, zmm1, 2",
        7,
        "",
    ), // vpcmpd k1, zmm0, zmm1, 2
    ("c5f892c8", "kmovw k1, eax; kmovw k2, eax; kmovw k3, eax", 7, ""), // kmovw k1, eax
    ("0f31", "rdtsc", 1, ""),                // rdtsc
    ("90", "nop", 1, ""),                    // nop
    ("0faee8", "lfence", 1, ""),             // lfence
    ("f9", "stc", 1, ""),                    // stc
    ("f5", "cmc", 1, "test r15d, r15d"),     // cmc
    ("0fa2", "cpuid", 1, "mov rax, r15; mov rcx, r14"), // cpuid
    ("0fc8", "bswap eax; bswap ecx; bswap edx", 13, ""), // bswap eax
    (
        "88dc",
        "no throughput: it writes a part of a register that its copies would write too",
        0,
        "",
    ), // mov ah, bl
    ("88d8", "mov al, bl; mov cl, bl; mov dl, bl", 12, ""), // mov al, bl
    ("660f3817c1", "ptest xmm0, xmm1", 1, ""), // ptest xmm0, xmm1
    ("ac", "no throughput: it writes a part of a register that its copies would write too", 0, ""), // lodsb
    ("660f38dcc1", "aesenc xmm0, xmm1; aesenc xmm2, xmm1; aesenc xmm3, xmm1", 15, ""), // aesenc xmm0, xmm1
    ("660f3a63c100", "pcmpistri xmm0, xmm1, 0", 1, ""), // pcmpistri xmm0, xmm1, 0
];

#[test]
fn each_instruction_has_expected_copies() {
    let mut wrong = String::new();
    for (hexadecimal, first, count, fresh) in COPIES {
        let message = match copies(&one(hexadecimal)) {
            Err(why) => (why, 0, String::new()),
            Ok(copies) => {
                let own: Vec<_> = copies.steps.iter().map(|s| *s.last().unwrap()).collect();
                let fresh = copies.steps[0].split_last().map_or(&[][..], |(_, f)| f);
                let shown = own.len().min(3);
                (show_all(&own[..shown]), own.len(), show_all(fresh))
            }
        };
        if (message.0.as_str(), message.1, message.2.as_str()) != (*first, *count, *fresh) {
            wrong += &format!("{hexadecimal}|{}|{}|{}\n", message.0, message.1, message.2);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn unmeasurable_instructions_are_rejected() {
    for (hexadecimal, reason) in [
        ("ffe0", "leaves the row"),                 // jmp rax
        ("e800000000", "leaves the row"),           // call
        ("c3", "leaves the row"),                   // ret
        ("0f05", "leaves the row"),                 // syscall
        ("cc", "leaves the row"),                   // int3
        ("50", "stack pointer"),                    // push rax
        ("4883c408", "stack pointer"),              // add rsp, 8
        ("f4", "only the kernel"),                  // hlt
        ("f3a4", "count that it uses up"),          // rep movsb
        ("64488b03", "segment"),                    // mov rax, fs:[rbx]
        ("e410", "only the kernel"),                // in al, 16
        ("488b8424e8030000", "stack pointer"),      // mov rax, [rsp + 1000]
        ("488b0500000000", "relative to the code"), // mov rax, [rip]
        ("fd", "relies on"),                        // std
        ("8ed8", "relies on"),                      // mov ds, eax
        ("d9e8", "not set up"),                     // fld1
        ("0ffec1", "not set up"),                   // paddd mm0, mm1
    ] {
        let message = refusal(&one(hexadecimal));
        assert!(message.is_some_and(|t| t.contains(reason)), "{hexadecimal}: {message:?}");
    }
    // `ud2` is accepted: running it shows whether it is illegal.
    assert_eq!(refusal(&one("0f0b")), None);
}

/// The parts of the benchmark's `code` for an instruction: lane, pages, start, end and steps.
fn codes(hexadecimal: &str, init: &[&str]) -> [Vec<String>; 2] {
    let init: Vec<String> = init.iter().map(|i| (*i).to_owned()).collect();
    let presets = Presets::read(&init).unwrap();
    let figures = figures("", &bytes(hexadecimal), &presets).unwrap();
    let parts = |i: usize| -> Vec<String> {
        let code = figures[i].code.as_ref().unwrap();
        code.split('/').map(|part| part.trim_start_matches('*').to_owned()).collect()
    };
    [parts(0), parts(1)]
}

/// The start code as text.
fn start(code: &[String]) -> String {
    show_all(&decode(&bytes(&code[2])))
}

const FLAGS_CLEAR: &str = "; mov dword ptr [rsp + 0x90], 1; add dword ptr [rsp + 0x90], 0";

#[test]
fn registers_hold_buffer_address_or_init_value() {
    let [chain, copies] = codes("4801d8", &[]);
    assert_eq!(start(&chain), format!("mov rax, rdi; mov rbx, rdi{FLAGS_CLEAR}"));
    assert_eq!(chain[4], "4801d8");
    assert_eq!(copies[4].split(',').count(), 12);
    let [chain, _] = codes("4801d8", &["rbx=-7", "rdi=0x10"]);
    let expected = format!("mov rax, rdi; mov rbx, 0xfffffffffffffff9; mov rdi, 0x10{FLAGS_CLEAR}");
    assert_eq!(start(&chain), expected);
    // The register of a dependency-breaking move has the same start value.
    let [_, copies] = codes("48f7e3", &["eax=5"]);
    assert!(start(&copies).contains("mov rax, 5") && start(&copies).contains("mov r15, 5"));
}

#[test]
fn address_registers_lead_to_the_middle_of_the_buffer() {
    for (hexadecimal, starts) in [
        // mov rax, [rbx + 8]: the word at the operand is the register that the chain loads.
        ("488b4308", "lea rax, [rdi + 0x7f8]; mov [rax + 8], rax"),
        // mov rax, [rbx + rcx*4 + 16]
        ("488b448b10", "lea rax, [rdi + 0x7f0]; mov rcx, 0; mov [rax + rcx*4 + 0x10], rax"),
        // mov rcx, [rbx + rcx*4]: the chain leads through the index, which stays 0.
        ("488b0c8b", "mov rcx, 0; lea rbx, [rdi + 0x800]; mov [rbx + rcx*4], rcx"),
        // mov rax, [rbx - 0x80000000]
        (
            "488b8300000080",
            "lea rax, [rdi + 0x7fffffff]; lea rax, [rax + 0x801]; mov [rax - 0x80000000], rax",
        ),
    ] {
        let [chain, _] = codes(hexadecimal, &[]);
        assert_eq!(start(&chain), format!("{starts}{FLAGS_CLEAR}"), "{hexadecimal}");
    }
    // mov rax, [rbx*8]: the divided address is stored above the stack pointer.
    let [chain, _] = codes("488b04dd00000000", &[]);
    assert!(
        start(&chain)
            .contains("div rcx; mov [rsp + 0x80], rax; mov rax, [rsp + 0x80]; mov [rax*8], rax"),
        "{}",
        start(&chain)
    );
}

#[test]
fn division_has_the_same_operands_in_every_step() {
    for (hexadecimal, bits) in
        [("f6f3", 8), ("66f7f3", 16), ("f7fb", 32), ("48f7f3", 64), ("48f7fb", 64)]
    {
        let [chain, _] = codes(hexadecimal, &[]);
        let text = start(&chain);
        let value = |register: &str| -> Option<u128> {
            let (_, rest) = text.split_once(&format!("mov {register}, "))?;
            let number = rest.split(';').next()?;
            let hexadecimal = number.strip_prefix("0x");
            hexadecimal.map_or_else(|| number.parse().ok(), |h| u128::from_str_radix(h, 16).ok())
        };
        let (rax, divisor) = (value("rax").unwrap(), value("rbx").unwrap());
        let (low, high) = match bits {
            8 => (rax & 0xff, rax >> 8),
            _ => (rax, value("rdx").unwrap()),
        };
        let dividend = (high << bits) | low;
        assert_eq!((dividend / divisor, dividend % divisor), (low, high), "{text}");
        // The quotient of a signed division fits, too.
        assert!(low < 1 << (bits - 1), "{text}");
    }
    // The user's divisor: the upper half of the dividend is 0, so the quotient does not overflow.
    let [chain, _] = codes("48f7f3", &["rbx=7"]);
    assert!(start(&chain).contains("mov rdx, 0; mov rbx, 7"), "{}", start(&chain));
}

#[test]
fn push_and_pop_are_measured_together() {
    let none = Presets::default();
    for (hexadecimal, latency) in [
        ("50", "round trip, of both together: push rax; pop rax"),
        ("58", "round trip, of both together: push rax; pop rax"),
        ("5058", "round trip, of both together: push rax; pop rax"),
        ("9c", "round trip, of both together: pushfq; popfq"),
    ] {
        let figures = figures("", &bytes(hexadecimal), &none).unwrap();
        assert_eq!((figures[0].aspect, figures[0].notes[0].as_str()), ("round-trip", latency));
        assert!(figures[1].notes[0].contains("of both together"), "{:?}", figures[1]);
    }
    // push rax; pop rbx: the popped value is not pushed again, so there is no chain.
    let apart = figures("", &bytes("505b"), &none).unwrap();
    assert!(apart[0].code.is_err() && apart[1].code.is_ok());
    // push rax; push rax and pop rsp move the stack pointer.
    for moved in ["5050", "5c"] {
        assert!(figures("", &bytes(moved), &none).is_err(), "{moved}");
    }
}

#[test]
fn vectors_hold_ones_of_the_instructions_own_kind() {
    let [double, _] = codes("f20f59c1", &[]);
    assert_eq!(double[0], "000000000000f03f");
    assert!(start(&double).contains("movups xmm0, [rsi]; movups xmm1, [rsi]"));
    assert_eq!(double[3], "");
    let [single, _] = codes("c5f458c2", &[]);
    assert_eq!(single[0], "0000803f0000803f");
    assert!(start(&single).contains("vmovups ymm0, [rsi]; vmovups ymm2, [rsi]"));
    assert_eq!(show_all(&decode(&bytes(&single[3]))), "vzeroupper");
    let [preset, _] = codes("c5f458c2", &["ymm2=0.5"]);
    assert!(start(&preset).contains("mov rax, 0x3f0000003f000000"));
}

#[test]
fn invalid_init_is_rejected() {
    for (setting, reason) in [
        ("rbx", "write REGISTER=VALUE"),
        ("foo=1", "register of x86_64"),
        ("rsp=1", "must stay"),
        ("rbx=1.5", "no number"),
        ("xmm1=x", "no number"),
    ] {
        let message = Presets::read(&[setting.to_owned()]).unwrap_err();
        assert!(message.contains(setting) && message.contains(reason), "{message}");
    }
}

#[test]
fn sequence_keeps_its_bytes() {
    let none = Presets::default();
    // imul rax, rax; mov rax, [rbx + 8] with a displacement of four bytes; pushfq; popfq
    let code = "480fafc0488b83080000009c9d";
    let [figure] = &figures("", &bytes(code), &none).unwrap()[..] else {
        panic!("one figure of a sequence")
    };
    let parts: Vec<&str> = figure.code.as_ref().unwrap().split('/').collect();
    assert_eq!((figure.aspect, parts[4]), ("sequence", code));
    let listing = "repeated as written, a repetition is:\n   0: 48 0f af c0           imul rax, rax\n\
                   \u{20}  4: 48 8b 83 08 00 00 00  mov rax, [rbx + 8]\n   b: 9c                    pushfq\n\
                   \u{20}  c: 9d                    popfq";
    assert_eq!(figure.notes, [listing]);
    // The load's operand lies in the buffer.
    assert!(
        start(&parts.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>())
            .contains("lea rbx, [rdi + 0x7f8]")
    );
}

#[test]
fn sequence_that_cannot_repeat_is_refused() {
    let none = Presets::default();
    let message = |hexadecimal: &str| figures("", &bytes(hexadecimal), &none).unwrap_err();
    assert!(message("").contains("no instruction"));
    assert!(message("90c3").contains("`ret` cannot be measured: it leaves the row"));
    assert!(message("5053").contains("by -16 bytes; give every push its pop"));
    assert!(message("905c").contains("`pop rsp` cannot be measured"));
    assert!(message(&"50".repeat(200)).contains("more than 1024 bytes"));
    assert!(message(&"90".repeat(1025)).contains("has 1025 bytes"));
}

#[test]
fn absolute_address_gets_its_page() {
    let pages = |hexadecimal: &str| {
        let all = figures("", &bytes(hexadecimal), &Presets::default()).unwrap();
        let code = all.iter().find_map(|f| f.code.as_ref().ok()).unwrap();
        code.split('/').nth(1).unwrap().to_owned()
    };
    assert_eq!(pages("8b042500100000"), "1000"); // mov eax, [0x1000]
    assert_eq!(pages("8b0425fe1f0000"), "1000,2000"); // mov eax, [0x1ffe]
    assert_eq!(pages("8b042500000000"), ""); // mov eax, [0]
    assert_eq!(pages("4801d8"), ""); // add rax, rbx
    let kernel = one("8b042500000080"); // mov eax, [0xffffffff80000000]
    assert!(refusal(&kernel).unwrap().contains("outside those that a process can have"));
}

/// Decodes random bytes from a generator with a fixed seed.
fn drawn(count: usize) -> impl Iterator<Item = iced_x86::Instruction> {
    let mut random = fastrand::Rng::with_seed(1);
    let words = std::iter::repeat_with(move || random.u64(..));
    // Prefixes and escapes that random bytes would seldom start with.
    let heads: [&[u8]; 8] =
        [&[], &[0x48], &[0x0f], &[0x66, 0x0f], &[0xf2, 0x48, 0x0f], &[0xc5], &[0xc4], &[0x62]];
    let decoded = words.zip(heads.into_iter().cycle()).map(|(word, head)| {
        let bytes = [head, &word.to_le_bytes(), &[0; 8]].concat();
        decode(&bytes)[0]
    });
    decoded.filter(|i| !i.is_invalid() && refusal(i).is_none()).take(count)
}

/// The registers that a step needs from earlier steps: those that it reads before it writes them.
fn wanted(step: &[iced_x86::Instruction]) -> BTreeSet<FullRegister> {
    let mut own = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for uses in step.iter().map(Uses::new) {
        wanted.extend(uses.sources().difference(&own).copied());
        own.extend(written(&uses));
    }
    wanted
}

fn written(uses: &Uses) -> BTreeSet<FullRegister> {
    let named = uses.operands.iter().filter(|o| o.writes).map(|o| o.place);
    named.chain(uses.implicit_writes.iter().copied()).collect()
}

fn written_by(step: &[iced_x86::Instruction]) -> BTreeSet<FullRegister> {
    step.iter().flat_map(|i| written(&Uses::new(i))).collect()
}

#[test]
fn no_copy_needs_what_another_writes() {
    let mut seen = 0;
    for instruction in drawn(3_000) {
        let Ok(copies) = copies(&instruction) else {
            continue;
        };
        seen += 1;
        let written: Vec<BTreeSet<FullRegister>> =
            copies.steps.iter().map(|s| written_by(s)).collect();
        for (step, own) in copies.steps.iter().zip(&written) {
            // Copies reuse registers if there are more cache lines than registers.
            let mut others = written.iter().filter(|other| *other != own).flatten();
            let wanted = wanted(step);
            assert!(!others.any(|p| wanted.contains(p)), "{}", show_all(step));
        }
        if copies.steps.len() == 1 {
            let step = &copies.steps[0];
            assert!(wanted(step).is_disjoint(&written_by(step)), "{}", show_all(step));
        }
    }
    assert!(seen > 1_500, "{seen}");
}

#[test]
fn every_step_of_a_chain_needs_the_one_before() {
    let mut seen = 0;
    for instruction in drawn(3_000) {
        let Ok(chain) = chain(&instruction) else {
            continue;
        };
        let step = chain.steps.concat();
        let first = Uses::new(&step[0]);
        let last = Uses::new(step.last().unwrap());
        let by_register = wanted(&step).intersection(&written_by(&step)).count() > 0;
        let by_flags = first.flags_read & last.flags_written != 0;
        let by_memory = first.reads_memory && first.writes_memory;
        // An idiom depends on its operand by its text only; the measurement shows whether the
        // processor waits for it.
        let by_text = first.operands.iter().any(|o| o.is_idle && o.writes);
        assert!(by_register || by_flags || by_memory || by_text, "{}", chain.note);
        seen += 1;
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn measured_instructions_can_be_encoded() {
    let none = Presets::default();
    for instruction in drawn(1_000) {
        let bytes = super::code::encode(&instruction).unwrap_or_default();
        for figure in figures("", &bytes, &none).unwrap_or_default() {
            let Ok(code) = figure.code else { continue };
            let parts: Vec<&str> = code.split('/').collect();
            assert_eq!((parts.len(), parts[0].len()), (5, 16), "{code}");
            assert!(!parts[4].is_empty(), "{}", show_all(&[instruction]));
        }
    }
}
