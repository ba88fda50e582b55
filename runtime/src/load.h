// Runs a benchmark in several workers at the same time, as lmbench3's benchmp does with processes
// (Staelin: lmbench3, section 3, Table 1). The workers are processes, or threads of one process.
// While any worker times a batch, all others run the benchmark.
//
// The parent prepares and forks; each worker sets up. Worker 0 first measures the time of a pass
// alone, which sizes the batches of all workers. Rounds follow. In a round, all workers run until
// the last one has started and the warm-up is over. Each worker times one batch and continues to
// run until the last one has finished. The same follows for the dummy; then each worker writes its
// record. A process that ends before the parent dismisses it has failed.
#pragma once

#include "load_parent.h"
#include "load_threads.h"
#include "load_worker.h"
#include "yamba/platform.h"

namespace yamba {
namespace load {

// The number of processors that the workers share.
inline uint64_t processors(const Plan &plan) {
    if (placement.pinned() && plan.cpu >= 0) return 1;
    return placement.allowed.empty() ? platform.cpus : placement.allowed.size();
}

// Gives the parent real-time priority one above the workers', so that it gets the processor at once
// when it wakes up. The workers have one priority and take turns.
inline bool enter_realtime() {
    if (system::enter_realtime_in_turns(1)) return true;
    place::note(
        "not in a real-time class: with several processes or threads that needs root, CAP_SYS_NICE or a limit (`ulimit -r`) of "
        "at "
        "least 2");
    return false;
}

// Makes this forked process a measured one: it ends with its parent.
inline void become_measured(const Shared &shared, pid_t parent) {
    system::signal_with_parent(SIGKILL);
    if (getppid() != parent) _exit(failed_status);
    measured_process = getpid();
    // Linux schedules the processes of a session as a group (autogroup). A group on several
    // processors is weighed again at each wake-up, and the running process then gives way: a
    // wake-up takes up to two context switches instead of one.
    setsid();
    join(shared);
}

// The body of a measuring process.
inline void be_process(Subject &subject, const FixedBounds &bounds, bool pass_hooks, const Plan &plan, const ClockError &error,
                       const Shared &shared, uint64_t index, pid_t parent) {
    process = index;
    become_measured(shared, parent);
    placement.cpu = take_place(plan, index);
    placement.is_chosen = placement.pinned();
    Worker(subject, bounds, pass_hooks, plan, shared, processors(plan), index, parent).live(error);
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

// Measures in several threads of one forked process, each with one of the configured `subjects`.
inline void measure_threads(const Values<Subject *> &subjects, bool pass_hooks, const Plan &plan, const ClockError &error) {
    place::roam();
    Shared shared = share(plan.threads);
    Parent parent(shared, plan, processors(plan));
    pid_t self = getpid();
    fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) {
        parent.leave();
        become_measured(shared, self);
        Crew(subjects, Protocol{plan, shared, error, processors(plan), self, pass_hooks}).live();
        fflush(nullptr);
        end_early(0);
    }
    if (pid < 0) parent.refused(0, errno);
    parent.started(0, pid);
    bool is_value = strcmp(subjects.data()[0]->figure(), "value") == 0;
    parent.conduct(pass_hooks || is_value, !is_value);
    parent.dismiss();
}

}  // namespace load
}  // namespace yamba
