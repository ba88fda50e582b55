//! Programs at interrupt work.
//!
//! They run in an interrupt, possibly within another program of this processor. So they neither
//! send the events of the processor nor give a thread a state.

/// `softirq_entry(kind)`
pub const SOFTIRQ_ENTRY: &str = "
    INTERRUPTED
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_USER goto out
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_SOFTIRQ
    OUT
";

/// `softirq_exit(kind)`. Its event is sent at once: these programs are attached for a part of the
/// time, and the event must arrive in it.
pub const SOFTIRQ_EXIT: &str = "
    INTERRUPTED
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_SOFTIRQ goto out
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_USER
    RESERVE_ALONE lost
    *(u32 *)(r9 + event.flags) = INTERRUPT
    r1 = *(u64 *)(r7 + thread.softirq)
    *(u64 *)(r9 + event.interrupt) = r1
    SUBMIT
lost:
    *(u64 *)(r7 + thread.softirq) = 0
    OUT
";
