//! Counts the clock readings that need no system call.

use crate::bpf::EventReader;

/// Number of calls so far that read a clock.
pub fn calls(reader: &EventReader) -> f64 {
    let uses = reader.uses(1.0);
    let reads = uses.iter().filter(|used| reads_clock(&used.name));
    reads.map(|used| used.count).sum()
}

/// Whether the C library makes this call only where the vDSO does not read the clock: `NAME` or `NAME(KIND)`.
fn reads_clock(name: &str) -> bool {
    let call = name.split('(').next();
    call.is_some_and(|call| {
        ["clock_gettime", "clock_gettime64", "gettimeofday", "time"].contains(&call)
    })
}
