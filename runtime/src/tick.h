// Predicts the interrupts of the system's timer. Code shorter than the period between two ticks can
// be timed without a tick in it.
#pragma once

#include <stdint.h>
#include <time.h>

namespace yamba {

// Two clocks read at the same time, in ns: one that advances only at ticks, and one that advances
// continuously.
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

// Nanoseconds between ticks; 0 if the system does not report them.
inline uint64_t system_tick_period() {
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec step;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) == 0) return uint64_t(step.tv_sec) * 1000000000u + uint64_t(step.tv_nsec);
#endif
    return 0;
}

// Tests substitute simulated ones.
inline TickClocks (*read_tick_clocks)() = system_tick_clocks;
inline uint64_t (*tick_period)() = system_tick_period;

// Predicts the next tick of the system's timer and waits for a time without ticks. It waits by
// spinning: a sleep would change the state of the processor and its caches.
class Ticks {
  public:
    // Measures the lag at the first observed tick: the tick clock may lag by a constant part of a
    // tick.
    Ticks() : period_(double(tick_period())) {
        if (period_ == 0) return;
        TickClocks begin = read_tick_clocks(), clocks = begin;
        while (clocks.last == begin.last && double(clocks.now - begin.now) < patience * period_) clocks = read_tick_clocks();
        if (clocks.last == begin.last) period_ = 0;
        else lag_ = lag(clocks);
    }

    // Waits until at least `ns` remain before the next tick. Returns at once if they never can, or
    // if no tick comes. Measures the lag again at each observed tick: the processor whose timer
    // advances the clock may change.
    void wait_for_room(double ns) {
        if (settled + ns > most_of_it * period_) return;
        TickClocks begin = read_tick_clocks(), clocks = begin;
        while (!has_room(clocks, ns) && double(clocks.now - begin.now) < patience * period_) {
            const uint64_t before = clocks.last;
            clocks = read_tick_clocks();
            if (clocks.last != before) lag_ = lag(clocks);
        }
    }

  private:
    static constexpr double settled = 100000;  // ns after a tick until its work on this processor is done
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
