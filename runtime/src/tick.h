// When the system's timer interrupts. What is shorter than the time between two of its ticks can be timed where none falls into
// it.
#pragma once

#include <stdint.h>
#include <time.h>

namespace yamba {

// A clock that stands still between two ticks, and one that does not; both in ns of the same time.
struct TickClocks {
    uint64_t last, now;
};

inline TickClocks system_tick_clocks() {
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec last, now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &last);
    clock_gettime(CLOCK_MONOTONIC, &now);
    auto ns = [](const struct timespec &t) { return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec); };
    return {ns(last), ns(now)};
#else
    return {0, 0};
#endif
}

// Nanoseconds from one tick to the next; 0 where the system does not tell.
inline uint64_t system_tick_period() {
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec step;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) == 0) return uint64_t(step.tv_sec) * 1000000000u + uint64_t(step.tv_nsec);
#endif
    return 0;
}

// Tests put simulated ones here.
inline TickClocks (*read_tick_clocks)() = system_tick_clocks;
inline uint64_t (*tick_period)() = system_tick_period;

// Waits without giving up the processor: what comes next finds it as it was left.
class Ticks {
  public:
    // The clock that stands still may lag by a constant part of a tick, so the first tick that is seen shows the lag.
    Ticks() : period_(double(tick_period())) {
        if (period_ == 0) return;
        TickClocks begin = read_tick_clocks(), clocks = begin;
        while (clocks.last == begin.last && double(clocks.now - begin.now) < patience * period_) clocks = read_tick_clocks();
        if (clocks.last == begin.last) period_ = 0;
        else lag_ = lag(clocks);
    }

    // Until so many nanoseconds fit between now and the next tick. At once where they never do, or where no tick comes.
    void wait_for_room(double ns) const {
        if (settled + ns > most_of_it * period_) return;
        TickClocks begin = read_tick_clocks(), clocks = begin;
        while (!has_room(clocks, ns) && double(clocks.now - begin.now) < patience * period_) clocks = read_tick_clocks();
    }

  private:
    static constexpr double settled = 100000;  // ns after a tick, when it has done its work on this processor too
    static constexpr double most_of_it = 0.8;
    static constexpr double patience = 3;  // periods

    static double lag(const TickClocks &clocks) { return double(clocks.now - clocks.last); }

    bool has_room(const TickClocks &clocks, double ns) const {
        double age = lag(clocks) - lag_;
        return age >= settled && age + ns / most_of_it < period_;
    }

    double period_, lag_ = 0;
};

}  // namespace yamba
