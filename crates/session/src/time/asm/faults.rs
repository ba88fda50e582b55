//! Explains crashes and implausible latencies of an instruction.

use yamba_record::note::ProgramNote;
use yamba_record::{Benchmark, Note, Status};

/// The least cycles per step of a chain in which the processor waits for each result.
const DEPENDENT: f64 = 0.9;

/// Explains a crash of an instruction, and removes a latency that is too short to be one.
///
/// Moves between registers may take less than a cycle, since a processor that renames registers
/// does not execute them.
pub(in super::super) fn explain(benchmark: &mut Benchmark, instruction: &str, is_move: bool) {
    if benchmark.status == Status::Crashed {
        if let Some(text) = fault(benchmark, instruction) {
            benchmark.notes = vec![Note::Text(text)];
        }
        return;
    }
    let is_chain = benchmark.name.ends_with("/latency");
    let cycles =
        benchmark.details.cycles.filter(|c| is_chain && c.confidence_interval[1] < DEPENDENT);
    if let Some(cycles) = cycles {
        if is_move {
            let note =
                "less than a cycle: this processor renames registers instead of executing the move";
            benchmark.notes.push(Note::Text(note.to_owned()));
            return;
        }
        benchmark.status = Status::Skipped;
        benchmark.valid = false;
        benchmark.median = None;
        benchmark.confidence_interval = None;
        benchmark.details.cycles = None;
        benchmark.notes.push(Note::Text(format!(
            "no latency: a step of this chain takes {:.2} cycles, so the processor does not wait for the step before (it knows the result without the \
             operand, as of a zero idiom, or renames instead of executing)",
            cycles.median
        )));
    }
}

fn fault(benchmark: &Benchmark, instruction: &str) -> Option<String> {
    let Some(Note::Program(ProgramNote { signal: Some(signal), .. })) = benchmark.reason() else {
        return None;
    };
    Some(match signal.name.as_str() {
        "SIGILL" => format!(
            "`{instruction}` is illegal here: this processor, or its system, does not have it (SIGILL)"
        ),
        "SIGFPE" => format!(
            "`{instruction}` fails with what its registers hold: a division by zero or a quotient that is too large (SIGFPE)\n\
             give other values: for a division --init rdx=0, for its divisor for example --init rbx=7; a divisor in rdx always overflows"
        ),
        name @ ("SIGSEGV" | "SIGBUS") => {
            let touching = match signal.address {
                Some(0) | None => "it touches memory that it may not, or needs an address of another alignment, or is kept for the kernel".to_owned(),
                Some(address) => format!("it touches {address:#x}, which is not in the buffer"),
            };
            format!(
                "`{instruction}` faults: {touching} ({name})\n\
                 every general register holds the address of a buffer of 16 KiB, or leads to it as part of an address, unless --init REGISTER=VALUE says otherwise"
            )
        }
        "SIGTRAP" => format!("`{instruction}` traps into a debugger (SIGTRAP)"),
        _ => return None,
    })
}
