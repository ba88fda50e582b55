// The programs that run in the kernel. scripts/build-bpf compiles them to trace.bpf.o.
//
// Each call of a helper function costs more than many instructions, and each call of a traced
// program runs two programs. So these two find the state of the thread without a function where the
// thread has made the last call on this processor, and send the events of several calls together.

#include "shared.h"

#include "kernel.h"

#include "state.h"

// The kernel offers some functions to compatible licences only. Yamba's is MIT or Apache-2.0.
char LICENSE[] SEC("license") = "Dual MIT/GPL";

// Unread bytes of the ring from which calls without effects on descriptors are counted in the
// kernel, and from which all calls are. The rest is for other events, which must be sent.
enum { CROWDED = RING_BYTES / 8 * 7, FULL = RING_BYTES / 16 * 15 };

// Sends the events that wait on this processor.
INLINE void flush(struct cpu *cpu) {
    u64 count = cpu->waiting;
    if (count == 0 || count > BATCH) return;
    cpu->waiting = 0;
    if (bpf_ringbuf_output(&events, cpu->batch, count * sizeof cpu->batch[0], BPF_RB_NO_WAKEUP)) lose(count);
    if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > CROWDED) cpu->is_crowded = 1;
}

// Space for an event that must not overtake those that wait: `flush` comes first. Without space,
// the event is counted as lost.
INLINE void *reserve(struct thread *thread, u64 bytes, enum event_kind kind) {
    struct event_head *head = bpf_ringbuf_reserve(&events, bytes, 0);
    if (!head) {
        lose(1);
        return 0;
    }
    head->thread = thread->thread;
    head->number = thread->number;
    head->kind = kind;
    head->flags = thread->flags;
    head->user_ns = 0;
    return head;
}

INLINE void submit(void *event) { bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP); }

// Reports all times but that of the call.
RARE void report_more(struct cpu *cpu, struct thread *thread) {
    flush(cpu);
    struct more_event *event = reserve(thread, sizeof *event, MORE);
    if (!event) return;
    event->head.user_ns = take(&thread->times[MODE_USER]);
    event->faults = thread->faults;
    __builtin_memset(&thread->faults, 0, sizeof thread->faults);
    event->waits = thread->waits;
    __builtin_memset(&thread->waits, 0, sizeof thread->waits);
    thread->has_more = 0;
    submit(event);
}

enum { CODE_32_BIT = 0x23 };  // the segment of code of 32-bit processes

SEC("tp_btf/sys_enter") int sys_enter(u64 *arguments) {
    struct pt_regs *registers = (void *)arguments[0];
    struct cpu *cpu = this_cpu();
    struct thread *thread = cpu ? caller(cpu, arguments[0]) : 0;
    if (!thread) return 0;
    u64 segment = registers->cs;
    asm("" : "+r"(segment));  // The kernel's member has more bits before Linux 6.9.
    thread->number = arguments[1];
    thread->flags = (u16)segment == CODE_32_BIT ? IS_32_BIT : 0;
    charge(thread, bpf_ktime_get_ns());
    thread->mode = MODE_CALL;
    return 0;
}

// The registers of calls by 32-bit processes.
RARE void write_narrow_arguments(struct call_event *event, u64 *arguments) {
    struct pt_regs *registers = (void *)arguments[0];
    event->arguments[0] = registers->bx;
    event->arguments[1] = registers->cx;
    event->arguments[3] = registers->si;
    event->arguments[4] = registers->di;
}

INLINE void write_call(struct call_event *event, struct thread *thread, enum event_kind kind, u64 *arguments) {
    struct pt_regs *registers = (void *)arguments[0];
    event->head.thread = thread->thread;
    event->head.number = thread->number;
    event->head.kind = kind;
    event->head.flags = thread->flags;
    event->head.user_ns = take(&thread->times[MODE_USER]);
    event->call_ns = take(&thread->times[MODE_CALL]);
    event->result = arguments[1];
    event->time_ns = thread->since;
    event->arguments[0] = registers->di;
    event->arguments[1] = registers->si;
    event->arguments[2] = registers->dx;
    event->arguments[3] = registers->r10;
    event->arguments[4] = registers->r8;
    if (UNLIKELY(thread->flags & IS_32_BIT)) write_narrow_arguments(event, arguments);
}

