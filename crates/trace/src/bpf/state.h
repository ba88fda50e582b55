// The state of the tracer: its maps, and the state of each traced thread.
//
// Each thread has a mode: it runs its own code, is in a call, in a page fault or in interrupt work.
// At each change of mode, and when the processor is taken from the thread, the time since the last
// change is added to the mode. So the modes add up to the thread's whole time on a processor.

enum {
    RING_BYTES = 32 << 20,
    STATES = 1 << 15,  // without the state 0: a thread with this number has none
};

struct thread {
    // When the current piece of time began, in ns. 0: the thread does not run, or has come to the
    // processor unseen: about one of 2000 new threads has no `sched_switch` before it runs.
    u64 since;
    u64 mode;
    u64 times[MODES];  // in each mode since the last event, in ns
    u32 thread;
    u32 number;    // of the call
    u32 flags;     // of the next event
    u32 has_more;  // than user time to report
    u64 slot;
    struct page_faults faults;
    struct waits waits;
    u64 running_since;  // when it came to its processor, or 0: it does not run
    u64 woken_at;       // since it sleeps, or 0
    // Of the current page fault.
    u64 outer_mode;
    u32 access;
    u32 page;
    u32 is_asleep;  // it left its processor to wait
};

struct {
    NUMBER(type, BPF_MAP_TYPE_RINGBUF);
    NUMBER(max_entries, RING_BYTES);
    TYPE(value, union any_event);
} events SEC(".maps");

// A thread without a value is not traced.
struct {
    NUMBER(type, BPF_MAP_TYPE_TASK_STORAGE);
    NUMBER(map_flags, BPF_F_NO_PREALLOC);
    TYPE(key, int);
    TYPE(value, struct thread_start);
} threads SEC(".maps");

struct {
    NUMBER(type, BPF_MAP_TYPE_ARRAY);
    NUMBER(max_entries, STATES);
    TYPE(key, u32);
    TYPE(value, struct thread);
} states SEC(".maps");

struct {
    NUMBER(type, BPF_MAP_TYPE_STACK);
    NUMBER(max_entries, STATES);
    NUMBER(key_size, 0);
    NUMBER(value_size, sizeof(u32));
} free_states SEC(".maps");

struct {
    NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    NUMBER(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct cpu);
} cpus SEC(".maps");

struct {
    NUMBER(type, BPF_MAP_TYPE_HASH);
    NUMBER(max_entries, 1 << 14);
    TYPE(key, struct call_kind);
    TYPE(value, struct counted_calls);
} call_kinds SEC(".maps");

struct counters counters;
// Changes when a running thread is added. Each processor then looks its thread up again.
volatile u64 generation SEC(".data.generation") = 0;
// By number of the call. The second table is that of 32-bit processes.
const volatile struct call_detail details[2][CALLS] = {};

INLINE void lose(u64 count) { __sync_fetch_and_add(&counters.lost, count); }

INLINE u64 take(u64 *time) {
    u64 taken = *time;
    *time = 0;
    return taken;
}

INLINE struct cpu *this_cpu(void) {
    u32 zero = 0;
    return bpf_map_lookup_elem(&cpus, &zero);
}

INLINE struct thread *state(u32 slot) { return bpf_map_lookup_elem(&states, &slot); }

// A state for a new thread. Without a free one, each program of the thread counts a lost event.
INLINE struct thread *new_state(struct thread_start *start) {
    u32 slot;
    if (bpf_map_pop_elem(&free_states, &slot)) {
        slot = __sync_fetch_and_add(&counters.states, 1) + 1;
        if (slot >= STATES) {
            lose(1);
            return 0;
        }
    }
    start->slot = slot;
    struct thread *thread = state(slot);
    if (!thread) return 0;
    __builtin_memset(thread, 0, sizeof *thread);
    thread->slot = slot;
    thread->since = start->since;
    thread->mode = start->mode;
    thread->thread = start->thread;
    thread->number = start->number;
    thread->flags = start->flags;
    return thread;
}

INLINE struct thread *state_of(struct task_struct *task) {
    struct thread_start *start = bpf_task_storage_get(&threads, task, 0, 0);
    if (!start) return 0;
    return start->slot ? state(start->slot) : new_state(start);
}

INLINE struct thread *running(void) { return state_of(bpf_get_current_task_btf()); }

// A thread comes to a processor. Returns the time in which no traced thread ran before, if it ran
// after others.
INLINE u64 begin_running(struct thread *thread, u64 now) {
    thread->running_since = now;
    if (__sync_fetch_and_add(&counters.running, 1) != 0) return 0;
    u64 since = counters.idle_since;
    counters.busy_since = now;
    return since && now > since ? now - since : 0;
}

// Once the number is 0, another processor may begin the next busy time. So `busy_since` is read
// before, and `idle_since` is written before. While a thread runs, `idle_since` is not read.
INLINE void end_running(struct thread *thread, u64 now) {
    if (!thread->running_since) return;
    __sync_fetch_and_add(&counters.thread_ns, now - take(&thread->running_since));
    u64 busy_since = counters.busy_since;
    counters.idle_since = now;
    if (__sync_fetch_and_add(&counters.running, -1) != 1) return;
    if (now > busy_since) __sync_fetch_and_add(&counters.busy_ns, now - busy_since);
}

// A thread that was added while it ran has not waited.
RARE struct thread *find_caller(struct cpu *cpu) {
    cpu->slot = 0;
    struct thread *thread = running();
    if (!thread) return 0;
    cpu->slot = thread->slot;
    if (!thread->running_since) begin_running(thread, bpf_ktime_get_ns());
    return thread;
}

// The state of the thread that makes a call. If it has made the last call on this processor, Linux
// 6.10 and later call no function.
INLINE struct thread *caller(struct cpu *cpu, u64 registers) {
    u64 now = generation;
    if (LIKELY(cpu->registers == registers && cpu->generation == now)) return cpu->slot ? state(cpu->slot) : 0;
    cpu->registers = registers;
    cpu->generation = now;
    return find_caller(cpu);
}

// Adds the time since the last change to the current mode. An interrupt may have done so after the
// program has read the clock.
INLINE void charge(struct thread *thread, u64 now) {
    if (LIKELY(thread->since)) {
        s64 passed = now - thread->since;
        if (passed < 0) return;
        thread->times[thread->mode % MODES] += passed;
    }
    thread->since = now;
}
