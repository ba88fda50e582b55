// The clock, with what it costs and how fine it is; both measured, neither assumed.
#pragma once

#include <stdint.h>
#include <time.h>



namespace yamba {

#ifdef CLOCK_MONOTONIC_RAW
constexpr clockid_t clock_id = CLOCK_MONOTONIC_RAW;
constexpr const char *clock_name = "CLOCK_MONOTONIC_RAW";
#else
constexpr clockid_t clock_id = CLOCK_MONOTONIC;
constexpr const char *clock_name = "CLOCK_MONOTONIC";
#endif

inline uint64_t system_clock() {
    struct timespec now;
    clock_gettime(clock_id, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

// Nanoseconds since some moment. Tests put a recorded or simulated clock here.
inline uint64_t (*read_clock)() = system_clock;

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
    return {step == UINT64_MAX ? 0 : double(step), double(best) / readings};
}

}  // namespace yamba
