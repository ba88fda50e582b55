//! Messages about a program that did not end normally.

use yamba_record::Note;
use yamba_record::event::{Code, Crash, Event, Failure};
use yamba_record::note::FatalSignal;

use super::bounds::Excess;
use super::process_output::{ProcessExit, ProcessOutput};

/// Disassembles composed code around an address, one instruction per line; `None` if that is
/// impossible.
pub type Listing<'a> = dyn Fn(&Code, u64) -> Option<String> + 'a;

/// The note of a process that was killed at the end of the time of the run.
pub(super) const OUT_OF_TIME: &str =
    "was ended, since the time of the run was over: `yamba run` gives it longer";

/// Why the measurement ended early: errors that the program recorded, or else how its process
/// ended. `None` if it was completed.
pub(super) fn reasons(
    class: &str,
    output: &ProcessOutput,
    listing: &Listing<'_>,
) -> Option<Vec<Note>> {
    let mut reasons = Vec::new();
    let ended = || Note::action(class, describe_exit(output), fatal_signal(output));
    if matches!(output.exit, ProcessExit::Excessive(_) | ProcessExit::TimedOut(_)) {
        // Other messages of the program may be consequences.
        return Some(vec![ended()]);
    }
    for event in &output.events {
        match event {
            Event::Crash(crash) => {
                reasons.extend(crashed(class, crash, &output.messages, listing));
            }
            // Hundreds of processes may fail for one reason.
            Event::Error(failure) => {
                let reason = failed(failure);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            _ => {}
        }
    }
    let is_understood = !matches!(output.exit, ProcessExit::BadRecord(_));
    if reasons.is_empty() && is_understood && output.events.contains(&Event::End) {
        return None;
    }
    if reasons.is_empty() {
        reasons.push(ended());
    }
    Some(reasons)
}

fn failed(failure: &Failure) -> Note {
    let place = match (&failure.file, failure.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        _ => String::new(),
    };
    let class = failure.class.as_deref().unwrap_or("the benchmark");
    Note::report(class, &format!("{}{place}", failure.text))
}

fn crashed(class: &str, crash: &Crash, messages: &str, listing: &Listing<'_>) -> Vec<Note> {
    let mut text = format!("was ended by {} ({})", crash.signal, meaning(crash.number));
    if let Some(code) = &crash.code {
        text += &format!(" in composed code of {}", code.member);
        let bit = crash.pc.saturating_sub(code.base) * 8;
        let inside = |p: &&yamba_record::event::Part| p.start <= bit && bit < p.end;
        let innermost = code.parts.iter().filter(inside).max_by_key(|p| p.depth);
        if let Some(part) = innermost.filter(|p| p.name != code.member) {
            text += &format!(", in {}", part.name);
        }
    }
    // A program aborts itself in the C library.
    if crash.pc != 0 && crash.number != 6 {
        text += &format!(", at {:#x}", crash.pc);
    }
    // SIGSEGV and SIGBUS: this address is that of the access, not of the instruction.
    let address = matches!(crash.number, 7 | 11).then_some(crash.address);
    if let Some(address) = address {
        text += &format!(", touching {address:#x}");
    }
    if !messages.is_empty() {
        text += &format!(": {messages}");
    }
    let signal = FatalSignal { name: crash.signal.clone(), address };
    let shown = crash.code.as_ref().and_then(|code| listing(code, crash.pc));
    let ended = Note::action(class, text, Some(signal));
    std::iter::once(ended).chain(shown.map(Note::Text)).collect()
}

/// The signal that ended the process.
fn fatal_signal(output: &ProcessOutput) -> Option<FatalSignal> {
    match output.exit {
        ProcessExit::Signal(number) => Some(FatalSignal { name: name(number), address: None }),
        _ => None,
    }
}

/// How the process ended, in words.
pub(super) fn describe_exit(output: &ProcessOutput) -> String {
    let text = match &output.exit {
        ProcessExit::Exit(0) => "ended without finishing its measurement".to_owned(),
        ProcessExit::Exit(status) => format!("ended with status {status}"),
        ProcessExit::Signal(number) => {
            format!("was ended by {} ({})", name(*number), meaning(*number))
        }
        ProcessExit::Hung(limit) => format!(
            "said nothing for {} s and was ended; --timeout gives it longer",
            limit.as_secs_f64()
        ),
        ProcessExit::TimedOut(limit) => format!(
            "took longer than {} s and was ended; --timeout gives it longer",
            limit.as_secs_f64()
        ),
        ProcessExit::Excessive(excess) => exceeded(*excess),
        ProcessExit::Suspended(limit) => format!(
            "was stopped by a signal, said nothing for {} s and was ended",
            limit.as_secs_f64()
        ),
        ProcessExit::BadRecord(fault) => format!(
            "wrote a record that is not understood, {fault}; docs/protocol.md shows the form of each"
        ),
        ProcessExit::Flooded => {
            "wrote more records than any measurement does and was ended".to_owned()
        }
        ProcessExit::Stopped => "was stopped".to_owned(),
        ProcessExit::OutOfTime => OUT_OF_TIME.to_owned(),
        ProcessExit::NotStarted(why) => why.clone(),
    };
    if output.messages.is_empty() { text } else { format!("{text}: {}", output.messages) }
}

fn exceeded(excess: Excess) -> String {
    match excess {
        Excess::Processes { limit, is_all } => {
            let fix = if is_all {
                "the system has no more to spare"
            } else {
                "--process-limit lets it have more"
            };
            format!("started more than {limit} processes and threads and was ended; {fix}")
        }
        Excess::Memory { limit } => format!(
            "took more memory than the {} MiB that the system can spare and was ended",
            limit >> 20
        ),
    }
}

fn name(signal: i32) -> String {
    let known = signal_hook::low_level::signal_name(signal);
    known.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

fn meaning(signal: i32) -> &'static str {
    match signal {
        4 => "illegal instruction",
        5 => "trap",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed",
        11 => "invalid memory access",
        13 => "broken pipe",
        15 => "terminated",
        25 => {
            "a file outgrew the room for this run's files: raise --disk-limit, or let TMPDIR name a larger disk"
        }
        _ => "signal",
    }
}