// The classes of failed calls, and of calls that the kernel restarts. Those of results above 0 are
// lower: at most 63.
enum { FAILED = 64, RESTARTED = 65 };

// The class of a result, as `call_kind` describes it.
INLINE u32 result_class(s64 result) {
    if (result == 0) return 0;
    if (result < 0) return result < -516 || result > -512 ? FAILED : RESTARTED;
    u32 class = 1;
#pragma unroll
    for (int bits = 32; bits > 0; bits /= 2) {
        if (result >> bits) {
            class += bits;
            result >>= bits;
        }
    }
    return class;
}

// Counts a call by its kind in place of an event. Without space for another kind, it is lost.
RARE void count_call(struct cpu *cpu, struct thread *thread, u64 *arguments) {
    struct call_event *event = &cpu->counted.first;
    write_call(event, thread, CALL, arguments);
    enum { NO_DESCRIPTOR = 1 << 16 };  // no descriptor is so large
    u64 first = event->arguments[0] < NO_DESCRIPTOR ? event->arguments[0] : NO_DESCRIPTOR;
    struct call_kind kind = {thread->thread, thread->number, thread->flags, result_class(event->result), first};
    struct counted_calls *counted = bpf_map_lookup_elem(&call_kinds, &kind);
    if (!counted) {
        cpu->counted.count = cpu->counted.call_ns = cpu->counted.user_ns = cpu->counted.result = 0;
        bpf_map_update_elem(&call_kinds, &kind, &cpu->counted, BPF_NOEXIST);
        counted = bpf_map_lookup_elem(&call_kinds, &kind);
        if (!counted) return lose(1);
    }
    __sync_fetch_and_add(&counted->call_ns, event->call_ns);
    __sync_fetch_and_add(&counted->user_ns, event->head.user_ns);
    __sync_fetch_and_add(&counted->result, event->result);
    __sync_fetch_and_add(&counted->count, 1);
    __sync_fetch_and_add(&counters.counted, 1);
}

enum { PAGE_SHIFT = 12 };

