// Finds benchmarks whose own threads run while they are timed, but have only the one processor that
// this process is pinned to.
#pragma once

#include "disturbance.h"
#include "yamba/placement.h"
#include "yamba/subject.h"

namespace yamba {

// Watches trials and batches for processor time of other threads. Code that runs in parallel would
// take as long as in one thread, so its launch ends with an error that asks for another placement.
// Processor time does not depend on other load.
class ConfinedThreads {
  public:
    // `is_intended`: the user or the class chose one processor for all threads.
    explicit ConfinedThreads(bool is_intended) : is_intended_(is_intended) {}

    // Adds a trial or batch of `ns`. Ends the launch if threads share a processor by default only.
    void see(const Disturbance &d, double ns) {
        // It does not distinguish threads that run the benchmark at the same time from those that
        // the benchmark starts.
        if (threads > 1) return;
        seen_++;
        if (!(d.other_threads_ns > noticeable * ns)) return;
        with_threads_++;
        if (have_run() && placement.pinned() && !is_intended_) place::fail_confined(d.other_threads_ns / ns);
    }

    // Whether other threads have run in some of the trials and batches, and not only to initialise
    // a library.
    bool have_run() const { return with_threads_ >= 2 && most_without * with_threads_ >= seen_; }

  private:
    static constexpr double noticeable = 0.01;    // share of the time; less does not change a figure much
    static constexpr uint64_t most_without = 10;  // trials and batches for each one with threads

    bool is_intended_;
    uint64_t seen_ = 0, with_threads_ = 0;
};

}  // namespace yamba
