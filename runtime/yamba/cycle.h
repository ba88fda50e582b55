// The length of a core cycle, without counters: a chain of dependent operations whose latency is known, timed at two lengths, so
// that call and clock cancel.
#pragma once

#include <stdint.h>

#include "clock.h"
#include "floating.h"
#include "isa_hooks.h"

namespace yamba {
namespace cycle {

// Some processors' clocks advance in steps of 10 ns: of 30 000 cycles that is a thousandth, and being as often too much as too
// little it goes out of the median of many readings. The shortest of several readings would not be the better one: it would
// always be too short by a part of a step.
constexpr uint64_t least_steps = 32768, most_steps = 8 * least_steps;
constexpr double clock_steps = 1000;

inline uint64_t steps_wanted = least_steps;

inline double time_chain(void (*chain)(uint64_t), uint64_t steps) {
    uint64_t begin = read_clock();
    chain(steps);
    return nanoseconds(begin, read_clock());
}

inline double length(const Chain &chain) {
    if (chain.run == nullptr) return not_known;
    uint64_t steps = uint64_t(double(steps_wanted) / chain.cycles) / chain.multiple * chain.multiple;
    double shorter = time_chain(chain.run, steps), longer = time_chain(chain.run, 2 * steps);
    return longer > shorter ? (longer - shorter) / double(steps) / chain.cycles : not_known;
}

// Coarser clocks need longer chains; the length is bounded because every interval waits for several of them. `step` in ns.
inline void suit_clock(double step) {
    steps_wanted = least_steps;
    double ns = length(isa_hooks.reference);
    if (!(ns > 0)) return;
    steps_wanted = uint64_t(__builtin_fmin(double(most_steps), __builtin_fmax(double(least_steps), clock_steps * step / ns)));
}

}  // namespace cycle

// Nanoseconds of one core cycle now; NaN where the instruction set has no reference.
inline double cycle_length() { return cycle::length(isa_hooks.reference); }

// The same by a chain on another unit of the processor: where the two disagree, neither is believed.
inline double check_cycle_length() { return cycle::length(isa_hooks.check); }

}  // namespace yamba
