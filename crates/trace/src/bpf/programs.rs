//! The programs that run in the kernel.
//!
//! Each thread has a mode: it runs its own code, is in a call, in a page fault and so on. At each change of mode, and when the processor is taken from the
//! thread, the time since the last change is added to the mode. So the times of the modes are the thread's whole time on a processor.
//!
//! In all programs, r6 is the list of the tracepoint's or function's arguments, r7 the state of the thread, and r8 the time.

use super::kernel::Attachment;
use super::layout::{EVENT, FAULTS, FLAGS, KILLED, MODES, THREAD};

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
pub const FILE_PROGRAMS: &[Source] = &[
    tracepoint("mm_filemap_fault", FILE_FAULT),
    tracepoint("mm_filemap_map_pages", FILE_FAULTS),
];

/// Notes which of the process's numbers of pages changes in a page fault.
pub const PAGE_PROGRAM: Source = tracepoint("rss_stat", FAULT_PAGE);

/// Number of parameters of [`PAGE_PROGRAM`]'s tracepoint, with that of the kernel's own, where each change of a number of pages has its event. Before Linux 6.2, it had one more, and most
/// changes had no event.
pub const PAGE_PARAMETERS: usize = 3;

/// Tracepoints and functions by the name in the type of their BPF programs.
pub const PROGRAMS: &[Source] = &[
    tracepoint("sched_process_fork", FORK),
    tracepoint("sched_process_exit", EXIT),
    tracepoint("sched_switch", SWITCH),
    tracepoint("softirq_entry", SOFTIRQ_ENTRY),
    tracepoint("softirq_exit", SOFTIRQ_EXIT),
    tracepoint("page_fault_user", USER_FAULT_ENTRY),
    tracepoint("page_fault_kernel", KERNEL_FAULT_ENTRY),
    Source {
        target: "minor faults",
        attachment: Attachment::Event(5),
        text: MINOR_FAULT,
    },
    Source {
        target: "major faults",
        attachment: Attachment::Event(6),
        text: MAJOR_FAULT,
    },
    tracepoint("sys_exit", CALL_EXIT),
    tracepoint("sys_enter", CALL_ENTRY),
];

const fn tracepoint(target: &'static str, text: &'static str) -> Source {
    Source {
        target,
        attachment: Attachment::Tracepoint,
        text,
    }
}