// Writes all but the position, if this is a regular file.
INLINE void identify(struct file_place *place, struct inode *inode) {
    unsigned short mode;
    s64 bytes;
    struct super_block *device;
    place->inode = 0;
    READ_MEMBER(mode, inode, i_mode);
    if ((mode & 0170000) != 0100000) return;
    READ_MEMBER(bytes, inode, i_size);
    place->pages = (bytes + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT;
    READ_MEMBER(device, inode, i_sb);
    READ_MEMBER(place->device, device, s_dev);
    READ_MEMBER(place->inode, inode, i_ino);
}

INLINE void find_file(struct file_place *place, u64 descriptor, const void *position) {
    struct file *file;
    struct inode *inode;
    place->inode = place->position = 0;
    if (position) bpf_probe_read_user(&place->position, sizeof place->position, position);
    struct fdtable *table = bpf_get_current_task_btf()->files->fdt;
    if (descriptor >= table->max_fds) return;
    bpf_probe_read_kernel(&file, sizeof file, &table->fd[descriptor]);
    if (!file) return;
    READ_MEMBER(inode, file, f_inode);
    identify(place, inode);
    if (place->position == 0) READ_MEMBER(place->position, file, f_pos);
}

INLINE const volatile struct call_detail *detail_of(struct thread *thread) {
    return &details[thread->flags & IS_32_BIT ? 1 : 0][thread->number % CALLS];
}

RARE void send_detailed(struct cpu *cpu, struct thread *thread, u64 *arguments) {
    flush(cpu);
    struct detailed_call_event *event = reserve(thread, sizeof *event, DETAILED_CALL);
    if (!event) {
        thread->times[MODE_CALL] = 0;
        return;
    }
    write_call(&event->call, thread, DETAILED_CALL, arguments);
    enum detail detail = detail_of(thread)->detail;
    u64 argument = event->call.arguments[detail_of(thread)->argument & 3];
    void *from = (void *)argument, *third = (void *)event->call.arguments[2];
    if (detail == TEXT) bpf_probe_read_user_str(event->detail, sizeof event->detail, from);
    else if (detail == TWO_DESCRIPTORS) bpf_probe_read_user(event->detail, 2 * sizeof(u32), from);
    else if (detail == SIX_ARGUMENTS) bpf_probe_read_user(event->detail, 6 * sizeof(u32), from);
    else find_file((void *)event->detail, argument, detail == SENDFILE_POSITION ? third : 0);
    submit(event);
}

// Whether a call must be counted in the kernel.
RARE int is_full(struct cpu *cpu, u32 detail) {
    u64 unread = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
    if (unread <= CROWDED) cpu->is_crowded = 0;
    return unread > FULL || (unread > CROWDED && detail == NO_DETAIL);
}

SEC("tp_btf/sys_exit") int sys_exit(u64 *arguments) {
    struct cpu *cpu = this_cpu();
    struct thread *thread = cpu ? caller(cpu, arguments[0]) : 0;
    if (!thread) return 0;
    charge(thread, bpf_ktime_get_ns());
    thread->mode = MODE_USER;
    if (UNLIKELY(thread->has_more)) report_more(cpu, thread);
    u32 detail = (s64)arguments[1] < 0 ? NO_DETAIL : detail_of(thread)->detail;
    if (UNLIKELY(cpu->is_crowded) && is_full(cpu, detail)) {
        count_call(cpu, thread, arguments);
    } else if (UNLIKELY(detail > SENT_AT_ONCE)) {
        send_detailed(cpu, thread, arguments);
    } else {
        u64 waiting = cpu->waiting;
        if (waiting >= BATCH) return 0;
        write_call(&cpu->batch[waiting], thread, CALL, arguments);
        cpu->waiting = waiting + 1;
        // Without sending, the rest takes less time than another reading of the clock.
        if (waiting + 1 < BATCH && detail != SENT_AT_ONCE) return 0;
        flush(cpu);
    }
    thread->since = bpf_ktime_get_ns();  // The time of this program is no user time.
    return 0;
}

// The child begins in the call of its parent.
SEC("tp_btf/sched_process_fork") int sched_process_fork(u64 *arguments) {
    struct task_struct *parent = (void *)arguments[0], *child = (void *)arguments[1];
    struct thread *thread = state_of(parent);
    if (!thread) return 0;
    struct cpu *cpu = this_cpu();
    if (!cpu) return 0;
    if (parent->files == child->files) thread->flags |= SHARES_FILES;
    if (parent->mm == child->mm) thread->flags |= SHARES_MEMORY;
    if (parent->tgid == child->tgid) thread->flags |= IS_THREAD;
    struct thread_start *start = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!start) {
        lose(1);
        return 0;
    }
    start->mode = MODE_CALL;
    start->number = thread->number;
    start->flags = thread->flags | IS_CHILD;
    start->thread = child->pid;
    flush(cpu);
    struct begin_event *event = reserve(thread, sizeof *event, BEGIN);
    if (!event) return 0;
    event->child = start->thread;
    submit(event);
    return 0;
}

// The rest of the thread's time belongs to its end.
SEC("tp_btf/sched_process_exit") int sched_process_exit(u64 *arguments) {
    struct thread *thread = running();
    if (!thread) return 0;
    charge(thread, bpf_ktime_get_ns());
    int is_32_bit = thread->flags & IS_32_BIT;
    u32 exit = is_32_bit ? 1 : 60, exit_group = is_32_bit ? 252 : 231;
    if (thread->mode != MODE_CALL || (thread->number != exit && thread->number != exit_group)) thread->flags |= WAS_KILLED;
    thread->mode = MODE_CALL;
    return 0;
}

INLINE void report_end(struct cpu *cpu, struct thread *thread) {
    report_more(cpu, thread);
    struct end_event *event = reserve(thread, sizeof *event, END);
    if (event) {
        event->head.user_ns = take(&thread->times[MODE_USER]);
        event->call_ns = thread->times[MODE_CALL];
        submit(event);
    }
    u32 slot = thread->slot;
    bpf_map_push_elem(&free_states, &slot, 0);
}

// The part of a wait in which the thread could run, but the processor did not take it.
INLINE u64 ready_part(struct thread *thread, int is_after_idle, u64 waited, u64 now) {
    if (!thread->is_asleep) return waited;
    u64 woken_at = thread->woken_at;
    if (is_after_idle || woken_at == 0 || now < woken_at) return 0;
    u64 since = now - woken_at;
    return since < waited ? since : waited;
}

