//! The programs that run in the kernel.
//!
//! Each thread has a mode: it runs its own code, is in a call, in a page fault and so on. At each
//! change of mode, and when the processor is taken from the thread, the time since the last change
//! is added to the mode. So the times of the modes are the thread's whole time on a processor.
//!
//! In all programs, r6 is the list of the tracepoint's or function's arguments, r7 the state of the
//! thread, and r8 the time.
//!
//! Each call of a function costs more than many instructions, and each call of a traced program
//! runs two programs. So these two find the state of the thread without a function where the thread
//! has made the last call on this processor, and send the events of several calls together.

mod calls;
mod faults;
mod interrupts;
mod pieces;
mod threads;

use super::kernel::Attachment;
use super::layout::{
    AT_ONCE, CONTROL, COUNTED, COUNTED_KEY, CPU, EVENT, FAULTS, FLAGS, KILLED, MODES, PLACE,
    RING_BYTES, SLOTS, THREAD,
};
use calls::{CALL_ENTRY, CALL_EXIT};
use faults::{
    FAULT_PAGE, FILE_FAULT, FILE_FAULTS, KERNEL_FAULT_ENTRY, MAJOR_FAULT, MINOR_FAULT,
    USER_FAULT_ENTRY,
};
use interrupts::{SOFTIRQ_ENTRY, SOFTIRQ_EXIT};
use pieces::expand;
use threads::{EXIT, FORK, SWITCH};

/// A program and its place.
#[derive(Debug)]
pub struct Source {
    /// The tracepoint or function.
    pub target: &'static str,
    /// Where in it.
    pub attachment: Attachment,
    /// The text, with macros.
    text: &'static str,
}

impl Source {
    /// The text for the assembler.
    pub fn text(&self) -> String {
        expand(self.text)
    }
}

/// Programs that record page faults of mapped files. Kernels before 6.11 lack their tracepoints.
pub const FILE_PROGRAMS: &[Source] =
    &[tracepoint("mm_filemap_fault", FILE_FAULT), tracepoint("mm_filemap_map_pages", FILE_FAULTS)];

/// Notes which of the process's numbers of pages changes in a page fault.
pub const PAGE_PROGRAM: Source = tracepoint("rss_stat", FAULT_PAGE);

/// Number of parameters of [`PAGE_PROGRAM`]'s tracepoint, with that of the kernel's own, where each
/// change of a number of pages has its event. Before Linux 6.2, it had one more, and most changes
/// had no event.
pub const PAGE_PARAMETERS: usize = 3;

/// Programs that time interrupt work.
pub const INTERRUPT_PROGRAMS: &[Source] =
    &[tracepoint("softirq_exit", SOFTIRQ_EXIT), tracepoint("softirq_entry", SOFTIRQ_ENTRY)];

/// Tracepoints and functions by the name in the type of their BPF programs.
pub const PROGRAMS: &[Source] = &[
    tracepoint("sched_process_fork", FORK),
    tracepoint("sched_process_exit", EXIT),
    tracepoint("sched_switch", SWITCH),
    tracepoint("page_fault_user", USER_FAULT_ENTRY),
    tracepoint("page_fault_kernel", KERNEL_FAULT_ENTRY),
    Source { target: "minor faults", attachment: Attachment::Event(5), text: MINOR_FAULT },
    Source { target: "major faults", attachment: Attachment::Event(6), text: MAJOR_FAULT },
    tracepoint("sys_exit", CALL_EXIT),
    tracepoint("sys_enter", CALL_ENTRY),
];

const fn tracepoint(target: &'static str, text: &'static str) -> Source {
    Source { target, attachment: Attachment::Tracepoint, text }
}

