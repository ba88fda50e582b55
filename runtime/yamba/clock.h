// The clock, with what it costs and how fine it is; both measured, neither assumed.
#pragma once

#include <stdint.h>
#include <time.h>

#include "isa_hooks.h"
#include "system.h"

namespace yamba {

#ifdef CLOCK_MONOTONIC_RAW
constexpr clockid_t clock_id = CLOCK_MONOTONIC_RAW;
constexpr const char *system_clock_name = "CLOCK_MONOTONIC_RAW";
#else
constexpr clockid_t clock_id = CLOCK_MONOTONIC;
constexpr const char *system_clock_name = "CLOCK_MONOTONIC";
#endif

// Nanoseconds. Nobody can set this clock, and all processors agree on it.
inline uint64_t system_clock() {
    struct timespec now;
    clock_gettime(clock_id, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

// The clock that intervals are timed with. Tests put a recorded or simulated one here.
inline uint64_t (*read_clock)() = system_clock;
inline double ns_per_tick = 1;
inline const char *clock_name = system_clock_name;

inline double nanoseconds(uint64_t begin, uint64_t end) { return double(int64_t(end - begin)) * ns_per_tick; }

struct ClockError {
    double resolution, cost;  // ns: the smallest step it makes, and what one reading takes
    double worst() const { return resolution > cost ? resolution : cost; }
};

// Readings one after the other: the smallest step other than none is the resolution, the mean of the best of several
// rounds the cost (a round that is disturbed is longer, never shorter).
ClockError measure_clock();

// The processor's own clock is finer and cheaper than the system's, where user space may read it and it runs at one rate on all
// processors. Its rate is measured against the system's clock over a few milliseconds, which is good to about 1e-5; a latency in
// cycles does not depend on it at all.
void choose_clock();

}  // namespace yamba
