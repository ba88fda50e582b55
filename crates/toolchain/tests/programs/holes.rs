//! `${}` in asm blocks, compared with the same text assembled with the value as a literal.

use std::process::Command;

use object::{Object, ObjectSection};
use yamba_codegen::asm::{Field, Syntax};

use crate::support::{analyse, build, build_faults, compose_fault, hex};

/// Assembles each of `pieces` with the target's assembler, all in one run. Each piece has its own
/// section.
fn assembled(isa: &str, header: &str, pieces: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, object) = (folder.path().join("a.s"), folder.path().join("a.o"));
    let sections = pieces
        .iter()
        .enumerate()
        .map(|(i, piece)| format!(".section .piece.{i},\"ax\",%progbits\n{header}{piece}\n"));
    std::fs::write(&source, sections.collect::<String>()).expect("a file");
    let prefix = match isa {
        "x86_64" => "",
        "x86_32" => "i686-linux-gnu-",
        "aarch64" => "aarch64-linux-gnu-",
        _ => "riscv64-linux-gnu-",
    };
    let output = Command::new(format!("{prefix}as"))
        .arg("-o")
        .arg(&object)
        .arg(&source)
        .output()
        .expect("as");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let data = std::fs::read(&object).expect("an object file");
    let file = object::File::parse(&*data).expect("an object file");
    let hex = |i: usize| {
        let section = file.section_by_name(&format!(".piece.{i}")).expect("the section");
        section.data().expect("bytes").iter().map(|b| format!("{b:02X}")).collect()
    };
    (0..pieces.len()).map(hex).collect()
}

/// A block with one hole, the smallest and largest value it accepts, and the step between values.
/// `literal` is the spelling of the text with a value, if its shortest encoding differs from the
/// hole's.
struct Case {
    isa: &'static str,
    block: &'static str,
    min: i64,
    max: u64,
    multiple: u64,
    literal: Option<&'static str>,
}

const fn case(isa: &'static str, block: &'static str, min: i64, max: u64, multiple: u64) -> Case {
    Case { isa, block, min, max, multiple, literal: None }
}

const fn wide(
    isa: &'static str,
    block: &'static str,
    min: i64,
    max: u64,
    literal: &'static str,
) -> Case {
    Case { isa, block, min, max, multiple: 1, literal: Some(literal) }
}

const I32: i64 = i32::MIN as i64;
const MAX_I32: u64 = i32::MAX as u64;
const MAX_U32: u64 = u32::MAX as u64;

const CASES: &[Case] = &[
    case("x86_64", "mov eax, ${v}", I32, MAX_U32, 1),
    wide("x86_64", "mov rax, [rbx + ${v}]", I32, MAX_I32, "mov.d32 rax, [rbx + @]"),
    wide(
        "x86_64",
        "mov rax, [rbx + 4*rcx + 16 + ${v}]",
        I32 - 16,
        MAX_I32 - 16,
        "mov.d32 rax, [rbx + 4*rcx + 16 + @]",
    ),
    case("x86_64", "movabs rax, ${v}", i64::MIN, u64::MAX, 1),
    case("x86_64", "mov al, ${v}", -128, 255, 1),
    case("x86_64", "test ebx, ${v}", I32, MAX_U32, 1),
    case("x86_64", "pshufd xmm0, xmm1, ${v}", -128, 255, 1),
    case("x86_64", "ret ${v}", -32768, 65535, 1),
    case("x86_64", ".long ${v}", I32, MAX_U32, 1),
    case("x86_32", "mov eax, ${v}", I32, MAX_U32, 1),
    wide("x86_32", "mov eax, [ebx + ${v}]", I32, MAX_U32, "mov.d32 eax, [ebx + @]"),
    wide("x86_32", "mov eax, [ebx + 8 + ${v}]", I32 - 8, MAX_U32 - 8, "mov.d32 eax, [ebx + 8 + @]"),
    case("aarch64", "movz x3, #${v}", 0, 65535, 1),
    case("aarch64", "add x0, x1, #${v}", 0, 4095, 1),
    case("aarch64", "ldr x0, [x1, #${v}]", 0, 32760, 8),
    case("aarch64", "ldr w0, [x1, #${v}]", 0, 16380, 4),
    case("aarch64", "ldrb w0, [x1, #${v}]", 0, 4095, 1),
    case("aarch64", "ldp x0, x1, [sp, #${v}]", -512, 504, 8),
    case("aarch64", "b .+${v}", -(1 << 27), (1 << 27) - 4, 4),
    case("aarch64", "cbz x0, .+${v}", -(1 << 20), (1 << 20) - 4, 4),
    case("aarch64", "lsr x0, x0, #${v}", 0, 63, 1),
    case("aarch64", "svc #${v}", 0, 65535, 1),
    case("riscv64", "addi a0, a1, ${v}", -2048, 2047, 1),
    case("riscv64", "ld a0, ${v}(a1)", -2048, 2047, 1),
    case("riscv64", "sd a0, ${v}(a1)", -2048, 2047, 1),
    case("riscv64", "lui a0, ${v}", 0, 0xFFFFF, 1),
    case("riscv64", "slli a0, a0, ${v}", 0, 63, 1),
    case("riscv64", "li a0, ${v}", -2048, 2047, 1),
    case("riscv64", "beq a0, a1, .+${v}", -4096, 4094, 2),
    case("riscv64", "jal a0, .+${v}", -(1 << 20), (1 << 20) - 2, 2),
];

