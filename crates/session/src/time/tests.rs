//! Plans and runs instructions of many forms.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use super::*;

/// Memory operands in every form: displacements, indices, scales, the stack.
const ADDRESSES: &[&str] = &[
    "[rbx]",
    "[rbx+8]",
    "[rbx-128]",
    "[rbx+4096]",
    "[rbx+0x7fffffff]",
    "[rbx-0x80000000]",
    "[rbx+rcx]",
    "[rbx+rcx*2+3]",
    "[rbx+rcx*4-64]",
    "[rbx+rcx*8+0x12345678]",
    "[rbx+rbx]",
    "[rbx+rbx*8+16]",
    "[rcx*1+64]",
    "[rcx*2]",
    "[rcx*8+128]",
    "[r12]",
    "[r13+8]",
    "[r13+r12*4]",
    "[rdi+8]",
    "[rdi+rsi*8]",
    "[rsi+rdi*4]",
    "[ebx+8]",
    "[rsp+8]",
    "[rsp+rcx*8+16]",
    "[rax+16]",
    "[rbx+rax*4]",
];

/// Instructions in which `M` stands for a memory operand.
const ACCESSES: &[&str] = &[
    "mov rax, M",
    "mov eax, M",
    "movzx eax, byte ptr M",
    "movsx rax, word ptr M",
    "add rax, M",
    "add M, rdx",
    "mov M, rdx",
    "movsd xmm0, M",
];

/// Loads, each with one address.
const LOADS: &[&str] = &[
    "mov al, M",
    "mov ax, M",
    "mov ah, M",
    "movsxd rax, dword ptr M",
    "movbe rax, M",
    "popcnt rax, M",
    "lzcnt rax, M",
    "tzcnt rax, M",
    "bsf rax, M",
    "imul rax, M",
    "imul rax, M, 3",
    "cmovb rax, M",
    "adc rax, M",
    "sub rax, M",
    "and rax, M",
    "or rax, M",
    "xor rax, M",
    "cmp rax, M",
    "cmp M, rax",
    "test M, rax",
    "mul qword ptr M",
    "div qword ptr M",
    "idiv dword ptr M",
    "div byte ptr M",
    "mulx rax, rdx, M",
    "pdep rax, rdx, M",
    "pext rax, rdx, M",
    "andn rax, rdx, M",
    "bextr rax, M, rdx",
    "rorx rax, M, 3",
    "shlx rax, M, rdx",
    "blsr rax, M",
    "bt M, rdx",
    "bts M, rdx",
    "btc dword ptr M, 3",
    "inc dword ptr M",
    "dec byte ptr M",
    "neg qword ptr M",
    "not word ptr M",
    "shl dword ptr M, 1",
    "sar qword ptr M, cl",
    "ror byte ptr M, 3",
    "shld M, rdx, 5",
    "xchg M, rdx",
    "xadd M, rdx",
    "lock xadd M, rdx",
    "lock add M, rdx",
    "lock inc qword ptr M",
    "cmpxchg M, rdx",
    "lock cmpxchg M, rdx",
    "cmpxchg16b M",
    "cmpxchg8b M",
    "setb byte ptr M",
    "mov byte ptr M, 1",
    "mov qword ptr M, 1",
    "movnti M, rdx",
    "push qword ptr M",
    "pop qword ptr M",
    "prefetcht0 M",
    "clflush M",
    "lea rax, M",
    "crc32 rax, qword ptr M",
    "movss xmm0, M",
    "movaps xmm0, M",
    "movups xmm0, M",
    "movdqu xmm0, M",
    "movaps M, xmm1",
    "movntdq M, xmm1",
    "movq xmm0, qword ptr M",
    "movd xmm0, dword ptr M",
    "movhps xmm0, M",
    "movlpd xmm0, M",
    "movddup xmm0, M",
    "lddqu xmm0, M",
    "addsd xmm0, M",
    "mulss xmm0, M",
    "sqrtsd xmm0, M",
    "sqrtpd xmm0, M",
    "cvtsi2sd xmm0, qword ptr M",
    "cvttsd2si rax, M",
    "cvtss2sd xmm0, M",
    "paddd xmm0, M",
    "pshufd xmm0, M, 27",
    "pshufb xmm0, M",
    "pinsrq xmm0, M, 1",
    "pextrq M, xmm1, 1",
    "pmovzxbw xmm0, M",
    "ptest xmm0, M",
    "ucomisd xmm0, M",
    "movmskps eax, xmm1",
    "vmovaps ymm0, M",
    "vmovups M, ymm1",
    "vbroadcastss ymm0, M",
    "vaddps ymm0, ymm1, M",
    "vfmadd231pd ymm0, ymm1, M",
    "vmaskmovps ymm0, ymm1, M",
    "vpermd ymm0, ymm1, M",
    "vinsertf128 ymm0, ymm1, M, 1",
    "vmovups zmm0, M",
    "vmovdqu8 zmm0{k1}{z}, M",
    "vmovups M{k1}, zmm0",
    "vaddpd zmm0, zmm1, qword ptr M{1to8}",
    "vpcompressd M{k1}, zmm0",
    "vpexpandd zmm0{k1}, M",
    "kmovw k1, M",
    "kmovq M, k1",
    "vcvtps2ph M, xmm1, 0",
    "vcvtph2ps xmm0, M",
    "aesenc xmm0, M",
    "pclmulqdq xmm0, M, 0",
    "sha256msg1 xmm0, M",
    "fxsave M",
    "stmxcsr M",
    "xsave M",
];

