//! Programs that follow threads: their beginning, their end, and the processors that they have.

/// `sched_process_fork(parent, child)`. The child begins in the call of its parent.
pub const FORK: &str = "
    r6 = r1
    r2 = *(u64 *)(r6 + 0)
    STORAGE_OF
    if r0 == 0 goto out
    LOCATE out
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
    *(u64 *)(r0 + place.mode) = MODE_CALL
    r1 = *(u64 *)(r7 + thread.number)
    *(u64 *)(r0 + place.number) = r1
    r1 = r8
    r1 |= IS_CHILD
    *(u64 *)(r0 + place.flags) = r1
    r4 = *(u64 *)(r6 + 8)
    r6 = *(u32 *)(r4 + task_struct.tgid)
    r6 <<= 32
    r1 = *(u32 *)(r4 + task_struct.pid)
    r6 |= r1
    *(u64 *)(r0 + place.ids) = r6
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
pub const EXIT: &str = "
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

/// `sched_switch(is_preempted, previous, next)`. The registers of the next thread may lie where
/// those of an ended one were.
pub const SWITCH: &str = "
    r6 = r1
    r8 = 0
    CPU
    *(u64 *)(r9 + cpu.registers) = 0
    FLUSH
    r2 = *(u64 *)(r6 + 8)
    STORAGE_OF
    if r0 == 0 goto next
    LOCATE next
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
    RESERVE unsent
    TAKE_USER
    r1 = *(u64 *)(r7 + thread.call)
    *(u64 *)(r9 + event.call) = r1
    r1 = *(u64 *)(r7 + thread.flags)
    r1 |= END
    *(u32 *)(r9 + event.flags) = r1
    SUBMIT
unsent:
    r1 = *(u64 *)(r7 + thread.slot)
    *(u32 *)(r10 + -4) = r1
    r1 = map free
    r2 = r10
    r2 += -4
    r3 = 0
    call map_push_elem
next:
    r2 = *(u64 *)(r6 + 16)
    STORAGE_OF
    if r0 == 0 goto out
    LOCATE out
    if r8 != 0 goto known
    NOW
known:
    *(u64 *)(r7 + thread.since) = r8
    OUT
";