/// Both limits, values around zero, and single bits between.
fn values(case: &Case) -> Vec<i128> {
    let (min, max, step) = (i128::from(case.min), i128::from(case.max), i128::from(case.multiple));
    let mut values = vec![min, min + step, -step, 0, step, max / 3 / step * step, max - step, max];
    values.extend((0..64).map(|k| 1i128 << k));
    values.extend((0..64).map(|k| -(1i128 << k)));
    values.retain(|v| (min..=max).contains(v) && v % step == 0);
    values.sort_unstable();
    values.dedup();
    values
}

/// All cases of an instruction set as members of one class, so only one program is built. Each case
/// composes all of its values in a row.
fn program(isa: &str) -> String {
    let mut text = format!("yamba t on {isa} {{ void benchmark() {{}}\n");
    for (i, case) in CASES.iter().enumerate().filter(|(_, c)| c.isa == isa) {
        let (unsigned, signed): (Vec<i128>, Vec<i128>) =
            values(case).into_iter().partition(|v| *v > i128::from(i64::MAX));
        text += &format!("bitstring signed_{i}(long long v) {{ asm {{ {} }} }}\n", case.block);
        text += &format!(
            "bitstring unsigned_{i}(unsigned long long v) {{ asm {{ {} }} }}\n",
            case.block
        );
        text += &format!("bitstring all_{i} {{ ");
        for value in signed {
            // C++ cannot write the smallest value as one literal.
            let value = if value == i128::from(i64::MIN) {
                "INT64_MIN".to_owned()
            } else {
                format!("{value}ll")
            };
            text += &format!("signed_{i}({value}) ");
        }
        for value in unsigned {
            text += &format!("unsigned_{i}({value}ull) ");
        }
        text += "}\n";
    }
    text + "}\n"
}

fn check(isa: &str) {
    let text = program(isa);
    let built = build(&text, "t", isa);
    let syntax = Syntax::for_isa(&analyse(&text), isa);
    let header = format!("{}{}", syntax.header, syntax.hole_header);
    for (i, case) in CASES.iter().enumerate().filter(|(_, c)| c.isa == isa) {
        let written = |v: i128| {
            case.literal.map_or_else(
                || case.block.replace("${v}", &v.to_string()),
                |l| l.replace('@', &v.to_string()),
            )
        };
        let pieces: Vec<String> = values(case).into_iter().map(written).collect();
        let expected = assembled(isa, &header, &pieces);
        let composed = hex(&built, &format!("all_{i}"), &[]);
        let length = expected[0].len();
        for (n, (piece, bytes)) in pieces.iter().zip(&expected).enumerate() {
            assert_eq!(&composed[n * length..(n + 1) * length], bytes, "{isa}: {piece}");
        }
        assert_eq!(composed.len(), length * pieces.len());
        for outside in [i128::from(case.min) - 1, i128::from(case.max) + 1] {
            if i64::try_from(outside).is_ok() {
                let fault = compose_fault(&built, &format!("signed_{i}"), &[&outside.to_string()]);
                assert!(
                    fault["text"].as_str().expect("text").contains("has no encoding here"),
                    "{fault}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs g++"]
fn holes_on_x86_64() {
    check("x86_64");
}

#[test]
#[ignore = "needs i686-linux-gnu-g++"]
fn holes_on_x86_32() {
    check("x86_32");
}

#[test]
#[ignore = "needs aarch64-linux-gnu-g++ and qemu-aarch64"]
fn holes_on_aarch64() {
    check("aarch64");
}

#[test]
#[ignore = "needs riscv64-linux-gnu-g++ and qemu-riscv64"]
fn holes_on_riscv64() {
    check("riscv64");
}

#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn value_without_plain_field_is_rejected() {
    for (isa, block) in [
        ("x86_64", "jmp ${v}"),
        ("x86_64", "call ${v}"),
        ("aarch64", "and x0, x0, #${v}"),
        ("aarch64", "lsl x0, x0, #${v}"),
        ("riscv64", "j ${v}"),
    ] {
        let text = format!(
            "yamba t on {isa} {{ void benchmark() {{}}\n bitstring b(int v) {{ asm {{ {block} }} }}\n}}\n"
        );
        let (found, shown) = build_faults(&text, "t", isa);
        let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
        let refusals = ["asm-hole-no-field", "asm-outside-reference", "assembler-error"];
        assert!(matches!(codes[..], [one] if refusals.contains(&one)), "{isa} {block}: {shown}");
        assert!(shown.contains("test.yamba:2:"), "{shown}");
    }
}

#[test]
#[ignore = "needs g++"]
fn several_holes_and_lines() {
    let text = "yamba t on x86_64 { void benchmark() {}
    bitstring b(int x, int y) { 0b1111 asm { mov eax, ${x}   // the first
                                      /* between */ add ebx, [rcx + ${y * 2}]; nop } 0x0 }
}";
    let built = build(text, "t", "x86_64");
    assert_eq!(hex(&built, "b", &["1", "-1"]), "FB8010000000399FEFFFFFF900");
    // The encoding of the field matters here.
    let field = Field {
        min: 0,
        max: 255,
        multiple: 1,
        bias: 0,
        bits: vec![yamba_codegen::asm::FieldBits { value_bit: 0, block_bit: 8, count: 8 }],
    };
    assert_eq!(field.encode(&[1, 2], 7), [1, 7]);
}