/// Instructions without a memory operand in their text.
const OTHERS: &[&str] = &[
    "mov rax, rbx",
    "mov eax, ebx",
    "mov rax, rax",
    "mov al, bl",
    "mov ah, bl",
    "movzx eax, bl",
    "movsxd rax, ebx",
    "movaps xmm0, xmm1",
    "vmovdqa ymm0, ymm1",
    "vmovdqa64 zmm0, zmm1",
    "kmovq k1, k2",
    "xchg rax, rbx",
    "bswap rax",
    "add rax, rbx",
    "add rax, rax",
    "sub rax, rax",
    "imul rax, rbx",
    "imul rax, rax",
    "mul rbx",
    "imul rbx",
    "div rbx",
    "div ebx",
    "div bx",
    "div bl",
    "idiv rbx",
    "idiv ecx",
    "idiv cl",
    "div rax",
    "idiv rax",
    "div rdx",
    "div r8",
    "shl rax, cl",
    "shl rax, 1",
    "rol rax, 7",
    "rcl rax, 1",
    "shld rax, rbx, 3",
    "bt rax, rbx",
    "bts rax, 5",
    "popcnt rax, rbx",
    "pdep rax, rbx, rcx",
    "lea rax, [rbx]",
    "lea rax, [rbx+rcx*8+9]",
    "cqo",
    "cdqe",
    "cwd",
    "setb al",
    "cmovb rax, rbx",
    "cmp rax, rbx",
    "test rax, rax",
    "adc rax, rbx",
    "sbb rax, rax",
    "inc rax",
    "neg rax",
    "not rax",
    "cmc",
    "stc",
    "lahf",
    "sahf",
    "xlatb",
    "push rax",
    "pop rax",
    "push rax; pop rax",
    "push rax; pop rbx",
    "push 5",
    "pushfq",
    "popfq",
    "push ax",
    "push r12",
    "lodsb",
    "lodsq",
    "stosb",
    "stosq",
    "movsb",
    "movsq",
    "cmpsb",
    "scasb",
    "nop",
    "pause",
    "lfence",
    "mfence",
    "sfence",
    "rdtsc",
    "rdtscp",
    "xgetbv",
    "rdrand rax",
    "crc32 rax, rbx",
    "addsd xmm0, xmm1",
    "mulsd xmm0, xmm1",
    "divsd xmm0, xmm1",
    "sqrtsd xmm0, xmm1",
    "cvtsi2sd xmm0, rax",
    "cvttsd2si rax, xmm0",
    "movq rax, xmm0",
    "movd xmm0, eax",
    "pextrq rax, xmm0, 1",
    "pinsrq xmm0, rax, 1",
    "pxor xmm0, xmm0",
    "paddd xmm0, xmm1",
    "pmulld xmm0, xmm1",
    "pshufb xmm0, xmm1",
    "haddps xmm0, xmm1",
    "dpps xmm0, xmm1, 255",
    "ptest xmm0, xmm1",
    "pmovmskb eax, xmm1",
    "ucomisd xmm0, xmm1",
    "aesenc xmm0, xmm1",
    "pcmpistri xmm0, xmm1, 0",
    "vaddps ymm0, ymm1, ymm2",
    "vfmadd231sd xmm0, xmm1, xmm2",
    "vfmadd213ps ymm0, ymm1, ymm2",
    "vpermd ymm0, ymm1, ymm2",
    "vextractf128 xmm0, ymm1, 1",
    "vblendvps ymm0, ymm1, ymm2, ymm3",
    "vzeroupper",
    "vaddpd zmm0, zmm1, zmm2",
    "vaddpd zmm0{k1}, zmm1, zmm2",
    "vpcmpd k1, zmm0, zmm1, 2",
    "vpternlogd zmm0, zmm1, zmm2, 3",
    "kaddq k1, k2, k3",
    "kortestq k1, k2",
    "kmovw k1, eax",
    "vpmovm2d zmm0, k1",
    "vpcompressd zmm0{k1}, zmm1",
    "vpopcntq zmm0, zmm1",
    "vgatherdps ymm0, [rbx+ymm1*4], ymm2",
    "vgatherdps xmm0, [rbx+xmm1*4+64], xmm2",
    "vgatherdpd ymm0, [rbx+xmm1*8], ymm2",
    "vgatherqps xmm0, [rbx+ymm1*8], xmm2",
    "vpgatherqq ymm0, [rbx+ymm1*8], ymm2",
    "vpgatherdd ymm3, [rcx+ymm9*1], ymm4",
    "vgatherdps zmm0{k1}, [rbx+zmm1*4]",
    "vgatherdpd zmm0{k2}, [rbx+ymm1*8]",
    "vpgatherqq zmm0{k1}, [rbx+zmm1*8]",
    "vpgatherqd ymm0{k1}, [rbx+zmm1*4+8]",
    "vpgatherdd xmm20{k1}, [rbx+xmm21*4]",
    "vpscatterdd [rbx+zmm1*4]{k1}, zmm0",
    "vscatterqpd [rbx+zmm1*8]{k3}, zmm0",
];

