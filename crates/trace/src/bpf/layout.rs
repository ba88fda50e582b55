//! The layout of the data that the programs in the kernel and Yamba share.

/// The data that the programs get from Yamba.
pub const CONTROL: &[(&str, i32)] = &[
    // A number that changes when a running thread is added. Each processor then looks its thread up
    // again.
    ("control.generation", 0),
    // The table of calls, see `READS_BYTES`.
    ("control.reads", CONTROL_READS as i32),
];

/// Place of the table of calls.
pub const CONTROL_READS: usize = 8;
/// Length of these data.
pub const CONTROL_BYTES: usize = CONTROL_READS + READS_BYTES;

/// The task storage of a traced thread: the number of its state, or 0 and the state with which it
/// begins. All fields are numbers of 64 bits.
pub const PLACE: &[(&str, i32)] = &[
    ("place.slot", 0),
    ("place.since", 8),
    ("place.mode", 16),
    ("place.number", 24),
    ("place.flags", 32),
    ("place.ids", 40),
];

/// Length of the task storage of a thread.
pub const PLACE_BYTES: usize = 48;

/// Length of the buffer of events, in bytes: 260 000 events that are sent alone.
pub const RING_BYTES: u32 = 32 << 20;

/// Number of states. The first is not used: a thread with the number 0 has no state.
pub const SLOTS: u32 = 1 << 15;

/// The state of a traced thread. All fields are numbers of 64 bits but for the counts.
pub const THREAD: &[(&str, i32)] = &[
    // When the current piece of time began, in ns. While the thread does not run: when the last one
    // ended.
    ("thread.since", 0),
    // The current mode: one of those below. Elapsed time is added to it.
    ("thread.mode", 8),
    // The number of this state.
    ("thread.slot", 16),
    // Number of the call in which the thread is.
    ("thread.number", 24),
    // Flags of its next event.
    ("thread.flags", 32),
    // The thread's number, with the number of its process in the high half.
    ("thread.ids", 40),
    // Whether it has more to report than user time.
    ("thread.dirty", 48),
    // Time in each mode since the last event, in ns.
    ("thread.times", 56),
    ("thread.user", 56),
    ("thread.call", 64),
    ("thread.fault", 72),
    ("thread.softirq", 80),
    // From here to the last count: the part that an event of the kind MORE repeats.
    ("thread.more", 88),
    // Time of finished page faults: minor ones of each kind, and major ones.
    ("thread.minor", 88),
    ("thread.major", 128),
    // Counts of 32 bits since the last event. The last ones are minor page faults of each kind.
    ("thread.user_faults", 136),
    ("thread.call_faults", 140),
    ("thread.major_faults", 144),
    ("thread.minor_faults", 148),
    // Of the current page fault: whether the page was present, and whether it is a write. Then the
    // index of the number of pages that changed, plus 1.
    ("thread.fault_access", 168),
    ("thread.fault_page", 176),
    // The mode that a page fault has interrupted.
    ("thread.outer", 184),
];

/// Length of a thread's state.
pub const THREAD_BYTES: usize = 192;

/// The data of each processor: the thread that made the last call there, and the events of the
/// running thread that were not sent yet.
pub const CPU: &[(&str, i32)] = &[
    // The address of the thread's registers, or 0 after a switch. It is that of no other living
    // thread.
    ("cpu.registers", 0),
    // The generation of the traced threads when the thread was looked up.
    ("cpu.generation", 8),
    // The number of its state, or 0: it is not traced.
    ("cpu.slot", 16),
    // Length of the events.
    ("cpu.filled", 24),
    // Whether the ring was nearly full when events were sent last.
    ("cpu.crowded", 32),
    // The value with which the count of a kind of call begins: see `COUNTED`.
    ("cpu.counted", 40),
    ("cpu.counted_event", (40 + COUNTED_EVENT) as i32),
    ("cpu.batch", (40 + COUNTED_BYTES) as i32),
    ("BATCH_BYTES", BATCH_BYTES as i32),
    ("LAST_IN_BATCH", (BATCH_BYTES - CALL_BYTES) as i32),
];

/// Events of calls that are sent together.
const BATCH: usize = 8;
const BATCH_BYTES: usize = BATCH * CALL_BYTES;
/// Length of these data for one processor.
pub const CPU_BYTES: usize = 40 + COUNTED_BYTES + BATCH_BYTES;