/// The numbers that the programs name, apart from offsets in the kernel's own structs. `has_pages`: [`PAGE_PROGRAM`] is attached.
pub fn numbers(has_pages: bool) -> impl Iterator<Item = (&'static str, i32)> {
    let lists = [THREAD, MODES, FAULTS, EVENT, FLAGS];
    let all = lists.into_iter().flatten().copied();
    all.chain([
        ("KILLED", KILLED),
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
        // A thread without calls reports its times when they reach 5 ms.
        ("LONG_NS", 5_000_000),
        // Bits of the processor's error code of a page fault: the page is present, and the access is a write.
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

/// Pieces of programs. `%` makes their labels unique, and `$` is the word after the name of the piece.
const MACROS: &[(&str, &str)] = &[
    // The state of the running thread. Other threads are left alone.
    (
        "CURRENT",
        "
    r6 = r1
    call get_current_task_btf
    r2 = r0
    r1 = map threads
    r3 = 0
    r4 = 0
    call task_storage_get
    if r0 == 0 goto out
    r7 = r0
",
    ),
    // Adds the time since the last change to the current mode. An interrupt may have done so after this program has read the clock.
    // A thread without a last change has come to the processor unseen: about one of 2000 forks has no `sched_switch` before the child runs.
    (
        "CHARGE",
        "
    r2 = r8
    r1 = *(u64 *)(r7 + thread.since)
    if r1 == 0 goto begun%
    r2 -= r1
    if r2 s< 0 goto charged%
    r3 = *(u64 *)(r7 + thread.mode)
    r3 &= 7
    r3 <<= 3
    r3 += r7
    r1 = *(u64 *)(r3 + thread.times)
    r1 += r2
    *(u64 *)(r3 + thread.times) = r1
begun%:
    *(u64 *)(r7 + thread.since) = r8
charged%:
",
    ),
    (
        "NOW",
        "
    call ktime_get_ns
    r8 = r0
",
    ),
    // Space for an event, in r9. Without space, the event is counted as lost, and the program goes on at the label.
    (
        "RESERVE",
        "
    r1 = map events
    r2 = EVENT_BYTES
    r3 = 0
    call ringbuf_reserve
    if r0 != 0 goto reserved%
    r1 = value lost
    r2 = 1
    lock *(u64 *)(r1 + 0) += r2
    goto $
reserved%:
    r9 = r0
    r1 = *(u64 *)(r7 + thread.ids)
    *(u64 *)(r9 + event.ids) = r1
    r1 = *(u64 *)(r7 + thread.number)
    *(u32 *)(r9 + event.number) = r1
",
    ),
    (
        "SUBMIT",
        "
    r1 = r9
    r2 = NO_WAKE_UP
    call ringbuf_submit
",
    ),
    // Reports and clears the user time.
    (
        "TAKE_USER",
        "
    r1 = *(u64 *)(r7 + thread.user)
    *(u64 *)(r9 + event.user) = r1
    *(u64 *)(r7 + thread.user) = 0
",
    ),
    // Moves a word of the thread's state to an event.
    (
        "PASS",
        "
    r1 = *(u64 *)(r7 + thread.more + $)
    *(u64 *)(r9 + event.more + $) = r1
    *(u64 *)(r7 + thread.more + $) = 0
",
    ),
    // Reports and clears all times but that of the call.
    (
        "REPORT_MORE",
        "
    RESERVE unreported%
    *(u32 *)(r9 + event.flags) = MORE
    TAKE_USER
    PASS 0
    PASS 8
    PASS 16
    PASS 24
    PASS 32
    PASS 40
    PASS 48
    PASS 56
    PASS 64
    PASS 72
    PASS 80
    PASS 88
    SUBMIT
    *(u64 *)(r7 + thread.dirty) = 0
unreported%:
",
    ),
    // Notes whether the page of a fault is present, and whether the access is a write.
    (
        "NOTE_ACCESS",
        "
    r1 = *(u64 *)(r6 + 16)
    r1 &= PRESENT_WRITE
    *(u64 *)(r7 + thread.fault_access) = r1
    *(u64 *)(r7 + thread.fault_page) = NO_PAGE
",
    ),
    // Begins the mode of a page fault, within the mode in r9.
    (
        "BEGIN_FAULT_MODE",
        "
    NOW
    CHARGE
    *(u64 *)(r7 + thread.outer) = r9
    *(u64 *)(r7 + thread.mode) = MODE_FAULT
",
    ),
    // Ends a page fault. Its time is in r4, and the mode that goes on in r3.
    (
        "FAULT_EXIT",
        "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_FAULT goto out
    NOW
    CHARGE
    r4 = *(u64 *)(r7 + thread.fault)
    *(u64 *)(r7 + thread.fault) = 0
    *(u64 *)(r7 + thread.dirty) = 1
    r3 = *(u64 *)(r7 + thread.outer)
    *(u64 *)(r7 + thread.mode) = r3
",
    ),
    // Reads 8 bytes of the kernel's memory to r1, at the address in r3 and the offset of a member.
    (
        "PEEK",
        "
    r3 += $
    r1 = r9
    r1 += event.arguments
    r1 += 32
    r2 = 8
    call probe_read_kernel
    r1 = *(u64 *)(r9 + event.arguments + 32)
",
    ),
    // Reports the inode in r8, unless it is no regular file: its number, device and number of pages.
    (
        "IDENTITY",
        "
    *(u64 *)(r9 + event.text) = 0
    r3 = r8
    PEEK inode.i_mode
    r1 &= 61440
    if r1 != 32768 goto irregular%
    r3 = r8
    PEEK inode.i_size
    r1 += 4095
    r1 >>= 12
    *(u32 *)(r9 + event.text + 20) = r1
    r3 = r8
    PEEK inode.i_sb
    r3 = r1
    PEEK super_block.s_dev
    *(u32 *)(r9 + event.text + 16) = r1
    r3 = r8
    PEEK inode.i_ino
    *(u64 *)(r9 + event.text) = r1
irregular%:
",
    ),
    // Reports a page fault of a file. Its first argument is the file's `address_space`, and its second one the first page.
    (
        "BEGIN_FAULT",
        "
    CURRENT
    RESERVE out
    *(u32 *)(r9 + event.flags) = FAULT
    r1 = *(u64 *)(r6 + 8)
    r1 <<= 12
    *(u64 *)(r9 + event.text + 8) = r1
    r1 = *(u64 *)(r6 + 0)
    r8 = *(u64 *)(r1 + address_space.host)
    IDENTITY
",
    ),
    (
        "OUT",
        "
out:
    r0 = 0
    exit
",
    ),
];

/// Replaces the lines that name a macro.
fn expand(text: &str) -> String {
    let (mut text, mut serial) = (text.to_owned(), 0);
    while text.lines().any(|line| called(line).is_some()) {
        let each = text.lines().map(|line| match called(line) {
            None => line.to_owned(),
            Some((body, argument)) => {
                serial += 1;
                let body = body.replace('%', &format!("_{serial}"));
                body.replace('$', argument)
            }
        });
        text = each.collect::<Vec<_>>().join("\n");
    }
    text
}

/// The text of the macro that a line names, and the word behind its name.
fn called(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim();
    let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
    let found = MACROS.iter().find(|(known, _)| *known == name);
    found.map(|(_, body)| (*body, argument))
}

/// `sys_enter(registers, number)`
const CALL_ENTRY: &str = "
    CURRENT
    r1 = *(u64 *)(r6 + 8)
    *(u64 *)(r7 + thread.number) = r1
    r1 = *(u64 *)(r6 + 0)
    r2 = *(u16 *)(r1 + pt_regs.cs)
    r3 = 0
    if r2 != CODE_32_BIT goto known
    r3 = IS_32_BIT
known:
    *(u64 *)(r7 + thread.flags) = r3
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_CALL
    OUT
";

/// `sys_exit(registers, result)`. A number in the table `reads` says what the event takes from the memory of the program: the low half is the argument that
/// has its place, the high half 1 for a text, 2 for 8 bytes, 3 for 24 bytes, 4 for the place in the file of a descriptor, and 5 for that of `sendfile`.
const CALL_EXIT: &str = "
    CURRENT
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_USER
    r1 = *(u64 *)(r7 + thread.dirty)
    if r1 == 0 goto call
    REPORT_MORE
call:
    RESERVE lost
    TAKE_USER
    r1 = *(u64 *)(r7 + thread.call)
    *(u64 *)(r9 + event.call) = r1
    *(u64 *)(r7 + thread.call) = 0
    r1 = *(u64 *)(r6 + 8)
    *(u64 *)(r9 + event.result) = r1
    *(u64 *)(r9 + event.text) = 0
    r5 = *(u64 *)(r7 + thread.flags)
    *(u32 *)(r9 + event.flags) = r5
    r3 = *(u64 *)(r6 + 0)
    r5 &= IS_32_BIT
    if r5 != 0 goto narrow
    r1 = *(u64 *)(r3 + pt_regs.di)
    *(u64 *)(r9 + event.arguments) = r1
    r1 = *(u64 *)(r3 + pt_regs.si)
    *(u64 *)(r9 + event.arguments + 8) = r1
    r1 = *(u64 *)(r3 + pt_regs.dx)
    *(u64 *)(r9 + event.arguments + 16) = r1
    r1 = *(u64 *)(r3 + pt_regs.r10)
    *(u64 *)(r9 + event.arguments + 24) = r1
    r1 = *(u64 *)(r3 + pt_regs.r8)
    *(u64 *)(r9 + event.arguments + 32) = r1
    goto read
narrow:
    r1 = *(u64 *)(r3 + pt_regs.bx)
    *(u64 *)(r9 + event.arguments) = r1
    r1 = *(u64 *)(r3 + pt_regs.cx)
    *(u64 *)(r9 + event.arguments + 8) = r1
    r1 = *(u64 *)(r3 + pt_regs.dx)
    *(u64 *)(r9 + event.arguments + 16) = r1
    r1 = *(u64 *)(r3 + pt_regs.si)
    *(u64 *)(r9 + event.arguments + 24) = r1
    r1 = *(u64 *)(r3 + pt_regs.di)
    *(u64 *)(r9 + event.arguments + 32) = r1
read:
    r1 = *(u64 *)(r6 + 8)
    if r1 s< 0 goto submit
    r2 = *(u64 *)(r7 + thread.number)
    r2 &= 511
    r5 <<= 1
    r2 += r5
    r1 = value reads
    r1 += r2
    r1 = *(u8 *)(r1 + 0)
    if r1 == 0 goto submit
    r3 = r1
    r3 &= 3
    r3 <<= 3
    r3 += r9
    r3 = *(u64 *)(r3 + event.arguments)
    r1 >>= 4
    if r1 == 1 goto text
    if r1 > 3 goto file
    r2 = 8
    if r1 == 2 goto bytes
    r2 = TEXT_BYTES
bytes:
    r1 = r9
    r1 += event.text
    call probe_read_user
    goto submit
text:
    r1 = r9
    r1 += event.text
    r2 = TEXT_BYTES
    call probe_read_user_str
    goto submit
file:
    r8 = r3
    *(u64 *)(r9 + event.text + 8) = 0
    if r1 == 4 goto find
    r3 = *(u64 *)(r9 + event.arguments + 16)
    if r3 == 0 goto find
    r1 = r9
    r1 += event.text
    r1 += 8
    r2 = 8
    call probe_read_user
find:
    call get_current_task_btf
    r1 = *(u64 *)(r0 + task_struct.files)
    r1 = *(u64 *)(r1 + files_struct.fdt)
    r2 = *(u32 *)(r1 + fdtable.max_fds)
    if r8 >= r2 goto submit
    r3 = *(u64 *)(r1 + fdtable.fd)
    r8 <<= 3
    PEEK r8
    r6 = r1
    if r6 == 0 goto submit
    r3 = r6
    PEEK file.f_inode
    r8 = r1
    IDENTITY
    r1 = *(u64 *)(r9 + event.text + 8)
    if r1 != 0 goto submit
    r3 = r6
    PEEK file.f_pos
    *(u64 *)(r9 + event.text + 8) = r1
submit:
    SUBMIT
    goto done
lost:
    *(u64 *)(r7 + thread.call) = 0
done:
    // The time of this program is no user time.
    NOW
    *(u64 *)(r7 + thread.since) = r8
    OUT
";

/// `sched_process_fork(parent, child)`. The child begins in the call of its parent.
const FORK: &str = "
    r6 = r1
    r2 = *(u64 *)(r6 + 0)
    r1 = map threads
    r3 = 0
    r4 = 0
    call task_storage_get
    if r0 == 0 goto out
    r7 = r0
    r3 = *(u64 *)(r6 + 0)
    r4 = *(u64 *)(r6 + 8)
    r8 = 0
    r1 = *(u64 *)(r3 + task_struct.files)
    r2 = *(u64 *)(r4 + task_struct.files)
    if r1 != r2 goto copies_files
    r8 |= SHARES_FILES
copies_files:
    r1 = *(u64 *)(r3 + task_struct.mm)
    r2 = *(u64 *)(r4 + task_struct.mm)
    if r1 != r2 goto copies_memory
    r8 |= SHARES_MEMORY
copies_memory:
    r1 = *(u32 *)(r3 + task_struct.tgid)
    r2 = *(u32 *)(r4 + task_struct.tgid)
    if r1 != r2 goto is_process
    r8 |= IS_THREAD
is_process:
    r1 = *(u64 *)(r7 + thread.flags)
    r8 |= r1
    *(u64 *)(r7 + thread.flags) = r8
    r2 = *(u64 *)(r6 + 8)
    r1 = map threads
    r3 = 0
    r4 = CREATE
    call task_storage_get
    if r0 == 0 goto lost
    *(u64 *)(r0 + thread.mode) = MODE_CALL
    r1 = *(u64 *)(r7 + thread.number)
    *(u64 *)(r0 + thread.number) = r1
    r1 = r8
    r1 |= IS_CHILD
    *(u64 *)(r0 + thread.flags) = r1
    r4 = *(u64 *)(r6 + 8)
    r6 = *(u32 *)(r4 + task_struct.tgid)
    r6 <<= 32
    r1 = *(u32 *)(r4 + task_struct.pid)
    r6 |= r1
    *(u64 *)(r0 + thread.ids) = r6
    RESERVE out
    r8 |= BEGIN
    *(u32 *)(r9 + event.flags) = r8
    *(u64 *)(r9 + event.child) = r6
    SUBMIT
    goto out
lost:
    r1 = value lost
    r2 = 1
    lock *(u64 *)(r1 + 0) += r2
    OUT
";

/// `sched_process_exit`: the rest of the thread's time belongs to its end.
const EXIT: &str = "
    CURRENT
    NOW
    CHARGE
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_CALL goto killed
    r1 = *(u64 *)(r7 + thread.number)
    r2 = *(u64 *)(r7 + thread.flags)
    r2 &= IS_32_BIT
    if r2 != 0 goto narrow
    if r1 == EXIT goto out
    if r1 == EXIT_GROUP goto out
    goto killed
narrow:
    if r1 == EXIT_32_BIT goto out
    if r1 == EXIT_GROUP_32_BIT goto out
killed:
    *(u64 *)(r7 + thread.number) = KILLED
    *(u64 *)(r7 + thread.mode) = MODE_CALL
    OUT
";

/// `sched_switch(is_preempted, previous, next)`
const SWITCH: &str = "
    r6 = r1
    r8 = 0
    r2 = *(u64 *)(r6 + 8)
    r1 = map threads
    r3 = 0
    r4 = 0
    call task_storage_get
    if r0 == 0 goto next
    r7 = r0
    NOW
    CHARGE
    *(u64 *)(r7 + thread.since) = 0
    r1 = *(u64 *)(r6 + 8)
    r1 = *(u32 *)(r1 + task_struct.__state)
    if r1 == TASK_DEAD goto dead
    // A thread in the state 0, or one whose processor was taken away, can run on.
    if r1 == 0 goto awake
    r1 = *(u64 *)(r6 + 0)
    if r1 != 0 goto awake
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_CALL goto awake
    r1 = *(u64 *)(r7 + thread.flags)
    r1 |= HAS_BLOCKED
    *(u64 *)(r7 + thread.flags) = r1
awake:
    r1 = *(u64 *)(r7 + thread.user)
    if r1 < LONG_NS goto next
    REPORT_MORE
    goto next
dead:
    REPORT_MORE
    RESERVE next
    TAKE_USER
    r1 = *(u64 *)(r7 + thread.call)
    *(u64 *)(r9 + event.call) = r1
    r1 = *(u64 *)(r7 + thread.flags)
    r1 |= END
    *(u32 *)(r9 + event.flags) = r1
    SUBMIT
next:
    r2 = *(u64 *)(r6 + 16)
    r1 = map threads
    r3 = 0
    r4 = 0
    call task_storage_get
    if r0 == 0 goto out
    r7 = r0
    if r8 != 0 goto known
    NOW
known:
    *(u64 *)(r7 + thread.since) = r8
    OUT
";

const SOFTIRQ_ENTRY: &str = "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_USER goto out
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_SOFTIRQ
    r1 = *(u32 *)(r7 + thread.softirqs)
    r1 += 1
    *(u32 *)(r7 + thread.softirqs) = r1
    *(u64 *)(r7 + thread.dirty) = 1
    OUT
";

const SOFTIRQ_EXIT: &str = "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_SOFTIRQ goto out
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_USER
    OUT
";

/// `page_fault_user(address, registers, error_code)`: a page fault of the program's own code.
///
/// The mode is still that of a fault if the one before ended in a signal: the kernel does not count it. The new fault's kind is its own.
const USER_FAULT_ENTRY: &str = "
    CURRENT
    NOTE_ACCESS
    r9 = *(u64 *)(r7 + thread.mode)
    if r9 == MODE_FAULT goto out
    BEGIN_FAULT_MODE
    OUT
";

/// `page_fault_kernel(address, registers, error_code)`: a page fault within a call, or within the handling of another one.
const KERNEL_FAULT_ENTRY: &str = "
    CURRENT
    r9 = *(u64 *)(r7 + thread.mode)
    if r9 == MODE_FAULT goto out
    NOTE_ACCESS
    BEGIN_FAULT_MODE
    OUT
";

/// `rss_stat(memory, kind)`: the number of a process's pages of this kind changes.
const FAULT_PAGE: &str = "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_FAULT goto out
    r1 = *(u32 *)(r6 + 8)
    r1 += 1
    *(u64 *)(r7 + thread.fault_page) = r1
    OUT
";

/// The kernel's own count of page faults grows at the end of each.
///
/// At a write to a page that is present, the kernel copies the page, or lets the process keep it if no other one uses it. Else it has mapped pages of a file, or a page of the process's own, or, at a
/// read, the page of zeros, which it does not count.
const MINOR_FAULT: &str = "
    FAULT_EXIT
    r1 = *(u64 *)(r7 + thread.fault_page)
    r2 = *(u64 *)(r7 + thread.fault_access)
    r5 = FAULT_COPY
    if r2 == PRESENT_WRITE goto found
    r5 = FAULT_OTHER
    if r2 == PRESENT goto found
    r5 = FAULT_FILE
    if r1 == PAGE_OF_FILE goto found
    r5 = FAULT_ANONYMOUS
    if r1 == PAGE_ANONYMOUS goto found
    r5 = FAULT_OTHER
    if r1 != 0 goto found
    if r2 == WRITE goto found
    r5 = FAULT_ZERO
found:
    r2 = r5
    r2 <<= 3
    r2 += r7
    r1 = *(u64 *)(r2 + thread.minor)
    r1 += r4
    *(u64 *)(r2 + thread.minor) = r1
    r5 <<= 2
    r5 += r7
    r1 = *(u32 *)(r5 + thread.minor_faults)
    r1 += 1
    *(u32 *)(r5 + thread.minor_faults) = r1
    if r3 == MODE_USER goto outside
    r1 = *(u32 *)(r7 + thread.call_faults)
    r1 += 1
    *(u32 *)(r7 + thread.call_faults) = r1
    goto out
outside:
    r1 = *(u32 *)(r7 + thread.user_faults)
    r1 += 1
    *(u32 *)(r7 + thread.user_faults) = r1
    OUT
";

/// A page fault that has read from storage.
const MAJOR_FAULT: &str = "
    FAULT_EXIT
    r1 = *(u64 *)(r7 + thread.major)
    r1 += r4
    *(u64 *)(r7 + thread.major) = r1
    r1 = *(u32 *)(r7 + thread.major_faults)
    r1 += 1
    *(u32 *)(r7 + thread.major_faults) = r1
    OUT
";

/// `mm_filemap_fault(file, page)`
const FILE_FAULT: &str = "
    BEGIN_FAULT
    r1 = 1
    *(u64 *)(r9 + event.fault_pages) = r1
    SUBMIT
    OUT
";

/// `mm_filemap_map_pages(file, first, last)`: cached pages around a page fault were mapped.
const FILE_FAULTS: &str = "
    BEGIN_FAULT
    r1 = *(u64 *)(r6 + 16)
    r2 = *(u64 *)(r6 + 8)
    r1 -= r2
    r1 += 1
    *(u64 *)(r9 + event.fault_pages) = r1
    SUBMIT
    OUT
";

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
        let offsets = MEMBERS
            .iter()
            .map(|(of, member)| (format!("{of}.{member}"), 8));
        let own = numbers(true).map(|(name, value)| (name.to_owned(), value));
        let maps = ["threads", "events", "lost", "reads"];
        let symbols = Symbols {
            numbers: own.chain(offsets).collect(),
            maps: maps.map(|name| (name.to_owned(), 3)).into(),
        };
        for source in PROGRAMS.iter().chain(FILE_PROGRAMS).chain([&PAGE_PROGRAM]) {
            let code = assemble(&source.text(), &symbols);
            let code = code.unwrap_or_else(|e| panic!("{}: {e}", source.target));
            assert!(code.len() > 10, "{}", source.target);
        }
    }
}