// A thread comes to a processor. The time in which no thread of the application ran belongs to the
// call or page fault in which this thread slept. The wake-up of an idle processor is part of it.
INLINE void resume(struct thread *thread, int is_after_idle, u64 now) {
    thread->since = now;
    u64 waited = begin_running(thread, now);
    if (waited == 0) return;
    u64 ready = ready_part(thread, is_after_idle, waited, now);
    thread->waits.ready_ns += ready;
    if (thread->mode == MODE_FAULT) thread->waits.fault_ns += waited - ready;
    else thread->waits.call_ns += waited - ready;
    thread->has_more = 1;
}

SEC("tp_btf/sched_waking") int sched_waking(u64 *arguments) {
    struct thread_start *start = bpf_task_storage_get(&threads, (struct task_struct *)arguments[0], 0, 0);
    struct thread *thread = start && start->slot ? state(start->slot) : 0;
    if (thread && thread->is_asleep && !thread->woken_at) thread->woken_at = bpf_ktime_get_ns();
    return 0;
}

enum {
    // Values of `__state`.
    TASK_DEAD = 128,    // it has ended
    TASK_WAKING = 512,  // it was woken while it left its processor: `is_asleep` was still 0
    LONG_NS = 5000000,  // a thread without calls reports its times when they reach 5 ms
};

SEC("tp_btf/sched_switch") int sched_switch(u64 *arguments) {
    int is_preempted = arguments[0];
    struct task_struct *previous = (void *)arguments[1], *next = (void *)arguments[2];
    struct cpu *cpu = this_cpu();
    if (!cpu) return 0;
    cpu->registers = 0;  // Those of the next thread may lie where those of an ended one were.
    flush(cpu);
    u64 now = 0;
    struct thread *thread = state_of(previous);
    if (thread) {
        now = bpf_ktime_get_ns();
        charge(thread, now);
        thread->since = 0;
        end_running(thread, now);
        u32 state = previous->__state;
        if (state == TASK_DEAD) {
            report_end(cpu, thread);
        } else {
            // A thread in the state 0, or one whose processor was taken away, can run on.
            thread->woken_at = state == TASK_WAKING ? now : 0;
            thread->is_asleep = state != 0 && !is_preempted;
            if (thread->is_asleep && thread->mode == MODE_CALL) thread->flags |= HAS_BLOCKED;
            if (thread->times[MODE_USER] >= LONG_NS) report_more(cpu, thread);
        }
    }
    thread = state_of(next);
    if (thread) resume(thread, previous->pid == 0, now ? now : bpf_ktime_get_ns());
    return 0;
}

// Bits of the processor's error code of a page fault: the page is present, and the access a write.
enum { PRESENT = 1, WRITE = 2 };

// The number of pages that a page fault has changed: the kernel's index (MM_FILEPAGES,
// MM_ANONPAGES), plus 1. It is unknown where the changes have no event.
enum { NO_PAGE = 0, PAGE_OF_FILE = 1, PAGE_ANONYMOUS = 2, UNKNOWN_PAGE = 100 };

INLINE void begin_fault(struct thread *thread, u64 error_code) {
    thread->access = error_code & (PRESENT | WRITE);
    thread->page = HAS_PAGE_EVENTS ? NO_PAGE : UNKNOWN_PAGE;
    if (thread->mode == MODE_FAULT) return;
    charge(thread, bpf_ktime_get_ns());
    thread->outer_mode = thread->mode;
    thread->mode = MODE_FAULT;
}

// A page fault of the program's own code. The mode is still that of a fault if the one before ended
// in a signal: the kernel does not count it. The new fault's kind is its own.
SEC("tp_btf/page_fault_user") int page_fault_user(u64 *arguments) {
    struct thread *thread = running();
    if (thread) begin_fault(thread, arguments[2]);
    return 0;
}

// A page fault within a call, or within the handling of another one.
SEC("tp_btf/page_fault_kernel") int page_fault_kernel(u64 *arguments) {
    struct thread *thread = running();
    if (thread && thread->mode != MODE_FAULT) begin_fault(thread, arguments[2]);
    return 0;
}

