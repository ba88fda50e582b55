// The clock, with what it costs and how fine it is; both measured, neither assumed.
#pragma once

#include <stdint.h>
#include <time.h>

#include "cold.h"
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

}  // namespace yamba

YAMBA_COLD_BEGIN
namespace yamba {

struct ClockError {
    double resolution, cost;  // ns: the smallest step it makes, and what one reading takes
    double worst() const { return resolution > cost ? resolution : cost; }
};

// Readings one after the other: the smallest step other than none is the resolution, the mean of the best of several
// rounds the cost (a round that is disturbed is longer, never shorter).
inline ClockError measure_clock() {
    constexpr int rounds = 11, readings = 100;
    uint64_t step = UINT64_MAX, best = UINT64_MAX;
    for (int r = 0; r < rounds; r++) {
        uint64_t begin = read_clock(), last = begin;
        for (int i = 0; i < readings; i++) {
            uint64_t now = read_clock();
            if (now > last) step = now - last < step ? now - last : step;
            last = now;
        }
        best = last - begin < best ? last - begin : best;
    }
    return {step == UINT64_MAX ? 0 : double(step) * ns_per_tick, double(best) * ns_per_tick / readings};
}

namespace clocks {

// Both clocks at one moment, as nearly as can be had.
struct Moment {
    uint64_t ns, ticks, gap;
};

inline Moment moment() {
    Moment best{0, 0, UINT64_MAX};
    for (int i = 0; i < 9; i++) {
        uint64_t before = system_clock(), ticks = isa_hooks.read_ticks(), after = system_clock();
        if (after - before < best.gap) best = {before + (after - before) / 2, ticks, after - before};
    }
    return best;
}

}  // namespace clocks

// The processor's own clock is finer and cheaper than the system's, where user space may read it and it runs at one rate on all processors. Its rate is measured
// against the system's clock over a few milliseconds, which is good to about 1e-5; a latency in cycles does not depend on it at all.
inline void choose_clock() {
    constexpr uint64_t calibration = 3000000;
    if (isa_hooks.read_ticks == nullptr || !isa_hooks.ticks_are_steady() || !system::clock_is_trusted(isa_hooks.ticks_name)) return;
    clocks::Moment begin = clocks::moment(), end = begin;
    while (end.ns - begin.ns < calibration) end = clocks::moment();
    if (end.ticks <= begin.ticks) return;
    ns_per_tick = double(end.ns - begin.ns) / double(end.ticks - begin.ticks);
    read_clock = isa_hooks.read_ticks;
    clock_name = isa_hooks.clock_name;
}

}  // namespace yamba
YAMBA_COLD_END
