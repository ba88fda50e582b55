// Measures the length of a core cycle without counters. It times a chain of dependent operations
// with known latency at two lengths, so that the costs of call and clock cancel. An interruption
// lengthens a reading: of the longer chain it makes a cycle too long, of the shorter one too short.
// So each chain is read twice. The mean of the readings counts or, if one was interrupted, the
// shorter reading.
#pragma once

#include <stdint.h>

#include "clock.h"
#include "floating.h"
#include "isa_hooks.h"

// A program that the user compiles without optimisation has copies of its own. Otherwise the linker
// would put them in place of the harness's.
#ifdef __OPTIMIZE__
#define YAMBA_CYCLE_INLINE inline
#else
#define YAMBA_CYCLE_INLINE static inline
#endif

namespace yamba {
namespace cycle {

// Some processors' clocks advance in steps of 10 ns. The error of a step is as often positive as
// negative, so the median of many readings removes it. The shorter of two readings is too short by
// a part of a step, and of the clock's jitter: 0.15 % in a cycle. A longer chain would be more
// precise, but each batch waits for four, and beside a neighbour a longer batch is less often
// undisturbed.
constexpr uint64_t least_steps = 4096, most_steps = 32 * least_steps;
constexpr double clock_steps = 200;

// Times of a chain at the same clock rate differ by less than this share.
constexpr double same_rate = 0.02;

inline uint64_t steps_wanted = least_steps;

YAMBA_CYCLE_INLINE double time_chain(void (*chain)(uint64_t), uint64_t steps) {
    uint64_t begin = read_clock();
    chain(steps);
    return nanoseconds(begin, read_clock());
}

// The times of a chain at two lengths, in ns.
struct Times {
    double shorter, longer;
};

YAMBA_CYCLE_INLINE uint64_t steps_of(const Chain &chain) {
    return uint64_t(double(steps_wanted) / chain.cycles) / chain.multiple * chain.multiple;
}

YAMBA_CYCLE_INLINE Times times(const Chain &chain) {
    // The benchmark may have evicted the code of the chain from the caches.
    chain.run(chain.multiple);
    const double shorter = time_chain(chain.run, steps_of(chain));
    return {shorter, time_chain(chain.run, 2 * steps_of(chain))};
}

YAMBA_CYCLE_INLINE bool agree(double a, double b) { return __builtin_fabs(a - b) <= same_rate * b; }

// The time of a chain by two readings.
YAMBA_CYCLE_INLINE double combined(double first, double second) {
    if (agree(first, second)) return (first + second) / 2;
    return second < first ? second : first;
}

// The length of a cycle by two readings.
YAMBA_CYCLE_INLINE double length(const Chain &chain, const Times &first, const Times &second) {
    const double shorter = combined(first.shorter, second.shorter), longer = combined(first.longer, second.longer);
    return longer > shorter ? (longer - shorter) / double(steps_of(chain)) / chain.cycles : not_known;
}

YAMBA_CYCLE_INLINE double length(const Chain &chain) {
    if (chain.run == nullptr) return not_known;
    const Times first = times(chain);
    return length(chain, first, times(chain));
}

// Whether two readings had the same clock rate. An interruption lengthens one of the four times;
// the other length then agrees.
YAMBA_CYCLE_INLINE bool are_alike(const Times &first, const Times &second) {
    return agree(first.shorter, second.shorter) || agree(first.longer, second.longer);
}

// Coarser clocks need longer chains. The length is bounded because every batch waits for several
// chains. `step` is in ns.
YAMBA_CYCLE_INLINE void suit_clock(double step) {
    steps_wanted = least_steps;
    double ns = length(isa_hooks.reference);
    if (!(ns > 0)) return;
    steps_wanted = uint64_t(__builtin_fmin(double(most_steps), __builtin_fmax(double(least_steps), clock_steps * step / ns)));
}

}  // namespace cycle

// The current length of a core cycle in ns; NaN if the instruction set has no reference chain.
YAMBA_CYCLE_INLINE double cycle_length() { return cycle::length(isa_hooks.reference); }

// The length of a core cycle by a chain on another unit of the processor. If it differs from
// cycle_length(), both are discarded.
YAMBA_CYCLE_INLINE double check_cycle_length() { return cycle::length(isa_hooks.check); }

}  // namespace yamba
