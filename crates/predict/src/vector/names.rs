//! The names of primitives, those primitives that Yamba knows by name, and the name by which a
//! vector and a run recognise the machine.

use yamba_record::Machine;

/// The primitive that stands for any system call without a primitive of its own.
pub const NULL_CALL: &str = "null";

/// The primitive of a clock reading by the C library.
pub const CLOCK_READING: &str = "clock_reading";

/// The kind of a call in which the thread slept until an event occurred: `epoll_wait(blocked)`.
pub const BLOCKED: &str = "blocked";

/// The kind of a call that fails.
pub(crate) const FAILED: &str = "(failed)";

/// The calls that have this kind, by the names of their primitives.
pub const WAITING: [&str; 3] = [EPOLL_WAIT, "poll", "select"];

/// The wait whose size is the number of events.
pub(crate) const EPOLL_WAIT: &str = "epoll_wait";

/// An `epoll_wait` in which the thread slept. A trace by strace does not distinguish it.
pub(crate) const EPOLL_WAIT_BLOCKED: &str = "epoll_wait(blocked)";

/// The calls that make, replace or end a process.
pub(crate) const PROCESS_CALLS: [&str; 7] =
    ["fork", "vfork", "clone", "clone3", "execve", "execveat", "exit_group"];

/// Events of a trace that are neither calls nor page faults: interrupt work and signals.
pub(crate) const OTHER_EVENTS: [&str; 2] = ["softirq", "signal"];

/// The primitive of a switch from one process to another, with the wake-up of the latter. Its size
/// is the number of processes that hand the processor on.
pub(crate) const SWITCH: &str = "context_switch";

/// The primitive of a page fault, without its kind.
pub const PAGE_FAULT: &str = "page_fault";

/// Page faults that read from storage.
pub const MAJOR_FAULT: &str = "page_fault(major)";

/// Whether a primitive is a page fault of any kind.
pub(crate) fn is_fault(name: &str) -> bool {
    call(name) == PAGE_FAULT
}

/// Whether a primitive is a page fault of any kind that does not read from storage.
pub fn is_minor_fault(name: &str) -> bool {
    is_fault(name) && name != MAJOR_FAULT
}

/// Whether a use of a primitive may be this part of a benchmark. The page faults of a benchmark may
/// be of any kind.
pub(crate) fn is_part(part: &str, name: &str) -> bool {
    name == part || part == PAGE_FAULT && is_minor_fault(name)
}

/// The spelling of a primitive's name by which it is found: `connect(tcp)`, which can also be
/// written `tcp connect`.
pub fn canonical(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    match words[..] {
        [kind, call] if !name.contains('(') => format!("{call}({kind})"),
        _ => words.join(" ").replace(", ", ",").replace(" (", "("),
    }
}

/// The system call of a primitive, or [`PAGE_FAULT`], without its kind.
pub(crate) fn call(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

/// Whether `other` is a kind of a primitive: `page_fault(copy)` of `page_fault`. A call that fails
/// does less than any that succeeds, so it is no kind of these.
pub(crate) fn is_kind(other: &str, name: &str) -> bool {
    let kind = other.strip_prefix(name);
    kind.is_some_and(|kind| kind.starts_with('(') && kind != FAILED)
}

/// Whether a benchmark of `primitive` gives the cost of uses of `used`: it is the same primitive,
/// or a kind of it. A call that sleeps has the cost of the call and of a switch, which has another
/// name.
pub fn stands_for(primitive: &str, used: &str) -> bool {
    let used = without_blocked(used);
    primitive == used || is_kind(primitive, used)
}

/// The name of a primitive without the kind `blocked`.
pub(crate) fn without_blocked(name: &str) -> &str {
    let kind = name.strip_suffix(')').and_then(|n| n.strip_suffix(BLOCKED));
    kind.and_then(|n| n.strip_suffix('(')).unwrap_or(name)
}

/// Whether a primitive has the kind `blocked`.
pub(crate) fn is_blocked(name: &str) -> bool {
    without_blocked(name) != name
}

/// The machine as a vector names it: processor, instruction set, system and kernel, and for Java
/// the virtual machine. Figures depend on all of them. `None`: the processor or the kernel is
/// unknown.
pub fn machine_name(machine: &Machine) -> Option<String> {
    let processor = processor_name(machine)?;
    if machine.kernel.is_empty() {
        return None;
    }
    let (isa, system, kernel) = (&machine.isa, &machine.system, &machine.kernel);
    let java = machine.java.as_ref();
    let java = java.map_or(String::new(), |java| format!(", {}", java.describe()));
    Some(format!("{processor}, {isa} {system} {kernel}{java}"))
}

/// The model of the processor. `None`: unknown.
pub fn processor_name(machine: &Machine) -> Option<String> {
    let cpu = machine.cpu.as_deref().filter(|cpu| !cpu.is_empty())?;
    let signature =
        machine.details.as_ref().and_then(|details| details.processor.signature.as_ref());
    let signature = signature.map_or(String::new(), |s| format!(" ({s})"));
    Some(format!("{cpu}{signature}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_of_a_call_are_those_of_its_kinds() {
        assert!(stands_for("page_fault(copy)", "page_fault"));
        assert!(stands_for("poll", "poll(blocked)"));
        assert!(stands_for("wait4(failed)", "wait4(failed)"));
        assert!(!stands_for("wait4(failed)", "wait4"));
        assert!(stands_for("read(file)", "read(file)"));
        assert!(!stands_for("read(file)", "read(pipe)"));
        assert!(!stands_for("readlink", "read"));
        assert!(!stands_for("poll", "poll(failed)"));
    }
}