/// The numbers that the programs name, apart from offsets in the kernel's own structs. `has_pages`:
/// [`PAGE_PROGRAM`] is attached.
pub fn numbers(has_pages: bool) -> impl Iterator<Item = (&'static str, i32)> {
    let lists = [CONTROL, PLACE, THREAD, CPU, COUNTED_KEY, COUNTED, MODES, FAULTS, EVENT, FLAGS];
    let all = lists.into_iter().flatten().copied();
    all.chain([
        ("KILLED", KILLED),
        ("SLOTS", SLOTS as i32),
        ("AT_ONCE", AT_ONCE.into()),
        // `__state` of a thread that has ended.
        ("TASK_DEAD", 128),
        // The segment of code of 32-bit processes.
        ("CODE_32_BIT", 0x23),
        ("EXIT_32_BIT", 1),
        ("EXIT_GROUP_32_BIT", 252),
        ("EXIT", 60),
        ("EXIT_GROUP", 231),
        // `BPF_LOCAL_STORAGE_GET_F_CREATE`
        ("CREATE", 1),
        // `BPF_RB_NO_WAKEUP`
        ("NO_WAKE_UP", 1),
        // `BPF_RB_AVAIL_DATA`
        ("UNREAD", 0),
        // `BPF_NOEXIST`
        ("NEW", 1),
        // Unread bytes from which calls without effects on descriptors are counted in the kernel,
        // and from which all calls are. The rest of the ring is for other events, which cannot be
        // counted there.
        ("CROWDED", (RING_BYTES / 8 * 7) as i32),
        ("FULL", (RING_BYTES / 16 * 15) as i32),
        // A thread without calls reports its times when they reach 5 ms.
        ("LONG_NS", 5_000_000),
        // Bits of the processor's error code of a page fault: the page is present, and the access
        // is a write.
        ("PRESENT", 1),
        ("WRITE", 2),
        ("PRESENT_WRITE", 3),
        // The index of the kernel's number of pages (MM_FILEPAGES, MM_ANONPAGES), plus 1.
        ("PAGE_OF_FILE", 1),
        ("PAGE_ANONYMOUS", 2),
        // No number of pages has changed, or it is unknown whether one has.
        ("NO_PAGE", if has_pages { 0 } else { UNKNOWN_PAGE }),
    ])
}

/// The page of a fault on a kernel without [`PAGE_PROGRAM`]: no index of a number of pages.
const UNKNOWN_PAGE: i32 = 100;

/// The members of the kernel's structs whose offsets the programs use.
pub const MEMBERS: &[(&str, &str)] = &[
    ("task_struct", "pid"),
    ("task_struct", "tgid"),
    ("task_struct", "mm"),
    ("task_struct", "files"),
    ("task_struct", "__state"),
    ("pt_regs", "cs"),
    ("pt_regs", "di"),
    ("pt_regs", "si"),
    ("pt_regs", "dx"),
    ("pt_regs", "r10"),
    ("pt_regs", "r8"),
    ("pt_regs", "bx"),
    ("pt_regs", "cx"),
    ("files_struct", "fdt"),
    ("fdtable", "max_fds"),
    ("fdtable", "fd"),
    ("file", "f_inode"),
    ("file", "f_pos"),
    ("inode", "i_mode"),
    ("inode", "i_size"),
    ("inode", "i_sb"),
    ("inode", "i_ino"),
    ("super_block", "s_dev"),
    ("address_space", "host"),
];

#[cfg(test)]
mod tests {
    use super::super::assembler::{Symbols, assemble};
    use super::*;

    #[test]
    fn programs_are_assembled() {
        let offsets = MEMBERS.iter().map(|(of, member)| (format!("{of}.{member}"), 8));
        let own = numbers(true).map(|(name, value)| (name.to_owned(), value));
        let maps = [
            "threads", "states", "free", "used", "cpus", "events", "lost", "control", "kinds",
            "counted",
        ];
        let symbols = Symbols {
            numbers: own.chain(offsets).collect(),
            maps: maps.map(|name| (name.to_owned(), 3)).into(),
        };
        let lists = [PROGRAMS, INTERRUPT_PROGRAMS, FILE_PROGRAMS, &[PAGE_PROGRAM]];
        for source in lists.into_iter().flatten() {
            let code = assemble(&source.text(), &symbols);
            let code = code.unwrap_or_else(|e| panic!("{}: {e}", source.target));
            assert!(code.len() > 10, "{}", source.target);
        }
    }
}
