//! The layout of the data that the programs in the kernel and Yamba share.

/// The state of a traced thread. All fields are numbers of 64 bits but for the counts.
pub const THREAD: &[(&str, i32)] = &[
    // When the current piece of time began, in ns. While the thread does not run: when the last one ended.
    ("thread.since", 0),
    // The current mode: one of those below. Elapsed time is added to it.
    ("thread.mode", 8),
    // The mode that a page fault has interrupted.
    ("thread.outer", 16),
    // Number of the call in which the thread is.
    ("thread.number", 24),
    // Flags of its next event.
    ("thread.flags", 32),
    // The thread's number, with the number of its process in the high half.
    ("thread.ids", 40),
    // Whether it has more to report than user time.
    ("thread.dirty", 48),
    // Time in each mode since the last event, in ns; then that of finished page faults, minor and major.
    ("thread.times", 56),
    ("thread.user", 56),
    ("thread.call", 64),
    ("thread.fault", 72),
    ("thread.softirq", 80),
    ("thread.minor", 88),
    ("thread.major", 96),
    // Counts of 32 bits since the last event.
    ("thread.user_faults", 104),
    ("thread.call_faults", 108),
    ("thread.major_faults", 112),
    ("thread.softirqs", 116),
];

/// Length of a thread's state.
pub const THREAD_BYTES: usize = 120;

/// Place of the thread's numbers in its state.
pub const THREAD_IDS: usize = 40;

/// The modes of a thread.
pub const MODES: &[(&str, i32)] = &[
    ("MODE_USER", 0),
    ("MODE_CALL", 1),
    ("MODE_FAULT", 2),
    ("MODE_SOFTIRQ", 3),
];

/// An event. The fields behind the flags depend on its kind.
pub const EVENT: &[(&str, i32)] = &[
    ("event.ids", 0),
    ("event.number", 8),
    ("event.flags", 12),
    // Of CALL and END.
    ("event.user", 16),
    ("event.call", 24),
    ("event.result", 32),
    ("event.arguments", 40),
    ("event.text", 80),
    // Of BEGIN: the ids of the new thread.
    ("event.child", 24),
    // Of MORE: the times of minor faults, major faults and soft interrupts, then the four counts.
    ("event.more", 24),
    ("event.counts", 48),
    // Of FAULT, a page fault of a file: the number of its pages. The text has its place.
    ("event.fault_pages", 24),
    ("EVENT_BYTES", 104),
    ("TEXT_BYTES", 24),
];

/// Length of an event.
pub const EVENT_BYTES: usize = 104;
/// Length of an event's text.
pub const TEXT_BYTES: usize = 24;

/// The kinds of events, and the flags beside them.
pub const FLAGS: &[(&str, i32)] = &[
    ("CALL", 0),
    ("BEGIN", 1),
    ("END", 2),
    ("MORE", 3),
    ("FAULT", 4),
    ("SHARES_FILES", 16),
    ("SHARES_MEMORY", 32),
    ("IS_THREAD", 64),
    ("IS_CHILD", 128),
    ("IS_32_BIT", 256),
];

/// The part of an event's flags that is its kind.
pub const KIND_MASK: u32 = 15;

/// The number in an event of a thread that ended outside of the calls `exit` and `exit_group`.
pub const KILLED: i32 = 0xffff;

/// The value of a flag or kind of event.
pub fn flag(name: &str) -> u32 {
    value(FLAGS, name) as u32
}

/// The place of a field in an event.
pub fn place(name: &str) -> usize {
    value(EVENT, name) as usize
}

fn value(list: &[(&str, i32)], name: &str) -> i32 {
    let found = list.iter().find(|(known, _)| *known == name);
    found.map_or(0, |(_, value)| *value)
}

/// Numbers of calls in one table.
pub const CALLS: usize = 512;

/// Length of the table that says what a call's event reads from the memory of the program, by number. The second half is for 32-bit processes.
pub const READS_BYTES: usize = 2 * CALLS;
