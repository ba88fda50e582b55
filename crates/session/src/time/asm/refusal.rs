//! Determines instructions that cannot be measured in a sequence of copies.

use iced_x86::{CpuidFeature, FlowControl, Instruction, Mnemonic, Register};

use super::operands::{FullRegister, STACK, Uses};

/// Why an instruction cannot be measured; `None` if it can.
pub(super) fn refusal(instruction: &Instruction) -> Option<&'static str> {
    use CpuidFeature::*;
    let not_set_up = |f: &CpuidFeature| matches!(f, FPU | FPU287 | FPU387 | MMX | D3NOW | AMX_TILE);
    match instruction {
        i if i.is_invalid() => Some("the decoder does not know it"),
        i if leaves(i) => Some(
            "it leaves the row of steps: jumps, calls, returns and system calls are not measured so; time a statement instead",
        ),
        i if i.is_privileged() => Some("only the kernel may execute it"),
        i if writes_stack_pointer(i) => {
            Some("it changes the stack pointer, on which the steps' frame rests")
        }
        i if i.is_string_instruction() && (i.has_rep_prefix() || i.has_repne_prefix()) => {
            Some("how long it takes depends on a count that it uses up; time a statement instead")
        }
        i if i.is_ip_rel_memory_operand() => {
            Some("its operand is relative to the code around it, which is not yours")
        }
        i if changes_environment(i) => {
            Some("it changes what the measuring program itself relies on")
        }
        i if i.cpuid_features().iter().any(not_set_up) || names_mmx(i) => {
            Some("x87, MMX and tile registers are not set up")
        }
        i if asks_the_system(i) => {
            Some("only the kernel, or a program that it lets, may execute it")
        }
        i => super::address::refusal(i),
    }
}

fn asks_the_system(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let known = [
        In, Out, Insb, Insw, Insd, Outsb, Outsw, Outsd, Cli, Sti, Sgdt, Sidt, Sldt, Str, Smsw,
        Rdpmc, Xend, Xabort, Mwaitx, Monitorx, Umwait, Vmcall, Vmmcall, Vmfunc, Enclu,
    ];
    known.contains(&instruction.mnemonic())
}

/// Whether it leaves the sequence. Instructions that are illegal by definition are accepted:
/// running them shows the fault.
fn leaves(instruction: &Instruction) -> bool {
    !matches!(instruction.flow_control(), FlowControl::Next | FlowControl::Exception)
}

fn writes_stack_pointer(instruction: &Instruction) -> bool {
    Uses::new(instruction).written().any(|p| p == STACK)
}

fn changes_environment(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let writes_segment = instruction.op_count() > 0
        && instruction.op0_register().is_segment_register()
        && instruction.mnemonic() == Mov;
    let known = [
        Std, Wrfsbase, Wrgsbase, Ldmxcsr, Vldmxcsr, Fxrstor, Fxrstor64, Xrstor, Xrstor64, Wrpkru,
        Lss, Lfs, Lgs,
    ];
    writes_segment || known.contains(&instruction.mnemonic())
}

fn names_mmx(instruction: &Instruction) -> bool {
    let mut registers = (0..instruction.op_count()).map(|i| instruction.op_register(i));
    registers.any(|r| {
        r != Register::None
            && FullRegister::from_register(r).is_none()
            && (r.is_mm() || r.is_st() || r.is_tmm())
    })
}
