//! Programs at the beginning and end of each call.

/// `sys_enter(registers, number)`
pub const CALL_ENTRY: &str = "
    CALLER
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
    FIND_CALLER
";

/// `sys_exit(registers, result)`. A number in the table `control.reads` says what the event takes
/// from the memory of the program: the low half is the argument that has its place, the high half 1
/// for a text, 2 for 8 bytes, 3 for 24 bytes, 4 for the place in the file of a descriptor, and 5
/// for that of `sendfile`. `AT_ONCE` is for calls that change descriptors: events of other threads
/// that use them must come later.
///
/// Other events wait for more. Where none are sent, the rest of this program takes less time than
/// another reading of the clock.
///
/// While the ring is nearly full, calls are counted by number, thread, result and first argument,
/// so that none is lost. First those that change no descriptor are.
pub const CALL_EXIT: &str = "
    CALLER
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_USER
    r1 = *(u64 *)(r7 + thread.dirty)
    if r1 != 0 goto more
call:
    r1 = *(u64 *)(r6 + 8)
    r8 = 0
    if r1 s< 0 goto known
    r2 = *(u64 *)(r7 + thread.number)
    r2 &= 511
    r1 = *(u64 *)(r7 + thread.flags)
    r1 &= IS_32_BIT
    r1 <<= 1
    r2 += r1
    r1 = value control
    r1 += r2
    r8 = *(u8 *)(r1 + control.reads)
known:
    r1 = *(u64 *)(r9 + cpu.crowded)
    if r1 != 0 goto crowded
uncrowded:
    if r8 == 0 goto several
    if r8 != AT_ONCE goto single
several:
    r1 = *(u64 *)(r9 + cpu.filled)
    if r1 > LAST_IN_BATCH goto out
    r4 = r9
    r9 += r1
    r9 += cpu.batch
    CALL_EVENT
    r9 = r4
    r1 = *(u64 *)(r9 + cpu.filled)
    r1 += CALL_BYTES
    *(u64 *)(r9 + cpu.filled) = r1
    if r1 == BATCH_BYTES goto send
    if r8 != AT_ONCE goto out
send:
    FLUSH
    goto done
more:
    REPORT_MORE
    CPU
    goto call
crowded:
    r1 = map events
    r2 = UNREAD
    call ringbuf_query
    if r0 > FULL goto count
    if r0 <= CROWDED goto emptied
    if r8 == 0 goto count
    goto uncrowded
emptied:
    *(u64 *)(r9 + cpu.crowded) = 0
    goto uncrowded
count:
    r4 = r9
    r9 += cpu.counted_event
    CALL_EVENT
    r9 = r4
    CALL_KIND
    COUNT_KIND
    goto done
single:
    RESERVE lost
    *(u64 *)(r9 + event.text) = 0
    CALL_EVENT
    r1 = r8
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
    FIND_CALLER
";