/// Instructions that are refused with a reason.
const REFUSED: &[&str] = &[
    "fld1",
    "fadd st, st(1)",
    "emms",
    "paddd mm0, mm1",
    "jmp rax",
    "ret",
    "call rax",
    "syscall",
    "int3",
    "hlt",
    "rep movsb",
    "mov rax, [rip]",
    "mov rax, fs:[rbx]",
    "mov rsp, rax",
    "add rsp, 8",
    "pop rsp",
    "leave",
    "enter 8, 0",
    "in al, 16",
    "cli",
    "rdpmc",
    "rdmsr",
    "std",
    "ldmxcsr [rbx]",
    "mov ds, eax",
    "sgdt [rbx]",
    "wrfsbase rax",
    "push rax; push rbx",
    "mov rax, [rsp+4096]",
    "mov rax, [rbx*8+0x7fffffff]",
];

fn all() -> Vec<String> {
    let accesses = ACCESSES.iter().flat_map(|text| {
        let each = ADDRESSES.iter();
        each.map(move |address| text.replace('M', address))
    });
    let loads = LOADS.iter().map(|text| text.replace('M', "[rbx+rcx*2+64]"));
    let others = OTHERS.iter().map(|text| (*text).to_owned());
    accesses.chain(loads).chain(others).collect()
}

