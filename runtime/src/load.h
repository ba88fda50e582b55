// Runs a benchmark in several concurrent processes, as lmbench3's benchmp does (Staelin: lmbench3, section 3, Table 1). While any
// process times a batch, all others run the benchmark.
//
// The parent prepares and forks; each process sets up. Process 0 first measures the time of a pass alone, which sizes the
// batches of all processes. Rounds follow. In a round, all processes run until the last one has started and the warm-up is
// over. Each process times one batch and continues to run until the last one has finished. The same follows for the dummy;
// then each process writes its record. A process that ends before the parent dismisses it has failed.
#pragma once

#include "load_parent.h"
#include "load_process.h"
#include "yamba/platform.h"

namespace yamba {
namespace load {

// The processor of a process, assigned round-robin. Process 0 gets the processor of a single-process run. If the user chose a
// processor, all processes share it. -1 if they are not pinned.
inline int processor(const Plan &plan, uint64_t index) {
    if (!placement.pinned() || plan.cpu >= 0) return placement.cpu;
    size_t first = 0, count = placement.allowed.size();
    while (placement.allowed[first] != placement.cpu) first++;
    return placement.allowed[(first + size_t(index)) % count];
}

// The number of processors that the processes share.
inline uint64_t processors(const Plan &plan) {
    if (placement.pinned() && plan.cpu >= 0) return 1;
    return placement.allowed.empty() ? platform.cpus : placement.allowed.size();
}

// Processes of one priority are scheduled round-robin; the parent must get the processor at once.
inline bool enter_realtime() {
    if (system::enter_realtime_in_turns(1)) return true;
    place::note(
        "not in a real-time class: with several processes that needs root, CAP_SYS_NICE or a limit (`ulimit -r`) of at least 2");
    return false;
}

// The body of a measuring process.
inline void be_process(Subject &subject, const FixedBounds &bounds, bool pass_hooks, const Plan &plan, const ClockError &error,
                       const Shared &shared, uint64_t index, pid_t parent) {
    process = index;
    system::signal_with_parent(SIGKILL);
    if (getppid() != parent) _exit(failed_status);
    // Linux schedules the processes of a session as a group (autogroup). A group on several processors is weighed anew at each
    // wake-up, and the running process then gives way: a wake-up takes up to two context switches instead of one.
    setsid();
    uint64_t sharing = processors(plan);
    int cpu = processor(plan, index);
    if (cpu >= 0 && !system::stay_on(&cpu, 1)) fail("cannot run on processor %d", cpu);
    placement.cpu = cpu;
    if (plan.realtime) system::enter_realtime_in_turns(0);
    Process(subject, bounds, pass_hooks, plan, shared, sharing, index, parent).live(error);
    fflush(nullptr);
    end_early(0);
}

// Measures a configured benchmark in several processes, from `prepare` to `finish`.
inline void measure(Subject &subject, bool pass_hooks, const Plan &plan, const ClockError &error) {
    const FixedBounds bounds(subject);
    subject.prepare();
    place::roam();
    Shared shared = share(plan.processes);
    Parent parent(shared, plan, processors(plan));
    pid_t self = getpid();
    fflush(nullptr);
    for (uint64_t i = 0; i < plan.processes; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            parent.leave();
            be_process(subject, bounds, pass_hooks, plan, error, shared, i, self);
        }
        if (pid < 0) parent.refused(i, errno);
        parent.started(i, pid);
    }
    bool is_value = strcmp(subject.figure(), "value") == 0;
    parent.conduct(pass_hooks || is_value, !is_value);
    parent.dismiss();
    subject.finish();
}

}  // namespace load
}  // namespace yamba
