// The system's interference with a benchmark while it is timed, and the kinds that invalidate a
// batch.
#pragma once

#include <math.h>
#include <stdint.h>

#include "yamba/clock.h"
#include "yamba/system.h"
#include "yamba/text.h"
#include "yamba/usage.h"

namespace yamba {

// Tests substitute simulated counts, as with the clock.
inline Usage (*read_usage)() = system::usage;
inline double (*read_waited)() = system::waited;
inline double (*read_process_time)() = system::process_time;
inline double (*read_children_time)() = system::children_time;

struct Disturbance {
    uint64_t involuntary = 0, voluntary = 0, migrations = 0, minor_faults = 0, major_faults = 0;
    double stolen_ns = 0;         // elapsed time minus the thread's processor time
    double waited_ns = 0;         // run-queue wait: the thread was runnable and another ran; NaN if unknown
    double other_threads_ns = 0;  // processor time of other threads of this process; NaN if unknown
    double processor_ns = 0;      // processor time of the process and of its child processes; NaN if unknown
    double queued_ns = 0;         // waited_ns beyond that for partners and for other workers
    bool faults_are_own = false;  // every pass takes as many page faults
    bool clock_went_back = false;
    bool known = true;  // whether the system provided its counts

    uint64_t faults() const { return minor_faults + major_faults; }

    Disturbance &operator+=(const Disturbance &other) {
        involuntary += other.involuntary, voluntary += other.voluntary, migrations += other.migrations;
        minor_faults += other.minor_faults, major_faults += other.major_faults;
        stolen_ns += other.stolen_ns, waited_ns += other.waited_ns;
        clock_went_back = clock_went_back || other.clock_went_back;
        known = known && other.known;
        return *this;
    }
};

// Measures the disturbance between two moments, both outside the timed code. The thread's processor
// time is read before and after that of the process, so a single thread never seems to have others
// beside it.
class Watch {
  public:
    Watch()
        : children_ns_(read_children_time()),
          waited_(read_waited()),
          usage_(read_usage()),
          process_ns_(read_process_time()),
          begin_(read_clock()) {}

    Disturbance end() const {
        uint64_t now = read_clock();
        double process_ns = read_process_time();
        Usage usage = read_usage();
        Disturbance d;
        d.waited_ns = read_waited() - waited_;
        d.known = usage.known && usage_.known;
        if (!d.known) return d;
        d.involuntary = usage.involuntary - usage_.involuntary;
        d.voluntary = usage.voluntary - usage_.voluntary;
        d.migrations = usage.processor != usage_.processor ? 1 : 0;
        d.minor_faults = usage.minor_faults - usage_.minor_faults;
        d.major_faults = usage.major_faults - usage_.major_faults;
        double own_ns = usage.cpu_ns - usage_.cpu_ns;
        d.stolen_ns = nanoseconds(begin_, now) - own_ns;
        d.other_threads_ns = process_ns - process_ns_ - own_ns;
        d.processor_ns = process_ns - process_ns_ + read_children_time() - children_ns_;
        return d;
    }

  private:
    double children_ns_;
    double waited_;
    Usage usage_;
    double process_ns_;
    uint64_t begin_;
};

// Estimates the normal run-queue wait per pass. A benchmark whose partner shares its processor
// waits in the run queue for the partner. Only a wait beyond the least one is due to other
// processes.
class Queue {
  public:
    void see(double waited_ns, uint64_t passes) {
        double each = waited_ns / double(passes);
        if (each < least_) least_ = each;
    }
    double beyond_least(double waited_ns, uint64_t passes) const {
        return isfinite(least_) ? waited_ns - least_ * double(passes) : 0;
    }

  private:
    double least_ = INFINITY;  // ns per pass
};

// Estimates the page faults that a benchmark takes by itself: those that every pass takes. A first
// touch of memory that stays mapped happens once, so that a later trial without it shows that it is
// not one of them.
class OwnFaults {
  public:
    void see(uint64_t faults, uint64_t passes) { least_ = fmin(least_, double(faults) / double(passes)); }

    // Whether the faults of a batch are more than those of its passes. The least number in a trial
    // may be one too small if not every pass faults, and the kernel reclaims some pages and spares
    // others.
    bool exceeded_by(uint64_t faults, uint64_t passes) const {
        constexpr double many = 8, varying = 0.01;
        // The product of a quotient may be just below a whole number.
        const double own = isfinite(least_) ? floor(least_ * double(passes) + 0.01) : 0;
        return double(faults) > own + (own < many ? 0 : 1 + varying * own);
    }

  private:
    double least_ = INFINITY;  // per pass
};

// Whether other processes had the processor while the benchmark was runnable. The wait for a
// partner itself varies by up to a third of the batch, depending on whether the scheduler lets
// partners preempt each other. Competitors take more of a short batch. They take less of a long
// one, but never for only some microseconds at a time.
inline bool others_ran(const Disturbance &d, double ns) {
    constexpr double most_of_it = 0.5, much_of_it = 0.2, competitors_turn = 1e6, partners_turn = 1e4;
    if (d.queued_ns > most_of_it * ns) return true;
    return d.queued_ns > much_of_it * ns && d.queued_ns > competitors_turn &&
           d.queued_ns > partners_turn * double(d.voluntary + d.involuntary);
}

// Kinds of disturbance that the benchmark causes itself, and that therefore do not count.
struct Tolerance {
    bool waits, faults;
    bool shares = true;  // a partner or another worker may need the processor of the thread
};

// Returns a JSON array, without brackets, of the disturbances that count against a batch of `ns`;
// empty if no disturbance counts.
inline Text held_against(const Disturbance &d, double ns, const Tolerance &own) {
    // A smaller share is explained by the delay between the two clock readings and by the timer's
    // interrupt.
    constexpr double stolen = 0.01;
    Text kinds;
    auto add = [&](bool holds, const char *kind) {
        if (holds) kinds.add(kinds.empty() ? "" : ",").quote(kind);
    };
    add(!own.waits && d.involuntary > 0, "switch");
    add(!own.waits && d.migrations > 0, "migration");
    add(!own.faults && !d.faults_are_own && d.faults() > 0, "fault");
    // A benchmark that takes page faults itself sleeps until storage answers.
    uint64_t own_sleeps = own.faults ? d.major_faults : 0;
    add(!own.waits && d.voluntary > own_sleeps, "wait");
    const bool is_queued = own.shares ? others_ran(d, ns) : d.queued_ns > stolen * ns;
    add(own.waits && is_queued, "queue");
    add(!own.waits && own_sleeps == 0 && d.stolen_ns > stolen * ns, "stolen");
    add(d.clock_went_back, "clock");
    return kinds;
}

}  // namespace yamba