/// Runs one short process of the program that runs steps.
fn run(job: &Job, code: &str) -> Output {
    let Ok(program) = &job.program else {
        panic!("no program");
    };
    Command::new(&program.path)
        .args(["--run", "--set", &format!("code={code}"), "--set", "length=60"])
        .args(["--batches", "1", "--time-ns", "1000", "--warmup-ns", "1"])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn planned(instructions_timed: &[String]) -> Questions {
    match instructions(instructions_timed, &[], None, &build::host()) {
        Ok(questions) => questions,
        Err(Refused::Sentence(text)) => panic!("{text}"),
        Err(Refused::Diagnostics(located)) => {
            let all: Vec<_> = located.diagnostics.iter().map(|d| &d.message).collect();
            panic!("{all:#?}")
        }
        Err(_) => panic!("no program"),
    }
}

/// Every form has figures or a reason, and no code crashes.
#[test]
#[cfg_attr(all(target_arch = "x86_64", target_os = "linux"), ignore = "needs g++")]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "needs Linux on x86_64")]
fn every_instruction_form_runs_or_has_a_reason() {
    let instructions_timed = all();
    assert!(instructions_timed.len() > 400, "{}", instructions_timed.len());
    let questions = planned(&instructions_timed);
    let mut wrong = String::new();
    let mut ran = 0;
    for question in &questions.each {
        for code in question.attempts.iter().filter_map(|w| w.value.as_deref()) {
            let output = run(&questions.jobs[0], code);
            let text = String::from_utf8_lossy(&output.stdout);
            // An instruction that this processor lacks ends with SIGILL.
            let is_illegal = text.contains("SIGILL") || output.status.signal() == Some(4);
            let is_division = text.contains("SIGFPE") && question.wording == "div rdx";
            if !output.status.success() && !is_illegal && !is_division {
                let tail: String = text.lines().filter(|l| l.contains("crash")).collect();
                wrong += &format!(
                    "{}: {:?} {:?} {tail:.200}\n",
                    question.name, output.status, question.attempts[0].notes
                );
            }
            ran += usize::from(output.status.success());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(ran > 600, "{ran}");
}

#[test]
#[cfg_attr(all(target_arch = "x86_64", target_os = "linux"), ignore = "needs g++")]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "needs Linux on x86_64")]
fn rejected_instruction_has_reason_and_affects_no_other() {
    let mut instructions_timed: Vec<String> =
        REFUSED.iter().map(|text| (*text).to_owned()).collect();
    instructions_timed.push("add rax, rbx".to_owned());
    let questions = planned(&instructions_timed);
    assert!(questions.is_partial);
    let reasons = questions.jobs.iter().filter(|job| job.program.is_err());
    // Latency and throughput, or the one figure of a sequence.
    let figures = REFUSED.iter().map(|text| if text.contains(';') { 1 } else { 2 });
    assert_eq!(reasons.count(), figures.sum::<usize>());
    let measured = questions.each.iter().filter(|q| q.attempts[0].value.is_some());
    let measured: Vec<&str> = measured.map(|q| q.wording.as_str()).collect();
    assert_eq!(measured, ["add rax, rbx"; 2]);
    // On its own, a refused instruction leaves nothing to measure.
    for text in REFUSED {
        let alone = instructions(&[(*text).to_owned()], &[], None, &build::host());
        assert!(matches!(alone, Err(Refused::Sentence(why)) if why.contains(text)), "{text}");
    }
}

#[test]
fn only_a_better_measurement_replaces_a_figure() {
    let benchmark = |status, launches: u64, is_disturbed, cycles: Option<f64>| {
        let mut benchmark = Benchmark {
            status,
            launches: vec![Default::default(); launches as usize],
            ..yamba_harness::not_started("x")
        };
        benchmark.interference.is_disturbed = is_disturbed;
        benchmark.details.cycles = cycles
            .map(|median| yamba_record::run::Cycles { median, confidence_interval: [median; 2] });
        benchmark.environment.cycle_ns = vec![Some(0.25)];
        benchmark
    };
    let ok = |is_disturbed, cycles| benchmark(Status::Ok, LAUNCHES, is_disturbed, cycles);
    let (disturbed, without_cycles) = (ok(true, Some(3.0)), ok(false, None));
    assert!(is_unclear(&disturbed) && is_unclear(&without_cycles));
    for old in [&disturbed, &without_cycles] {
        assert!(is_better(&ok(false, Some(3.0)), old));
        assert!(!is_better(&ok(true, Some(3.0)), old));
        for status in [Status::Invalid, Status::Crashed, Status::Skipped] {
            assert!(!is_better(&benchmark(status, LAUNCHES, false, Some(3.0)), old));
        }
        // The user stopped it.
        let stopped = benchmark(Status::Ok, LAUNCHES - 1, false, Some(3.0));
        assert!(!is_better(&stopped, old));
    }
    assert!(is_better(&without_cycles, &disturbed));
    let bounded = |low| {
        let mut bounded = disturbed.clone();
        bounded.interference.is_bounded = true;
        bounded.median = Some(1.0);
        bounded.confidence_interval = Some([low, 1.0]);
        bounded
    };
    assert!(is_better(&bounded(0.9), &disturbed) && !is_better(&disturbed, &bounded(0.9)));
    assert!(is_better(&bounded(0.9), &bounded(0.7)) && !is_better(&bounded(0.7), &bounded(0.9)));
    assert!(!is_better(&bounded(0.9), &without_cycles));
    assert!(!is_better(&without_cycles, &without_cycles));
}
