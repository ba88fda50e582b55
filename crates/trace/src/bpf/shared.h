// The data that the programs in the kernel and Yamba share. shared.rs has the same in Rust, in the
// same order; a test compares both by the types in trace.bpf.o.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

enum event_kind {
    CALL,
    DETAILED_CALL,  // with bytes from the program's memory, or with the position in a file
    BEGIN,          // a thread has made another one
    END,
    MORE,        // times and counts outside of calls, and of page faults within them
    FILE_FAULT,  // a page fault of a mapped file
    INTERRUPT,   // a soft interrupt in the thread's own code
};

enum event_flag {
    SHARES_FILES = 1,
    SHARES_MEMORY = 2,
    IS_THREAD = 4,
    IS_CHILD = 8,
    IS_32_BIT = 16,
    HAS_BLOCKED = 32,  // the thread slept in the call
    WAS_KILLED = 64,   // it ended outside of the calls `exit` and `exit_group`
};

struct event_head {
    u32 thread;
    u32 number;  // of the thread's call
    enum event_kind kind;
    enum event_flag flags;
    u64 user_ns;  // on a processor in the thread's own code since its last event
};

struct call_event {
    struct event_head head;
    u64 call_ns;  // on a processor
    s64 result;
    u64 arguments[5];
    u64 time_ns;  // when the call returned
};

// Bytes from memory, or a `file_place`: see `enum detail`.
struct detailed_call_event {
    struct call_event call;
    u8 detail[24];
};

struct begin_event {
    struct event_head head;
    u64 child;
};

struct end_event {
    struct event_head head;
    u64 call_ns;  // of the last call and of the end
};

struct fault_sum {
    u64 ns;
    u64 count;
};

struct page_faults {
    // Minor ones by kind: of a page that was copied, of the process's own, of a file or of zeros.
    struct fault_sum other;
    struct fault_sum copy;
    struct fault_sum anonymous;
    struct fault_sum file;
    struct fault_sum zero;
    struct fault_sum major;
    u32 user_faults;  // minor ones outside of calls
    u32 call_faults;  // minor ones within calls
};

// Time in which no thread of the application ran, by what ended it: this thread went on.
struct waits {
    u64 call_ns;   // it had slept in its call
    u64 fault_ns;  // it had slept in a page fault
    u64 ready_ns;  // it could have run, but other programs had the processor
};

struct more_event {
    struct event_head head;
    struct page_faults faults;
    struct waits waits;
};

struct file_place {
    u64 inode;  // 0: no regular file
    u64 position;
    u32 device;
    u32 pages;  // of the file
};

struct file_fault_event {
    struct event_head head;
    u64 fault_pages;
    struct file_place place;
};

struct interrupt_event {
    struct event_head head;
    u64 time_ns;
};

union any_event {
    struct call_event call;
    struct detailed_call_event detailed_call;
    struct begin_event begin;
    struct end_event end;
    struct more_event more;
    struct file_fault_event file_fault;
    struct interrupt_event interrupt;
};

// Kinds of calls that are counted while the ring of events is nearly full.
struct call_kind {
    u32 thread;
    u32 number;
    u32 flags;
    // The class of the result: 0 for 0, 1 + floor(log2(result)) for results above 0, and one class
    // each for failed calls and calls that the kernel restarts.
    u32 result;
    u64 first;  // the first argument, if it may be a descriptor
};

struct counted_calls {
    u64 count;
    u64 call_ns;
    u64 user_ns;
    u64 result;
    struct call_event first;
};

enum { BATCH = 8 };

struct cpu {
    u64 registers;   // their address in the last caller, or 0; that of no other living thread
    u64 generation;  // when that thread was looked up
    u64 slot;        // its state, or 0: it is not traced
    u64 is_crowded;  // the ring was nearly full when events were sent last
    u64 waiting;     // number of events that were not sent yet
    struct call_event batch[BATCH];
    struct counted_calls counted;  // the value with which the count of a kind of call begins
};

struct counters {
    u64 lost;     // events
    u64 counted;  // calls in the map `call_kinds`
    u64 states;   // that threads have or had
    // Sums of all traced threads.
    u64 running;     // number of threads on processors
    u64 idle_since;  // when one left its processor last, or 0
    u64 busy_since;  // when the first one came to a processor
    u64 busy_ns;     // time in which a thread was on a processor
    u64 thread_ns;   // sum of the threads' times on processors
};

enum mode { MODE_USER, MODE_CALL, MODE_FAULT, MODE_SOFTIRQ, MODES };

// The task storage of a traced thread: the number of its state, or 0 and how the state begins.
struct thread_start {
    u64 slot;
    u64 since;
    enum mode mode;
    u32 number;
    u32 flags;
    u32 thread;
};

// The fields of a call's event besides the arguments.
enum detail {
    NO_DETAIL,
    // Nothing, but the event is sent at once: later events of other threads use the descriptors
    // that the call changes.
    SENT_AT_ONCE,
    // The text or the bytes to which an argument points.
    TEXT,
    TWO_DESCRIPTORS,
    SIX_ARGUMENTS,
    // The position in the file whose descriptor an argument is. For `sendfile`, the third argument
    // points to the position, unless it is 0.
    FILE_POSITION,
    SENDFILE_POSITION,
} __attribute__((packed));

struct call_detail {
    enum detail detail;
    u8 argument;  // its index
};

enum { CALLS = 512 };  // numbers of calls in a table