/// The kinds of calls that are counted in the kernel while the ring of events is nearly full: the
/// key of the map. It lies on the stack.
pub const COUNTED_KEY: &[(&str, i32)] = &[
    ("key.thread", KEY),
    ("key.number", KEY + 4),
    ("key.flags", KEY + 8),
    // 0 for a result of 0, else 1 and its logarithm; FAILED or RESTARTED.
    ("key.result", KEY + 12),
    // The first argument, if it may be a descriptor.
    ("key.first", KEY + 16),
    ("KEY", KEY),
    ("FAILED", 64),
    ("RESTARTED", 65),
    // No descriptor is so large.
    ("NO_DESCRIPTOR", 1 << 16),
];

/// The place of the key on the stack.
const KEY: i32 = -64;

/// Length of the key.
pub const KEY_BYTES: usize = 24;

/// The calls of one kind: sums, and the event of the first one.
pub const COUNTED: &[(&str, i32)] = &[
    ("counted.count", 0),
    ("counted.call", 8),
    ("counted.user", 16),
    ("counted.result", 24),
    ("counted.event", COUNTED_EVENT as i32),
];

/// The place of the event in the value.
const COUNTED_EVENT: usize = 32;
/// Length of the value.
pub const COUNTED_BYTES: usize = COUNTED_EVENT + CALL_BYTES;
/// Most kinds of calls.
pub const COUNTED_KINDS: u32 = 1 << 14;

/// The modes of a thread.
pub const MODES: &[(&str, i32)] =
    &[("MODE_USER", 0), ("MODE_CALL", 1), ("MODE_FAULT", 2), ("MODE_SOFTIRQ", 3)];

/// The kinds of minor page faults.
pub const FAULTS: &[(&str, i32)] = &[
    ("FAULT_OTHER", 0),
    ("FAULT_COPY", 1),
    ("FAULT_ANONYMOUS", 2),
    ("FAULT_FILE", 3),
    ("FAULT_ZERO", 4),
];

/// The names of these kinds, by number. Other page faults, such as those of shared memory, have
/// none.
pub const FAULT_NAMES: [Option<&str>; FAULT_KINDS] =
    [None, Some("copy"), Some("anonymous"), Some("file"), Some("zero")];

/// Number of kinds of minor page faults.
pub const FAULT_KINDS: usize = 5;

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
    // When the call returned, in ns.
    ("event.time", 80),
    ("event.text", 88),
    // Of BEGIN: the ids of the new thread.
    ("event.child", 24),
    // Of MORE: a part of the thread's state.
    ("event.more", 24),
    // Of INTERRUPT: its time.
    ("event.interrupt", 24),
    // Of FAULT, a page fault of a file: the number of its pages. The text has its place.
    ("event.fault_pages", 24),
    ("EVENT_BYTES", EVENT_BYTES as i32),
    ("CALL_BYTES", CALL_BYTES as i32),
    ("TEXT_BYTES", TEXT_BYTES as i32),
];

/// Length of an event that is sent alone.
pub const EVENT_BYTES: usize = 120;
/// Length of an event among those that are sent together, which are calls without a text. No number
/// of them has the length of a single event.
pub const CALL_BYTES: usize = 88;
/// Length of an event's text.
pub const TEXT_BYTES: usize = 24;

/// The kinds of events, and the flags beside them.
pub const FLAGS: &[(&str, i32)] = &[
    ("CALL", 0),
    ("BEGIN", 1),
    ("END", 2),
    ("MORE", 3),
    ("FAULT", 4),
    ("INTERRUPT", 5),
    ("SHARES_FILES", 16),
    ("SHARES_MEMORY", 32),
    ("IS_THREAD", 64),
    ("IS_CHILD", 128),
    ("IS_32_BIT", 256),
    // The thread slept in the call.
    ("HAS_BLOCKED", 512),
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

/// The place in an event of the kind MORE of a field of a thread.
pub fn place_of_more(name: &str) -> usize {
    place("event.more") + value(THREAD, name) as usize - value(THREAD, "thread.more") as usize
}

/// The number with this name in a list.
pub fn value(list: &[(&str, i32)], name: &str) -> i32 {
    let found = list.iter().find(|(known, _)| *known == name);
    found.map_or(0, |(_, value)| *value)
}

/// Numbers of calls in one table.
pub const CALLS: usize = 512;

/// In the table below: the event is sent at once.
pub const AT_ONCE: u8 = 0x80;

/// Length of the table that says how a call's event is sent and what it reads from the memory of
/// the program, by number. The second half is for 32-bit processes.
pub const READS_BYTES: usize = 2 * CALLS;
