//! Programs at interrupt work.

pub const SOFTIRQ_ENTRY: &str = "
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

pub const SOFTIRQ_EXIT: &str = "
    CURRENT
    r1 = *(u64 *)(r7 + thread.mode)
    if r1 != MODE_SOFTIRQ goto out
    NOW
    CHARGE
    *(u64 *)(r7 + thread.mode) = MODE_USER
    OUT
";