// Runs when the kernel changes a process's number of resident pages of one kind.
SEC("tp_btf/rss_stat") int rss_stat(u64 *arguments) {
    if (!HAS_PAGE_EVENTS) return 0;
    struct thread *thread = running();
    if (thread && thread->mode == MODE_FAULT) thread->page = (u32)arguments[1] + 1;
    return 0;
}

INLINE int end_fault(struct thread *thread) {
    if (!thread || thread->mode != MODE_FAULT) return 0;
    charge(thread, bpf_ktime_get_ns());
    thread->mode = thread->outer_mode;
    thread->has_more = 1;
    return 1;
}

// A write to a present page means copy on write: the kernel copies the page, or makes it writable
// if no other process uses it. A fault at an absent page is of the kind whose number of pages has
// changed: pages of a file, or anonymous ones. A read that changes neither maps the page of zeros.
INLINE struct fault_sum *kind_of_fault(struct thread *thread) {
    struct page_faults *faults = &thread->faults;
    if (thread->access & PRESENT) return thread->access & WRITE ? &faults->copy : &faults->other;
    if (thread->page == PAGE_OF_FILE) return &faults->file;
    if (thread->page == PAGE_ANONYMOUS) return &faults->anonymous;
    return thread->page == NO_PAGE && !(thread->access & WRITE) ? &faults->zero : &faults->other;
}

// The kernel counts a page fault when it has handled it, so this program runs at its end.
SEC("perf_event") int minor_faults(void *context) {
    struct thread *thread = running();
    if (!end_fault(thread)) return 0;
    struct fault_sum *kind = kind_of_fault(thread);
    kind->ns += take(&thread->times[MODE_FAULT]);
    kind->count++;
    if (thread->mode == MODE_USER) thread->faults.user_faults++;
    else thread->faults.call_faults++;
    return 0;
}

// Runs at the end of a page fault that has read from storage.
SEC("perf_event") int major_faults(void *context) {
    struct thread *thread = running();
    if (!end_fault(thread)) return 0;
    thread->faults.major.ns += take(&thread->times[MODE_FAULT]);
    thread->faults.major.count++;
    return 0;
}

INLINE int report_file_fault(struct address_space *file, u64 first_page, u64 pages) {
    struct thread *thread = running();
    if (!thread) return 0;
    struct cpu *cpu = this_cpu();
    if (!cpu) return 0;
    flush(cpu);
    struct file_fault_event *event = reserve(thread, sizeof *event, FILE_FAULT);
    if (!event) return 0;
    event->fault_pages = pages;
    event->place.position = first_page << PAGE_SHIFT;
    identify(&event->place, file->host);
    submit(event);
    return 0;
}

SEC("tp_btf/mm_filemap_fault") int mm_filemap_fault(u64 *arguments) {
    return report_file_fault((void *)arguments[0], arguments[1], 1);
}

// Cached pages around a page fault were mapped.
SEC("tp_btf/mm_filemap_map_pages") int mm_filemap_map_pages(u64 *arguments) {
    return report_file_fault((void *)arguments[0], arguments[1], arguments[2] - arguments[1] + 1);
}

// The thread that an interrupt has stopped, if it is traced and in this mode. The interrupt may have
// stopped another one of these programs on this processor, so this makes no state for the thread,
// and its callers flush nothing.
INLINE struct thread *interrupted(u64 mode) {
    struct thread_start *start = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
    struct thread *thread = start && start->slot ? state(start->slot) : 0;
    return thread && thread->mode == mode ? thread : 0;
}

SEC("tp_btf/softirq_entry") int softirq_entry(u64 *arguments) {
    struct thread *thread = interrupted(MODE_USER);
    if (!thread) return 0;
    charge(thread, bpf_ktime_get_ns());
    thread->mode = MODE_SOFTIRQ;
    return 0;
}

// Its event is sent at once: these programs are attached for a part of the time, and the event must
// arrive in it.
SEC("tp_btf/softirq_exit") int softirq_exit(u64 *arguments) {
    struct thread *thread = interrupted(MODE_SOFTIRQ);
    if (!thread) return 0;
    charge(thread, bpf_ktime_get_ns());
    thread->mode = MODE_USER;
    u64 time_ns = take(&thread->times[MODE_SOFTIRQ]);
    struct interrupt_event *event = reserve(thread, sizeof *event, INTERRUPT);
    if (!event) return 0;
    event->time_ns = time_ns;
    submit(event);
    return 0;
}
