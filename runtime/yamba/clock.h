// The clock, its cost and its resolution. Both are measured.
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

// Nanoseconds. This clock cannot be set, and it agrees on all processors.
inline uint64_t system_clock() {
    struct timespec now;
    clock_gettime(clock_id, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

// The clock that times batches. Tests substitute a recorded or simulated one.
inline uint64_t (*read_clock)() = system_clock;
inline double ns_per_tick = 1;
inline const char *clock_name = system_clock_name;

inline double nanoseconds(uint64_t begin, uint64_t end) { return double(int64_t(end - begin)) * ns_per_tick; }

struct ClockError {
    double resolution, cost;  // ns: the smallest step, and the time of one reading
    double worst() const { return resolution > cost ? resolution : cost; }
};

// Reads the clock repeatedly. The resolution is the largest step that explains all differences
// between readings. The cost is the lowest mean of several rounds, since a disturbance can only
// lengthen a round.
ClockError measure_clock();

// Chooses the processor's own clock if user space may read it and its rate is constant on all
// processors: it is finer and cheaper than the system's. A few milliseconds calibrate its rate
// against the system's clock, with an error of about 1e-5. A latency in cycles does not depend on
// that rate.
void choose_clock();

}  // namespace yamba
