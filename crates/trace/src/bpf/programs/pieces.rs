//! Pieces of which the programs consist.

/// Pieces of programs. `%` makes their labels unique, and `$` is the word after the name of the
/// piece.
const MACROS: &[(&str, &str)] = &[
    // The data of this processor, in r9.
    (
        "CPU",
        "
    *(u32 *)(r10 + -4) = 0
    r2 = r10
    r2 += -4
    r1 = map cpus
    call map_lookup_elem
    if r0 == 0 goto out
    r9 = r0
",
    ),
    // The state with the number in r1, in r7.
    (
        "STATE",
        "
    *(u32 *)(r10 + -4) = r1
    r2 = r10
    r2 += -4
    r1 = map states
    call map_lookup_elem
    if r0 == 0 goto $
    r7 = r0
",
    ),
    // The task storage of the thread in r2, in r0. A thread that is not traced has none.
    (
        "STORAGE_OF",
        "
    r1 = map threads
    r3 = 0
    r4 = 0
    call task_storage_get
",
    ),
    // The task storage of the running thread, in r0. Other threads are left alone.
    (
        "STORAGE",
        "
    call get_current_task_btf
    r2 = r0
    STORAGE_OF
    if r0 == 0 goto out
",
    ),
    // The state of the thread whose task storage is in r0. A new thread gets one. Without a free
    // one, each program counts a lost event.
    (
        "LOCATE",
        "
    *(u64 *)(r10 + -16) = r0
    r1 = *(u32 *)(r0 + place.slot)
    if r1 != 0 goto placed%
    r1 = map free
    r2 = r10
    r2 += -4
    *(u32 *)(r10 + -4) = 0
    call map_pop_elem
    if r0 == 0 goto found%
    r1 = value used
    r2 = 1
    r2 = fetch *(u64 *)(r1 + 0) += r2
    r2 += 1
    *(u32 *)(r10 + -4) = r2
    if r2 < SLOTS goto found%
    r1 = value lost
    r2 = 1
    lock *(u64 *)(r1 + 0) += r2
    goto $
found%:
    r1 = *(u32 *)(r10 + -4)
    r2 = *(u64 *)(r10 + -16)
    *(u32 *)(r2 + place.slot) = r1
    STATE $
    r2 = *(u64 *)(r10 + -16)
    r1 = *(u32 *)(r2 + place.slot)
    *(u64 *)(r7 + thread.slot) = r1
    r1 = *(u64 *)(r2 + place.since)
    *(u64 *)(r7 + thread.since) = r1
    r1 = *(u64 *)(r2 + place.mode)
    *(u64 *)(r7 + thread.mode) = r1
    r1 = *(u64 *)(r2 + place.number)
    *(u64 *)(r7 + thread.number) = r1
    r1 = *(u64 *)(r2 + place.flags)
    *(u64 *)(r7 + thread.flags) = r1
    r1 = *(u64 *)(r2 + place.ids)
    *(u64 *)(r7 + thread.ids) = r1
    *(u64 *)(r7 + thread.dirty) = 0
    *(u64 *)(r7 + thread.user) = 0
    *(u64 *)(r7 + thread.call) = 0
    *(u64 *)(r7 + thread.fault) = 0
    *(u64 *)(r7 + thread.softirq) = 0
    CLEAR 0
    CLEAR 8
    CLEAR 16
    CLEAR 24
    CLEAR 32
    CLEAR 40
    CLEAR 48
    CLEAR 56
    CLEAR 64
    CLEAR 72
    goto located%
placed%:
    STATE $
located%:
",
    ),
    // Clears a word of the thread's state that events of the kind MORE report.
    (
        "CLEAR",
        "
    *(u64 *)(r7 + thread.more + $) = 0
",
    ),
    // The state of the running thread.
    (
        "CURRENT",
        "
    r6 = r1
    STORAGE
    LOCATE out
",
    ),
    // The state of the running thread in an interrupt. A thread gets none here, since the interrupt
    // may have come while it was given one.
    (
        "INTERRUPTED",
        "
    STORAGE
    r1 = *(u32 *)(r0 + place.slot)
    if r1 == 0 goto out
    STATE out
",
    ),
    // The state of the running thread in a call, where r6 has the thread's registers as its first
    // argument. If the thread has made the last call on this processor, Linux 6.10 and later call
    // no function. Else the program goes on in `FIND_CALLER`, which stands behind its end: the
    // processor reads only what it runs.
    (
        "CALLER",
        "
    r6 = r1
    CPU
    r8 = *(u64 *)(r6 + 0)
    r3 = value control
    r3 = *(u64 *)(r3 + control.generation)
    r1 = *(u64 *)(r9 + cpu.registers)
    if r1 != r8 goto unknown
    r1 = *(u64 *)(r9 + cpu.generation)
    if r1 != r3 goto unknown
    r1 = *(u32 *)(r9 + cpu.slot)
    if r1 == 0 goto out
    STATE out
caller:
",
    ),
    (
        "FIND_CALLER",
        "
unknown:
    *(u64 *)(r9 + cpu.registers) = r8
    *(u64 *)(r9 + cpu.generation) = r3
    *(u32 *)(r9 + cpu.slot) = 0
    STORAGE
    LOCATE out
    r1 = *(u64 *)(r7 + thread.slot)
    *(u32 *)(r9 + cpu.slot) = r1
    goto caller
",
    ),
    // Sends the events of calls that this processor has in r9.
    (
        "FLUSH",
        "
    r3 = *(u64 *)(r9 + cpu.filled)
    if r3 == 0 goto flushed%
    if r3 > BATCH_BYTES goto flushed%
    *(u64 *)(r9 + cpu.filled) = 0
    *(u64 *)(r10 + -24) = r3
    r1 = map events
    r2 = r9
    r2 += cpu.batch
    r4 = NO_WAKE_UP
    call ringbuf_output
    if r0 == 0 goto sent%
    r2 = *(u64 *)(r10 + -24)
    r2 /= CALL_BYTES
    r1 = value lost
    lock *(u64 *)(r1 + 0) += r2
sent%:
    r1 = map events
    r2 = UNREAD
    call ringbuf_query
    if r0 <= CROWDED goto flushed%
    *(u64 *)(r9 + cpu.crowded) = 1
flushed%:
",
    ),
    // Adds the time since the last change to the current mode. An interrupt may have done so after
    // this program has read the clock. A thread without a last change has come to the processor
    // unseen: about one of 2000 forks has no `sched_switch` before the child runs.
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
    // Sends the events of this processor, and reserves space for another one.
    (
        "RESERVE",
        "
    CPU
    FLUSH
    RESERVE_ALONE $
",
    ),
    // Space for an event, in r9. Without space, the event is counted as lost, and the program goes
    // on at the label.
    (
        "RESERVE_ALONE",
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
    // Writes the event of a call to r9.
    (
        "CALL_EVENT",
        "
    r1 = *(u64 *)(r7 + thread.ids)
    *(u64 *)(r9 + event.ids) = r1
    r1 = *(u64 *)(r7 + thread.number)
    *(u32 *)(r9 + event.number) = r1
    TAKE_USER
    r1 = *(u64 *)(r7 + thread.call)
    *(u64 *)(r9 + event.call) = r1
    *(u64 *)(r7 + thread.call) = 0
    r1 = *(u64 *)(r6 + 8)
    *(u64 *)(r9 + event.result) = r1
    r1 = *(u64 *)(r7 + thread.since)
    *(u64 *)(r9 + event.time) = r1
    r5 = *(u64 *)(r7 + thread.flags)
    *(u32 *)(r9 + event.flags) = r5
    r3 = *(u64 *)(r6 + 0)
    r1 = *(u64 *)(r3 + pt_regs.dx)
    *(u64 *)(r9 + event.arguments + 16) = r1
    r5 &= IS_32_BIT
    if r5 != 0 goto narrow%
    r1 = *(u64 *)(r3 + pt_regs.di)
    *(u64 *)(r9 + event.arguments) = r1
    r1 = *(u64 *)(r3 + pt_regs.si)
    *(u64 *)(r9 + event.arguments + 8) = r1
    r1 = *(u64 *)(r3 + pt_regs.r10)
    *(u64 *)(r9 + event.arguments + 24) = r1
    r1 = *(u64 *)(r3 + pt_regs.r8)
    *(u64 *)(r9 + event.arguments + 32) = r1
    goto written%
narrow%:
    r1 = *(u64 *)(r3 + pt_regs.bx)
    *(u64 *)(r9 + event.arguments) = r1
    r1 = *(u64 *)(r3 + pt_regs.cx)
    *(u64 *)(r9 + event.arguments + 8) = r1
    r1 = *(u64 *)(r3 + pt_regs.si)
    *(u64 *)(r9 + event.arguments + 24) = r1
    r1 = *(u64 *)(r3 + pt_regs.di)
    *(u64 *)(r9 + event.arguments + 32) = r1
written%:
",
    ),
    // Writes the key of the call whose event is in the data of the processor, in r9, to the stack.
    (
        "CALL_KIND",
        "
    r1 = *(u32 *)(r9 + cpu.counted_event + event.ids)
    *(u32 *)(r10 + key.thread) = r1
    r1 = *(u32 *)(r9 + cpu.counted_event + event.number)
    *(u32 *)(r10 + key.number) = r1
    r1 = *(u32 *)(r9 + cpu.counted_event + event.flags)
    *(u32 *)(r10 + key.flags) = r1
    r1 = *(u64 *)(r9 + cpu.counted_event + event.arguments)
    if r1 < NO_DESCRIPTOR goto descriptor%
    r1 = NO_DESCRIPTOR
descriptor%:
    *(u64 *)(r10 + key.first) = r1
    r2 = *(u64 *)(r9 + cpu.counted_event + event.result)
    r1 = 0
    if r2 == 0 goto classed%
    if r2 s> 0 goto positive%
    r1 = FAILED
    if r2 s< -516 goto classed%
    if r2 s> -512 goto classed%
    r1 = RESTARTED
    goto classed%
positive%:
    r1 = 1
    LOGARITHM 32
    LOGARITHM 16
    LOGARITHM 8
    LOGARITHM 4
    LOGARITHM 2
    LOGARITHM 1
classed%:
    *(u32 *)(r10 + key.result) = r1
",
    ),
    // Adds the bits above the lower ones to r1 if r2 has such, and removes the lower ones.
    (
        "LOGARITHM",
        "
    r3 = r2
    r3 >>= $
    if r3 == 0 goto lower%
    r1 += $
    r2 = r3
lower%:
",
    ),
    // Counts the call with the key on the stack, whose event is in the data of the processor, in
    // r9. Without space for another kind of call, it is counted as lost.
    (
        "COUNT_KIND",
        "
    r1 = map kinds
    r2 = r10
    r2 += KEY
    call map_lookup_elem
    if r0 != 0 goto counted%
    *(u64 *)(r9 + cpu.counted + counted.count) = 0
    *(u64 *)(r9 + cpu.counted + counted.call) = 0
    *(u64 *)(r9 + cpu.counted + counted.user) = 0
    *(u64 *)(r9 + cpu.counted + counted.result) = 0
    r1 = map kinds
    r2 = r10
    r2 += KEY
    r3 = r9
    r3 += cpu.counted
    r4 = NEW
    call map_update_elem
    r1 = map kinds
    r2 = r10
    r2 += KEY
    call map_lookup_elem
    if r0 != 0 goto counted%
    r1 = value lost
    r2 = 1
    lock *(u64 *)(r1 + 0) += r2
    goto uncounted%
counted%:
    r2 = *(u64 *)(r9 + cpu.counted_event + event.call)
    lock *(u64 *)(r0 + counted.call) += r2
    r2 = *(u64 *)(r9 + cpu.counted_event + event.user)
    lock *(u64 *)(r0 + counted.user) += r2
    r2 = *(u64 *)(r9 + cpu.counted_event + event.result)
    lock *(u64 *)(r0 + counted.result) += r2
    r2 = 1
    lock *(u64 *)(r0 + counted.count) += r2
    r1 = value counted
    r2 = 1
    lock *(u64 *)(r1 + 0) += r2
uncounted%:
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
    // Reports the inode in r8, unless it is no regular file: its number, device and number of
    // pages.
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
    // Reports a page fault of a file. Its first argument is the file's `address_space`, and its
    // second one the first page.
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
pub fn expand(text: &str) -> String {
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
